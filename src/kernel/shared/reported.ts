// Reports of batches: one for each batch that has ended, whichever part of the kernel it was for.
import { performance } from 'node:perf_hooks';
import { shown } from './arguments.js';
import type { BatchSource } from './types.js';

/** A batch in a form from which its operations are made on request: most listeners need only their names. */
export interface ReportedBatch<Operation> {
  operations(): readonly Operation[];
  names(): readonly string[];
}

/** Carries a batch out with `act`, and reports it. `act` resolves to one result for each operation. */
export function reported<Operation, Result extends Error | undefined>(
  source: BatchSource<Operation>,
  operations: readonly Operation[],
  nameOf: (operation: Operation) => string,
  act: () => Promise<Result[]>,
): Promise<Result[]> {
  return reportedBatch(source, { operations: () => operations, names: () => operations.map(nameOf) }, act);
}

/** As {@link reported}, for a batch in another form. */
export async function reportedBatch<Operation, Result extends Error | undefined>(
  { onBatch }: BatchSource<Operation>,
  batch: ReportedBatch<Operation>,
  act: () => Promise<Result[]>,
): Promise<Result[]> {
  if (!onBatch) return act();
  const started = performance.now();
  const report = (resultsOf: () => readonly (Error | undefined)[]) => {
    const duration = performance.now() - started;
    const names = once(() => batch.names());
    const results = once(resultsOf);
    onBatch({
      get operations() {
        return batch.operations();
      },
      get names() {
        return names();
      },
      get results() {
        return results();
      },
      duration,
    });
  };
  let results: Result[];
  try {
    results = await act();
  } catch (error) {
    report(() => new Array<Error>(batch.names().length).fill(error as Error));
    throw error;
  }
  report(() => results);
  return results;
}

/** Makes a value when it is first needed: the names of many operations take longer than the batch may block the event loop. */
function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
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
  return shown(operation?.do);
}
