// Values, intervals and times in the notation of nft → values of the library, and bytes.
import type { Value, ValueType } from '../../types.js';
import { numberOfSymbol, SYMBOLS } from '../../values/symbols.js';
import { readValue, ruleOfValue, WRITTEN, writeValue } from '../../values/values.js';
import { formOf, isValueType, LENGTHS, layoutOf } from '../../values/valueTypes.js';
import { CLASSES, HOST_IS_LITTLE, type LoadedType, type OtherType } from '../values.js';
import { type Cursor, type Token, Unreadable } from './tokens.js';

/** Up to 128 bits. */
const NUMBER = /^(?:0x[0-9a-f]{1,32}|\d{1,39})$/i;

/** A number, decimal or hexadecimal; undefined for any other text. */
export function numberIn(text: string): bigint | undefined {
  return NUMBER.test(text) ? BigInt(text) : undefined;
}

/** Reads an integer within bounds. `what` says what it is: `a port`. */
export function integerAt(
  cursor: Cursor,
  what: string,
  most: number | bigint = 0xffff_ffff,
  least = 0n,
): bigint {
  const token = cursor.word(what);
  return integerOf(token, token.text, most, least);
}

/** The integer within bounds of a text, which is a part of the token. */
export function integerOf(token: Token, text: string, most: number | bigint, least = 0n): bigint {
  const number = numberIn(text);
  if (number !== undefined && number >= least && number <= BigInt(most)) return number;
  throw new Unreadable(`must be an integer from ${least} to ${most}`, token);
}

/** One value of a type; undefined if the text is none. */
export function valueIn(type: ValueType, text: string): Value | undefined {
  const value =
    SYMBOLS[type] && numberOfSymbol(type, text) !== undefined ? text : (numberOfText(type, text) ?? text);
  const layout = layoutOf(type);
  return writeValue(layout, value, new Uint8Array(layout.length), 0) === WRITTEN ? value : undefined;
}

/** Types whose values are texts: a name of a link may be a number. */
const TEXTS: ReadonlySet<ValueType> = new Set(['ifname', 'ipv4_addr', 'ipv6_addr', 'ether_addr']);

/** The number of a text; a text of one that a `number` cannot be. */
function numberOfText(type: ValueType, text: string): number | string | undefined {
  const number = TEXTS.has(type) ? undefined : numberOf(type, text);
  if (number === undefined) return undefined;
  return number > Number.MAX_SAFE_INTEGER ? String(number) : Number(number);
}

/** An interval of values; of one value, it has no last one. */
export interface Interval {
  readonly first: Value;
  readonly last?: Value;
  /** Bits, if it was written as a prefix. */
  readonly prefix?: number;
}

/** A value, a prefix or a range. */
export function intervalOf(type: ValueType, token: Token): Interval {
  const { text } = token;
  const whole = valueIn(type, text);
  if (whole !== undefined) return { first: whole };
  const slash = token.isQuoted ? -1 : text.lastIndexOf('/');
  if (slash > 0) return prefixOf(type, token, text.slice(0, slash), text.slice(slash + 1));
  for (let dash = text.indexOf('-', 1); dash > 0 && !token.isQuoted; dash = text.indexOf('-', dash + 1)) {
    const first = valueIn(type, text.slice(0, dash));
    const last = valueIn(type, text.slice(dash + 1));
    if (first === undefined || last === undefined) continue;
    const [from, to] = [first, last].map((value) => bytesOfValue(type, value, true)) as [
      Uint8Array,
      Uint8Array,
    ];
    if (Buffer.compare(from, to) > 0)
      throw new Unreadable('must be a range from the lower to the higher value', token);
    return { first, last };
  }
  throw unreadableValue(type, token);
}

/** The error of a token that is no value of a type. */
export function unreadableValue(type: ValueType, token: Token): Unreadable {
  return new Unreadable(
    NOTATIONS[type] ?? ruleOfValue(layoutOf(type), 0).replace(/, or \d+ bytes$/, ''),
    token,
  );
}

function prefixOf(type: ValueType, token: Token, first: string, bits: string): Interval {
  const value = valueIn(type, first);
  if (value === undefined) throw unreadableValue(type, token);
  // In network order, the bits of a prefix are the first ones.
  const layout = layoutOf(type, true);
  const prefix = Number(integerOf(token, bits, 8 * layout.length));
  const bytes = new Uint8Array(layout.length);
  writeValue(layout, value, bytes, 0);
  const mask = maskOf(prefix, layout.length);
  if (bytes.some((byte, i) => byte & ~(mask[i] as number))) {
    throw new Unreadable(`must have zeros behind the ${prefix} bits of the prefix`, token);
  }
  const last = readValue(
    layout,
    bytes.map((byte, i) => byte | (~(mask[i] as number) & 0xff)),
  );
  return { first: value, last: last as Value, prefix };
}

/** A mask with so many leading ones, in network order. */
export function maskOf(prefix: number, length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => (0xff00 >> Math.min(8, Math.max(0, prefix - 8 * i))) & 0xff);
}

/** The bytes of a value in a register. `isNetwork`: numbers are in network order. */
export function bytesOfValue(type: ValueType, value: Value, isNetwork: boolean): Uint8Array {
  const layout = layoutOf(type, isNetwork);
  const bytes = new Uint8Array(layout.length);
  writeValue(layout, value, bytes, 0);
  return bytes;
}

/** The bytes of a number in network order. */
function bytesOfNumber(number: bigint, length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => Number((number >> BigInt(8 * (length - 1 - i))) & 0xffn));
}

/** The bytes of a number in network order, or in the machine's. */
export function bytesOfInteger(number: bigint, length: number, isNetwork: boolean): Uint8Array {
  const bytes = bytesOfNumber(number, length);
  return isNetwork || !HOST_IS_LITTLE ? bytes : bytes.reverse();
}

/** A name of a link in the notation of nft: `eth*` begins names, and `eth\*` is one. */
export function interfaceIn(text: string): { readonly name: string; readonly isPattern: boolean } {
  if (text.endsWith('\\*')) return { name: `${text.slice(0, -2)}*`, isPattern: false };
  return text.endsWith('*') ? { name: text.slice(0, -1), isPattern: true } : { name: text, isPattern: false };
}

/** The name of a link; of `eth*`, the beginning of names without a zero behind it. */
function interfaceBytes(token: Token): Uint8Array {
  const { name, isPattern } = interfaceIn(token.text);
  const bytes = Buffer.from(name);
  if (bytes.length < 1 || bytes.length > 15 || name.includes('\0')) throw unreadableValue('ifname', token);
  if (isPattern) return Uint8Array.from(bytes);
  const padded = new Uint8Array(16);
  padded.set(bytes);
  return padded;
}

/** Whether values of a type are numbers in network order, of any length. */
function isInNetworkOrder(type: LoadedType): boolean {
  return type === 'number' || type === 'hexadecimal';
}

/** Whether values of a type are numbers of which the library has no sets. */
export function isNumber(type: LoadedType): type is Exclude<OtherType, 'name'> {
  return !isValueType(type) && type !== 'name';
}

/** A number of a type in its notation; undefined for any other text. */
function numberOf(type: LoadedType, text: string): bigint | undefined {
  const number = numberIn(text);
  if (type === 'time') return number === undefined ? timeIn(text) : 1000n * number;
  if (type !== 'classid') return number;
  if (Object.hasOwn(CLASSES, text)) return BigInt(CLASSES[text] as number);
  const [, major, minor] = /^([0-9a-f]{0,4}):([0-9a-f]{0,4})$/i.exec(text) ?? [];
  return major === undefined ? number : (BigInt(`0x0${major}`) << 16n) + BigInt(`0x0${minor}`);
}

/** The number of a text, or of a name that a type has for it. */
export function numberNamed(type: LoadedType, text: string): bigint | undefined {
  const named = isValueType(type) ? numberOfSymbol(type, text) : undefined;
  return named === undefined ? numberOf(type, text) : BigInt(named);
}

/** What the text of a number must be. */
const NOTATIONS: Readonly<Partial<Record<LoadedType, string>>> = {
  time: 'must be a time: `1d2h3m4s5ms`',
  classid: 'must be a class: `1:2`, none or root',
};

/** The bytes of a number of a type. */
export function numberBytes(
  { type, length, isNetwork }: { type: LoadedType; length: number; isNetwork: boolean },
  number: bigint,
): Uint8Array {
  return bytesOfInteger(number, length, isNetwork || isInNetworkOrder(type));
}

/** The error of a token that is no number of a type with so many bytes. */
export function unreadableNumber(length: number, token: Token, more = ''): Unreadable {
  const integer = `an integer from 0 to ${2n ** BigInt(8 * length) - 1n}`;
  return new Unreadable(`must be ${integer}${more}`, token);
}

/** The bytes of one value that is compared, or assigned. */
export function bytesOfToken(
  { type, length, isNetwork }: { type: LoadedType; length: number; isNetwork: boolean },
  token: Token,
): Uint8Array {
  if (isNumber(type) || (type === 'integer' && length !== LENGTHS[formOf('integer')])) {
    const number = token.isQuoted ? undefined : numberOf(type, token.text);
    if (number === undefined || number >> BigInt(8 * length) > 0n) throw unreadableNumber(length, token);
    return numberBytes({ type, length, isNetwork }, number);
  }
  if (type === 'ifname' || type === 'name') return interfaceBytes(token);
  const value = valueIn(type, token.text);
  if (value === undefined) throw unreadableValue(type, token);
  return bytesOfValue(type, value, isNetwork);
}

/** A sum of flags: `fin,syn`, or `(fin | syn)`. `isOpen`: nothing is behind them that `|` would be of. */
export function flagsAt(cursor: Cursor, type: ValueType, isOpen = false): number {
  const isInParentheses = cursor.accept('(');
  let sum = 0;
  do {
    const token = cursor.word(`a value of ${type}`);
    const value = valueIn(type, token.text);
    if (value === undefined) throw unreadableValue(type, token);
    sum |= typeof value === 'number' ? value : (numberOfSymbol(type, value) as number);
  } while (isInParentheses || isOpen ? cursor.accept('|', ',') : cursor.accept(','));
  if (isInParentheses) cursor.expect(')');
  return sum >>> 0;
}

const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['w', 604_800_000n],
  ['d', 86_400_000n],
  ['h', 3_600_000n],
  ['m', 60_000n],
  ['s', 1000n],
  ['ms', 1n],
]);

/** A time in ms: `1d2h3m4s5ms`. `unit` is that of numbers without one, if they are read. */
export function timeAt(cursor: Cursor, unit?: bigint): bigint {
  const token = cursor.word('a time');
  const number = unit === undefined ? undefined : numberIn(token.text);
  const time = number === undefined ? timeIn(token.text) : number * (unit ?? 1n);
  if (time === undefined) throw new Unreadable('must be a time: `1d2h3m4s5ms`', token);
  return time;
}

function timeIn(text: string): bigint | undefined {
  if (!/^(?:\d{1,18}(?:w|d|h|ms|m|s))+$/.test(text)) return undefined;
  let sum = 0n;
  for (const [, number = '', unit = ''] of text.matchAll(/(\d+)(ms|[wdhms])/g)) {
    sum += BigInt(number) * (UNITS.get(unit) as bigint);
  }
  return sum;
}

const SIZES: ReadonlyMap<string, bigint> = new Map([
  ['bytes', 1n],
  ['kbytes', 1024n],
  ['mbytes', 1024n ** 2n],
]);

/** The factor of a unit of bytes; undefined for another word. */
export function sizeOf(unit: string): bigint | undefined {
  return SIZES.get(unit);
}

/** The words at the cursor that are one text of a form, with or without blanks in it: `25 mbytes/ second`. */
export function spacedAt(cursor: Cursor, what: string, form: RegExp): string {
  const { token } = cursor;
  let text = cursor.word(what).text;
  while (!form.test(text) && /^[a-z0-9/]+$/.test(cursor.token.text)) text += cursor.word(what).text;
  if (!form.test(text)) throw new Unreadable(`must be ${what}`, token);
  return text;
}

/** A number of bytes: `25 mbytes`. */
export function bytesAt(cursor: Cursor): bigint {
  const { token } = cursor;
  const last = (/^\d+$/.test(token.text) ? cursor.ahead(1) : undefined) ?? token;
  const [, digits = '', unit = ''] =
    /^(\d+)([a-z]+)$/.exec(spacedAt(cursor, 'a number of bytes', /^\d+[a-z]+$/)) ?? [];
  const size = sizeOf(unit);
  if (size === undefined) throw new Unreadable(`must be one of ${[...SIZES.keys()].join(', ')}`, last);
  return integerOf(token, digits, MOST_U64) * size;
}

const MOST_U64 = 2n ** 64n - 1n;
