// What single expressions load into a register, in the notation of nft.
import type { AnonymousSet, Expression } from '../../types.js';
import { layoutOf } from '../../values/valueTypes.js';
import {
  BARE,
  FIB_RESULTS,
  IN_NETWORK_ORDER,
  lengthOf,
  lengthOfMeta,
  META_NAMES,
  META_TYPES,
  ROUTE_FIELDS,
} from '../fields.js';
import type { SetContent } from '../sets.js';
import type { LoadedType } from '../values.js';
import type { Loaded } from './registers.js';

/** Expressions of a kind. */
export type Of<Kind extends Expression['kind']> = Extract<Expression, { kind: Kind }>;

/** A key of meta. */
export function meta({ key }: Of<'meta'>): Loaded {
  const type = (typeof key === 'string' ? META_TYPES[key] : undefined) ?? 'integer';
  const text = BARE.has(key) ? String(key) : `meta ${META_NAMES[key] ?? key}`;
  return {
    ...value(text, type, lengthOfMeta(key)),
    isNetwork: IN_NETWORK_ORDER.has(key),
    isOnce: key === 'random',
  };
}

/** A key of rt. */
export function route({ key }: Of<'rt'>): Loaded {
  const [type, name, length] = ROUTE_FIELDS[key];
  return { ...value(`rt ${name}`, type, length), isNetwork: type === 'ipv4_addr' || type === 'ipv6_addr' };
}

/** A key of socket. */
export function socket({ key, level }: Of<'socket'>): Loaded {
  const text = `socket ${key}${level === undefined ? '' : ` level ${level}`}`;
  if (key === 'cgroupv2') return value(text, 'integer', 8);
  return key === 'mark' ? value(text, 'mark', 4) : value(text, 'number', 1);
}

/** The set of a rule, as the kernel lists it. */
export function contentOf(given: AnonymousSet): SetContent {
  const { key, data, objects, dataIsInterval, flags = [], elements } = given;
  const types =
    data === undefined ? { key } : { key, data, dataLength: data === 'verdict' ? 0 : layoutOf(data).length };
  const set = { family: 0, table: '', name: '', flags, anonymous: true, handle: 0n } as const;
  const named = {
    ...(objects !== undefined && { objects }),
    ...(dataIsInterval && { dataIsInterval }),
  };
  return { set: { ...set, ...types, ...named, keyLength: layoutOf(key).length }, elements };
}

/** A value that is no constant. */
export function value(text: string, type: LoadedType, length = lengthOf(type)): Loaded {
  return { text, type, length, isNetwork: false };
}

/** The result of fib. */
export function fib({ flags, result, present }: Of<'fib'>): Loaded {
  return value(`fib ${flags.join(' . ')} ${result}`, present ? 'boolean' : FIB_RESULTS[result]);
}

/** ` random,persistent` */
export function flagsOf({ flags = [] }: { readonly flags?: readonly string[] }): string {
  return flags.length === 0 ? '' : ` ${flags.join(',')}`;
}
