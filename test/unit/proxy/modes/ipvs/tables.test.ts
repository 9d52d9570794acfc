// Rules of nf_tables in ipvs mode: what a change costs, source ranges that overlap, what is repaired, and moves to and from rules of iptables.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openRulesOn } from '../../../../../src/command/modes/ipvs/former.js';
import { NetlinkError } from '../../../../../src/kernel/errors.js';
import type { NftablesOperation } from '../../../../../src/kernel/nftables/types.js';
import { FakeKernel } from '../../../../../src/kernel/testing/index.js';
import { IPVS_DEFAULTS } from '../../../../../src/proxy/modes/ipvs/index.js';
import { type Item, TABLE } from '../../../../../src/proxy/modes/ipvs/plan/items.js';
import { observeSets } from '../../../../../src/proxy/modes/ipvs/program/observe.js';
import { observeTable } from '../../../../../src/proxy/modes/ipvs/program/observeTable.js';
import type { DisturbedCheck } from '../../../../../src/proxy/modes/mode.js';
import { ForeignChains } from '../../../../../src/proxy/modes/nftablesRules/program/foreignChains.js';
import { cleanUp } from '../../../../../src/proxy/reconcile/cleanUp.js';
import { HOST, service, slice } from '../../../../support/clusters/manifests.js';
import { FakeNode, FakeTablesNode, tableLines } from '../../../../support/oracle/testNode.js';

const VIP = '203.0.113.9';
/** Time after which notifications have been read, in ms. */
const LATER = 200;
const ranges = (...networks: string[]) => `  type: LoadBalancer
  loadBalancerSourceRanges: [${networks.map((each) => `"${each}"`).join(', ')}]
status: {loadBalancer: {ingress: [{ip: ${VIP}}]}}`;

/** Endpoints on this node. */
const here = (...addresses: string[]) =>
  slice('web', ...addresses).replaceAll('conditions:', 'nodeName: node-a, conditions:');

async function programmed(node: FakeNode, text: string) {
  await node.loadText(text);
  return node.sync();
}

/** The transactions and the listings of a kernel from now on. */
function calls({ nftables }: FakeKernel) {
  const transactions: (readonly NftablesOperation[])[] = [];
  const listings: string[] = [];
  const { apply } = nftables;
  nftables.apply = (operations, options) => {
    transactions.push(operations);
    return apply.call(nftables, operations, options);
  };
  nftables.readFault = (operation) => {
    listings.push(operation);
    return undefined;
  };
  return { transactions, listings };
}

it('a base chain of another program in the table is named, and stays', async () => {
  const foreign = new ForeignChains(TABLE);
  const kernel = Object.assign(new FakeKernel(), { foreignChains: foreign });
  const node = new FakeTablesNode(HOST, kernel);
  await programmed(node, service('web', '10.96.0.1'));
  const where = { family: 'ip', table: TABLE } as const;
  const base = { type: 'filter', hook: 'input', priority: 0, policy: 'drop' } as const;
  await kernel.nftables.apply([{ do: 'addChain', chain: { ...where, name: 'theirs', base } }]);
  node.reconciler.requestFullSync();
  assert.equal((await node.sync()).operations, 0);
  const text = 'table ip kube-proxy-ipvs, chain theirs (hook input, priority 0, policy drop)';
  assert.deepEqual(foreign.list(), [text]);
  await kernel.nftables.apply([{ do: 'deleteTable', table: { family: 'ip', name: TABLE } }]);
  node.reconciler.requestFullSync();
  await node.sync();
  assert.deepEqual(foreign.list(), []);
});

describe('a change', () => {
  const web = service('web', '10.96.0.1');

  it('of an endpoint of this node is one transaction with its entry, and no listing', async () => {
    const node = new FakeTablesNode(HOST);
    await programmed(node, web + here('10.244.1.1'));
    const { transactions, listings } = calls(node.kernel);
    await programmed(node, web + here('10.244.1.1', '10.244.1.2'));
    assert.deepEqual(
      transactions.map((each) => each.map((one) => one.do)),
      [['addElements']],
    );
    assert.deepEqual(
      listings.filter((each) => /list/.test(each)),
      [],
    );
  });

  it('of an endpoint of another node is no transaction', async () => {
    const node = new FakeTablesNode(HOST);
    await programmed(node, web + slice('web', '10.244.2.1'));
    const { transactions } = calls(node.kernel);
    await programmed(node, web + slice('web', '10.244.2.1', '10.244.2.2'));
    assert.deepEqual(transactions, []);
  });

  it('from nothing to the first Service is one transaction for each family and part of the pass', async () => {
    const node = new FakeTablesNode(HOST);
    const { transactions } = calls(node.kernel);
    await programmed(node, web + here('10.244.1.1'));
    const ofIPv4 = transactions.filter((each) => JSON.stringify(each.map(tableOf)).includes('"ip"'));
    // The second one keeps other programs from translating, once the virtual services are there.
    assert.equal(ofIPv4.length, 2);
    const [first = [], second = []] = ofIPv4;
    assert.ok(first.some((each) => each.do === 'addElements') && first.some((each) => each.do === 'addRule'));
    assert.deepEqual([...new Set(second.map((each) => each.do))].sort(), [
      'addChain',
      'addRule',
      'flushChain',
    ]);
  });
});

function tableOf(operation: NftablesOperation) {
  return Object.values(operation).map((each) => (each as { family?: unknown }).family);
}

describe('source ranges', () => {
  const shown = (node: FakeNode) =>
    tableLines(node.kernel).filter((line) => line.startsWith(`${VIP} . tcp . 80 . `));

  it('that others contain are left out', async () => {
    const node = new FakeTablesNode(HOST);
    const text = ranges('10.0.0.0/8', '10.1.0.0/16', '192.0.2.7/32', '192.0.2.7/32');
    assert.deepEqual((await programmed(node, service('web', '10.96.0.1', text))).failures, []);
    assert.deepEqual(shown(node), [`${VIP} . tcp . 80 . 10.0.0.0/8`, `${VIP} . tcp . 80 . 192.0.2.7`]);
  });

  it('are replaced by wider and by narrower ones in one transaction', async () => {
    const node = new FakeTablesNode(HOST);
    await programmed(node, service('web', '10.96.0.1', ranges('10.1.0.0/16', '10.2.0.0/16')));
    for (const [networks, found] of [
      [['10.0.0.0/8'], ['10.0.0.0/8']],
      [
        ['10.3.0.0/24', '172.16.0.0/12'],
        ['10.3.0.0/24', '172.16.0.0/12'],
      ],
    ] as const) {
      const { transactions } = calls(node.kernel);
      const { failures } = await programmed(node, service('web', '10.96.0.1', ranges(...networks)));
      assert.deepEqual(failures, []);
      assert.equal(transactions.length, 1);
      assert.deepEqual(
        shown(node),
        found.map((each) => `${VIP} . tcp . 80 . ${each}`),
      );
    }
  });

  it('go after the virtual service, in one transaction with the entry that refuses all others', async () => {
    const node = new FakeTablesNode(HOST);
    await programmed(node, service('web', '10.96.0.1', ranges('10.0.0.0/8')));
    const order: string[] = [];
    node.kernel.fault = (operation, target) => {
      if (target.includes(VIP) || operation.includes('deleteElements')) order.push(operation);
      return undefined;
    };
    await programmed(node, service('web', '10.96.0.1'));
    const first = order.findIndex((each) => each.includes('deleteElements'));
    assert.ok(order.slice(0, first).includes('ipvs.deleteService'), order.join());
    assert.ok(!order.slice(first).includes('ipvs.deleteService'), order.join());
    assert.deepEqual(shown(node), []);
  });
});

describe('what another program changes', () => {
  const objects = service('web', '10.96.0.1', ranges('192.0.2.0/24')) + slice('web', '10.244.1.1');
  const set = { family: 'ip', table: TABLE, name: 'KUBE-CLUSTER-IP' } as const;
  const shape = { ...set, key: ['ipv4_addr', 'inet_proto', 'inet_service'] } as const;
  const rows: readonly (readonly [title: string, operations: readonly NftablesOperation[]])[] = [
    ['the table is deleted', [{ do: 'deleteTable', table: { family: 'ip', name: TABLE } }]],
    [
      'an entry is deleted',
      [{ do: 'deleteElements', set: shape, elements: [{ key: ['10.96.0.1', 'tcp', 80] }] }],
    ],
    ['an entry is added', [{ do: 'addElements', set: shape, elements: [{ key: ['10.96.0.9', 'tcp', 80] }] }]],
    [
      'an element is added that no plan can have',
      [{ do: 'addElements', set: shape, elements: [{ key: ['10.96.0.9', 'icmp', 80] }] }],
    ],
    ['a chain loses its rules', [{ do: 'flushChain', chain: { ...set, name: 'nat/KUBE-SERVICES' } }]],
    [
      'a rule is added before ours',
      [
        {
          do: 'insertRule',
          rule: {
            family: 'ip',
            table: TABLE,
            chain: 'filter/INPUT',
            expressions: [{ kind: 'verdict', verdict: { verdict: 'drop' } }],
          },
        },
      ],
    ],
  ];
  for (const [title, operations] of rows)
    it(`${title}: the next full pass repairs it`, async () => {
      const node = new FakeTablesNode(HOST);
      await programmed(node, objects);
      const before = tableLines(node.kernel);
      for (const result of await node.kernel.nftables.apply(operations)) assert.equal(result, undefined);
      assert.notDeepEqual(tableLines(node.kernel), before);
      node.reconciler.requestFullSync();
      const { failures } = await node.sync();
      assert.deepEqual(failures, []);
      assert.deepEqual(tableLines(node.kernel), before);
      node.reconciler.requestFullSync();
      assert.equal((await node.sync()).operations, 0);
    });

  it('is reported at once, and transactions of the mode are not', async () => {
    const node = new FakeTablesNode(HOST);
    await programmed(node, objects);
    const checks: DisturbedCheck<Item>[] = [];
    const watch = await node.mode.watch?.({ disturbed: (check) => void checks.push(check) });
    /** Whether another program is blamed for what was reported since the last call. Asked after the pass. */
    const isDisturbed = async () => {
      await delay(LATER);
      const answers = await Promise.all(checks.splice(0).map((check) => check(new Map())));
      return answers.includes(true);
    };
    try {
      await programmed(node, objects + service('api', '10.96.0.2'));
      assert.equal(await isDisturbed(), false);
      await node.kernel.nftables.apply([{ do: 'addTable', table: { family: 'inet', name: TABLE } }]);
      assert.equal(await isDisturbed(), false);
      await node.kernel.nftables.apply([{ do: 'deleteTable', table: { family: 'ip', name: TABLE } }]);
      assert.equal(await isDisturbed(), true);
    } finally {
      watch?.close();
    }
  });

  it('a table whose set has another type is made anew', async () => {
    const kernel = new FakeKernel();
    await kernel.nftables.apply([
      { do: 'addTable', table: { family: 'ip', name: TABLE } },
      { do: 'addSet', set: { ...set, key: 'mark' } },
    ]);
    const node = new FakeTablesNode(HOST, kernel);
    assert.deepEqual((await programmed(node, objects)).failures, []);
    const fresh = new FakeTablesNode(HOST);
    await programmed(fresh, objects);
    assert.deepEqual(tableLines(kernel), tableLines(fresh.kernel));
  });
});

it('an element that the kernel refuses fails alone', async () => {
  const node = new FakeTablesNode(HOST);
  const { nftables } = node.kernel;
  const { apply } = nftables;
  // As the kernel answers: the operation with the element has its error, and all others are rolled back.
  nftables.apply = async (operations, options) => {
    const isRefused = (each: NftablesOperation) =>
      each.do === 'addElements' && JSON.stringify(each.elements).includes('"10.96.0.2","tcp"');
    if (!operations.some(isRefused)) return apply.call(nftables, operations, options);
    return operations.map((each) => {
      const code = isRefused(each) ? 'ENOSPC' : 'ERR_ROLLED_BACK';
      return new NetlinkError({ code, operation: `nftables.${each.do}` });
    });
  };
  const { failures } = await programmed(node, service('web', '10.96.0.1') + service('api', '10.96.0.2'));
  assert.deepEqual(
    failures.map(({ key, error }) => `${error.code} ${key}`),
    ['ENOSPC entry KUBE-CLUSTER-IP 10.96.0.2,tcp:80'],
  );
  assert.ok(tableLines(node.kernel).includes('10.96.0.1 . tcp . 80'));
  nftables.apply = apply;
  node.retryFailed();
  assert.deepEqual((await node.sync()).failures, []);
  assert.ok(tableLines(node.kernel).includes('10.96.0.2 . tcp . 80'));
});

describe('a restart with the other rules', () => {
  const first =
    service('web', '10.96.0.1', '  type: NodePort').replace('port: 80', 'port: 80, nodePort: 30080') +
    here('10.244.1.1') +
    service('gone', '10.96.0.2');
  const then = service('api', '10.96.0.3');

  for (const [from, to] of [
    ['iptables', 'nftables'],
    ['nftables', 'iptables'],
  ] as const)
    it(`${from} → ${to}: the state of a fresh node, and nothing else`, async () => {
      const make = (rules: typeof from | typeof to, kernel: FakeKernel) =>
        rules === 'iptables' ? new FakeNode(HOST, kernel) : new FakeTablesNode(HOST, kernel);
      const kernel = new FakeKernel();
      await programmed(make(from, kernel), first);
      const others = async function* () {
        if (from === 'iptables') yield* observeSets(kernel, { ...OPTIONS, rules: from });
        else for (const family of [4, 6] as const) yield* observeTable(kernel.nftables, family);
      };
      const node = make(to, Object.assign(kernel, { otherEntries: others }));
      assert.deepEqual((await programmed(node, then)).failures, []);
      const former = openRulesOn(kernel, { ...OPTIONS, rules: from });
      const { failures, left, operations } = await cleanUp(former);
      assert.deepEqual([failures, left], [[], []]);
      assert.ok(operations > 0);
      const fresh = make(to, new FakeKernel());
      await programmed(fresh, then);
      assert.deepEqual(stateOf(kernel), stateOf(fresh.kernel));
      assert.equal((await cleanUp(former)).operations, 0);
    });
});

const OPTIONS = { ...IPVS_DEFAULTS, kernelRelease: '6.1.0' };

/** All that the modes program, without the tables of iptables that have no chains but their own. */
function stateOf(kernel: FakeKernel): string[] {
  const { ipvs, ipset, iptables, rtnetlink } = kernel;
  const rules = ([4, 6] as const).map((family) => iptables.dump(family));
  const chains = rules
    .join('\n')
    .split('\n')
    .filter((line) => /^:KUBE|^-A/.test(line));
  const parts = [ipvs.dump(), ipset.dump(), rtnetlink.dump('kube-ipvs0')].join('\n').split('\n');
  return [...parts.sort(), ...chains.sort(), ...tableLines(kernel)];
}
