// Batches that are transactions: the failed operation has its error, and the others are retried without it.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { NetlinkError, ROLLED_BACK } from '../../../src/errors.js';
import { applyOperations } from '../../../src/reconcile/applyOperations.js';

const failure = (code: string) => new NetlinkError({ code, operation: 'test.apply' });

/** A mode whose batches are transactions: the first failed operation rolls back all others. */
function transactional(isBad: (key: string) => boolean) {
  const batches: string[][] = [];
  const apply = async (operations: readonly { readonly key: string; readonly phase: string }[]) => {
    batches.push(operations.map(({ key }) => key));
    const bad = operations.findIndex(({ key }) => isBad(key));
    return operations.map((_, i) => {
      if (bad === -1) return undefined;
      return failure(i === bad ? 'EINVAL' : ROLLED_BACK);
    });
  };
  return { batches, apply };
}

const operations = (...keys: string[]) => keys.map((key) => ({ key, phase: 'test', becomes: undefined }));

it('a batch without a failure is one attempt', async () => {
  const mode = transactional(() => false);
  assert.deepEqual(await applyOperations(mode, operations('a', 'b')), [undefined, undefined]);
  assert.deepEqual(mode.batches, [['a', 'b']]);
});

it('operations that were rolled back are retried without those that failed', async () => {
  const mode = transactional((key) => key.startsWith('bad'));
  const results = await applyOperations(mode, operations('a', 'bad 1', 'b', 'bad 2', 'c'));
  assert.deepEqual(
    results.map((error) => error?.code),
    [undefined, 'EINVAL', undefined, 'EINVAL', undefined],
  );
  assert.deepEqual(mode.batches, [
    ['a', 'bad 1', 'b', 'bad 2', 'c'],
    ['a', 'b', 'bad 2', 'c'],
    ['a', 'b', 'c'],
  ]);
});

it('the number of attempts is bounded', async () => {
  const mode = transactional(() => true);
  const results = await applyOperations(mode, operations(...Array.from({ length: 20 }, (_, i) => `${i}`)));
  assert.equal(mode.batches.length, 8);
  assert.deepEqual(
    [results.filter((error) => error?.code === 'EINVAL').length, results.at(-1)?.code],
    [8, ROLLED_BACK],
  );
});

it('an attempt that rolls back all operations is the last one', async () => {
  let attempts = 0;
  const apply = async (all: readonly unknown[]) => {
    attempts++;
    return all.map(() => failure(ROLLED_BACK));
  };
  await applyOperations({ apply }, operations('a', 'b'));
  assert.equal(attempts, 2);
});
