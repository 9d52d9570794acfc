// Has a mode carry operations out. Where a batch is a transaction, one bad operation rolls all others of it back: they are
// tried again without it.
import type { NetlinkError } from '../errors.js';
import { type KeyedOperation, type Mode, ROLLED_BACK } from '../modes/mode.js';

/** Attempts in one pass, at most: each but the last has left out operations that failed by their own fault. */
const MOST_ATTEMPTS = 8;

/**
 * One result for each operation, in order. Operations that are still rolled back after the last attempt have that error.
 * When an attempt rolls operations back and none has failed by its own fault, no other is made: it would end the same.
 */
export async function applyOperations<Item, Operation extends KeyedOperation>(
  mode: Pick<Mode<Item, Operation>, 'apply'>,
  operations: readonly Operation[],
): Promise<(NetlinkError | undefined)[]> {
  const results = await mode.apply(operations);
  for (let attempt = 1; attempt < MOST_ATTEMPTS; attempt++) {
    const again = [...operations.keys()].filter((i) => results[i]?.code === ROLLED_BACK);
    if (again.length === 0) break;
    const repeated = await mode.apply(again.map((i) => operations[i] as Operation));
    let changed = false;
    for (const [n, i] of again.entries()) {
      changed ||= repeated[n]?.code !== ROLLED_BACK;
      results[i] = repeated[n];
    }
    if (!changed) break;
  }
  return results;
}
