// The types of the fields of a configuration: how each is decoded from JSON, what its zero value means, and how it is
// encoded. Decoding follows Go's decoder, with its error messages.
import { isIntegerWithin } from '../../kernel/arguments.js';
import { isRecord } from '../../proxy/input/fields.js';
import { durationError, formatDuration, parseDuration } from './duration.js';
import { isFloat32, MAX_INT32, MIN_INT32 } from './goSyntax.js';

/** The position of a value in the configuration, and the errors of the whole configuration so far. */
interface DecodeContext {
  /** Go's type of the object that holds the value: `KubeProxyIPVSConfiguration`. */
  readonly struct: string;
  /** `ipvs.syncPeriod`. */
  readonly path: string;
  /** Errors in the words of Go's decoder. */
  readonly problems: string[];
  /** Paths of unknown fields. */
  readonly unknown: string[];
}

/** A type of fields. */
export interface FieldType<T> {
  /** The value of a field that is absent or null or, unless zero is a valid value, zero. */
  readonly default: T;
  /** Decodes a JSON value. A value of another type is an error, and decodes to the default. */
  decode(value: unknown, context: DecodeContext): T;
  /** The JSON value; undefined: the field is omitted. */
  encode(value: T): unknown;
}

/** The values of a table of field types. */
type Shape<Fields> = {
  readonly [Name in keyof Fields]: Fields[Name] extends FieldType<infer T> ? T : never;
};

/** A string; empty means the default. */
export function string<T extends string = string>(defaultValue = ''): FieldType<T> {
  return zeroIsDefault('string', defaultValue as T, (value) =>
    typeof value === 'string' ? (value as T) : undefined,
  );
}

/** A version such as `1.37`; empty means the default, and is omitted. YAML reads it as a number if it has no quotes. */
export function version(): FieldType<string> {
  const read = (value: unknown) => (typeof value === 'string' ? value : undefined);
  const errorOf = (value: unknown, { struct: holder, path }: DecodeContext) =>
    `json: cannot unmarshal ${typeOf(value)} into Go struct field ${holder}.${path} of type string: write the version in quotes, as "1.37"`;
  return {
    default: '',
    decode: (value, context) => decodeOr('', value, context, read, errorOf),
    encode: (value) => value || undefined,
  };
}

/** A boolean. */
export function bool(defaultValue = false): FieldType<boolean> {
  return zeroIsValid('bool', defaultValue, (value) => (typeof value === 'boolean' ? value : undefined));
}

/** A boolean that is omitted if it is false. */
export function boolOmitEmpty(): FieldType<boolean> {
  return { ...bool(), encode: (value) => value || undefined };
}

/** An integer of 32 bits; 0 means the default. */
export function int32(defaultValue = 0): FieldType<number> {
  return zeroIsDefault('int32', defaultValue, readInteger(MIN_INT32, MAX_INT32));
}

/** An integer of 32 bits; 0 is a valid value. */
export function int32OrZero(defaultValue: number): FieldType<number> {
  return zeroIsValid('int32', defaultValue, readInteger(MIN_INT32, MAX_INT32));
}

/** A log level: an integer of 0 or more. */
export function logLevel(): FieldType<number> {
  return zeroIsDefault('v1.VerbosityLevel', 0, readInteger(0, 2 ** 32 - 1));
}

/** A number; 0 means the default. */
export function float32(defaultValue: number): FieldType<number> {
  return zeroIsDefault('float32', defaultValue, (value) =>
    typeof value === 'number' && isFloat32(value) ? value : undefined,
  );
}

/** A duration in Go's notation, in ms; 0 means the default. */
export function duration(defaultValue = 0): FieldType<number> {
  return timed((value) => value || defaultValue, defaultValue);
}

/** A duration in Go's notation, in ms; 0 is a valid value. */
export function durationOrZero(defaultValue: number): FieldType<number> {
  return timed((value) => value, defaultValue);
}

/** A duration in Go's notation or in integral ns, in ms; 0 means the default. */
export function durationOrNanoseconds(defaultValue: number): FieldType<number> {
  const written = duration(defaultValue);
  const decode = (value: unknown, context: DecodeContext) => {
    if (typeof value !== 'number') return written.decode(value, context);
    if (Number.isSafeInteger(value)) return value / 1e6 || defaultValue;
    const why = `json: cannot unmarshal ${typeOf(value)} into Go value of type time.Duration`;
    context.problems.push(`invalid duration "${value}": ${why} (${context.path})`);
    return defaultValue;
  };
  return { ...written, decode };
}

/** A number of bytes in Kubernetes' notation (`4Ki`), as text; the default is `0`. */
export function quantity(): FieldType<string> {
  const read = (value: unknown) => {
    const written = typeof value === 'number' ? String(value) : value;
    return typeof written === 'string' && isQuantity(written) ? written : undefined;
  };
  const errorOf = (_: unknown, { path }: DecodeContext) => `${QUANTITY_RULE} (${path})`;
  return {
    default: '0',
    decode: (value, context) => decodeOr('0', value, context, read, errorOf),
    encode: same,
  };
}

/** Whether the text is a quantity in Kubernetes' notation. */
export function isQuantity(written: string): boolean {
  return /^[+-]?(\d+(\.\d*)?|\.\d+)(|[numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)$/.test(written);
}

/** Kubernetes' error for a text that is not a quantity. */
export const QUANTITY_RULE =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/** A list of strings. */
export function stringList(): FieldType<readonly string[]> {
  return {
    default: [],
    decode(value, context) {
      if (!isList(value, '[]string', context)) return [];
      return value.map((item) => string().decode(item, context));
    },
    encode: (value) => (value.length === 0 ? null : value),
  };
}

/** A list of strings that is omitted if it is empty. */
export function stringListOmitEmpty(): FieldType<readonly string[]> {
  return { ...stringList(), encode: (value) => (value.length === 0 ? undefined : value) };
}

/** Booleans by name. */
export function boolMap(): FieldType<Readonly<Record<string, boolean>>> {
  return {
    default: {},
    decode(value, context) {
      if (value === null || value === undefined) return {};
      if (!isRecord(value)) return mismatch(value, 'map[string]bool', context, {});
      return Object.fromEntries(
        Object.entries(value).map(([name, set]) => [name, bool().decode(set, context)]),
      );
    },
    encode: (value) => (Object.keys(value).length === 0 ? undefined : value),
  };
}

/** A list of values of one type. */
export function listOf<T>(type: string, item: FieldType<T>): FieldType<readonly T[]> {
  return {
    default: [],
    decode(value, context) {
      if (!isList(value, type, context)) return [];
      return value.map((one, i) => item.decode(one, { ...context, path: `${context.path}[${i}]` }));
    },
    encode: (value) => (value.length === 0 ? undefined : value.map((one) => item.encode(one))),
  };
}

/** An object with these fields. */
export function struct<Fields extends Readonly<Record<string, FieldType<unknown>>>>(
  type: string,
  fields: Fields,
): FieldType<Shape<Fields>> {
  const entries = Object.entries(fields);
  const defaultValue = Object.fromEntries(
    entries.map(([name, field]) => [name, field.default]),
  ) as Shape<Fields>;
  return {
    default: defaultValue,
    decode(value, context) {
      if (value === null || value === undefined) return defaultValue;
      if (!isRecord(value)) return mismatch(value, `v1alpha1.${type}`, context, defaultValue);
      const below = (name: string) => (context.path === '' ? name : `${context.path}.${name}`);
      for (const name of Object.keys(value))
        if (!Object.hasOwn(fields, name)) context.unknown.push(below(name));
      const decoded = entries.map(([name, field]) => [
        name,
        field.decode(value[name], { ...context, struct: type, path: below(name) }),
      ]);
      return Object.fromEntries(decoded) as Shape<Fields>;
    },
    encode: (value) =>
      Object.fromEntries(
        entries.flatMap(([name, field]) => {
          const encoded = field.encode((value as Readonly<Record<string, unknown>>)[name]);
          return encoded === undefined ? [] : [[name, encoded]];
        }),
      ),
  };
}

/** A type whose zero value means the default. */
function zeroIsDefault<T>(
  type: string,
  defaultValue: T,
  read: (value: unknown) => T | undefined,
): FieldType<T> {
  return zeroIsValid(type, defaultValue, (value) => {
    const found = read(value);
    return found === '' || found === 0 ? defaultValue : found;
  });
}

/** A type whose zero value is valid. */
function zeroIsValid<T>(
  type: string,
  defaultValue: T,
  read: (value: unknown) => T | undefined,
): FieldType<T> {
  const errorOf = (value: unknown, { struct: holder, path }: DecodeContext) =>
    `json: cannot unmarshal ${typeOf(value)} into Go struct field ${holder}.${path} of type ${type}`;
  const decode = (value: unknown, context: DecodeContext) =>
    decodeOr(defaultValue, value, context, read, errorOf);
  return { default: defaultValue, decode, encode: same };
}

function timed(complete: (milliseconds: number) => number, defaultValue: number): FieldType<number> {
  const read = (value: unknown) => (typeof value === 'string' ? parseDuration(value) : undefined);
  // Go's message does not name the field here; ours does.
  const errorOf = (value: unknown, { path }: DecodeContext) =>
    typeof value === 'string'
      ? `${durationError(value)} (${path})`
      : `json: cannot unmarshal ${typeOf(value)} into Go value of type string (${path})`;
  return {
    default: defaultValue,
    decode: (value, context) => complete(decodeOr(defaultValue, value, context, read, errorOf)),
    encode: formatDuration,
  };
}

function readInteger(min: number, max: number) {
  return (value: unknown) => (isIntegerWithin(value, min, max) ? value : undefined);
}

function decodeOr<T>(
  defaultValue: T,
  value: unknown,
  context: DecodeContext,
  read: (value: unknown) => T | undefined,
  errorOf: (value: unknown, context: DecodeContext) => string,
): T {
  if (value === null || value === undefined) return defaultValue;
  const found = read(value);
  if (found !== undefined) return found;
  context.problems.push(errorOf(value, context));
  return defaultValue;
}

function isList(value: unknown, type: string, context: DecodeContext): value is readonly unknown[] {
  if (Array.isArray(value)) return true;
  if (value !== null && value !== undefined) mismatch(value, type, context, undefined);
  return false;
}

function mismatch<T>(
  value: unknown,
  type: string,
  { struct: holder, path, problems }: DecodeContext,
  defaultValue: T,
): T {
  const field = path === '' ? 'value' : `struct field ${holder}.${path}`;
  problems.push(`json: cannot unmarshal ${typeOf(value)} into Go ${field} of type ${type}`);
  return defaultValue;
}

/** The type of a JSON value, as Go's decoder names it. */
function typeOf(value: unknown): string {
  if (typeof value === 'number') return `number ${value}`;
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  return Array.isArray(value) ? 'array' : 'object';
}

function same<T>(value: T): T {
  return value;
}
