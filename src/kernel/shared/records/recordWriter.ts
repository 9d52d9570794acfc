// Writes values into the fixed-size records that cross to the addon, and finds the invalid values.
import { type Family, readAddressAsIs } from '../../net/address.js';
import type { AddressPorts } from '../../net/addressPorts.js';
import { argumentError, type InvalidValue } from '../arguments.js';
import { Checker } from '../checker.js';
import type { Place, TextPlace } from './layout.js';

const encoder = new TextEncoder();
const NO_TAILS = new Uint8Array();

/** Bytes of an attribute before its value: length and type, 16 bits each. */
const ATTRIBUTE_HEADER = 4;

/**
 * Writes records of one size, one after another, each with the attributes that are added to it behind it. The first invalid
 * value of a record stays, and later writes to the record have no effect: {@link finish} returns it and clears the record.
 * `part` is the place of a record within the record, to whose layout the field belongs.
 */
export class RecordWriter extends Checker {
  #bytes: Uint8Array;
  #view: DataView;
  readonly #size: number;
  #start = 0;
  /** End of the record, with the attributes behind it. */
  #end: number;
  /** Size of all records, with the attributes so far. */
  #needed: number;
  /** See {@link repeat}. */
  #source: object | undefined;
  #sourcePart = 0;
  #sourceStart = 0;
  #tails: Uint8Array[] = [];
  #tailLength = 0;

  /** Room for `count` records of `size` bytes. */
  constructor(size: number, count: number) {
    super();
    this.#bytes = new Uint8Array(size * count);
    this.#view = new DataView(this.#bytes.buffer);
    this.#size = size;
    this.#end = size;
    this.#needed = this.#bytes.length;
  }

  /** Bytes of any length behind the records, of which the record has place and length. A record has at most one. */
  tail(offset: Place<'u32'>, length: Place<'u32'>, bytes: Uint8Array): void {
    if (this.invalid) return;
    this.u32(offset, this.#tailLength);
    this.u32(length, bytes.length);
    this.#tails.push(bytes);
    this.#tailLength += bytes.length;
  }

  /** A number that needs no check. */
  u8(field: Place<'u8'>, value: number, part = 0): void {
    this.#view.setUint8(this.#start + part + field, value);
  }

  u16(field: Place<'u16'>, value: number, part = 0): void {
    this.#view.setUint16(this.#start + part + field, value, true);
  }

  u32(field: Place<'u32'>, value: number, part = 0): void {
    this.#view.setUint32(this.#start + part + field, value, true);
  }

  u64(field: Place<'u64'>, value: bigint, part = 0): void {
    this.#view.setBigUint64(this.#start + part + field, value, true);
  }

  /** A number that was written. */
  readU8(field: Place<'u8'>, part = 0): number {
    return this.#view.getUint8(this.#start + part + field);
  }

  /** Bytes as they are. */
  bytes(value: Uint8Array, part: number): void {
    this.#bytes.set(value, this.#start + part);
  }

  /**
   * Adds an attribute behind the record and its earlier attributes: its type, and `length` bytes of zeros, which the other
   * methods fill in: returns their place as a `part`.
   */
  attribute(type: number, length: number): number {
    const start = this.#end;
    const size = ATTRIBUTE_HEADER + 4 * Math.ceil(length / 4);
    this.#reserve(size);
    this.#view.setUint16(start, length, true);
    this.#view.setUint16(start + 2, type, true);
    this.#end += size;
    return start + ATTRIBUTE_HEADER - this.#start;
  }

  /** Size of the attributes behind the record, in bytes. */
  get attributes(): number {
    return this.#end - this.#start - this.#size;
  }

  /** Room for so many bytes beside the records. */
  #reserve(size: number): void {
    this.#needed += size;
    if (this.#needed <= this.#bytes.length) return;
    const larger = new Uint8Array(2 * this.#needed);
    larger.set(this.#bytes);
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }

  /** The words that an operation needs that deletes what others have made too; see `checkConfirmation`. */
  confirmation(value: unknown, words: string): void {
    if (value !== words) this.fail('confirm', value, `must be '${words}'`, true);
  }

  /** A text of at least 1 byte, without NUL, that leaves room for the zero at its end. */
  text(path: string, value: unknown, field: TextPlace, part = 0): void {
    const longest = field.width - 1;
    if (typeof value === 'string' && this.#writeText(value, this.#start + part + field.offset, longest))
      return;
    this.fail(path, value, `must be a name of 1 to ${longest} bytes`, typeof value !== 'string');
  }

  /** An address; returns its family. */
  address(path: string, value: unknown, field: Place<'address'>, part = 0): Family {
    const start = this.#start + part + field;
    const family = typeof value === 'string' ? readAddressAsIs(value, this.#bytes, start) : undefined;
    if (family !== undefined) return family;
    this.fail(path, value, 'must be an IPv4 or IPv6 address', typeof value !== 'string');
    return 4;
  }

  /** The address and the port of an entry of a list. */
  listed(list: AddressPorts, index: number, address: Place<'address'>, port: Place<'u16'>, part = 0): void {
    list.writeAddress(index, this.#bytes, this.#start + part + address);
    this.u16(port, list.portAt(index), part);
  }

  /** Begins a record, without attributes, with the bytes of the one before it. */
  repeatRecord(): void {
    this.#bytes.copyWithin(this.#start, this.#start - this.#size, this.#start);
  }

  #writeText(text: string, start: number, longest: number): boolean {
    if (text === '' || text.length > longest) return false;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code === 0) return false;
      // Names are ASCII as a rule. For them this loop takes a third of the time of an encoder.
      if (code > 0x7f) {
        const room = this.#bytes.subarray(start, start + longest);
        return !text.includes('\0') && encoder.encodeInto(text, room).read === text.length;
      }
      this.#bytes[start + i] = code;
    }
    return true;
  }

  /** Whether an address in the record has bits that are not zero behind its first `prefix` bits. */
  hasBitsBehind(prefix: number, field: Place<'address'>, part = 0): boolean {
    const start = this.#start + part + field;
    const whole = prefix >> 3;
    if (whole < 16 && (this.#bytes[start + whole] ?? 0) & (0xff >> (prefix & 7))) return true;
    for (let i = whole + 1; i < 16; i++) if (this.#bytes[start + i]) return true;
    return false;
  }

  /**
   * Whether the last record has `length` bytes that were written for the same object, at the same place: they are copied, and
   * need no other check. Many records of a batch are about one object.
   */
  repeat(source: object, part: number, length: number): boolean {
    const from = this.#sourceStart + part;
    const isSame = source === this.#source && part === this.#sourcePart;
    this.#source = source;
    this.#sourcePart = part;
    this.#sourceStart = this.#start;
    // A loop: for so few bytes, copyWithin() takes several times as long.
    if (isSame)
      for (let i = 0; i < length; i++) this.#bytes[this.#start + part + i] = this.#bytes[from + i] ?? 0;
    return isSame;
  }

  /** Ends a record. Returns its first invalid value, if there is one; the next record then takes its place. */
  finish(): InvalidValue | undefined {
    const invalid = this.invalid;
    this.invalid = undefined;
    if (invalid) {
      this.#bytes.fill(0, this.#start, this.#end);
      this.#source = undefined;
    } else this.#start = this.#end;
    this.#end = this.#start + this.#size;
    return invalid;
  }

  /** Clears the records written so far: the next one, of `count`, takes the place of the first. */
  reset(count = 1): void {
    this.#bytes.fill(0, 0, this.#end);
    this.invalid = undefined;
    this.#source = undefined;
    this.#start = 0;
    this.#tails = [];
    this.#tailLength = 0;
    this.#end = this.#size;
    this.#needed = 0;
    this.#reserve(this.#size * count);
  }

  /** Size of the records written so far, and of the bytes behind them. */
  get size(): number {
    return this.#start + this.#tailLength;
  }

  /** Size of its memory, in bytes. */
  get capacity(): number {
    return this.#bytes.length;
  }

  /** The records written so far. */
  records(): Uint8Array {
    return this.#bytes.subarray(0, this.#start);
  }

  /** The bytes behind the records. */
  tails(): Uint8Array {
    const [only = NO_TAILS] = this.#tails;
    return this.#tails.length > 1 ? Buffer.concat(this.#tails, this.#tailLength) : only;
  }
}

/** The one record of a writer; throws when it broke a rule. */
export function onlyRecord(writer: RecordWriter, operation: string): Uint8Array {
  const invalid = writer.finish();
  if (invalid) throw argumentError(operation, invalid);
  return writer.records();
}
