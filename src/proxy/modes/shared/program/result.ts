// Results of operations: errors as values.
import { NetlinkError } from '../../../../kernel/errors.js';

/** The result of an operation: its first error, or undefined. */
export type Result = NetlinkError | undefined;

/** The result of one call: the error with which it resolves or rejects, if any. */
export async function resultOf(operation: string, call: () => Promise<unknown>): Promise<Result> {
  try {
    const result = await call();
    return result instanceof NetlinkError ? result : undefined;
  } catch (error) {
    return asNetlinkError(error, operation);
  }
}

/** The results of one call that has several, or its error for each of them if it rejects. */
export async function resultsOf(
  operation: string,
  count: number,
  call: () => Promise<Result[]>,
): Promise<Result[]> {
  try {
    return await call();
  } catch (error) {
    return new Array<Result>(count).fill(asNetlinkError(error, operation));
  }
}

/** An error of any kind as a NetlinkError: `ERR_UNKNOWN` for any other error. */
export function asNetlinkError(error: unknown, operation: string): NetlinkError {
  if (error instanceof NetlinkError) return error;
  return new NetlinkError({ code: 'ERR_UNKNOWN', operation, kernelMessage: String(error) });
}
