// Invalid arguments of the calls of clients: their options, and the errors of operations.
import {
  argumentError,
  checkObject,
  describeInvalid,
  type InvalidValue,
  invalidObject,
} from '../arguments.js';
import { NetlinkError } from '../errors.js';
import type { Attempt } from './failures.js';
import type { CallOptions } from './types.js';

export * from '../arguments.js';

const CALL_OPTIONS: ReadonlySet<string> = new Set(['signal']);

/** The first option that is not among the known ones. */
export function findUnknown(options: object, known: ReadonlySet<string>): InvalidValue | undefined {
  for (const [field, value] of Object.entries(options)) {
    if (!known.has(field)) return { field, value, rule: 'is not an option', wrongType: true };
  }
  return undefined;
}

/** Throws the error of a call whose options are not an object; they may be left out. */
export function checkOptions(operation: string, options: unknown): void {
  if (options !== undefined) checkObject(operation, 'options', options);
}

/** Throws the error of a call whose options are invalid. */
export function checkCallOptions(operation: string, options: CallOptions | undefined): void {
  const invalid = options === undefined ? undefined : findInvalidCallOptions(options);
  if (invalid) throw argumentError(operation, invalid);
}

/** What is invalid in the options of a call. */
export function findInvalidCallOptions(options: CallOptions): InvalidValue | undefined {
  const invalid = invalidObject('options', options);
  if (invalid) return invalid;
  const { signal } = options;
  if (signal === undefined || signal instanceof AbortSignal) return findUnknown(options, CALL_OPTIONS);
  return { field: 'signal', value: signal, rule: 'must be an AbortSignal', wrongType: true };
}

/** The result of such an operation within a batch, where it must not hide the results of the others. */
export function invalidOperation(attempt: Attempt, invalid: InvalidValue): NetlinkError {
  return new NetlinkError({
    code: 'ERR_INVALID_ARGUMENT',
    operation: attempt.operation,
    target: attempt.target,
    kernelMessage: describeInvalid(invalid),
  });
}
