// Node ports that are rejected on loopback addresses, as in kube-proxy 1.37 and 1.38 with their gate: what is planned, and what is in a
// kernel in memory after a start with the gate, without it, and with another network.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { localhostNodePorts } from '../../../../../src/command/modes/nftables/open.js';
import { NetlinkError } from '../../../../../src/kernel/errors.js';
import type { ChainItem, Item } from '../../../../../src/proxy/modes/nftables/plan/items.js';
import { ruleText } from '../../../../../src/proxy/modes/nftables/program/ruleText.js';
import { observeAll } from '../../../../../src/proxy/reconcile/observeAll.js';
import { decodeConfiguration } from '../../../../support/clusters/decodeConfiguration.js';
import { HOST, service, slice } from '../../../../support/clusters/manifests.js';
import { planned, service as serviceObject } from '../../../../support/clusters/nftablesPlans.js';
import { FakeNftablesNode } from '../../../../support/oracle/testNode.js';

const GATE = 'KubeProxyNFTablesLocalhostNodePorts';

/** A Service of type NodePort with a TCP and a UDP port; without endpoints if the slice has none. */
const WEB =
  service('web', '10.96.0.1').replace(
    'ports: [{port: 80}]',
    'type: NodePort\n  ports: [{name: t, port: 80, nodePort: 30080}, {name: u, port: 53, protocol: UDP, nodePort: 30053}]',
  ) + slice('web');

async function nodeWith(configuration: Record<string, unknown>, before?: FakeNftablesNode) {
  const node = new FakeNftablesNode({ ...HOST, configuration }, before?.kernel);
  await node.loadText(WEB);
  const { failures } = await node.sync();
  assert.deepEqual(failures, []);
  node.reconciler.requestFullSync();
  assert.equal((await node.sync()).operations, 0, 'a second pass finds nothing to do');
  return node;
}

/** The keys of what is in the kernel and concerns localhost; elements with their verdicts. */
async function found(node: FakeNftablesNode): Promise<string[]> {
  const items: [string, Item][] = [...(await observeAll(node.mode))];
  return items
    .filter(([key]) => key.includes('localhost-nodeport'))
    .map(([key, item]) => (item.kind === 'element' ? `${key} : ${item.verdict}` : key))
    .sort();
}

const expected = (protocols: readonly string[], elements: readonly string[]) =>
  ['ip', 'ip6']
    .flatMap((family) => [
      ...protocols.flatMap((protocol) => [
        `chain ${family} kube-proxy localhost-nodeport-reject-${protocol}`,
        `counter ${family} kube-proxy localhost-nodeport-rejected-${protocol}`,
      ]),
      ...(protocols.length > 0 ? [`set ${family} kube-proxy localhost-nodeport-reject-ports`] : []),
      ...(family === 'ip' ? elements : []),
    ])
    .sort();

const TCP =
  'element ip kube-proxy localhost-nodeport-reject-ports tcp . 30080 : localhost-nodeport-reject-tcp';
const UDP =
  'element ip kube-proxy localhost-nodeport-reject-ports udp . 30053 : localhost-nodeport-reject-udp';

describe('in the kernel', () => {
  it('1.36, and 1.37 without the gate, have nothing', async () => {
    assert.deepEqual(await found(await nodeWith({})), []);
    assert.deepEqual(await found(await nodeWith({ mirroredVersion: '1.37' })), []);
  });

  it('1.37 with the gate and 1.38 reject all protocols, without endpoints too', async () => {
    const all = expected(['tcp', 'udp', 'sctp'], [TCP, UDP]);
    const gated = { mirroredVersion: '1.37', featureGates: { [GATE]: true } };
    assert.deepEqual(await found(await nodeWith(gated)), all);
    assert.deepEqual(await found(await nodeWith({ mirroredVersion: '1.38' })), all);
  });

  it('a loopback network leaves TCP to the agent', async () => {
    const nodePortAddresses = ['primary', 'localhost'];
    const node = await nodeWith({ mirroredVersion: '1.38', nodePortAddresses });
    assert.deepEqual(await found(node), expected(['udp', 'sctp'], [UDP]));
  });

  it('a start with another setting exchanges all of it, and a deleted Service has no element', async () => {
    const first = await nodeWith({ mirroredVersion: '1.38' });
    const second = await nodeWith(
      { mirroredVersion: '1.38', nodePortAddresses: ['127.0.0.0/8', '::1/128'] },
      first,
    );
    assert.deepEqual(await found(second), expected(['udp', 'sctp'], [UDP]));
    await second.loadText('');
    assert.deepEqual((await second.sync()).failures, []);
    assert.deepEqual(await found(second), expected(['udp', 'sctp'], []));
    assert.deepEqual(await found(await nodeWith({}, second)), []);
  });

  it('a counter that another program deleted with its rule comes back, alone', async () => {
    const node = await nodeWith({ mirroredVersion: '1.38' });
    const { nftables } = node.kernel;
    const name = { family: 'ip', table: 'kube-proxy' } as const;
    const chain = { ...name, name: 'localhost-nodeport-reject-sctp' };
    const object = { ...name, name: 'localhost-nodeport-rejected-sctp', type: 'counter' } as const;
    const results = await nftables.apply([
      { do: 'flushChain', chain },
      { do: 'deleteChain', chain },
      { do: 'deleteObject', object },
    ]);
    assert.deepEqual(results.filter(Boolean), []);
    const { repaired } = await node.audit();
    assert.ok(repaired >= 2);
    assert.deepEqual(await found(node), expected(['tcp', 'udp', 'sctp'], [TCP, UDP]));
  });

  it('a counter that the kernel refuses is tried again, and its chain with it', async () => {
    const node = new FakeNftablesNode({ ...HOST, configuration: { mirroredVersion: '1.38' } });
    await node.loadText(WEB);
    node.kernel.nftables.fault = (operation) =>
      operation.includes('Object') ? new NetlinkError({ code: 'ENOMEM', operation }) : undefined;
    assert.ok((await node.sync()).failures.length > 0);
    node.kernel.nftables.fault = () => undefined;
    node.retryFailed();
    assert.deepEqual((await node.sync()).failures, []);
    assert.deepEqual(await found(node), expected(['tcp', 'udp', 'sctp'], [TCP, UDP]));
  });
});

it('the rules are those of kube-proxy', () => {
  const localhostRejects = { 4: ['udp'], 6: ['tcp'] } as const;
  const desired = planned([serviceObject('web', '10.96.0.1')], { localhostRejects });
  const rulesOf = (key: string, family: 4 | 6) =>
    (desired.get(key) as ChainItem).rules.map((rule) => ruleText(family, rule));
  assert.deepEqual(rulesOf('chain ip kube-proxy localhost-nodeport-reject-udp', 4), [
    'counter name "localhost-nodeport-rejected-udp" reject',
  ]);
  assert.equal(
    rulesOf('chain ip kube-proxy nodeport-endpoints-check', 4)[1],
    'ip daddr 127.0.0.0/8 meta l4proto . th dport vmap @localhost-nodeport-reject-ports',
  );
  assert.equal(
    rulesOf('chain ip6 kube-proxy nodeport-endpoints-check', 6)[1],
    'ip6 daddr ::1 meta l4proto . th dport vmap @localhost-nodeport-reject-ports',
  );
});

it('packets that were rejected are read by family and protocol', async () => {
  const node = await nodeWith({ mirroredVersion: '1.38' });
  const { configuration } = decodeConfiguration({
    mirroredVersion: '1.38',
    nodePortAddresses: ['localhost'],
  });
  const { families, hasMetrics, readRejected } = localhostNodePorts(
    node.kernel.nftables,
    [4, 6],
    configuration,
  );
  assert.deepEqual([families, hasMetrics], [[4, 6], true]);
  const read = await readRejected();
  assert.deepEqual(read.map(({ family, protocol, packets }) => `${family} ${protocol} ${packets}`).sort(), [
    '4 SCTP 0',
    '4 TCP 0',
    '4 UDP 0',
    '6 SCTP 0',
    '6 TCP 0',
    '6 UDP 0',
  ]);
  const empty = new FakeNftablesNode(HOST);
  assert.deepEqual(await localhostNodePorts(empty.kernel.nftables, [4], configuration).readRejected(), []);
});
