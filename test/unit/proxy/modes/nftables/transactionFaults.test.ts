// Each transaction in the life of a cluster fails once, in every way in which one can: the failure is reported, nothing is half done,
// and the next passes make it good.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NetlinkError, ROLLED_BACK } from '../../../../../src/kernel/errors.js';
import { FakeConntrack } from '../../../../../src/kernel/testing/index.js';
import type { Item } from '../../../../../src/proxy/modes/nftables/index.js';
import { isSame } from '../../../../../src/proxy/modes/nftables/plan/compare.js';
import { cleanUp } from '../../../../../src/proxy/reconcile/cleanUp.js';
import { observeAll } from '../../../../../src/proxy/reconcile/observeAll.js';
import { type LifeStep, MIXED_LIFE, objectsOf } from '../../../../support/clusters/mixedCluster.js';
import { service, slice } from '../../../../support/clusters/nftablesPlans.js';
import { RANDOM_HOST } from '../../../../support/clusters/randomCluster.js';
import { sample, WHOLE } from '../../../../support/extent.js';
import { FaultyNftables, type TransactionFault } from '../../../../support/fakes/faultyNftables.js';
import { assertWhole } from '../../../../support/nftables/wholeServices.js';
import { NftablesNode } from '../../../../support/oracle/testNode.js';

function newNode(nftables = new FaultyNftables()) {
  return new NftablesNode(RANDOM_HOST, { nftables, conntrack: new FakeConntrack() });
}

type Node = ReturnType<typeof newNode>;

const WRITTEN = new Map<LifeStep['objects'], Promise<ReadonlyMap<string, Item>>>();

/** The items of a node that has written these objects to an empty kernel. */
function writtenOf(objects: LifeStep['objects']): Promise<ReadonlyMap<string, Item>> {
  const written = WRITTEN.get(objects) ?? write(objects);
  WRITTEN.set(objects, written);
  return written;
}

async function write(objects: LifeStep['objects']): Promise<ReadonlyMap<string, Item>> {
  const node = newNode();
  node.set(objects);
  assert.deepEqual((await node.sync()).failures, []);
  return observeAll(node.mode, true);
}

/** What the kernel has equals what a new node writes to an empty kernel, and a full pass finds nothing to do. */
async function assertConverged(node: Node, objects: LifeStep['objects'], what: string): Promise<void> {
  const [has, wants] = [await observeAll(node.mode, true), await writtenOf(objects)];
  assert.deepEqual([...has.keys()].sort(), [...wants.keys()].sort(), what);
  for (const [key, item] of wants) {
    const other = has.get(key);
    assert.ok(other && isSame(item, other), `${what}: ${key}`);
  }
  node.reconciler.requestFullSync();
  assert.equal((await node.sync()).operations, 0, what);
}

/** The ways in which a transaction fails. */
const FAULTS: readonly TransactionFault[] = [
  { code: 'ENOMEM', errno: 12, as: 'all' },
  { code: 'ENOBUFS', errno: 105, as: 'all' },
  { code: 'EINTR', errno: 4, as: 'all' },
  { code: 'ERESTART', errno: 85, as: 'one' },
  { code: 'EBUSY', errno: 16, as: 'one' },
  { code: 'ENOENT', errno: 2, as: 'one' },
  { code: 'EAGAIN', errno: 11, as: 'rejected' },
  { code: 'ERR_UNKNOWN_OUTCOME', as: 'all' },
  { code: 'ERR_UNKNOWN_OUTCOME', as: 'committed' },
];

/** The pass after a fault, which makes it good: the fault does not come again. */
async function repair(node: Node, objects: LifeStep['objects'], what: string): Promise<void> {
  await assertWhole(node.kernel.nftables, what);
  node.retryFailed();
  const { failures, unknown } = await node.sync();
  assert.deepEqual([failures, unknown], [[], 0], what);
  await assertConverged(node, objects, what);
}

/** The life of the cluster with a fault in one transaction. Returns the numbers of transactions, and of passes that reported a failure. */
async function live(
  nth: number,
  fault: TransactionFault,
): Promise<{ transactions: number; reported: number }> {
  const node = newNode();
  const { nftables } = node.kernel;
  const counted: (string | undefined)[] = [];
  nftables.onBatch = ({ results }) => {
    for (const error of results ?? []) if (error instanceof NetlinkError) counted.push(error.code);
  };
  // A transaction of which one operation failed is made again at once, without merging: it fails twice in a pass.
  let inPass = false;
  const isAgain = (number: number) => fault.as === 'one' && nth > 0 && inPass && number === nth + 1;
  nftables.faultOf = (number) => (number === nth || isAgain(number) ? fault : undefined);
  let reported = 0;
  const name = `transaction ${nth}`;
  for (const { what, objects } of MIXED_LIFE) {
    node.set(objects);
    inPass = true;
    const { failures } = await node.sync();
    inPass = false;
    if (failures.length === 0) continue;
    reported++;
    // Operations that depend on a refused one fail too, and those that are not to blame do not.
    const codes = new Set(failures.map(({ error }) => error.code));
    assert.ok(codes.has(fault.code) && !codes.has(ROLLED_BACK), `${name}, ${what}: ${[...codes]}`);
    await repair(node, objects, `${name}, ${what}`);
  }
  await assertConverged(node, MIXED_LIFE.at(-1)?.objects ?? new Map(), name);
  inPass = true;
  const cleaned = await cleanUp(node.mode);
  inPass = false;
  if (cleaned.failures.length > 0) {
    reported++;
    const { failures, left } = await cleanUp(node.mode);
    assert.deepEqual([failures, left], [[], []], name);
  }
  assert.deepEqual(await nftables.listTables().toArray(), [], name);
  assert.equal(counted.includes(fault.code), nth > 0, `${name}: the metrics have it`);
  return { transactions: nftables.transactions, reported };
}

describe('each transaction of the life of a cluster fails once', () => {
  for (const fault of FAULTS)
    it(`${fault.code} of ${fault.as}`, async () => {
      const { transactions } = await live(0, fault);
      assert.ok(transactions >= 2 * MIXED_LIFE.length, `${transactions} transactions`);
      const numbers = Array.from({ length: transactions }, (_, i) => i + 1);
      for (const nth of sample(numbers, 3)) {
        const { reported } = await live(nth, fault);
        assert.equal(reported, 1, `transaction ${nth}`);
      }
    });
});

/** Readings that fail, one in each run. */
const MOST_READINGS = WHOLE ? 12 : 3;

/**
 * The life of the cluster, in which the first transaction of each step fails, so that items are read alone, and one of the readings
 * fails too. Returns the number of readings.
 */
async function liveWithReading(nth: number): Promise<number> {
  const node = newNode();
  const { nftables } = node.kernel;
  let readings = 0;
  const syncs = async () => {
    nftables.readFault = (operation, target) =>
      ++readings === nth ? new NetlinkError({ code: 'ENOBUFS', errno: 105, operation, target }) : undefined;
    await node.sync().catch((error: NetlinkError) => assert.equal(error.code, 'ENOBUFS'));
    nftables.readFault = () => undefined;
  };
  for (const { what, objects } of MIXED_LIFE) {
    const next = nftables.transactions + 1;
    nftables.faultOf = (number) => (number === next ? { code: 'ENOMEM', errno: 12, as: 'all' } : undefined);
    node.set(objects);
    await syncs();
    await assertWhole(node.kernel.nftables, what);
    for (let retry = 0; retry < 2; retry++) {
      node.retryFailed();
      await syncs();
    }
    node.retryFailed();
    const { failures, unknown } = await node.sync();
    assert.deepEqual([failures, unknown], [[], 0], `reading ${nth}, ${what}`);
  }
  await assertConverged(node, MIXED_LIFE.at(-1)?.objects ?? new Map(), `reading ${nth}`);
  return readings;
}

it('a reading after a failure fails too: the next pass reads again', async () => {
  const readings = await liveWithReading(0);
  const stride = Math.max(1, Math.floor(readings / MOST_READINGS));
  for (let nth = 1; nth <= readings; nth += stride) await liveWithReading(nth);
});

/** Services that each have a chain with some endpoints. */
function manyServices(count: number): LifeStep['objects'] {
  const raw = Array.from({ length: count }, (_, i) => [
    service(`s${i}`, `10.97.0.${i}`),
    slice(`s${i}`, `10.244.7.${i}`, `10.244.8.${i}`),
  ]);
  return objectsOf(...raw.flat());
}

describe('a socket whose send buffer cannot grow', () => {
  it('a transaction that is too long for it is divided', async () => {
    const node = newNode();
    const { nftables } = node.kernel;
    nftables.faultOf = (_, operations) =>
      operations.length > 200 ? { code: 'EMSGSIZE', errno: 90, as: 'all' } : undefined;
    node.set(manyServices(200));
    assert.deepEqual(
      (await node.sync()).failures.map(({ error }) => error.message),
      [],
    );
    await assertWhole(node.kernel.nftables, 'divided');
    nftables.faultOf = () => undefined;
    await assertConverged(node, manyServices(200), 'divided');
  });

  it('a Service that alone is too long for it fails, and no other does', async () => {
    const node = newNode();
    const { nftables } = node.kernel;
    const isLong = (operation: object) => JSON.stringify(operation, bigintText).includes('10.97.0.3');
    nftables.faultOf = (_, operations) =>
      operations.some(isLong) ? { code: 'EMSGSIZE', errno: 90, as: 'all' } : undefined;
    node.set(manyServices(20));
    const { failures } = await node.sync();
    assert.deepEqual([...new Set(failures.flatMap(({ services }) => services ?? []))], ['demo/s3']);
    nftables.faultOf = () => undefined;
    node.retryFailed();
    assert.deepEqual((await node.sync()).failures, []);
    await assertConverged(node, manyServices(20), 'after it');
  });
});

const bigintText = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value);
