// The results of a batch as one error.
import { argumentError, checkArray } from './arguments.js';
import type { OperationResult } from './types.js';

/**
 * Throws if an operation of a batch failed: the error of the only one that failed, or an AggregateError with the errors of all
 * in `errors`, in the order of the operations.
 */
export function throwOnFailure(results: readonly OperationResult[]): void {
  const operation = 'throwOnFailure';
  checkArray(operation, 'results', results);
  for (const [i, result] of results.entries()) {
    if (result === undefined || (result as unknown) instanceof Error) continue;
    const rule = 'must be an Error or undefined';
    throw argumentError(operation, { field: `results[${i}]`, value: result, rule, wrongType: true });
  }
  const errors = results.filter((result) => result !== undefined);
  const [first] = errors;
  if (first === undefined) return;
  if (errors.length === 1) {
    Error.captureStackTrace(first, throwOnFailure); // results have no stack
    throw first;
  }
  const count = `${errors.length} of ${results.length} operations failed`;
  throw new AggregateError(errors, `${count}, the first: ${first.message}`);
}
