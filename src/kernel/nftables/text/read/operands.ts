// What is left of a comparison, and what is assigned: fields of headers, keys of meta and ct, hashes and numbers, with their bits.
import type { CtKey, MetaKey } from '../../types.js';
import { IPV6_EXTENSIONS } from '../extensions.js';
import {
  BARE,
  CT_FIELDS,
  fieldNamed,
  HEADERS,
  IN_NETWORK_ORDER,
  lengthOf,
  lengthOfMeta,
  META_NAMES,
  META_TYPES,
  ROUTE_FIELDS,
  WITHOUT_META,
} from '../fields.js';
import { isBitmask, type LoadedType } from '../values.js';
import { extensionAt } from './extensions.js';
import {
  changed,
  checkRoom,
  loaded,
  loadParts,
  type Operand,
  registerOf,
  someBits,
  WORDS,
  withBits,
  wordsOf,
} from './operand.js';
import { type Cursor, type Token, Unreadable } from './tokens.js';
import { bytesOfToken, bytesOfValue, flagsAt, integerAt, integerOf } from './values.js';

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
/** Keys of ct whose names have two words. */
const FAMILIES = ['ip', 'ip6'] as const;
const DIRECTIONS = ['original', 'reply'] as const;
const WORDS_OF_OPERANDS: ReadonlySet<string> = new Set([
  ...HEADERS,
  ...(BARE as ReadonlySet<string>),
  ...WITHOUT_META,
  ...['meta', 'ct', 'fib', 'numgen', 'jhash', 'symhash', 'socket', 'rt', 'exthdr'],
  ...IPV6_EXTENSIONS,
]);

/** Whether an operand begins with this token. */
export function isOperand({ text, isQuoted }: Token): boolean {
  return !isQuoted && (text === '(' || WORDS_OF_OPERANDS.has(text) || /^@(?:ll|nh|th|ih)$/.test(text));
}

/** Reads an operand with its operators. */
export function operandAt(cursor: Cursor, surroundings: Surroundings): Operand {
  let operand = cursor.accept('(') ? inParentheses(cursor, surroundings) : plainOperand(cursor, surroundings);
  if (operand.bits && cursor.is('<<', '>>', '&', '|', '^'))
    throw new Unreadable('must be a value: the library changes bits of whole bytes only', cursor.token);
  while (cursor.is('<<', '>>')) operand = shifted(cursor, operand);
  return cursor.is('&', '|', '^') ? masked(cursor, operand) : operand;
}

function inParentheses(cursor: Cursor, surroundings: Surroundings): Operand {
  const operand = operandAt(cursor, surroundings);
  cursor.expect(')');
  return operand;
}

function plainOperand(cursor: Cursor, surroundings: Surroundings): Operand {
  const token = cursor.word('a field, a key of meta or of ct, or another value of a packet');
  const { text } = token;
  if (text.startsWith('@')) return rawPayload(cursor, token);
  const extension = extensionAt(cursor, token);
  if (extension) return extension;
  if (META_KEYS.has(text) && (BARE.has(text as MetaKey) || WITHOUT_META.has(text)))
    return meta(text as MetaKey & string);
  switch (text) {
    case 'meta':
      return metaOperand(cursor);
    case 'ct':
      return ctOperand(cursor, surroundings);
    case 'fib':
      return fib(cursor);
    case 'numgen':
      return numgen(cursor);
    case 'jhash':
      return jhash(cursor, surroundings);
    case 'symhash':
      return symhash(cursor);
    case 'socket':
      return socket(cursor);
    case 'rt':
      return route(cursor, surroundings);
    default:
      return fieldOperand(cursor, token);
  }
}

function fieldOperand(cursor: Cursor, header: Token): Operand {
  if (!HEADERS.has(header.text)) throw new Unreadable('is no statement that the library has', header);
  const name = cursor.word(`a field of ${header.text}`);
  const two = cursor.isDone ? undefined : fieldNamed(header.text, `${name.text} ${cursor.token.text}`);
  if (two) cursor.take('a field');
  const named = two ?? fieldNamed(header.text, name.text);
  if (!named) throw new Unreadable(`is no field of ${header.text} that the library has`, name);
  const { field, base, needs } = named;
  const { bits, type, length } = field;
  const place = { base, offset: field.offset, length };
  const whole = { ...payload(`${field.header} ${field.name}`, type, place), needs, field };
  return bits ? { ...someBits(whole, bits), payload: place, field } : whole;
}

function payload(text: string, type: LoadedType, place: NonNullable<Operand['payload']>): Operand {
  return {
    ...{ text, type, length: place.length, isNetwork: true, needs: [], payload: place },
    load: (word) => [{ kind: 'payload', ...place, register: registerOf(word) }],
  };
}

const BASES = { '@ll': 'link', '@nh': 'network', '@th': 'transport', '@ih': 'inner' } as const;

/** `@th,0,16`: base, offset and length in bits. */
function rawPayload(cursor: Cursor, token: Token): Operand {
  const base = BASES[token.text as keyof typeof BASES];
  if (base === undefined) throw new Unreadable('must be one of @ll, @nh, @th, @ih', token);
  const bits = [1, 2].map(() => {
    cursor.expect(',');
    const number = cursor.word('a number of bits');
    const found = Number(integerOf(number, number.text, 0xffff));
    if (found % 8 !== 0) throw new Unreadable('must be a multiple of 8 bits', number);
    return found / 8;
  });
  const [offset = 0, length = 0] = bits;
  if (length < 1 || length > 16) throw new Unreadable('must have a length of 8 to 128 bits', token);
  return payload(`${token.text},${8 * offset},${8 * length}`, 'hexadecimal', { base, offset, length });
}

function metaOperand(cursor: Cursor): Operand {
  const name = cursor.word('a key of meta');
  const key = META_KEYS.get(name.text);
  if (key === undefined) throw new Unreadable('is no key of meta that the library has', name);
  return meta(key);
}

/** The highest numbers of keys, if they are less than their bytes can be. */
const MOST: Readonly<Record<string, number>> = { nftrace: 1, time_day: 6 };

function meta(key: Extract<MetaKey, string>): Operand {
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

function ctOperand(cursor: Cursor, surroundings: Surroundings): Operand {
  const { key, direction } = ctKeyAt(cursor, surroundings);
  const [listed = 'integer', name = key, length] = CT_FIELDS[key] ?? [];
  const isSix = (key === 'src' || key === 'dst') && surroundings.network === 'ip6';
  const type = isSix ? 'ipv6_addr' : listed;
  const isNetwork =
    IN_NETWORK_ORDER.has(key) || type === 'ipv4_addr' || type === 'ipv6_addr' || type === 'inet_service';
  const expression = { kind: 'ct', key, ...(direction !== undefined && { direction }) } as const;
  const operand = loaded(`ct ${name}`, type, length ?? lengthOf(type), (register) => ({
    ...expression,
    register,
  }));
  return { ...operand, isNetwork };
}

const FIB_FLAGS = ['saddr', 'daddr', 'mark', 'iif', 'oif'] as const;
const FIB_RESULTS = ['oif', 'oifname', 'type'] as const;

function fib(cursor: Cursor): Operand {
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
  const result = isCheck ? 'oif' : FIB_RESULTS.find((each) => each === name.text);
  if (!result) throw new Unreadable(`must be one of ${FIB_RESULTS.join(', ')}`, name);
  const present = cursor.is('exists', 'missing');
  const type = present
    ? 'boolean'
    : result === 'type'
      ? 'fib_addrtype'
      : result === 'oif'
        ? 'iface_index'
        : 'ifname';
  return loaded(`fib ${result}`, type, lengthOf(type), (register) => ({
    ...{ kind: 'fib', result, flags, ...(present && { present }), register },
  }));
}

/** `mod 2 offset 3`, with a seed before the offset. */
function modulusAt(cursor: Cursor): { modulus: number; seed?: number; offset?: number } {
  cursor.expect('mod');
  const modulus = Number(integerAt(cursor, 'a modulus', 0xffff_ffff, 1n));
  const seed = cursor.accept('seed') ? Number(integerAt(cursor, 'a seed')) : undefined;
  const offset = cursor.accept('offset') ? Number(integerAt(cursor, 'an offset')) : 0;
  return { modulus, ...(seed !== undefined && { seed }), ...(offset > 0 && { offset }) };
}

function numgen(cursor: Cursor): Operand {
  const name = cursor.word('inc or random');
  const type = (['inc', 'random'] as const).find((each) => each === name.text);
  if (!type) throw new Unreadable('must be inc or random', name);
  const { seed, ...numbers } = modulusAt(cursor);
  if (seed !== undefined) throw new Unreadable('must have no seed: it is of hashes', name);
  return loaded(`numgen ${type} mod ${numbers.modulus}`, 'integer', 4, (register) => ({
    ...{ kind: 'numgen', type, ...numbers, register },
  }));
}

function symhash(cursor: Cursor): Operand {
  const numbers = modulusAt(cursor);
  return loaded('symhash', 'integer', 4, (register) => ({
    kind: 'hash',
    type: 'symhash',
    ...numbers,
    register,
  }));
}

function jhash(cursor: Cursor, surroundings: Surroundings): Operand {
  const parts = [plainOperand(cursor, surroundings)];
  while (cursor.accept('.')) parts.push(plainOperand(cursor, surroundings));
  const numbers = modulusAt(cursor);
  const width = checkRoom(parts, WORDS, cursor.token);
  const single = parts.length === 1 ? parts[0]?.length : undefined;
  const length = single ?? parts.reduce((sum, part) => sum + 4 * wordsOf(part.length), 0);
  return {
    ...{ text: 'jhash', type: 'integer', length: 4, isNetwork: false, width },
    needs: parts.flatMap((part) => part.needs),
    load: (word) => [
      ...loadParts(parts, word + WORDS),
      {
        ...{ kind: 'hash', type: 'jhash', source: registerOf(word + WORDS), length, ...numbers },
        register: registerOf(word),
      },
    ],
  };
}

const SOCKET_KEYS = ['transparent', 'mark', 'wildcard', 'cgroupv2'] as const;

function socket(cursor: Cursor): Operand {
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

function route(cursor: Cursor, { network }: Surroundings): Operand {
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

/** `<< 8` */
function shifted(cursor: Cursor, operand: Operand): Operand {
  const direction = cursor.accept('<<') ? 'left' : 'right';
  if (direction === 'right') cursor.expect('>>');
  const bits = Number(integerAt(cursor, 'a number of bits', 8 * operand.length - 1));
  const { length } = operand;
  return changed(operand, (register) => ({
    kind: 'shift',
    source: register,
    register,
    length,
    direction,
    bits,
  }));
}

/** Operators of bits, from the one that binds most. */
const RANKS: readonly string[] = ['&', '^', '|'];

/** `& 0xff ^ 0x10 | 0x1`: one expression, (value & mask) ^ xor. */
function masked(cursor: Cursor, operand: Operand): Operand {
  const mask = new Uint8Array(operand.length).fill(0xff);
  const xor = new Uint8Array(operand.length);
  for (let last = 0; cursor.is('&', '^', '|', '<<', '>>'); ) {
    const { token } = cursor;
    const operator = cursor.sign('&', '^', '|', '<<', '>>') ?? '';
    const rank = RANKS.indexOf(operator);
    // In nft, it would be of the constant before it.
    if (rank < last) throw new Unreadable('must be behind parentheses around what is before it', token);
    last = rank;
    const bits = bitsAt(cursor, operand);
    for (let i = 0; i < mask.length; i++) {
      const byte = bits[i] ?? 0;
      if (operator === '&') {
        mask[i] = (mask[i] as number) & byte;
        xor[i] = (xor[i] as number) & byte;
      } else if (operator === '^') xor[i] = (xor[i] as number) ^ byte;
      else {
        mask[i] = (mask[i] as number) & ~byte;
        xor[i] = (xor[i] as number) | byte;
      }
    }
  }
  const isFlipped = mask.every((byte) => byte === 0xff);
  return { ...withBits(operand, mask, xor), ...(isFlipped && { flipped: { operand, xor } }) };
}

function bitsAt(cursor: Cursor, operand: Operand): Uint8Array {
  const { type, isNetwork } = operand;
  if (isBitmask(type)) return bytesOfValue(type, flagsAt(cursor, type), isNetwork);
  return bytesOfToken(operand, cursor.word('bits'));
}
