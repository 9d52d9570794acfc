// Weights of endpoints in the modes whose rules select them at random: the shares of connections, what a change writes, and the bounds.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { weightedChances } from '../../../../src/proxy/modes/iptables/plan/endpointChains.js';
import { BalancingChain } from '../../../../src/proxy/modes/nftables/plan/serviceChains.js';
import { slotsByWeight } from '../../../../src/proxy/modes/nftables/plan/weightedSlots.js';
import { reduced } from '../../../../src/proxy/modes/shared/plan/weights.js';
import { observeAll } from '../../../../src/proxy/reconcile/observeAll.js';
import { HOST, service, slice } from '../../../support/clusters/manifests.js';
import { frontendsOf } from '../../../support/oracle/fakeNodes.js';
import { FakeIptablesNode, FakeNftablesNode } from '../../../support/oracle/testNode.js';
import { randomFrom } from '../../../support/random.js';

const NODE = { ...HOST, configuration: { serviceSettings: ['weight'] } };

/** A Service `web` with a slice for each endpoint, which has its weight; empty: none. An endpoint may have a state: `10.0.0.1 unready`. */
function web(weights: Readonly<Record<string, string>>, extra = ''): string {
  const slices = Object.entries(weights).map(([endpoint, weight], number) => {
    const annotation = weight === '' ? '' : `kube-netlink-proxy.io/weight: ${JSON.stringify(weight)}`;
    const head = `{namespace: demo, name: web-${number}, annotations: {${annotation}},`;
    return slice('web', endpoint).replace('{namespace: demo, name: web,', head);
  });
  return service('web', '10.96.0.1', extra) + slices.join('');
}

/** A node of one mode, and its frontends as the commands read them. */
interface Case {
  readonly name: string;
  node(): FakeIptablesNode | FakeNftablesNode;
}

const CASES: readonly Case[] = [
  { name: 'iptables mode', node: () => new FakeIptablesNode(NODE) },
  { name: 'nftables mode', node: () => new FakeNftablesNode(NODE) },
  {
    name: 'nftables mode, layout scalable',
    node: () => new FakeNftablesNode(NODE, undefined, 'scalable'),
  },
];

/** The shares of new connections to a port of `10.96.0.1` or to a node port: `1=0.75 2=0.25`, by the last number of addresses. */
async function shares(node: FakeIptablesNode | FakeNftablesNode, port = 80): Promise<string> {
  const found = (await frontendsOf(node)).find((frontend) => frontend.port === port);
  if (!found) return 'nothing';
  const endpoints = found.endpoints.map(
    ({ address, share }) => `${address.at(-1)}=${Number(share.toFixed(6))}`,
  );
  return [...endpoints.sort(), ...(found.refused === undefined ? [] : ['refused'])].join(' ');
}

/** A pass with these objects. Returns the keys of the items that it changed. */
async function change(node: FakeIptablesNode | FakeNftablesNode, text: string): Promise<string[]> {
  const before = await observeAll<unknown, never>(node.mode as never, true);
  await node.loadText(text);
  const summary = await node.sync();
  assert.deepEqual(summary.failures, []);
  const after = await observeAll<unknown, never>(node.mode as never, true);
  assert.equal((await node.sync()).operations, 0);
  const keys = new Set([...before.keys(), ...after.keys()]);
  const text_ = (items: ReadonlyMap<string, unknown>, key: string) => {
    const item = items.get(key) as { rules?: unknown } | undefined;
    return JSON.stringify([item, item?.rules]);
  };
  return [...keys].filter((key) => text_(before, key) !== text_(after, key)).sort();
}

for (const { name, node: make } of CASES) {
  describe(name, () => {
    it('gives endpoints shares by their weights, and changes the chain that selects them', async () => {
      const node = make();
      await change(node, web({ '10.0.0.1': '', '10.0.0.2': '' }) + service('other', '10.96.0.2'));
      assert.equal(await shares(node), '1=0.5 2=0.5');
      const other = service('other', '10.96.0.2');
      await change(node, web({ '10.0.0.1': '3', '10.0.0.2': '' }) + other);
      assert.equal(await shares(node), '1=0.75 2=0.25');
      const changed = await change(node, web({ '10.0.0.1': '3', '10.0.0.2': '2' }) + other);
      assert.equal(await shares(node), '1=0.6 2=0.4');
      assert.equal(changed.length, 1, changed.join('\n'));
      assert.match(changed[0] ?? '', /^chain .*(KUBE-SVC|service)-/);
    });

    it('with equal weights, has the state without weights', async () => {
      const plain = make();
      const node = make();
      await change(plain, web({ '10.0.0.1': '', '10.0.0.2': '' }));
      await change(node, web({ '10.0.0.1': '70', '10.0.0.2': '70' }));
      const states = await Promise.all([plain, node].map(({ mode }) => observeAll(mode as never, true)));
      assert.deepEqual(states[0], states[1]);
      assert.deepEqual(await change(node, web({ '10.0.0.1': '', '10.0.0.2': '' })), []);
    });

    it('an endpoint with weight 0 gets no new connections, and others get its share', async () => {
      const node = make();
      await change(node, web({ '10.0.0.1': '3', '10.0.0.2': '1', '10.0.0.3': '4' }));
      assert.equal(await shares(node), '1=0.375 2=0.125 3=0.5');
      await change(node, web({ '10.0.0.1': '3', '10.0.0.2': '1', '10.0.0.3': '0' }));
      assert.equal(await shares(node), '1=0.75 2=0.25');
      await change(node, web({ '10.0.0.1': '0', '10.0.0.2': '1', '10.0.0.3': '0' }));
      assert.equal(await shares(node), '2=1');
      await change(node, web({ '10.0.0.1': '0', '10.0.0.2': '0', '10.0.0.3': '0' }));
      assert.equal(await shares(node), 'refused');
      await change(node, web({ '10.0.0.1': '0' }));
      assert.equal(await shares(node), 'refused');
      await change(node, web({ '10.0.0.1': '9' }));
      assert.equal(await shares(node), '1=1');
      await change(node, web({ '10.0.0.1': '1', '10.0.0.2': '0', '10.0.0.3 terminating': '5' }));
      assert.equal(await shares(node), '1=1');
    });

    it('keeps affinity, and leads no client to an endpoint with weight 0', async () => {
      const node = make();
      const sticky = '  sessionAffinity: ClientIP';
      await change(node, web({ '10.0.0.1': '1', '10.0.0.2': '4', '10.0.0.3': '5' }, sticky));
      assert.equal(await shares(node), '1=0.1 2=0.4 3=0.5');
      await change(node, web({ '10.0.0.1': '1', '10.0.0.2': '4', '10.0.0.3': '0' }, sticky));
      assert.equal(await shares(node), '1=0.2 2=0.8');
      const [frontend] = await frontendsOf(node);
      assert.equal(frontend?.persistence, 10_800);
      const items = JSON.stringify([...(await observeAll<object, never>(node.mode as never, true)).values()]);
      assert.doesNotMatch(items, /10\.0\.0\.3/);
    });

    it('policy Local selects among the endpoints of this node by their weights', async () => {
      const node = make();
      const local = '  type: NodePort\n  externalTrafficPolicy: Local\n';
      const text = (weights: Readonly<Record<string, string>>) =>
        web(weights, local)
          .replace('[{port: 80}]', '[{port: 80, nodePort: 30080}]')
          .replaceAll(/(10\.0\.0\.[12])\]/g, '$1], nodeName: node-a');
      await change(node, text({ '10.0.0.1': '1', '10.0.0.2': '3', '10.0.0.3': '4' }));
      assert.equal(await shares(node), '1=0.125 2=0.375 3=0.5');
      assert.equal(await shares(node, 30080), '1=0.25 2=0.75');
      await change(node, text({ '10.0.0.1': '0', '10.0.0.2': '0', '10.0.0.3': '4' }));
      assert.equal(await shares(node), '3=1');
      assert.equal(await shares(node, 30080), 'refused');
    });

    it('a wrong weight is the default', async () => {
      for (const wrong of ['-1', '65536', '1e3', '0x10', '1.5', '2x', '9'.repeat(5000), '٣']) {
        const node = make();
        await change(node, web({ '10.0.0.1': wrong, '10.0.0.2': '3' }));
        assert.equal(await shares(node), '1=0.25 2=0.75', wrong.slice(0, 20));
      }
    });

    it('a restart finds the state as it should be', async () => {
      const node = make();
      const text = web({ '10.0.0.1': '65535', '10.0.0.2': '7', '10.0.0.3': '1' });
      await change(node, text);
      const { kernel } = node;
      const again =
        node instanceof FakeNftablesNode
          ? new FakeNftablesNode(NODE, kernel, name.endsWith('scalable') ? 'scalable' : 'kube-proxy')
          : new FakeIptablesNode(NODE, kernel);
      await again.loadText(text);
      assert.equal((await again.sync()).operations, 0);
    });
  });
}

it('while a slice is not read, the other endpoints keep their proportion', async () => {
  for (const { name, node: make } of CASES.slice(0, 2)) {
    const node = make();
    await change(node, web({ '10.0.0.1': '3', '10.0.0.2': '1', '10.0.0.3': '2' }));
    const { kernel } = node;
    const again =
      node instanceof FakeNftablesNode
        ? new FakeNftablesNode(NODE, kernel)
        : new FakeIptablesNode(NODE, kernel);
    again.reconciler.hold();
    await change(again, web({ '10.0.0.1': '3', '10.0.0.2': '1' }));
    assert.equal(await shares(again), '1=0.5 2=0.166667 3=0.333333', name);
    await change(again, web({ '10.0.0.1': '5', '10.0.0.2': '1', '10.0.0.4': '' }));
    const [first = 0, second = 0, third = 0] = (await shares(again))
      .split(' ')
      .map((each) => Number(each.slice(2)));
    assert.ok(Math.abs(first - 5 * second) < 1e-4 && third > 0, name);
    again.reconciler.release();
    await change(again, web({ '10.0.0.1': '3', '10.0.0.2': '1' }));
    assert.equal(await shares(again), '1=0.75 2=0.25', name);
  }
});

it('a topology hint that leaves endpoints with weight 0 only is not followed', async () => {
  const zone = `apiVersion: v1
kind: Node
metadata: {name: node-a, labels: {topology.kubernetes.io/zone: zone-a}}
---
`;
  const hinted = (weights: Readonly<Record<string, string>>) =>
    zone +
    web(weights)
      .replaceAll(/(10\.0\.0\.1)\]/g, '$1], hints: {forZones: [{name: zone-a}]}')
      .replaceAll(/(10\.0\.0\.[23])\]/g, '$1], hints: {forZones: [{name: zone-b}]}');
  for (const { name, node: make } of CASES) {
    const node = make();
    await change(node, hinted({ '10.0.0.1': '2', '10.0.0.2': '1', '10.0.0.3': '3' }));
    assert.equal(await shares(node), '1=1', name);
    await change(node, hinted({ '10.0.0.1': '0', '10.0.0.2': '1', '10.0.0.3': '3' }));
    assert.equal(await shares(node), '2=0.25 3=0.75', name);
  }
});

describe('slots', () => {
  const sum = (numbers: readonly number[] = []) => numbers.reduce((all, number) => all + number, 0);

  it('are the weights while there are at most 1024', () => {
    assert.deepEqual(slotsByWeight([3, 1]), [3, 1]);
    assert.deepEqual(slotsByWeight([1023, 1]), [1023, 1]);
    assert.equal(slotsByWeight(undefined), undefined);
  });

  it('are fewer in proportion for higher weights, and at least one', () => {
    assert.deepEqual(slotsByWeight([65_535, 1]), [1022, 1]);
    assert.equal(slotsByWeight([65_535, 65_534]), undefined);
    assert.equal(slotsByWeight([...new Array<number>(999).fill(200), 201]), undefined);
    for (const count of [2, 10, 255, 257, 1000, 5000]) {
      const weights = Array.from({ length: count }, (_, i) => (i % 2 === 0 ? 65_535 : 1));
      const slots = slotsByWeight(weights);
      assert.equal(slots?.length, count);
      assert.ok(sum(slots) <= Math.max(1024, 4 * count), `${count}: ${sum(slots)}`);
      assert.ok(slots?.every((number) => number >= 1 && Number.isInteger(number)));
    }
    const many = slotsByWeight(Array.from({ length: 1000 }, (_, i) => (i < 500 ? 30_000 : 10_000))) ?? [];
    assert.ok(sum(many.slice(0, 500)) / sum(many) > 0.7, 'about three quarters');
  });

  it('of higher weights are as few as keep each share to one part in a hundred', () => {
    assert.deepEqual(slotsByWeight([40_001, 20_000]), [85, 43]);
    assert.deepEqual(slotsByWeight([60_001, 20_000]), [3, 1]);
    const random = randomFrom(1);
    for (let round = 0; round < 200; round++) {
      const weights = Array.from({ length: 2 + (round % 9) }, () => 5000 + Math.floor(random() * 60_000));
      const slots = slotsByWeight(weights) ?? weights.map(() => 1);
      assert.ok(sum(slots) <= 1024);
      if (sum(slots) <= 512)
        for (const [i, weight] of weights.entries()) {
          const share = ((slots[i] as number) / sum(slots)) * (sum(weights) / weight);
          assert.ok(Math.abs(share - 1) <= 0.01, `${weights}: ${slots}`);
        }
    }
  });

  it('of all ports of a Service are at most as many as it may have pairs', () => {
    for (const ports of [1, 1000, 50_000, 250_000]) {
      const slots = slotsByWeight([65_535, 1], ports);
      assert.ok(ports * sum(slots ?? [1, 1]) <= 500_000, `${ports}: ${slots}`);
    }
  });

  it('of a Service with many ports are few for each', async () => {
    const numbers = Array.from({ length: 1000 }, (_, i) => i + 1);
    const ports = (text: string) =>
      `[${numbers.map((port) => `{name: p${port}, port: ${port}${text}}`).join(', ')}]`;
    const node = new FakeNftablesNode(NODE);
    const text = web({ '10.0.0.1': '65535', '10.0.0.2': '1' })
      .replace('[{port: 80}]', ports(''))
      .replaceAll('[{port: 8080}]', ports(''));
    await node.loadText(text);
    await node.sync();
    let slots = 0;
    for (const item of (await observeAll(node.mode, true)).values())
      if (item instanceof BalancingChain) slots += sum(item.slots);
    assert.ok(slots > 0 && slots <= 500_000, `${slots}`);
  });

  it('are reduced', () => {
    assert.deepEqual(reduced([300, 100, 200]), [3, 1, 2]);
    assert.equal(reduced([7, 7]), undefined);
    assert.equal(reduced([7]), undefined);
    assert.equal(reduced([]), undefined);
  });

  it('are those of one map, of which the name depends on them', async () => {
    const node = new FakeNftablesNode(NODE);
    await node.loadText(web({ '10.0.0.1': '65535', '10.0.0.2': '1' }));
    await node.sync();
    const chains = [...(await observeAll(node.mode, true)).values()].filter(
      (item) => item instanceof BalancingChain,
    );
    assert.deepEqual(
      chains.map(({ slots }) => slots),
      [[1022, 1]],
    );
  });
});

describe('probabilities', () => {
  /** The shares of rules one after the other, from their texts. */
  function sharesOf(matches: readonly string[]): number[] {
    let left = 1;
    return matches.map((match) => {
      const share = left * Number(/--probability (\S+) /.exec(match)?.[1] ?? 1);
      left -= share;
      return share;
    });
  }

  it('are exact for the highest weights, and no rule has none', () => {
    const [first, second] = sharesOf(weightedChances([1, 65_535]));
    assert.ok(Math.abs((first as number) - 1 / 65_536) < 1e-9);
    assert.ok(Math.abs((second as number) - 65_535 / 65_536) < 1e-9);
    const many = weightedChances([1, ...new Array<number>(50_000).fill(65_535)]);
    assert.match(many[0] ?? '', /--probability 0\.00000000047 $/);
    assert.equal(many.at(-1), '');
    assert.equal(many.filter((match) => match === '').length, 1);
    assert.ok(many.every((match) => !/probability (0\.0+|1\.0+) /.test(match)));
  });
});
