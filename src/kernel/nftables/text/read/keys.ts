// Values that the kernel knows of a packet: keys of meta, ct, fib, socket and rt.
import type { CtKey, MetaKey } from '../../types.js';
import {
  BARE,
  CT_FIELDS,
  ctField,
  FIB_RESULTS,
  IN_NETWORK_ORDER,
  lengthOf,
  lengthOfMeta,
  META_NAMES,
  META_TYPES,
  ROUTE_FIELDS,
} from '../fields.js';
import type { LoadedType } from '../values.js';
import { loaded, type Operand } from './operand.js';
import { type Cursor, Unreadable } from './tokens.js';
import { integerAt } from './values.js';

/** What is known where an operand is read. */
export interface Surroundings {
  readonly network: 'ip' | 'ip6' | undefined;
}

const META_KEYS: ReadonlyMap<string, Extract<MetaKey, string>> = new Map(
  (Object.keys(META_TYPES) as Extract<MetaKey, string>[]).map((key) => [META_NAMES[key] ?? key, key]),
);
const CT_KEYS: ReadonlyMap<string, Extract<CtKey, string>> = new Map(
  (Object.keys(CT_FIELDS) as Extract<CtKey, string>[]).map((key) => [CT_FIELDS[key]?.[1] ?? key, key]),
);
const FAMILIES = ['ip', 'ip6'] as const;
const DIRECTIONS = ['original', 'reply'] as const;

/** A key of meta behind the word. */
export function metaOperand(cursor: Cursor): Operand {
  const name = cursor.word('a key of meta');
  const key = META_KEYS.get(name.text);
  if (key === undefined) throw new Unreadable('is no key of meta that the library has', name);
  return meta(key);
}

/** The highest numbers of keys, if they are less than their bytes can be. */
const MOST: Readonly<Record<string, number>> = { nftrace: 1, time_day: 6 };

/** What a key of meta loads. */
export function meta(key: Extract<MetaKey, string>): Operand {
  const type = META_TYPES[key] as LoadedType;
  const length = lengthOfMeta(key);
  const text = BARE.has(key) ? key : `meta ${key}`;
  const isNetwork = IN_NETWORK_ORDER.has(key);
  return {
    ...loaded(text, type, length, (register) => ({ kind: 'meta', key, register })),
    isNetwork,
    meta: key,
    ...(Object.hasOwn(MOST, key) && { most: MOST[key] as number }),
  };
}

/** The key of `ct`, with its direction. */
export function ctKeyAt(
  cursor: Cursor,
  { network }: Surroundings,
): { readonly key: Extract<CtKey, string>; readonly direction?: 'original' | 'reply' } {
  const direction = DIRECTIONS.find((each) => cursor.accept(each));
  const family = FAMILIES.find((each) => cursor.accept(each));
  const name = cursor.word('a key of ct');
  const key = CT_KEYS.get(family === undefined ? name.text : `${family} ${name.text}`);
  if (key === undefined) throw new Unreadable('is no key of ct that the library has', name);
  if ((key === 'src' || key === 'dst') && network === undefined)
    throw new Unreadable('must have the family of the address before it: `ct original ip saddr`', name);
  if (family !== undefined && network !== undefined && family !== network)
    throw new Unreadable(`must be of packets of ${network}`, name);
  return direction === undefined ? { key } : { key, direction };
}

/** A key of ct behind the word. */
export function connection(cursor: Cursor, surroundings: Surroundings): Operand {
  const { key, direction } = ctKeyAt(cursor, surroundings);
  const { type, name, length, isNetwork } = ctField(key, surroundings.network);
  const expression = { kind: 'ct', key, ...(direction !== undefined && { direction }) } as const;
  const operand = loaded(`ct ${name}`, type, length, (register) => ({ ...expression, register }));
  return { ...operand, isNetwork };
}

const FIB_FLAGS = ['saddr', 'daddr', 'mark', 'iif', 'oif'] as const;
const RESULTS = Object.keys(FIB_RESULTS) as (keyof typeof FIB_RESULTS)[];

/** A result of fib behind the word, with its key: `saddr . iif oif` */
export function fib(cursor: Cursor): Operand {
  const flags: (typeof FIB_FLAGS)[number][] = [];
  do {
    const name = cursor.word('a part of the key of fib');
    const flag = FIB_FLAGS.find((each) => each === name.text);
    if (!flag) throw new Unreadable(`must be one of ${FIB_FLAGS.join(', ')}`, name);
    flags.push(flag);
  } while (cursor.accept('.'));
  const name = cursor.word('a result of fib');
  // Newer versions of nft have another word for the interface of which only the existence is loaded.
  const isCheck = name.text === 'check' && cursor.is('exists', 'missing');
  const result = isCheck ? 'oif' : RESULTS.find((each) => each === name.text);
  if (!result) throw new Unreadable(`must be one of ${RESULTS.join(', ')}`, name);
  const present = cursor.is('exists', 'missing');
  const type = present ? 'boolean' : FIB_RESULTS[result];
  return loaded(`fib ${result}`, type, lengthOf(type), (register) => ({
    ...{ kind: 'fib', result, flags, ...(present && { present }), register },
  }));
}

const SOCKET_KEYS = ['transparent', 'mark', 'wildcard', 'cgroupv2'] as const;

/** A key of socket behind the word. */
export function socket(cursor: Cursor): Operand {
  const name = cursor.word('a key of socket');
  const key = SOCKET_KEYS.find((each) => each === name.text);
  if (!key) throw new Unreadable(`must be one of ${SOCKET_KEYS.join(', ')}`, name);
  if (key === 'cgroupv2') {
    cursor.expect('level');
    const level = Number(integerAt(cursor, 'a level', 255));
    return loaded(`socket ${key}`, 'integer', 8, (register) => ({ kind: 'socket', key, level, register }));
  }
  const type = key === 'mark' ? 'mark' : 'number';
  const operand = loaded(`socket ${key}`, type, key === 'mark' ? 4 : 1, (register) => ({
    kind: 'socket',
    key,
    register,
  }));
  return key === 'mark' ? operand : { ...operand, most: 1 };
}

const ROUTE_KEYS = Object.keys(ROUTE_FIELDS) as (keyof typeof ROUTE_FIELDS)[];

/** A key of rt behind the word. */
export function route(cursor: Cursor, { network }: Surroundings): Operand {
  const family = FAMILIES.find((each) => cursor.accept(each));
  const name = cursor.word('a key of rt');
  const isAddress = name.text === 'nexthop';
  const text = isAddress ? `${family ?? network} nexthop` : name.text;
  const key = ROUTE_KEYS.find((each) => ROUTE_FIELDS[each][1] === text);
  if (key === undefined || (family !== undefined && !isAddress))
    throw new Unreadable(
      `must be one of ${ROUTE_KEYS.map((each) => ROUTE_FIELDS[each][1]).join(', ')}`,
      name,
    );
  if (family !== undefined && network !== undefined && family !== network)
    throw new Unreadable(`must be of packets of ${network}`, name);
  const [type, , length = lengthOf(type)] = ROUTE_FIELDS[key];
  const operand = loaded(`rt ${key}`, type, length, (register) => ({ kind: 'rt', key, register }));
  return { ...operand, isNetwork: isAddress };
}
