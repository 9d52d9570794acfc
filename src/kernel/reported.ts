// Reports of batches: one for each batch that has ended, whichever part of the kernel it was for.
import { performance } from 'node:perf_hooks';
import type { BatchSource } from './types.js';

/** Carries a batch out with `act`, and reports it. `act` resolves to one result for each operation. */
export async function reported<Operation, Result extends Error | undefined>(
  { onBatch }: BatchSource<Operation>,
  operations: readonly Operation[],
  nameOf: (operation: Operation) => string,
  act: () => Promise<Result[]>,
): Promise<Result[]> {
  if (!onBatch) return act();
  const started = performance.now();
  const report = (results: readonly (Error | undefined)[]) =>
    onBatch({ operations, names: operations.map(nameOf), results, duration: performance.now() - started });
  let results: Result[];
  try {
    results = await act();
  } catch (error) {
    report(operations.map(() => error as Error));
    throw error;
  }
  report(results);
  return results;
}

/** Carries one change out with `act`, and reports it as a batch of its own. */
export async function changed<Change extends { readonly do: string }>(
  source: BatchSource<Change>,
  change: Change,
  act: () => Promise<void>,
): Promise<void> {
  await reported(source, [change], verbOf, async () => {
    await act();
    return [undefined];
  });
}

/** The name of an operation that has a verb. Accepts operations that break every rule. */
export function verbOf(operation: { readonly do: string } | undefined): string {
  return String(operation?.do);
}
