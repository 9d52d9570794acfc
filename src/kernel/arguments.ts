// Invalid arguments: the description of the rule, and the errors.
import { inspect } from 'node:util';

/** A rule that a value breaks. */
export interface InvalidValue {
  /** Path of the field: `realServer.weight`. */
  readonly field: string;
  readonly value: unknown;
  /** `must be an integer from 0 to 65535`. */
  readonly rule: string;
  /** Whether the value is not even of the right type. */
  readonly wrongType: boolean;
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

/** What is invalid in a value that has no named fields. */
export function invalidObject(field: string, value: unknown): InvalidValue | undefined {
  return hasFields(value) ? undefined : { field, value, rule: objectRule(value), wrongType: true };
}

/** Throws the error of a call whose argument has no named fields. Returns the argument. */
export function checkObject<T>(operation: string, field: string, value: T): T {
  const invalid = invalidObject(field, value);
  if (invalid) throw argumentError(operation, invalid);
  return value;
}

/** Whether a value is an integer within bounds. */
export function isIntegerWithin(value: unknown, least: number, most: number): value is number {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}

/** The rule of such a value. */
export function integerRule(least: number | bigint, most: number | bigint): string {
  return `must be an integer from ${least} to ${most}`;
}

/** What is invalid in a value that is not an integer within bounds. */
export function invalidInteger(
  field: string,
  value: unknown,
  least: number,
  most: number,
): InvalidValue | undefined {
  if (isIntegerWithin(value, least, most)) return undefined;
  return { field, value, rule: integerRule(least, most), wrongType: typeof value !== 'number' };
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
export function describeInvalid(invalid: InvalidValue): string {
  return `${invalid.field} ${invalid.rule}, found ${inspect(invalid.value, { depth: 0, breakLength: Infinity })}`;
}

/** The error that a verb rejects with when an argument is invalid: TypeError or RangeError. */
export function argumentError(operation: string, invalid: InvalidValue): TypeError | RangeError {
  const message = `${operation}: ${describeInvalid(invalid)}`;
  return invalid.wrongType ? new TypeError(message) : new RangeError(message);
}
