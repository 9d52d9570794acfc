// Values that a place of an argument must refuse, and calls with one of them in place of a valid value.
import { NetlinkError } from '../../../src/kernel/errors.js';
import { AddressPorts } from '../../../src/kernel/net/addressPorts.js';
import { SliceEndpoints } from '../../../src/proxy/objects/sliceEndpoints.js';
import type { Kind } from './types.js';

/** What each kind of place has; a value of one of its kinds is left out unless it is listed in {@link WRONG}. */
const OTHERS: readonly (readonly [Kind, unknown])[] = [
  ['undefined', undefined],
  ['null', null],
  ['boolean', true],
  ['bigint', 10n],
  ['number', 5],
  ['string', 'x'],
  ['function', () => 1],
  ['array', []],
  ['object', {}],
  // Neither has a text.
  ['object', Object.create(null)],
  ['object', { toString: 'x', valueOf: 1 }],
  ['Uint8Array', new Uint8Array(2)],
  ['boolean', false],
  ['bigint', 0n],
  ['number', 0],
  ['string', ''],
];

/** Values of no kind. */
const NEVER: readonly unknown[] = [
  ...[NaN, Infinity, -1, 1.5, 2 ** 53, 2 ** 64, -1n, 1n << 65n, Symbol('a')],
  ...[new Map(), new Set(), new Date(0), /a/, new Error('a'), Promise.resolve(), new ArrayBuffer(2)],
  'a\0b',
  '',
];

/** Values that a place of these kinds must refuse. */
export function wrongValues(kinds: ReadonlySet<Kind>): unknown[] {
  // An object or a list without an element may be valid, and an index or the id of a process is a number.
  return [...NEVER, ...OTHERS.filter(([kind]) => !kinds.has(kind)).map(([, value]) => value)];
}

/** A place of a value: `[0].service.port`, its keys, and its path in the types, `[0].service.port`, `[0][]`. */
export interface Place {
  readonly keys: readonly (string | number)[];
  readonly path: string;
}

/** Classes whose objects have no places. */
const LEAVES = [AbortSignal, Uint8Array, NetlinkError, URL, Set, AddressPorts, SliceEndpoints];

/** Every place of the arguments of a call, those of objects and arrays too. */
export function* placesIn(
  value: unknown,
  keys: readonly (string | number)[] = [],
  path = '',
): Generator<Place> {
  if (keys.length > 0) yield { keys, path };
  if (typeof value !== 'object' || value === null) return;
  if (LEAVES.some((type) => value instanceof type)) return;
  for (const [key, held] of Object.entries(value)) {
    const isElement = Array.isArray(value);
    const inner = keys.length === 0 ? `[${key}]` : isElement ? `${path}[]` : `${path}.${key}`;
    yield* placesIn(held, [...keys, isElement ? Number(key) : key], inner);
  }
}

/** The arguments with another value in a place. Objects on the way are copied. */
export function changed(
  args: unknown,
  [key, ...rest]: readonly (string | number)[],
  value: unknown,
): unknown {
  if (key === undefined) return value;
  const copy = (Array.isArray(args) ? [...args] : { ...(args as object) }) as Record<
    string | number,
    unknown
  >;
  copy[key] = changed(copy[key], rest, value);
  return copy;
}

/** The value in a place of arguments. */
export function valueAt(args: unknown, keys: readonly (string | number)[]): unknown {
  return keys.reduce((value, key) => (value as Readonly<Record<string | number, unknown>>)[key], args);
}
