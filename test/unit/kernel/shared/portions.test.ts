// Batches of many operations: they are sent in portions, as one call.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NetlinkError } from '../../../../src/kernel/errors.js';
import type { NativeClient, NativeFailure } from '../../../../src/kernel/shared/addon.js';
import { applyAll, type Packing } from '../../../../src/kernel/shared/batch.js';
import { Calls } from '../../../../src/kernel/shared/calls.js';
import { layout, u32 } from '../../../../src/kernel/shared/records/layout.js';
import { FakeIpset } from '../../../../src/kernel/testing/index.js';

const RECORD = layout({ number: u32 });
/** Operations of a portion. */
const PORTION = 1024;

/** Operations are numbers, of which odd ones may be refused by the kernel, and negative ones break a rule. */
const PACKING: Packing<number> = {
  family: 'fake',
  recordSize: RECORD.SIZE,
  write: (operation, writer) => writer.u32(RECORD.number, writer.integer('number', operation, 0, 1e9)),
  attempt: (operation) => ({ operation: 'fake.number', target: String(operation) }),
  nameOf: () => 'number',
};

/** Keeps the numbers of each portion, and fails those that `failing` selects. */
class Kernel implements NativeClient {
  readonly portions: number[][] = [];
  failing: (number: number) => Partial<NativeFailure> | undefined = () => undefined;
  onPortion = async () => {};

  async open(): Promise<Uint8Array> {
    return new Uint8Array();
  }
  close(): void {}
  async apply(records: Uint8Array): Promise<NativeFailure[]> {
    // A copy, before the promise: the records are written over while the kernel works.
    const numbers = [...new Uint32Array(records.slice().buffer)];
    this.portions.push(numbers);
    await this.onPortion();
    return numbers.flatMap((number, index) => {
      const failure = this.failing(number);
      return failure ? [{ index, errno: 2, code: '', message: '', ...failure }] : [];
    });
  }
}

const upTo = (end: number) => Array.from({ length: end }, (_, i) => i);

test('every operation is sent once, in order, and has its own result', async () => {
  const kernel = new Kernel();
  kernel.failing = (number) => (number % 1000 === 7 ? {} : undefined);
  const operations: number[] = upTo(3000);
  operations[5] = operations[2500] = -1;
  const results = await applyAll(new Calls<Kernel, number>(kernel), operations, PACKING);
  assert.deepEqual(
    kernel.portions.map(({ length }) => length),
    [PORTION - 1, PORTION, 3000 - 2 * PORTION - 1],
  );
  assert.deepEqual(
    kernel.portions.flat(),
    operations.filter((number) => number >= 0),
  );
  const failed = results.flatMap((result, place) => (result ? [[place, result.code, result.target]] : []));
  assert.deepEqual(failed, [
    [5, 'ERR_INVALID_ARGUMENT', '-1'],
    [7, 'ENOENT', '7'],
    [1007, 'ENOENT', '1007'],
    [2007, 'ENOENT', '2007'],
    [2500, 'ERR_INVALID_ARGUMENT', '-1'],
  ]);
  assert.equal(results.length, 3000);
});

test('the list is taken when the call is made, and later calls wait for all of it', async () => {
  const kernel = new Kernel();
  const calls = new Calls<Kernel, number>(kernel);
  const batches: number[] = [];
  calls.onBatch = ({ operations, names, results }) => {
    assert.deepEqual([names.length, results.length], [operations.length, operations.length]);
    batches.push(operations.length);
  };
  const operations = upTo(2500);
  const first = applyAll(calls, operations, PACKING);
  const second = applyAll(calls, [9999], PACKING);
  operations.fill(1);
  operations.length = 3;
  await Promise.all([first, second]);
  assert.deepEqual(kernel.portions.flat(), [...upTo(2500), 9999]);
  assert.deepEqual(batches, [2500, 1]);
});

test('an abort ends the call before the next portion', async () => {
  const kernel = new Kernel();
  const controller = new AbortController();
  kernel.onPortion = async () => {
    if (kernel.portions.length === 2) controller.abort(new Error('no longer needed'));
  };
  const calls = new Calls<Kernel, number>(kernel);
  await assert.rejects(
    applyAll(calls, upTo(100_000), PACKING, { signal: controller.signal }),
    /no longer needed/,
  );
  await applyAll(calls, [1], PACKING);
  assert.equal(kernel.portions.length, 3);
});

test('after a send that failed as a whole nothing more is sent, and the rest says so', async () => {
  const kernel = new Kernel();
  const rest = { errno: 105, code: '', message: 'not sent' };
  kernel.failing = (number) =>
    number === PORTION + 3 ? { code: 'ERR_UNKNOWN_OUTCOME', errno: 0, rest } : undefined;
  const operations = upTo(4000);
  operations[3500] = -1;
  const results = await applyAll(new Calls<Kernel, number>(kernel), operations, PACKING);
  assert.equal(kernel.portions.length, 2);
  const messages = results.map((result?: NetlinkError) => result && `${result.code} ${result.kernelMessage}`);
  assert.equal(messages[PORTION + 3], 'ERR_UNKNOWN_OUTCOME undefined');
  assert.equal(messages.slice(0, 2 * PORTION).filter(Boolean).length, 1);
  assert.deepEqual(
    [...new Set(messages.slice(2 * PORTION))],
    ['ENOBUFS not sent', 'ERR_INVALID_ARGUMENT number must be an integer from 0 to 1000000000, found -1'],
  );
});

test('a fake lets the event loop turn in a batch of many operations, and keeps the order of calls', async () => {
  const ipset = new FakeIpset();
  const set = { name: 'a', type: 'bitmap:port', range: [0, 65_535] } as const;
  await ipset.create(set);
  let turns = 0;
  const timer = setImmediate(function turn() {
    turns++;
    setImmediate(turn).unref();
  });
  const entries = upTo(5000);
  const batch = ipset.apply(entries.map((port) => ({ do: 'add', set, entry: { port } })));
  const after = ipset.get('a');
  const results = await batch;
  clearImmediate(timer);
  assert.ok(turns >= 4, `${turns} turns`);
  assert.ok(results.every((result) => result === undefined));
  assert.equal((await after)?.entries.length, 5000);
});
