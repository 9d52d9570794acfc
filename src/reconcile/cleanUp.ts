// Removes all our items from the kernel.
import type { KeyedOperation, Known, Mode } from '../modes/mode.js';
import { applyOperations } from './applyOperations.js';
import { DesiredState } from './desiredState.js';
import { observeAll } from './observeAll.js';
import { countOperations, type Failure } from './summary.js';

/** The result of a clean-up. */
export interface CleanUpSummary {
  readonly operations: number;
  readonly failures: readonly Failure[];
  /** Keys of the remaining items: another program uses the item, or its removal failed. */
  readonly left: readonly string[];
}

/**
 * Times after which the removal of items that are in use is tried again, in ms. nf_tables frees a deleted rule, and with it
 * the reference to a set, only after a grace period of RCU.
 */
const AGAIN_AFTER = [50, 100, 200, 400];

/**
 * Programs an empty desired state, and reads the kernel again until nothing is left that can be removed.
 *
 * @param pause resolves after this time, in ms
 */
export async function cleanUp<Item, Operation extends KeyedOperation>(
  mode: Mode<Item, Operation>,
  pause: (milliseconds: number) => Promise<unknown>,
): Promise<CleanUpSummary> {
  let known = await observeAll(mode);
  let done = 0;
  for (let round = 0; ; round++) {
    const operations = removeAll(mode, known);
    // Reading the rules starts processes.
    if (operations.length === 0) return { operations: done, failures: [], left: left(mode, known) };
    const results = await applyOperations(mode, operations);
    const failed = operations.filter((_, i) => results[i]);
    const failures = operations.flatMap(({ key }, i) => {
      const error = results[i];
      return error ? [{ key, error, vital: false }] : [];
    });
    const again = failures.some(({ error }) => error.code === 'EBUSY') ? AGAIN_AFTER[round] : undefined;
    if (again !== undefined) await pause(again);
    known = await observeAll(mode);
    done += countOperations(operations) - countOperations(failed);
    if (again === undefined)
      return { operations: done + countOperations(failed), failures, left: left(mode, known) };
  }
}

/** The operations after which none of our known items is left, in order. */
export function removeAll<Item, Operation extends KeyedOperation>(
  mode: Mode<Item, Operation>,
  known: Known<Item>,
): Operation[] {
  const nothing = new DesiredState<Item>((item) => mode.groupOf(item));
  const comparison = mode.compare(nothing, known);
  for (const key of known.keys()) comparison.look(key);
  return [...comparison.additions(), ...comparison.removals()];
}

/** The keys of our items. */
function left<Item>(mode: Pick<Mode<Item, never>, 'isOurs'>, known: ReadonlyMap<string, Item>): string[] {
  return [...known].filter(([, item]) => mode.isOurs(item)).map(([key]) => key);
}
