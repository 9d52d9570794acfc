// Reads the attributes of a message one after another, without an object for each.
import type { NetlinkError } from '../../errors.js';
import { ATTRIBUTE_HEADER, aligned, HOST_IS_LITTLE } from './messages.js';

/** Without `NLA_F_NESTED` and `NLA_F_NET_BYTEORDER`. */
const TYPE_MASK = 0x3fff;

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** A text in UTF-8, up to a zero if there is one. */
export function terminatedText(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return decoder.decode(end < 0 ? bytes : bytes.subarray(0, end));
}

/** Whether the header of an attribute with this type and this length of its value is at a place, where 4 bytes must be. */
export function isAttribute(view: DataView, at: number, type: number, length: number): boolean {
  return (
    view.getUint16(at, HOST_IS_LITTLE) === ATTRIBUTE_HEADER + length &&
    (view.getUint16(at + 2, HOST_IS_LITTLE) & TYPE_MASK) === type
  );
}

/** The bytes that attributes are in. */
export interface AttributeSource {
  readonly bytes: Uint8Array;
  /** A view of `bytes`. */
  readonly view: DataView;
  /** The error `ERR_MALFORMED_REPLY` about an attribute. */
  malformed(attribute: string, reason: string): NetlinkError;
}

/**
 * The attributes of a message, each of which it reads in turn: `next()`, then the value. Every width is checked, so that the
 * error of the source names the attribute; an offset is from the start of the value.
 */
export class AttributeCursor {
  /** `nla_type` of the current attribute, without `NLA_F_…`. */
  type = 0;
  /** Bytes of the current value. */
  length = 0;
  readonly #source: AttributeSource;
  readonly #outer: string | AttributeCursor;
  #next: number;
  readonly #end: number;
  #at = 0;

  /** @param outer the beginning of the names of attributes in errors, or the cursor in whose current attribute these are */
  constructor(
    source: AttributeSource,
    start: number,
    end: number,
    outer: string | AttributeCursor = 'attribute',
  ) {
    this.#source = source;
    this.#next = start;
    this.#end = end;
    this.#outer = outer;
  }

  /** Moves to the next attribute; false after the last one. */
  next(): boolean {
    const left = this.#end - this.#next;
    if (left <= 0) return false; // the padding of the last one may be missing
    if (left < ATTRIBUTE_HEADER) {
      throw this.#source.malformed(this.#prefix, `${left} bytes are too few for an attribute`);
    }
    const { view } = this.#source;
    const length = view.getUint16(this.#next, HOST_IS_LITTLE);
    this.type = view.getUint16(this.#next + 2, HOST_IS_LITTLE) & TYPE_MASK;
    if (length < ATTRIBUTE_HEADER || length > left) {
      throw this.malformed(`length ${length}, of ${left} bytes that are left`);
    }
    this.#at = this.#next + ATTRIBUTE_HEADER;
    this.length = length - ATTRIBUTE_HEADER;
    this.#next += aligned(length);
    return true;
  }

  /** A number of 8 bits. */
  u8(offset = 0): number {
    return this.#source.view.getUint8(this.#place(offset, 1));
  }

  /** A number of 16 bits in the machine's byte order. */
  u16(offset = 0): number {
    return this.#source.view.getUint16(this.#place(offset, 2), HOST_IS_LITTLE);
  }

  /** A number of 16 bits in network order. */
  u16be(offset = 0): number {
    return this.#source.view.getUint16(this.#place(offset, 2));
  }

  /** A number of 32 bits in the machine's byte order. */
  u32(offset = 0): number {
    return this.#source.view.getUint32(this.#place(offset, 4), HOST_IS_LITTLE);
  }

  /** A signed number of 32 bits in the machine's byte order. */
  i32(offset = 0): number {
    return this.#source.view.getInt32(this.#place(offset, 4), HOST_IS_LITTLE);
  }

  /** A number of 32 bits in network order. */
  u32be(offset = 0): number {
    return this.#source.view.getUint32(this.#place(offset, 4));
  }

  /** A number of 64 bits in the machine's byte order. */
  u64(offset = 0): bigint {
    return this.#source.view.getBigUint64(this.#place(offset, 8), HOST_IS_LITTLE);
  }

  /** A number of 64 bits in network order. */
  u64be(offset = 0): bigint {
    return this.#source.view.getBigUint64(this.#place(offset, 8));
  }

  /** A number of 64 bits in the machine's byte order, exact below 2^53. */
  u64AsNumber(offset = 0): number {
    return Number(this.#source.view.getBigUint64(this.#place(offset, 8), HOST_IS_LITTLE));
  }

  /** The value, or a part of it; it shares the memory of the source. */
  bytes(offset = 0, length = this.length - offset): Uint8Array {
    const start = this.#place(offset, length);
    return this.#source.bytes.subarray(start, start + length);
  }

  /** A text in UTF-8, up to a zero if there is one. */
  text(): string {
    return terminatedText(this.bytes());
  }

  /** Whether the value is this text of ASCII with a zero behind it. Costs less than the text, which is not made. */
  isText(text: string): boolean {
    if (this.length !== text.length + 1 || this.u8(text.length) !== 0) return false;
    for (let i = 0; i < text.length; i++) if (this.u8(i) !== text.charCodeAt(i)) return false;
    return true;
  }

  /** The name of the current attribute in errors. */
  get name(): string {
    return `${this.#prefix} ${this.type}`;
  }

  /**
   * The place, in the bytes of the source, of the value of the first attribute within this one; -1 if that has another type or length.
   * Costs less than {@link nested}, which makes a cursor.
   */
  placeOfNested(type: number, length: number): number {
    const isHere =
      this.length >= ATTRIBUTE_HEADER + length && isAttribute(this.#source.view, this.#at, type, length);
    return isHere ? this.#at + ATTRIBUTE_HEADER : -1;
  }

  /** The attributes within the value, or within a part of it. */
  nested(offset = 0, length = this.length - offset): AttributeCursor {
    const start = this.#place(offset, length);
    return new AttributeCursor(this.#source, start, start + length, this);
  }

  /** The error that the current attribute is malformed. */
  malformed(reason: string): NetlinkError {
    return this.#source.malformed(this.name, reason);
  }

  // Only errors need it: a text for each nested attribute would cost more than to read it.
  get #prefix(): string {
    return typeof this.#outer === 'string' ? this.#outer : `${this.#outer.name},`;
  }

  #place(offset: number, width: number): number {
    const needed = offset + width;
    if (width < 0 || needed > this.length) {
      throw this.malformed(`the value has ${this.length} bytes, expected at least ${needed}`);
    }
    return this.#at + offset;
  }
}
