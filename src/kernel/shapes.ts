// What the objects that a program gives to the library must be: checked once, where they are given.
import { argumentError, hasFields, type InvalidValue, invalidInteger, invalidObject } from './arguments.js';

/** Finds what is invalid in a value: the field is its path, `options.families`. */
export type Check = (value: unknown, field: string) => InvalidValue | undefined;

/** The checks of the fields of an object. */
export type Shape<T> = { readonly [Name in keyof T]-?: Check };

/** Throws the error of a call of which an argument is invalid. */
export function checkArgument(operation: string, field: string, value: unknown, check: Check): void {
  const invalid = check(value, field);
  if (invalid) throw argumentError(operation, invalid);
}

/** A value of a kind that satisfies a rule. */
export function ruled(
  type: 'string' | 'number' | 'boolean' | 'function',
  rule: string,
  accepts: (value: never) => boolean = () => true,
): Check {
  return (value, field) => {
    const wrongType = typeof value !== type;
    return wrongType || !accepts(value as never) ? { field, value, rule, wrongType } : undefined;
  };
}

/** A value that can be iterated. A text can be too, character by character, which nobody means. */
export function iterable(value: unknown, field: string): InvalidValue | undefined {
  const isIterable = typeof value === 'object' && value !== null && Symbol.iterator in value;
  return isIterable ? undefined : { field, value, rule: 'must be an iterable', wrongType: true };
}

/** True or false. */
export const FLAG = ruled('boolean', 'must be true or false');
/** A function. */
export const FUNCTION = ruled('function', 'must be a function');
/** A text that may be empty. */
export const ANY_TEXT = ruled('string', 'must be a text without NUL', (text: string) => !text.includes('\0'));
/** A name, a path, or another text of one line. */
export const TEXT = ruled(
  'string',
  'must be a text of at least one character, without control characters',
  (text: string) => /^\P{Cc}+$/u.test(text),
);
/** A time in ms, 0 or more. Timers of Node have no longer one than 2147483647. */
export const MILLISECONDS = number(0, 0x7fff_ffff);

/** A number within bounds. */
export function number(least: number, most: number): Check {
  const rule = `must be a number from ${least} to ${most}`;
  return ruled('number', rule, (value: number) => value >= least && value <= most);
}

/** An integer within bounds. */
export function integer(least: number, most: number): Check {
  return (value, field) => invalidInteger(field, value, least, most);
}

/** One of a few values. */
export function oneOf(...values: readonly (string | number)[]): Check {
  const rule = `must be one of ${values.join(', ')}`;
  return (value, field) => {
    if (values.includes(value as never)) return undefined;
    return { field, value, rule, wrongType: !values.some((each) => typeof each === typeof value) };
  };
}

/** A value that may be left out. */
export function optional(check: Check): Check {
  return (value, field) => (value === undefined ? undefined : check(value, field));
}

/** An array of such values. */
export function listOf(check: Check): Check {
  return (value, field) => {
    if (!Array.isArray(value)) return { field, value, rule: 'must be an array', wrongType: true };
    const place = value.findIndex((each) => check(each, field));
    return place < 0 ? undefined : check(value[place], `${field}[${place}]`);
  };
}

/** A Set of such values. */
export function setOf(check: Check): Check {
  return (value, field) => {
    if (!(value instanceof Set)) return { field, value, rule: 'must be a Set', wrongType: true };
    return listOf(check)([...value], field);
  };
}

/** A Map of such keys and values. */
export function mapOf(key: Check, value: Check): Check {
  return (map, field) => {
    if (!(map instanceof Map)) return { field, value: map, rule: 'must be a Map', wrongType: true };
    return listOf(key)([...map.keys()], field) ?? listOf(value)([...map.values()], field);
  };
}

/** A value that satisfies one of two checks; reported is the rule of the second. */
export function either(first: Check, second: Check): Check {
  return (value, field) => first(value, field) && second(value, field);
}

/** An object of a class. */
export function instanceOf(type: new (...args: never) => object): Check {
  const rule = `must be an object of ${type.name}`;
  return (value, field) => (value instanceof type ? undefined : { field, value, rule, wrongType: true });
}

/** An object with these fields and no others. */
export function object<T>(shape: Shape<T>): Check {
  const part = partOf(shape);
  return (value, field) => {
    const invalid = part(value, field);
    if (invalid) return invalid;
    const unknown = Object.keys(value as object).find((name) => !Object.hasOwn(shape, name));
    if (unknown === undefined) return undefined;
    const found = (value as Readonly<Record<string, unknown>>)[unknown];
    return { field: `${field}.${unknown}`, value: found, rule: 'is not a known field', wrongType: true };
  };
}

/** An object with these fields, and perhaps others. */
export function partOf<T>(shape: Shape<T>): Check {
  const checks = Object.entries(shape) as [string, Check][];
  return (value, field) => {
    if (!hasFields(value)) return invalidObject(field, value);
    for (const [name, check] of checks) {
      const part = (value as Readonly<Record<string, unknown>>)[name];
      // Paths are made for what is invalid only: iptables mode checks an operation for each endpoint.
      if (check(part, name)) return check(part, `${field}.${name}`);
    }
    return undefined;
  };
}

/** An object with these methods. */
export function methods(...names: readonly string[]): Check {
  return partOf(Object.fromEntries(names.map((name) => [name, FUNCTION])));
}
