// TCP flows to endpoints that failed, with fail-fast: which are deleted, in every mode, and what is asked of the kernel for it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NetlinkError } from '../../../../src/kernel/errors.js';
import { HOST, service, slice } from '../../../support/clusters/manifests.js';
import { FakeIptablesNode, FakeNftablesNode, FakeNode } from '../../../support/oracle/testNode.js';

const NODE = { ...HOST, configuration: { serviceSettings: ['fail-fast'] } };

const MODES = { ipvs: FakeNode, iptables: FakeIptablesNode, nftables: FakeNftablesNode };
type AnyNode = FakeNode | FakeIptablesNode | FakeNftablesNode;

/** A Service with a node port, and the setting if it has one. */
function web(setting?: string, name = 'web', ip = '10.96.0.1'): string {
  const text = service(name, ip, '  type: NodePort').replace('{port: 80}', '{port: 80, nodePort: 30080}');
  if (setting === undefined) return text;
  return text.replace(
    `name: ${name}`,
    `name: ${name}, annotations: {kube-netlink-proxy.io/fail-fast: ${setting}}`,
  );
}

async function change(node: AnyNode, manifest: string, ...endpoints: string[]) {
  await node.loadText(manifest + slice('web', ...endpoints));
  return node.sync();
}

let lastPort = 1024;

/** A client's flow to an endpoint, through an address and port. */
function track({ kernel }: AnyNode, endpoint: string, destination = '10.96.0.1', destinationPort = 80) {
  const client = { address: '10.244.9.9', port: ++lastPort };
  kernel.conntrack.track({
    protocol: 'tcp',
    original: { source: client.address, sourcePort: client.port, destination, destinationPort },
    reply: { source: endpoint, sourcePort: 8080, destination: client.address, destinationPort: client.port },
  });
}

/** The flows that are left, as `destination:port endpoint`. */
const left = async ({ kernel }: AnyNode) =>
  (await kernel.conntrack.list().toArray())
    .map(
      ({ original: { destination, destinationPort }, reply }) =>
        `${destination}:${destinationPort} ${reply.source}`,
    )
    .sort();

/** Flows to two endpoints. */
async function connected(Mode: (typeof MODES)[keyof typeof MODES], setting?: string): Promise<AnyNode> {
  const node = new Mode(NODE);
  await change(node, web(setting), '10.0.0.1', '10.0.0.2');
  for (const endpoint of ['10.0.0.1', '10.0.0.2']) track(node, endpoint);
  return node;
}

const BOTH = ['10.96.0.1:80 10.0.0.1', '10.96.0.1:80 10.0.0.2'];
const SECOND = ['10.96.0.1:80 10.0.0.2'];

/** Changes of the first endpoint → the flows that are left, for each setting. */
const ROWS: readonly (readonly [
  title: string,
  states: readonly (readonly string[])[],
  expected: { readonly removed: string[]; readonly 'not-serving': string[] },
])[] = [
  ['that leaves while it is ready', [['10.0.0.2']], { removed: SECOND, 'not-serving': SECOND }],
  ['that is terminating', [['10.0.0.1 terminating', '10.0.0.2']], { removed: BOTH, 'not-serving': BOTH }],
  [
    'that leaves while it is terminating',
    [['10.0.0.1 terminating', '10.0.0.2'], ['10.0.0.2']],
    { removed: BOTH, 'not-serving': BOTH },
  ],
  ['that does not serve', [['10.0.0.1 unready', '10.0.0.2']], { removed: BOTH, 'not-serving': SECOND }],
  [
    'that leaves while it does not serve',
    [['10.0.0.1 unready', '10.0.0.2'], ['10.0.0.2']],
    { removed: BOTH, 'not-serving': SECOND },
  ],
];

for (const [mode, Mode] of Object.entries(MODES)) {
  describe(`TCP flows to an endpoint, in ${mode} mode`, () => {
    for (const [title, states, expected] of ROWS) {
      it(title, async () => {
        for (const setting of ['removed', 'not-serving'] as const) {
          const node = await connected(Mode, setting);
          for (const state of states)
            assert.deepEqual((await change(node, web(setting), ...state)).failures, []);
          assert.deepEqual(await left(node), expected[setting], setting);
        }
        const node = await connected(Mode);
        for (const state of states) await change(node, web(), ...state);
        assert.deepEqual(await left(node), BOTH, 'without the setting');
        assert.equal(node.kernel.conntrack.listings, 2, 'the first pass, and this test');
      });
    }

    it('change that no pass has seen: the last state counts', async () => {
      for (const [between, expected] of [
        ['10.0.0.1 terminating', BOTH],
        ['10.0.0.1', SECOND],
      ] as const) {
        const node = await connected(Mode, 'removed');
        await node.loadText(web('removed') + slice('web', between, '10.0.0.2'));
        await change(node, web('removed'), '10.0.0.2');
        assert.deepEqual(await left(node), expected, between);
      }
    });

    it('are counted as operations, and are checked until none is found', async () => {
      const node = await connected(Mode, 'removed');
      const { phases, again } = await change(node, web('removed'), '10.0.0.2');
      assert.deepEqual([phases.get('deleteFlows'), again], [1, 1000]);
      const { conntrack } = node.kernel;
      const { listings } = conntrack;
      assert.equal((await node.sync()).again, undefined);
      await node.sync();
      assert.equal(conntrack.listings, listings + 1, 'the second check finds nothing, and is the last one');
    });
  });
}

describe('TCP flows to a failed endpoint', () => {
  it('are deleted with one listing, and no others: of other Services, to node ports of others, to the endpoint itself', async () => {
    const node = new FakeIptablesNode(NODE);
    const others =
      web('removed', 'other', '10.96.0.2').replace('30080', '30090') + slice('other', '10.0.0.1');
    const before = web('removed') + others;
    await change(node, before, '10.0.0.1', '10.0.0.2');
    for (let i = 0; i < 500; i++) track(node, '10.0.0.2');
    const kept = [
      ['10.96.0.2', 80],
      ['192.168.50.10', 30_090],
      ['10.0.0.1', 8080],
      ['10.0.0.1', 30_080],
    ] as const;
    for (const [address, port] of kept) track(node, '10.0.0.1', address, port);
    track(node, '10.0.0.1');
    track(node, '10.0.0.1', '192.168.50.10', 30_080);
    const { conntrack } = node.kernel;
    const { listings } = conntrack;
    const { phases } = await change(node, before, '10.0.0.2');
    assert.equal(conntrack.listings, listings + 1);
    assert.equal(phases.get('deleteFlows'), 2);
    assert.equal((await left(node)).length, 500 + kept.length);
  });

  it('are listed for no other change', async () => {
    const node = await connected(FakeIptablesNode, 'not-serving');
    const { conntrack } = node.kernel;
    await change(node, web('not-serving'), '10.0.0.1', '10.0.0.2', '10.0.0.3');
    await change(node, web('not-serving'), '10.0.0.1', '10.0.0.2', '10.0.0.3 terminating');
    await change(node, web('not-serving').replace('port: 80,', 'port: 81,'), '10.0.0.1', '10.0.0.2');
    await change(node, web(), '10.0.0.2');
    await node.loadText('');
    await node.sync();
    assert.equal(
      conntrack.listings,
      3,
      'those of the first pass, of the new port, and of the first port again',
    );
  });

  it('stay if the endpoint is in another slice of the Service', async () => {
    const node = await connected(FakeIptablesNode, 'removed');
    const other = slice('web', '10.0.0.1').replace('name: web,', 'name: web-2,');
    await change(node, web('removed') + other, '10.0.0.2');
    assert.deepEqual(await left(node), BOTH);
  });

  it('are checked again until the kernel has the items of the Service; not those of an endpoint that came back', async () => {
    const node = (await connected(FakeNode, 'removed')) as FakeNode;
    const { ipvs } = node.kernel;
    ipvs.fault = (operation) =>
      operation.includes('RealServer') ? new NetlinkError({ code: 'ENOMEM', operation }) : undefined;
    await change(node, web('removed'), '10.0.0.2');
    track(node, '10.0.0.1');
    node.retryFailed();
    await node.sync();
    assert.deepEqual(await left(node), SECOND);
    ipvs.fault = () => undefined;
    node.retryFailed();
    await change(node, web('removed'), '10.0.0.1', '10.0.0.2');
    track(node, '10.0.0.1');
    await node.sync();
    assert.deepEqual(await left(node), BOTH);
  });

  it('that cannot be listed or deleted are failures, and are tried again', async () => {
    const node = await connected(FakeIptablesNode, 'removed');
    const { conntrack } = node.kernel;
    const fail = (operation: string) => new NetlinkError({ code: 'EPERM', operation });
    conntrack.readFault = fail;
    const { failures, again } = await change(node, web('removed'), '10.0.0.2');
    assert.deepEqual([failures.map(({ key }) => key), again], [['flows'], 1000]);
    conntrack.readFault = () => undefined;
    conntrack.fault = fail;
    const second = await node.sync();
    assert.match(second.failures[0]?.key ?? '', /^flow tcp 10\.244\.9\.9:\d+ 10\.96\.0\.1:80$/);
    conntrack.fault = () => undefined;
    assert.deepEqual((await node.sync()).failures, []);
    assert.deepEqual(await left(node), SECOND);
  });

  it('of a whole node are listed with one selection for each family', async () => {
    const node = new FakeIptablesNode(NODE);
    const many = Array.from({ length: 200 }, (_, i) => `10.0.1.${i}`);
    await change(node, web('removed'), ...many, '10.0.0.2');
    for (const endpoint of many) track(node, endpoint);
    track(node, '10.0.0.2');
    const { phases } = await change(node, web('removed'), '10.0.0.2');
    assert.equal(phases.get('deleteFlows'), 200);
    assert.deepEqual(await left(node), SECOND);
  });
});
