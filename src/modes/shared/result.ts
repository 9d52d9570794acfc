// Results of operations: errors as values.
import { NetlinkError } from '../../errors.js';

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

/** An error of any kind as a NetlinkError: `ERR_UNKNOWN` if it is none. */
export function asNetlinkError(error: unknown, operation: string): NetlinkError {
  if (error instanceof NetlinkError) return error;
  return new NetlinkError({ code: 'ERR_UNKNOWN', operation, kernelMessage: String(error) });
}
