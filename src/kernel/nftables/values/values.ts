// Single values and concatenations ↔ their bytes.
import { formatAddressAt, formatIPv4At, numberOfIPv4, parseAddressAsIs } from '../../net/address.js';
import { numberOfSymbol, SYMBOLS, symbolOfNumber } from './symbols.js';
import type { ElementValue, Value, ValueType, ValueTypes } from './types.js';
import { FORM, type Form, isValueType, type Layout, LENGTHS, layoutOf } from './valueTypes.js';

/** Whether numbers are little-endian on this machine. */
const HOST_IS_LITTLE = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** Whether a key stands for all keys that the set has not. */
export function isCatchAll(key: unknown): boolean {
  return key instanceof Uint8Array && key.length === 0;
}

/** The value has its layout. */
export const WRITTEN = -1;
/** The value as a whole has not: it is not a list, or has another length. */
const WRONG_WHOLE = -2;

/**
 * Writes a key, or the data of a map, at `at`, where there are zeros. Returns {@link WRITTEN}, {@link WRONG_WHOLE}, or the index of the
 * part that is invalid; bytes may then have been written.
 */
export function writeValue(layout: Layout, value: unknown, bytes: Uint8Array, at: number): number {
  if (typeof value !== 'object') {
    if (layout.isConcatenation) return WRONG_WHOLE;
    return writePart(layout.types[0] as ValueType, layout.forms[0] as Form, value, bytes, at) ? WRITTEN : 0;
  }
  if (value instanceof Uint8Array) {
    if (value.length !== layout.length) return WRONG_WHOLE;
    bytes.set(value, at);
    return WRITTEN;
  }
  const { types, forms, offsets, isConcatenation } = layout;
  if (!Array.isArray(value) || !isConcatenation || value.length !== types.length) return WRONG_WHOLE;
  for (let i = 0; i < types.length; i++) {
    const place = at + (offsets[i] as number);
    if (!writePart(types[i] as ValueType, forms[i] as Form, value[i], bytes, place)) return i;
  }
  return WRITTEN;
}

/** The rule that a value breaks, by the result of {@link writeValue}. */
export function ruleOfValue(layout: Layout, result: number): string {
  const type = layout.types[result];
  if (type !== undefined) return ruleOf(type);
  const { types, length } = layout;
  const bytes = `or ${length} bytes`;
  return layout.isConcatenation
    ? `must be a list of ${types.length} values: ${types.join(', ')}, ${bytes}`
    : `${ruleOf(types[0] as ValueType)}, ${bytes}`;
}

/** The rule of the values of a type. */
function ruleOf(type: ValueType): string {
  const form = layoutOf(type).forms[0];
  if (form === FORM.ipv4) return 'must be an IPv4 address';
  if (form === FORM.ipv6) return 'must be an IPv6 address';
  if (form === FORM.ether) return 'must be a hardware address of 6 bytes';
  if (form === FORM.name) return 'must be the name of a link, of 1 to 15 bytes';
  const integer = `an integer from 0 to ${2n ** BigInt(8 * LENGTHS[form as Form]) - 1n}`;
  const symbols = SYMBOLS[type];
  return symbols ? `must be ${integer}, or one of ${Object.keys(symbols).join(', ')}` : `must be ${integer}`;
}

function writePart(type: ValueType, form: Form, value: unknown, bytes: Uint8Array, at: number): boolean {
  if (typeof value === 'number') return writeNumber(form, value, bytes, at);
  if (typeof value !== 'string') return false;
  switch (form) {
    case FORM.ipv4: {
      const number = numberOfIPv4(value);
      if (number === undefined) return false;
      put32(number, bytes, at);
      return true;
    }
    case FORM.ipv6: {
      const address = parseAddressAsIs(value);
      if (address?.length !== 16) return false;
      bytes.set(address, at);
      return true;
    }
    case FORM.ether:
      return writeEther(value, bytes, at);
    case FORM.name:
      return writeName(value, bytes, at);
    case FORM.u64:
    case FORM.u128:
      return NUMBER.test(value) && writeInteger(BigInt(value), LENGTHS[form], bytes, at);
    default: {
      const number = numberOfSymbol(type, value);
      return number !== undefined && writeNumber(form, number, bytes, at);
    }
  }
}

/** A number that may be more than a `number` can be. */
const NUMBER = /^(?:0x[0-9a-f]{1,32}|[0-9]{1,39})$/i;

/** A number in network order. */
function writeInteger(value: bigint, length: number, bytes: Uint8Array, at: number): boolean {
  if (value >> BigInt(8 * length) > 0n) return false;
  for (let i = 0; i < length; i++) bytes[at + i] = Number((value >> BigInt(8 * (length - 1 - i))) & 0xffn);
  return true;
}

function writeNumber(form: Form, value: number, bytes: Uint8Array, at: number): boolean {
  if (!Number.isInteger(value) || value < 0) return false;
  switch (form) {
    case FORM.u8:
      if (value > 0xff) return false;
      bytes[at] = value;
      return true;
    case FORM.u16:
      if (value > 0xffff) return false;
      bytes[at] = value >>> 8;
      bytes[at + 1] = value & 0xff;
      return true;
    case FORM.u16host:
      return writeNumber(
        FORM.u16,
        HOST_IS_LITTLE && value <= 0xffff ? swapped(value) >>> 16 : value,
        bytes,
        at,
      );
    case FORM.u24:
    case FORM.u64:
    case FORM.u128:
      return Number.isSafeInteger(value) && writeInteger(BigInt(value), LENGTHS[form], bytes, at);
    case FORM.u32:
    case FORM.u32be:
      if (value > 0xffff_ffff) return false;
      put32(form === FORM.u32 && HOST_IS_LITTLE ? swapped(value) : value, bytes, at);
      return true;
    default:
      return false;
  }
}

/** 32 bits in network order. */
function put32(value: number, bytes: Uint8Array, at: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = (value >>> 16) & 0xff;
  bytes[at + 2] = (value >>> 8) & 0xff;
  bytes[at + 3] = value & 0xff;
}

function swapped(value: number): number {
  return ((value & 0xff) << 24) | ((value & 0xff00) << 8) | ((value >>> 8) & 0xff00) | (value >>> 24);
}

function writeEther(value: string, bytes: Uint8Array, at: number): boolean {
  if (!/^[0-9a-f]{1,2}(:[0-9a-f]{1,2}){5}$/i.test(value)) return false;
  value.split(':').forEach((byte, i) => {
    bytes[at + i] = Number.parseInt(byte, 16);
  });
  return true;
}

/** Most bytes of the name of a link: `IFNAMSIZ` - 1. */
const LONGEST_NAME = 15;
const encoder = new TextEncoder();

function writeName(value: string, bytes: Uint8Array, at: number): boolean {
  if (value === '' || value.includes('\0') || value.length > LONGEST_NAME) return false;
  const text = encoder.encode(value);
  if (text.length > LONGEST_NAME) return false;
  bytes.set(text, at);
  return true;
}

/**
 * The bytes of a value, as the data of a `cmp` or of an `immediate` has them: `bytesOf('ipv4_addr', '10.0.0.1')`. A concatenation has its
 * parts padded to 4 bytes each. Throws a RangeError that names the rule.
 */
export function bytesOf(types: ValueTypes, value: ElementValue): Uint8Array {
  for (const type of typeof types === 'string' ? [types] : types) {
    if (!isValueType(type)) throw new RangeError(`there is no type ${String(type)} of values`);
  }
  const layout = layoutOf(types);
  const bytes = new Uint8Array(layout.length);
  const result = writeValue(layout, value, bytes, 0);
  if (result === WRITTEN) return bytes;
  throw new RangeError(`a value of ${layout.types.join(' . ')} ${ruleOfValue(layout, result)}`);
}

/**
 * The value of such bytes, in the notation in which values are written; the bytes themselves if they have another length.
 *
 * @param at place of the first one; there are as many as `length`, by default all that follow
 */
export function readValue(
  layout: Layout,
  bytes: Uint8Array,
  at = 0,
  length = bytes.length - at,
): ElementValue {
  if (length !== layout.length) return copyOf(bytes.subarray(at, at + length));
  const { types, forms, offsets } = layout;
  if (layout.hasNames && !areNames(layout, bytes, at)) return copyOf(bytes.subarray(at, at + length));
  if (!layout.isConcatenation) return readPart(types[0] as ValueType, forms[0] as Form, bytes, at);
  // One that grows has room for 17 values after the first.
  const parts = new Array<Value>(types.length);
  for (let i = 0; i < types.length; i++) {
    const place = at + (offsets[i] as number);
    parts[i] = readPart(types[i] as ValueType, forms[i] as Form, bytes, place);
  }
  return parts;
}

/** Bytes of their own: others would keep the whole reply in memory. */
function copyOf(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Whether parts with the form of a name are such. Of an interval, as eth*, the last one has 0xff to its end, and is none. */
function areNames({ forms, offsets }: Layout, bytes: Uint8Array, at: number): boolean {
  return forms.every((form, i) => {
    const start = at + (offsets[i] as number);
    return form !== FORM.name || bytes.subarray(start, start + LENGTHS[form]).includes(0);
  });
}

function readPart(type: ValueType, form: Form, bytes: Uint8Array, at: number): Value {
  switch (form) {
    case FORM.ipv4:
      return formatIPv4At(bytes, at);
    case FORM.ipv6:
      return formatAddressAt(bytes, at, LENGTHS[form]);
    case FORM.ether:
      return Array.from(bytes.subarray(at, at + 6), (byte) => byte.toString(16).padStart(2, '0')).join(':');
    case FORM.name: {
      const name = bytes.subarray(at, at + LENGTHS[form]);
      const end = name.indexOf(0);
      return decoder.decode(end < 0 ? name : name.subarray(0, end));
    }
    case FORM.u64:
    case FORM.u128: {
      const text = `0x${Buffer.from(bytes.subarray(at, at + LENGTHS[form])).toString('hex')}`;
      return BigInt(text) <= Number.MAX_SAFE_INTEGER ? Number(text) : text;
    }
    default: {
      const number = readNumber(form, bytes, at);
      return symbolOfNumber(type, number) ?? number;
    }
  }
}

function readNumber(form: Form, bytes: Uint8Array, at: number): number {
  if (form === FORM.u8) return bytes[at] as number;
  if (form === FORM.u16 || (form === FORM.u16host && !HOST_IS_LITTLE))
    return ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
  if (form === FORM.u16host) return (bytes[at] as number) | ((bytes[at + 1] as number) << 8);
  if (form === FORM.u24) return readNumber(FORM.u16, bytes, at) * 256 + (bytes[at + 2] as number);
  const number =
    ((bytes[at] as number) << 24) |
    ((bytes[at + 1] as number) << 16) |
    ((bytes[at + 2] as number) << 8) |
    (bytes[at + 3] as number);
  return (form === FORM.u32 && HOST_IS_LITTLE ? swapped(number) : number) >>> 0;
}
