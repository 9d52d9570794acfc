// Invalid arguments: the description of the rule, and the errors.
import { inspect } from 'node:util';
import { NetlinkError } from '../../errors.js';
import type { Attempt } from './failures.js';
import type { CallOptions } from './types.js';

const CALL_OPTIONS: ReadonlySet<string> = new Set(['signal']);

/** A rule that a value breaks. */
export interface Fault {
  /** Path of the field: `realServer.weight`. */
  readonly field: string;
  readonly value: unknown;
  /** `must be an integer from 0 to 65535`. */
  readonly rule: string;
  /** Whether the value is not even of the right type. */
  readonly wrongType: boolean;
}

/** The first option that is not among the known ones. */
export function findUnknown(options: object, known: ReadonlySet<string>): Fault | undefined {
  for (const [field, value] of Object.entries(options)) {
    if (!known.has(field)) return { field, value, rule: 'is not an option', wrongType: true };
  }
  return undefined;
}

/**
 * Whether a value has named fields: a literal, or an object of a class that does not name itself otherwise. A list, a Map or a Date
 * has none of the fields that are looked for, and would be taken for an object without any.
 */
export function hasFields(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  return (
    Object.getPrototypeOf(value) === Object.prototype ||
    Object.prototype.toString.call(value) === '[object Object]'
  );
}

/** The rule of such a value. */
export function objectRule(value: unknown): string {
  return typeof value === 'object' && value !== null ? 'must be a plain object' : 'must be an object';
}

/** The fault of a value that has no named fields. */
export function objectFault(field: string, value: unknown): Fault | undefined {
  return hasFields(value) ? undefined : { field, value, rule: objectRule(value), wrongType: true };
}

/** Throws the error of a call whose argument has no named fields. Returns the argument. */
export function checkObject<T>(operation: string, field: string, value: T): T {
  const fault = objectFault(field, value);
  if (fault) throw argumentError(operation, fault);
  return value;
}

/** Throws the error of a call whose options are not an object; they may be left out. */
export function checkOptions(operation: string, options: unknown): void {
  if (options !== undefined) checkObject(operation, 'options', options);
}

/** Throws the error of a call whose options are invalid. */
export function checkCallOptions(operation: string, options: CallOptions | undefined): void {
  const fault = options === undefined ? undefined : findCallOptionsFault(options);
  if (fault) throw argumentError(operation, fault);
}

/** The fault of the options of a call. */
export function findCallOptionsFault(options: CallOptions): Fault | undefined {
  const fault = objectFault('options', options);
  if (fault) return fault;
  const { signal } = options;
  if (signal === undefined || signal instanceof AbortSignal) return findUnknown(options, CALL_OPTIONS);
  return { field: 'signal', value: signal, rule: 'must be an AbortSignal', wrongType: true };
}

/** The fault of a value that is not an integer within bounds. */
export function integerFault(field: string, value: unknown, least: number, most: number): Fault | undefined {
  if (Number.isInteger(value) && Number(value) >= least && Number(value) <= most) return undefined;
  const rule = `must be an integer from ${least} to ${most}`;
  return { field, value, rule, wrongType: typeof value !== 'number' };
}

/** Throws the error of a call whose list is not an array: any other object would be taken for an empty one. */
export function checkArray(operation: string, field: string, value: unknown): void {
  if (Array.isArray(value)) return;
  throw argumentError(operation, { field, value, rule: 'must be an array', wrongType: true });
}

/** A value of any type in the name of an operation or of its target. A Symbol, for example, cannot be a part of a text. */
export function shown(value: unknown): string {
  return typeof value === 'string' ? value : inspect(value, { depth: 0, breakLength: Infinity });
}

/** `realServer.weight must be an integer from 0 to 2147483647, found -1`. */
export function describeFault(fault: Fault): string {
  return `${fault.field} ${fault.rule}, found ${inspect(fault.value, { depth: 0, breakLength: Infinity })}`;
}

/** The error that a verb rejects with when an argument is invalid: TypeError or RangeError. */
export function argumentError(operation: string, fault: Fault): TypeError | RangeError {
  const message = `${operation}: ${describeFault(fault)}`;
  return fault.wrongType ? new TypeError(message) : new RangeError(message);
}

/** The result of such an operation within a batch, where it must not hide the results of the others. */
export function invalidOperation(attempt: Attempt, fault: Fault): NetlinkError {
  return new NetlinkError({
    code: 'ERR_INVALID_ARGUMENT',
    operation: attempt.operation,
    target: attempt.target,
    kernelMessage: describeFault(fault),
  });
}
