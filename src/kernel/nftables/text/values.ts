// Values, intervals and times in the notation of nft.
import type { ElementValue, Value, ValueType, ValueTypes } from '../types.js';
import { numberOfSymbol, SYMBOLS } from '../values/symbols.js';
import { bytesOf, readValue, writeValue } from '../values/values.js';
import { type Form, isValueType, LENGTHS, layoutOf } from '../values/valueTypes.js';

/** Types of what expressions load, of which the library has no sets: a number in network order of any length, decimal or hexadecimal; a name. */
export type OtherType = 'number' | 'hexadecimal' | 'name';

/** The type of what an expression loads: that of a value, or another one. */
export type LoadedType = ValueType | OtherType;

/** `TC_H_UNSPEC`, `TC_H_ROOT` */
export const CLASSES: Readonly<Record<string, number>> = { none: 0, root: 0xffff_ffff };

/** The type of the elements of a set in which values are looked up; undefined if the library has none. */
export function setTypeOf({
  type,
  length,
  isNetwork,
}: {
  readonly type: LoadedType;
  readonly length: number;
  readonly isNetwork: boolean;
}): ValueType | undefined {
  const isOther = type === 'number' || type === 'hexadecimal' || (type === 'integer' && isNetwork);
  const name = isOther ? `integer${8 * length}` : type;
  return isValueType(name) && layoutOf(name).length === length ? name : undefined;
}

/** Whether the elements of such a set are values of the type of what is looked up: others are its bytes. */
export function isPlainKey(part: Parameters<typeof setTypeOf>[0] & { readonly bits?: unknown }): boolean {
  return setTypeOf(part) === part.type && !part.bits && part.type !== 'iface_index';
}

/** Types whose values are several bits. */
const BITMASKS: ReadonlySet<string> = new Set(['ct_state', 'ct_status', 'tcp_flag', 'ct_event']);
/** Types whose values are several names, in the order of nft. */
const ORDER: Readonly<Record<string, readonly string[]>> = {
  ct_state: ['invalid', 'established', 'related', 'new', 'untracked'],
};

/** Whether a value of this type is a sum of flags. */
export function isBitmask(type: LoadedType): type is ValueType {
  return BITMASKS.has(type);
}

/** One value. Flags are listed with a comma where they are compared, and with `|` in sets. */
function valueText(type: ValueType, value: Value, separator?: string): string {
  if (type === 'ifname') return nameOfLink(String(value));
  if (type === 'day') return typeof value === 'string' ? quoted(value) : String(value);
  if (typeof value === 'string') return value;
  if (type === 'mark') return hexText(value, 4);
  if (type === 'ether_type') return hexText(value, 2);
  if (type === 'dscp') return hexText(value, 1);
  if (type === 'time') return timeText(BigInt(value));
  if (type === 'classid') return classText(value);
  return isBitmask(type) ? flagsText(type, value, separator) : String(value);
}

/** A text in quotation marks. nft has no notation for one that has some itself, or lines: it is in brackets. */
export function quoted(text: string): string {
  return /["\n]/.test(text) ? `[text 0x${Buffer.from(text).toString('hex')}]` : `"${text}"`;
}

/** The name of a table, a chain, a set or an object. One that would be several words, or a sign, is in brackets. */
export function nameText(name: string): string {
  return /^[^\s"{}();,=<>!&|^#@[\]]+$/.test(name) ? name : `[name 0x${Buffer.from(name).toString('hex')}]`;
}

/** The whole name of a link: an asterisk at its end would begin names. */
function nameOfLink(name: string): string {
  return quoted(name.endsWith('*') ? `${name.slice(0, -1)}\\*` : name);
}

/** The names of the flags in a sum; those without a name as a number. */
export function flagsText(type: ValueType, sum: number, separator = ','): string {
  const names = ORDER[type] ?? Object.keys(SYMBOLS[type] ?? {});
  const found: string[] = [];
  let rest = sum;
  for (const name of names) {
    const bit = numberOfSymbol(type, name) ?? 0;
    if ((rest & bit) === 0) continue;
    found.push(name);
    rest &= ~bit;
  }
  if (rest !== 0 || found.length === 0) found.push(`0x${(rest >>> 0).toString(16)}`);
  return found.join(separator);
}

/** A number in hexadecimal, with all digits of its bytes. */
function hexText(number: number, bytes: number): string {
  return `0x${number.toString(16).padStart(2 * bytes, '0')}`;
}

/** Between the flags of an element. */
const IN_SETS = ' | ';

/** A key, or the data of a map. */
export function elementText(types: ValueTypes | number, value: ElementValue): string {
  if (value instanceof Uint8Array || typeof types === 'number') return bytesText(value);
  if (typeof types === 'string') return valueText(types, value as Value, IN_SETS);
  return (value as readonly Value[])
    .map((part, i) => valueText(types[i] as ValueType, part, IN_SETS))
    .join(' . ');
}

function bytesText(value: ElementValue): string {
  return value instanceof Uint8Array ? `[0x${Buffer.from(value).toString('hex')}]` : String(value);
}

/** An interval: a prefix if it is one, else first and last value; of a concatenation, part by part. */
export function intervalText(types: ValueTypes | number, first: ElementValue, last: ElementValue): string {
  if (last instanceof Uint8Array && typeof types !== 'number') {
    const text = patternText(types, first, last);
    if (text !== undefined) return text;
  }
  if (typeof types === 'number' || first instanceof Uint8Array || last instanceof Uint8Array) {
    return `${bytesText(first)}-${bytesText(last)}`;
  }
  if (typeof types === 'string') return partText(types, first as Value, last as Value);
  const [from, to] = [first as readonly Value[], last as readonly Value[]];
  return types.map((type, i) => partText(type, from[i] as Value, to[i] as Value)).join(' . ');
}

/** An interval in which beginnings of names of links are: `"eth*"`; undefined if it is another one. */
function patternText(types: ValueTypes, first: ElementValue, last: Uint8Array): string | undefined {
  const { types: list, forms, offsets } = layoutOf(types, true);
  const from = first instanceof Uint8Array ? first : bytesOfKey(types, first);
  const texts = list.map((type, i) => {
    const [start, end] = [offsets[i] as number, (offsets[i] as number) + LENGTHS[forms[i] as Form]];
    const [name, until] = [from.subarray(start, end), last.subarray(start, end)];
    if (type !== 'ifname' || Buffer.compare(name, until) === 0 || until.includes(0)) {
      const [one, other] = [name, until].map((bytes) => readValue(layoutOf(type, true), bytes));
      return one instanceof Uint8Array || other instanceof Uint8Array
        ? undefined
        : partText(type, one as Value, other as Value);
    }
    const length = name.indexOf(0);
    const isPattern = until.every((byte, place) => byte === (place < length ? name[place] : 0xff));
    return isPattern ? dataText('ifname', name.subarray(0, length), true) : undefined;
  });
  return texts.includes(undefined) ? undefined : texts.join(' . ');
}

/** The bytes of a key of a set with intervals. */
function bytesOfKey(types: ValueTypes, value: ElementValue): Uint8Array {
  const layout = layoutOf(types, true);
  const bytes = new Uint8Array(layout.length);
  writeValue(layout, value, bytes, 0);
  return bytes;
}

function partText(type: ValueType, first: Value, last: Value): string {
  if (first === last) return valueText(type, first, IN_SETS);
  if (hasPrefixes(type)) {
    const bytes = (value: Value) => bytesOf(type, value);
    const inOrder = type === 'mark' && HOST_IS_LITTLE ? (value: Value) => bytes(value).reverse() : bytes;
    const length = prefixLength(inOrder(first), inOrder(last));
    if (length !== undefined) return `${valueText(type, first)}/${length}`;
  }
  return `${boundText(type, first)}-${boundText(type, last)}`;
}

/** The first or the last value of an interval: nft reads names of values with a dash as one. */
function boundText(type: ValueType, value: Value): string {
  const number = typeof value === 'string' ? numberOfSymbol(type, value) : undefined;
  return number === undefined ? valueText(type, value) : String(number);
}

/** Whether nft writes an interval of this type as a prefix, if it is one. */
export function hasPrefixes(type: LoadedType): boolean {
  return type === 'ipv4_addr' || type === 'ipv6_addr' || type === 'mark';
}

/** Whether numbers are little-endian on this machine. */
export const HOST_IS_LITTLE = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** The length of the prefix whose addresses are these from the first to the last; undefined if they are none. */
function prefixLength(first: Uint8Array, last: Uint8Array): number | undefined {
  const mask = first.map((byte, i) => ~(byte ^ (last[i] as number)) & 0xff);
  const isPrefix = first.every((byte, i) => (byte & ~(mask[i] as number) & 0xff) === 0);
  return isPrefix ? lengthOfMask(mask) : undefined;
}

/** The number of leading ones of a mask that has only zeros behind them; undefined of any other. */
export function lengthOfMask(mask: Uint8Array): number | undefined {
  const bits = Array.from(mask, (byte) => byte.toString(2).padStart(8, '0')).join('');
  return /^1*0*$/.test(bits) ? bits.lastIndexOf('1') + 1 : undefined;
}

/** Bytes of an `integer` in sets; expressions also load others. */
const INTEGER_LENGTH = 4;

/** Bytes that are compared with what an expression loads. `isNetwork`: numbers are in network order. */
export function dataText(
  type: LoadedType,
  bytes: Uint8Array,
  isNetwork: boolean,
  separator?: string,
): string {
  if (type === 'number') return String(numberIn(bytes));
  if (type === 'hexadecimal') return `0x${numberIn(bytes).toString(16)}`;
  if (type === 'ifname' || type === 'name') return interfaceText(bytes);
  if (type === 'integer' && bytes.length !== INTEGER_LENGTH) return String(orderedNumber(bytes, isNetwork));
  if (type === 'boolean') {
    const number = orderedNumber(bytes, isNetwork);
    return number > 1n ? bytesText(bytes) : number === 1n ? 'exists' : 'missing';
  }
  const value = readValue(layoutOf(type, isNetwork), bytes);
  return value instanceof Uint8Array ? bytesText(value) : valueText(type, value as Value, separator);
}

/** `1:2` */
function classText(number: number): string {
  const name = Object.keys(CLASSES).find((each) => CLASSES[each] === number);
  return name ?? `${(number >>> 16).toString(16)}:${(number & 0xffff).toString(16)}`;
}

/** The number in bytes, in network order or in the machine's. */
function orderedNumber(bytes: Uint8Array, isNetwork: boolean): bigint {
  return numberIn(isNetwork || !HOST_IS_LITTLE ? bytes : Uint8Array.from(bytes).reverse());
}

/** The number in bytes, in network order. */
export function numberIn(bytes: Uint8Array): bigint {
  return bytes.reduce((number, byte) => (number << 8n) | BigInt(byte), 0n);
}

/** A name of a link; without a zero at its end, it is the beginning of names. */
function interfaceText(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  const named = end < 0 ? bytes : bytes.subarray(0, end);
  const text = Buffer.from(named).toString();
  if (!Buffer.from(text).equals(named) || bytes.some((byte, i) => byte !== 0 && end >= 0 && i > end))
    return bytesText(bytes);
  return end < 0 && bytes.length < 16 ? quoted(`${text}*`) : nameOfLink(text);
}

const UNITS = [
  [86_400_000n, 'd'],
  [3_600_000n, 'h'],
  [60_000n, 'm'],
  [1000n, 's'],
  [1n, 'ms'],
] as const;

/** A time: `1d2h3m4s5ms`. */
export function timeText(ms: bigint): string {
  let text = '';
  let rest = ms;
  for (const [size, unit] of UNITS) {
    if (rest >= size) text += `${rest / size}${unit}`;
    rest %= size;
  }
  return text || '0s';
}

const RATES = ['bytes', 'kbytes', 'mbytes'] as const;

/** A number of bytes in the largest unit that divides it: `25 mbytes`. */
export function bytesRateText(bytes: bigint): string {
  let [number, unit] = [bytes, 0];
  while (number > 0n && number % 1024n === 0n && unit < RATES.length - 1) {
    number /= 1024n;
    unit++;
  }
  return `${number} ${RATES[unit]}`;
}
