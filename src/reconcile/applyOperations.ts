// Applies operations through a mode. If a batch is a transaction, one failed operation rolls back all others of it;
// these are retried without it.
import { type NetlinkError, ROLLED_BACK } from '../errors.js';
import type { KeyedOperation, Mode } from '../modes/mode.js';

/** Maximum attempts in one pass. Each attempt omits the operations that failed in the one before. */
const MOST_ATTEMPTS = 8;

/**
 * Returns one result for each operation, in order. Operations that the last attempt rolled back have {@link
 * ROLLED_BACK}. If an attempt rolls back all its operations, no further attempt is made: its result would be the same.
 */
export async function applyOperations<Item, Operation extends KeyedOperation<Item>>(
  mode: Pick<Mode<Item, Operation>, 'apply'>,
  operations: readonly Operation[],
): Promise<(NetlinkError | undefined)[]> {
  const results = await mode.apply(operations);
  for (let attempt = 1; attempt < MOST_ATTEMPTS; attempt++) {
    const again: number[] = [];
    for (let i = 0; i < operations.length; i++) if (results[i]?.code === ROLLED_BACK) again.push(i);
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
