// The kinds of values that fields of a configuration have: how each is read from JSON, what zero means, and how it is
// written again. Reading follows Go's decoder, and reports in its words.
import { isRecord } from '../input/fields.js';
import { durationFault, formatDuration, parseDuration } from './duration.js';
import { isFloat32, MAX_INT32, MIN_INT32 } from './goSyntax.js';

/** Where a value stands, and what is told of it and its neighbours. */
export interface Place {
  /** Go's type of the object that holds the value: `KubeProxyIPVSConfiguration`. */
  readonly struct: string;
  /** `ipvs.syncPeriod`. */
  readonly path: string;
  /** What cannot be decoded, in the words of Go's decoder. */
  readonly problems: string[];
  /** Paths of fields that no configuration has. */
  readonly unknown: string[];
}

/** A kind of value. */
export interface Kind<T> {
  /** What a field has that is absent, null or, unless zero is a value of its own, zero. */
  readonly absent: T;
  /** Reads a JSON value; one of another type is reported, and reads as absent. */
  decode(value: unknown, place: Place): T;
  /** The JSON value. */
  encode(value: T): unknown;
}

/** What a table of kinds describes. */
export type Shape<Fields> = {
  readonly [Name in keyof Fields]: Fields[Name] extends Kind<infer T> ? T : never;
};

/** Text; empty text means the default. */
export function text<T extends string = string>(absent = ''): Kind<T> {
  return scalar('string', absent as T, (value) => (typeof value === 'string' ? (value as T) : undefined));
}

/** A condition. */
export function flag(absent = false): Kind<boolean> {
  return valued('bool', absent, (value) => (typeof value === 'boolean' ? value : undefined));
}

/** A condition that is written only where it is true. */
export function mark(): Kind<boolean> {
  return { ...flag(), encode: (value) => value || undefined };
}

/** A whole number of 32 bits; 0 means the default. */
export function integer(absent = 0): Kind<number> {
  return scalar('int32', absent, readInteger(MIN_INT32, MAX_INT32));
}

/** A whole number of 32 bits; 0 is a value of its own. */
export function integerOrZero(absent: number): Kind<number> {
  return valued('int32', absent, readInteger(MIN_INT32, MAX_INT32));
}

/** A log level: a whole number from 0. */
export function level(): Kind<number> {
  return scalar('v1.VerbosityLevel', 0, readInteger(0, 2 ** 32 - 1));
}

/** A number; 0 means the default. */
export function float(absent: number): Kind<number> {
  return scalar('float32', absent, (value) =>
    typeof value === 'number' && isFloat32(value) ? value : undefined,
  );
}

/** A duration in Go's notation, held in ms; 0 means the default. */
export function duration(absent = 0): Kind<number> {
  return timed((value) => value || absent, absent);
}

/** A duration in Go's notation, held in ms; 0 is a value of its own. */
export function durationOrZero(absent: number): Kind<number> {
  return timed((value) => value, absent);
}

/** A duration in Go's notation or in whole ns, held in ms; 0 means the default. */
export function durationOrNanoseconds(absent: number): Kind<number> {
  const written = duration(absent);
  const decode = (value: unknown, place: Place) => {
    if (typeof value !== 'number') return written.decode(value, place);
    if (Number.isSafeInteger(value)) return value / 1e6 || absent;
    const why = `json: cannot unmarshal ${typeOf(value)} into Go value of type time.Duration`;
    place.problems.push(`invalid duration "${value}": ${why} (${place.path})`);
    return absent;
  };
  return { ...written, decode };
}

/** A number of bytes in Kubernetes' notation (`4Ki`), kept as text; default `0`. */
export function quantity(): Kind<string> {
  const read = (value: unknown) => {
    const written = typeof value === 'number' ? String(value) : value;
    return typeof written === 'string' && isQuantity(written) ? written : undefined;
  };
  const fault = (_: unknown, { path }: Place) => `${QUANTITY_RULE} (${path})`;
  return { absent: '0', decode: (value, place) => decodeOr('0', value, place, read, fault), encode: same };
}

/** Whether a text is a quantity in Kubernetes' notation. */
export function isQuantity(written: string): boolean {
  return /^[+-]?(\d+(\.\d*)?|\.\d+)(|[numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)$/.test(written);
}

/** What is wrong with a text that is no quantity, in Kubernetes' words. */
export const QUANTITY_RULE =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/** A list of texts. */
export function texts(): Kind<readonly string[]> {
  return {
    absent: [],
    decode(value, place) {
      if (!isList(value, '[]string', place)) return [];
      return value.map((item) => text().decode(item, place));
    },
    encode: (value) => (value.length === 0 ? null : value),
  };
}

/** Conditions by name. */
export function flags(): Kind<Readonly<Record<string, boolean>>> {
  return {
    absent: {},
    decode(value, place) {
      if (value === null || value === undefined) return {};
      if (!isRecord(value)) return mismatch(value, 'map[string]bool', place, {});
      return Object.fromEntries(
        Object.entries(value).map(([name, set]) => [name, flag().decode(set, place)]),
      );
    },
    encode: (value) => (Object.keys(value).length === 0 ? undefined : value),
  };
}

/** A list of objects of one kind. */
export function list<T>(type: string, item: Kind<T>): Kind<readonly T[]> {
  return {
    absent: [],
    decode(value, place) {
      if (!isList(value, type, place)) return [];
      return value.map((one, i) => item.decode(one, { ...place, path: `${place.path}[${i}]` }));
    },
    encode: (value) => (value.length === 0 ? undefined : value.map((one) => item.encode(one))),
  };
}

/** An object with these fields. */
export function struct<Fields extends Readonly<Record<string, Kind<unknown>>>>(
  type: string,
  fields: Fields,
): Kind<Shape<Fields>> {
  const entries = Object.entries(fields);
  const absent = Object.fromEntries(entries.map(([name, kind]) => [name, kind.absent])) as Shape<Fields>;
  return {
    absent,
    decode(value, place) {
      if (value === null || value === undefined) return absent;
      if (!isRecord(value)) return mismatch(value, `v1alpha1.${type}`, place, absent);
      const below = (name: string) => (place.path === '' ? name : `${place.path}.${name}`);
      for (const name of Object.keys(value))
        if (!Object.hasOwn(fields, name)) place.unknown.push(below(name));
      const decoded = entries.map(([name, kind]) => [
        name,
        kind.decode(value[name], { ...place, struct: type, path: below(name) }),
      ]);
      return Object.fromEntries(decoded) as Shape<Fields>;
    },
    encode: (value) =>
      Object.fromEntries(
        entries.flatMap(([name, kind]) => {
          const encoded = kind.encode((value as Readonly<Record<string, unknown>>)[name]);
          return encoded === undefined ? [] : [[name, encoded]];
        }),
      ),
  };
}

/** A kind whose zero means the default. */
function scalar<T>(type: string, absent: T, read: (value: unknown) => T | undefined): Kind<T> {
  return valued(type, absent, (value) => {
    const found = read(value);
    return found === '' || found === 0 ? absent : found;
  });
}

/** A kind whose zero is a value of its own. */
function valued<T>(type: string, absent: T, read: (value: unknown) => T | undefined): Kind<T> {
  const fault = (value: unknown, { struct: holder, path }: Place) =>
    `json: cannot unmarshal ${typeOf(value)} into Go struct field ${holder}.${path} of type ${type}`;
  return { absent, decode: (value, place) => decodeOr(absent, value, place, read, fault), encode: same };
}

function timed(complete: (milliseconds: number) => number, absent: number): Kind<number> {
  const read = (value: unknown) => (typeof value === 'string' ? parseDuration(value) : undefined);
  // Go's messages do not name the field here.
  const fault = (value: unknown, { path }: Place) =>
    typeof value === 'string'
      ? `${durationFault(value)} (${path})`
      : `json: cannot unmarshal ${typeOf(value)} into Go value of type string (${path})`;
  return {
    absent,
    decode: (value, place) => complete(decodeOr(absent, value, place, read, fault)),
    encode: formatDuration,
  };
}

function readInteger(min: number, max: number) {
  return (value: unknown) =>
    typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max ? value : undefined;
}

function decodeOr<T>(
  absent: T,
  value: unknown,
  place: Place,
  read: (value: unknown) => T | undefined,
  fault: (value: unknown, place: Place) => string,
): T {
  if (value === null || value === undefined) return absent;
  const found = read(value);
  if (found !== undefined) return found;
  place.problems.push(fault(value, place));
  return absent;
}

function isList(value: unknown, type: string, place: Place): value is readonly unknown[] {
  if (Array.isArray(value)) return true;
  if (value !== null && value !== undefined) mismatch(value, type, place, undefined);
  return false;
}

function mismatch<T>(value: unknown, type: string, { struct: holder, path, problems }: Place, absent: T): T {
  const field = path === '' ? 'value' : `struct field ${holder}.${path}`;
  problems.push(`json: cannot unmarshal ${typeOf(value)} into Go ${field} of type ${type}`);
  return absent;
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
