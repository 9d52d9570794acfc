// The flow table: what is planned, what a link costs that comes or goes, and what repairs and removes it.
import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { flowTableOf } from '../../../../../src/command/modes/nftables/fromConfiguration.js';
import { obstacleOfFlowTable } from '../../../../../src/command/modes/nftables/open.js';
import { NetlinkError } from '../../../../../src/kernel/errors.js';
import { FakeKernel } from '../../../../../src/kernel/testing/index.js';
import { createNftablesMode } from '../../../../../src/proxy/modes/nftables/index.js';
import { takesLink } from '../../../../../src/proxy/modes/nftables/plan/flowTable.js';
import type { ChainItem } from '../../../../../src/proxy/modes/nftables/plan/items.js';
import { NFTABLES_DEFAULTS } from '../../../../../src/proxy/modes/nftables/plan/options.js';
import { ruleText } from '../../../../../src/proxy/modes/nftables/program/ruleText.js';
import { decodeObject } from '../../../../../src/proxy/objects/decode.js';
import type { KubernetesObject } from '../../../../../src/proxy/objects/types.js';
import { createProxy } from '../../../../../src/proxy/proxy.js';
import type { SyncSummary } from '../../../../../src/proxy/reconcile/summary.js';
import { planned, service, slice } from '../../../../support/clusters/nftablesPlans.js';
import { HostNotifications } from '../../../../support/fakes/hostNotifications.js';
import { tableLines } from '../../../../support/oracle/testNode.js';

const WEB = service('web', '10.96.0.1', {
  ...{ type: 'NodePort', externalIPs: ['192.0.2.7'] },
  ports: [
    { port: 80, nodePort: 30080 },
    { name: 'sctp', protocol: 'SCTP', port: 81, nodePort: 30081 },
  ],
});
const OBJECTS = [WEB, slice('web', '10.244.0.1')];
const FLOW_TABLE = { family: 'ip', table: 'kube-proxy', name: 'services' } as const;

it('flows are added by the address and port that their first packet went to, and not before they are assured', () => {
  const without = planned(OBJECTS);
  const desired = planned(OBJECTS, { flowTable: ['eth0'] });
  const more = [...desired.keys()].filter((key) => without.get(key) === undefined && !/ip6/.test(key));
  assert.deepEqual(more.toSorted(), [
    'chain ip kube-proxy flow-table-forward',
    'element ip kube-proxy flow-table-ips 192.0.2.7 . tcp . 80',
    'element ip kube-proxy flow-table-nodeports tcp . 30080',
    'flowtable ip kube-proxy services',
    'set ip kube-proxy flow-table-ips',
    'set ip kube-proxy flow-table-nodeports',
  ]);
  const chain = desired.get('chain ip kube-proxy flow-table-forward') as ChainItem;
  assert.deepEqual(
    chain.rules.map((rule) => ruleText(4, rule)),
    [
      'ct state ! established return',
      'ct status != assured,dnat / assured,dnat return',
      'ct original ip daddr @cluster-ips flow add @services',
      'ct original ip daddr . meta l4proto . ct original proto-dst @flow-table-ips flow add @services',
      'meta l4proto . ct original proto-dst @flow-table-nodeports flow add @services',
    ],
  );
});

it('links are selected by their names, but not the loopback link', () => {
  const takes = (name: string) => takesLink(['eth0', 'cali*'], { name, isLoopback: false });
  assert.deepEqual(
    ['eth0', 'eth01', 'cali', 'cali1', 'xcali'].map(takes).join(),
    'true,false,true,true,false',
  );
  assert.equal(takesLink(['*'], { name: 'lo', isLoopback: true }), false);
});

it('the flag names links', () => {
  assert.deepEqual(flowTableOf(['eth0', 'cali*', '*']), ['eth0', 'cali*', '*']);
  assert.equal(flowTableOf([]), undefined);
  for (const wrong of ['a*b', 'a b', 'eth0/1', 'sixteen-bytes-16'])
    assert.throws(
      () => flowTableOf(['eth0', wrong]),
      /--nftables-flow-table must be names of links.*; found "/,
    );
});

/** A node whose host has these links, and a proxy on it. */
async function run(
  test: TestContext,
  links: readonly string[],
  flowTable?: readonly string[],
  kernel = new FakeKernel(),
) {
  for (const name of links) await kernel.rtnetlink.addLink(name, 'dummy');
  let listings = 0;
  const passes: SyncSummary[] = [];
  let wake = () => {};
  const host = new HostNotifications();
  // Before Linux 6.16, nothing tells that the kernel takes out a link.
  const { watch, ...mode } = createNftablesMode(kernel, { ...NFTABLES_DEFAULTS, flowTable });
  assert.ok(watch);
  const proxy = createProxy({
    source: {
      async start(events) {
        const objects = OBJECTS.map((each) => decodeObject(each).object as KubernetesObject);
        events.changed(objects.map((object) => ({ type: 'set', object })));
        events.synced();
      },
      stop() {},
    },
    mode,
    rtnetlink: {
      listAddresses: () => kernel.rtnetlink.listAddresses(),
      listLinks: () => {
        listings++;
        return kernel.rtnetlink.listLinks();
      },
    },
    watchHost: host.watchHost,
    nodeName: 'node-a',
    events: {
      synced: (summary) => {
        passes.push(summary);
        wake();
      },
      ...{ problems: () => {}, failed: assert.fail, retrying: () => {} },
    },
  });
  test.after(() => proxy.stop());
  const batches: string[][] = [];
  kernel.nftables.onBatch = ({ operations }) =>
    void batches.push(
      operations.map((each) => `${each.do} ${'flowTable' in each ? each.flowTable.devices : ''}`),
    );
  const pass = async (cause: () => unknown) => {
    const passed = new Promise<void>((resolve) => {
      wake = resolve;
    });
    batches.length = 0;
    await cause();
    await passed;
    return { ...(passes.at(-1) as SyncSummary), batches: batches.flat() };
  };
  await pass(() => proxy.start());
  const change = (name: string, deleted: boolean) =>
    pass(() => host.send({ lost: false, addresses: [], links: [{ name, isLoopback: false, deleted }] }));
  const devices = async () =>
    (await kernel.nftables.listFlowTables({ family: 'ip' }).toArray()).flatMap(({ devices = [] }) => devices);
  return { kernel, change, pass, devices, first: passes[0] as SyncSummary, listings: () => listings };
}

const MANY = Array.from({ length: 200 }, (_, i) => `veth${i}`);

it('a link that comes is one operation in each family, whatever the number of links; one that is not named is none', async (test) => {
  const { change, devices, listings } = await run(test, ['eth0', ...MANY], ['veth*']);
  assert.deepEqual((await devices()).toSorted(), MANY.toSorted());
  const { batches, failures, operations } = await change('veth200', false);
  assert.deepEqual(
    [batches, failures.length, operations],
    [['addFlowTable veth200', 'addFlowTable veth200'], 0, 2],
  );
  const moved = await change('veth7', true);
  assert.deepEqual(moved.batches, ['deleteFlowTable veth7', 'deleteFlowTable veth7']);
  assert.ok(!(await devices()).includes('veth7'));
  assert.equal(listings(), 1);
});

it('a link that the kernel has taken out already is no operation that fails', async (test) => {
  const { kernel, change, devices } = await run(test, MANY.slice(0, 3), ['*']);
  for (const family of ['ip', 'ip6'] as const)
    await kernel.nftables.deleteFlowTable({ ...FLOW_TABLE, family, devices: ['veth1'] });
  const { batches, failures } = await change('veth1', true);
  assert.deepEqual([batches, failures], [[], []]);
  assert.deepEqual(await devices(), ['veth0', 'veth2']);
  assert.deepEqual((await change('veth1', false)).batches, ['addFlowTable veth1', 'addFlowTable veth1']);
});

it('a restart changes nothing; without the option, nothing of it is left, and all else stays', async (test) => {
  const { kernel } = await run(test, ['eth0'], ['*']);
  const plain = tableLines((await run(test, [], undefined)).kernel);
  const again = await run(test, [], ['*'], kernel);
  assert.equal(again.first.operations, 0);
  const { first } = await run(test, [], undefined, kernel);
  assert.deepEqual(first.failures, []);
  assert.deepEqual(tableLines(kernel), plain);
});

it('what another program deletes or changes is restored', async (test) => {
  const { kernel } = await run(test, ['eth0'], ['*']);
  const before = tableLines(kernel);
  const { family, table, name } = FLOW_TABLE;
  const chain = { family, table, name: 'flow-table-forward' } as const;
  const spoil: readonly (() => Promise<void>)[] = [
    () => kernel.nftables.flushChain(chain),
    async () => {
      await kernel.nftables.flushChain(chain);
      await kernel.nftables.deleteFlowTable(FLOW_TABLE);
    },
    () => kernel.nftables.deleteFlowTable({ ...FLOW_TABLE, devices: ['eth0'] }),
    () =>
      kernel.nftables.addFlowTable({ ...FLOW_TABLE, priority: 0, devices: ['veth9'], flags: ['counter'] }),
    // The kernel cannot change the flags: the table is made anew.
    async () => {
      await kernel.nftables.flushChain(chain);
      await kernel.nftables.deleteFlowTable({ family, table, name });
      await kernel.nftables.addFlowTable({ ...FLOW_TABLE, priority: 5 });
    },
  ];
  for (const [i, each] of spoil.entries()) {
    await each();
    assert.notDeepEqual(tableLines(kernel), before, `${i}`);
    const { first } = await run(test, [], ['*'], kernel);
    assert.deepEqual(first.failures, [], `${i}`);
    assert.deepEqual(tableLines(kernel), before, `${i}`);
  }
});

it('a kernel without flow tables has an obstacle, and one with them none', async () => {
  const { nftables } = new FakeKernel();
  assert.equal(await obstacleOfFlowTable(nftables, [4, 6], true), undefined);
  const refusal = new NetlinkError({ code: 'ENOENT', operation: 'nftables.apply' });
  const refusing = {
    apply: (async (operations: readonly { do: string }[]) =>
      operations.map((each) =>
        each.do === 'addFlowTable' || each.do === 'addRule' ? refusal : undefined,
      )) as typeof nftables.apply,
  };
  assert.match(
    (await obstacleOfFlowTable(refusing, [4], true)) ?? '',
    /^ENOENT: nftables\.probe IPv4: flow_offload .*nft_flow_offload/,
  );
});
