// Removes everything of ours from the kernel.
import type { KeyedOperation, Mode } from '../modes/mode.js';
import { DesiredState } from './desiredState.js';
import { observeAll } from './observeAll.js';
import type { Failure } from './summary.js';

/** What a clean-up did, and what is still there. */
export interface CleanUpSummary {
  readonly operations: number;
  readonly failures: readonly Failure[];
  /** Keys of what a second look found: each in use by somebody else, or not to be removed for the reason that failed. */
  readonly left: readonly string[];
}

/** The state of a node that wants nothing, reached the way every other state is; then it looks again. */
export async function cleanUp<Item, Operation extends KeyedOperation>(
  mode: Mode<Item, Operation>,
): Promise<CleanUpSummary> {
  const nothing = new DesiredState<Item>((item) => mode.groupOf(item));
  const known = await observeAll(mode);
  const comparison = mode.compare(nothing, known);
  for (const key of known.keys()) comparison.look(key);
  const operations = comparison.operations();
  const results = await mode.apply(operations);
  const failures = operations.flatMap(({ key }, i) => {
    const error = results[i];
    return error ? [{ key, error, vital: false }] : [];
  });
  const after = await observeAll(mode);
  const left = [...after].filter(([, item]) => mode.isOurs(item)).map(([key]) => key);
  return { operations: operations.length, failures, left };
}
