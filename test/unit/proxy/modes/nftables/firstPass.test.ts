// The first pass of a large cluster in nftables mode: Services are programmed while others are planned.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NftablesOperation } from '../../../../../src/kernel/nftables/types.js';
import { FakeKernel } from '../../../../../src/kernel/testing/index.js';
import type { NftablesLayout } from '../../../../../src/proxy/modes/nftables/index.js';
import type { KubernetesObject } from '../../../../../src/proxy/objects/types.js';
import { PIECE } from '../../../../../src/proxy/reconcile/planner.js';
import { cluster, ipOf, objectsOf, SERVICES, VITAL } from '../../../../support/clusters/agedServices.js';
import { HOST } from '../../../../support/clusters/manifests.js';
import { sample, WHOLE } from '../../../../support/extent.js';
import { FakeNftablesNode } from '../../../../support/oracle/testNode.js';

/** Services whose planning takes longer than a time slice: the kernel has been read before they are planned. */
const SLOW = 12;

/** The oldest Service and the youngest one have an endpoint on this node in common: both have the element of its hairpin connections. */
const COMMON = [{ addresses: ['10.130.0.1'], nodeName: 'node-a' }];
const OLDEST = { name: 'oldest', ip: '10.96.200.1', age: 5000, endpoints: COMMON };
const YOUNGEST = { name: 'youngest', ip: '10.96.200.2', age: 0.5, endpoints: COMMON };

/** Services without endpoints that reset connections: they have a chain in common, to which their elements lead. */
const RESETTING = [5000, 4999, 0.5].map((age, i) => ({
  name: `resetting-${i}`,
  ip: `10.96.201.${i}`,
  age,
  annotations: { 'kube-netlink-proxy.io/fail-fast': 'removed' },
  endpoints: [],
}));

/** A transaction, and the number of Services that had been planned when it was sent. */
interface Sent {
  readonly planned: number;
  readonly operations: readonly NftablesOperation[];
}

/** A node that records its transactions. @param most transactions that the kernel gets; further ones never end, as if the process had ended */
function recorded(
  layout: NftablesLayout,
  { objects = cluster(OLDEST, YOUNGEST), kernel = new FakeKernel(), most = Number.POSITIVE_INFINITY } = {},
) {
  const sent: Sent[] = [];
  let planned = 0;
  let end = () => {};
  const ended = new Promise<'ended'>((resolve) => {
    end = () => resolve('ended');
  });
  const { nftables } = kernel;
  const apply = async (operations: readonly NftablesOperation[]) => {
    if (sent.length >= most) {
      end();
      return new Promise<never>(() => {});
    }
    sent.push({ planned, operations });
    return nftables.apply(operations);
  };
  const seen = Object.assign(Object.create(kernel) as FakeKernel, {
    nftables: new Proxy(nftables, {
      get(target, name) {
        if (name === 'apply') return apply;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    }),
  });
  const node = new FakeNftablesNode(
    { ...HOST, configuration: { serviceSettings: ['fail-fast'] } },
    seen,
    layout,
  );
  const { planService } = node.mode;
  node.mode.planService = (...args) => {
    if (planned++ < SLOW) for (const until = performance.now() + 3; performance.now() < until; );
    return planService(...args);
  };
  node.set(objects);
  return { node, kernel, sent, ended };
}

/** The places of the transactions that have something with a text. */
const having = (sent: readonly Sent[], text: string) =>
  sent.flatMap(({ operations }, place) => (textOf(operations).includes(text) ? [place] : []));

function textOf(operations: readonly NftablesOperation[]): string {
  return JSON.stringify(operations, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
}

for (const layout of sample(['kube-proxy', 'scalable'] as const, 1)) {
  describe(`the first pass of a large cluster, layout ${layout}`, () => {
    it('programs Services while others are planned, the vital ones first, then the oldest', async () => {
      const { node, sent } = recorded(layout);
      const summary = await node.sync();
      assert.deepEqual([summary.failures, summary.services], [[], SERVICES + VITAL.length + 2]);
      const [vital = Number.NaN] = having(sent, '"10.96.255.10"');
      const [oldest = Number.NaN] = having(sent, '"10.96.200.1"');
      const [youngest = Number.NaN] = having(sent, '"10.96.200.2"');
      assert.ok(vital < oldest && oldest < youngest, `${[vital, oldest, youngest]}`);
      const { planned = Number.NaN } = sent[oldest] ?? {};
      assert.ok(planned <= VITAL.length + 2 * PIECE, `sent when ${planned} Services were planned`);
    });

    it('sends each element once, also one that two Services have', async () => {
      const { node, sent } = recorded(layout);
      await node.sync();
      for (const ip of [ipOf(0), ipOf(SERVICES - 1), '10.130.0.1","10.130.0.1']) {
        const count = sent.reduce((sum, { operations }) => sum + countElements(operations, ip), 0);
        assert.equal(count, ip.startsWith('10.96') ? 2 : 1, ip);
      }
    });

    it('adds a chain of several Services before the elements that lead to it', async () => {
      const { node, kernel } = recorded(layout, { objects: cluster(...RESETTING) });
      assert.deepEqual((await node.sync()).failures, []);
      const restart = recorded(layout, { objects: cluster(...RESETTING), kernel });
      assert.equal((await restart.node.sync()).operations, 0);
    });

    it('the same when the Services are added to others, in this process or the next one', async () => {
      const { node, kernel } = recorded(layout, { objects: cluster() });
      await node.sync();
      const next = recorded(layout, { objects: cluster(...RESETTING), kernel });
      assert.deepEqual((await next.node.sync()).failures, []);
      const empty = recorded(layout, { objects: new Map() });
      await empty.node.sync();
      empty.node.set(cluster(...RESETTING));
      assert.deepEqual((await empty.node.sync()).failures, []);
      assert.deepEqual(lines(empty.kernel), lines(kernel));
    });

    it('has the same result as several passes of few Services, and a restart makes no operation', async () => {
      const { node, kernel } = recorded(layout);
      await node.sync();
      const few = recorded(layout, { objects: new Map() });
      const all = [...cluster(OLDEST, YOUNGEST)];
      for (let some = 0; some < all.length + PIECE; some += PIECE) {
        few.node.set(new Map(all.slice(0, some)));
        await few.node.sync();
      }
      assert.deepEqual(lines(kernel), lines(few.kernel));
      const restart = recorded(layout, { kernel });
      assert.deepEqual([(await restart.node.sync()).operations, restart.sent], [0, []]);
    });

    it('programs a Service that changes after it was programmed, and has lost a common element', async () => {
      const { node, kernel, sent } = recorded(layout);
      const changed = new Map<string, KubernetesObject>([
        ...cluster(YOUNGEST),
        ...objectsOf({ ...OLDEST, endpoints: [{ addresses: ['10.130.0.9'], nodeName: 'node-a' }] }),
      ]);
      const { planService } = node.mode;
      let left = SERVICES + VITAL.length + 2;
      node.mode.planService = (...args) => {
        if (--left === 0) {
          assert.equal(having(sent, '"10.96.200.1"').length > 0, true);
          node.set(changed);
        }
        return planService(...args);
      };
      assert.deepEqual((await node.sync()).failures, []);
      assert.equal(node.reconciler.pending, false);
      const expected = recorded(layout, { objects: changed });
      await expected.node.sync();
      assert.deepEqual(lines(kernel), lines(expected.kernel));
    });

    it('is completed by the next process, if this one ends after any transaction', async () => {
      const expected = recorded(layout);
      await expected.node.sync();
      let moments = 0;
      for (let most = 0, how = 'ended'; how === 'ended'; most += WHOLE ? 1 : 3) {
        const { node, kernel, ended } = recorded(layout, { most });
        how = await Promise.race([ended, node.sync().then(() => 'complete')]);
        const next = recorded(layout, { kernel });
        assert.deepEqual((await next.node.sync()).failures, []);
        assert.deepEqual(lines(kernel), lines(expected.kernel), `after ${most} transactions`);
        if (how === 'ended') moments++;
      }
      assert.ok(moments >= (WHOLE ? 4 : 2), `only ${moments} moments`);
    });
  });
}

/** The number of elements that are added whose keys have this text. */
function countElements(operations: readonly NftablesOperation[], text: string): number {
  let count = 0;
  for (const operation of operations) {
    if (operation.do !== 'addElements' || !Array.isArray(operation.elements)) continue;
    for (const { key } of operation.elements) if (JSON.stringify([key].flat()).includes(`"${text}"`)) count++;
  }
  return count;
}

/** The ruleset without an order. */
const lines = ({ nftables }: FakeKernel) =>
  nftables
    .dump()
    .split(/[\n,]/)
    .map((line) => line.trim())
    .sort();
