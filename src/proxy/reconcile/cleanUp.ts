// Removes all our items from the kernel.
import type { KeyedOperation, Known, Mode } from '../modes/mode.js';
import { DesiredState } from './desiredState.js';
import { observeAll } from './observeAll.js';
import { countOperations, type Failure } from './summary.js';

/** The result of a clean-up. */
export interface CleanUpSummary {
  readonly operations: number;
  readonly failures: readonly Failure[];
  /** Keys of the items that should be gone: their removal failed, for example because another program uses the item. */
  readonly left: readonly string[];
  /** Keys of the items that a clean-up leaves, because other programs use them. */
  readonly used: readonly string[];
}

/** Programs an empty desired state, then reads the kernel again. */
export async function cleanUp<Item, Operation extends KeyedOperation<Item>>(
  mode: Mode<Item, Operation>,
): Promise<CleanUpSummary> {
  const known = await observeAll(mode);
  const operations = removeAll(mode, known);
  // Reading the rules starts processes.
  if (operations.length === 0) return { operations: 0, failures: [], ...rest(mode, known) };
  const results = await mode.apply(operations);
  const failures = operations.flatMap(({ key }, i) => {
    const error = results[i];
    return error ? [{ key, error, vital: false }] : [];
  });
  return { operations: countOperations(operations), failures, ...rest(mode, await observeAll(mode)) };
}

/** The operations after which none of our known items is left, in order. */
export function removeAll<Item, Operation extends KeyedOperation<Item>>(
  mode: Mode<Item, Operation>,
  known: Known<Item>,
): Operation[] {
  const nothing = new DesiredState<Item>((item) => mode.items.groups?.of(item));
  const comparison = mode.compare(nothing, known);
  for (const key of known.keys()) comparison.look(key);
  return [...comparison.additions(), ...comparison.removals()];
}

/** The keys of the items that remain. */
function rest<Item>({ items }: Pick<Mode<Item, never>, 'items'>, known: ReadonlyMap<string, Item>) {
  const keysOf = (isWanted: (item: Item) => boolean) =>
    [...known].filter(([, item]) => isWanted(item)).map(([key]) => key);
  return { left: keysOf(items.isOurs), used: keysOf((item) => items.isUsed?.(item) ?? false) };
}
