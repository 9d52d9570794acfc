// Reads values from the fixed-size records that the addon returns.
import { type Family, formatAddress } from '../../net/address.js';
import type { Place, TextPlace } from './layout.js';

/** Reads records one after another. `part` is the place of a record within the record, to whose layout the field belongs. */
export class RecordReader {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  #at = 0;
  /** The last text of each field by the place of the field, with its own place in the bytes. */
  readonly #texts = new Map<number, { readonly start: number; readonly text: string }>();

  /** The same of IPv6 addresses, which take longer to format than IPv4 addresses. */
  readonly #addresses = new Map<number, { readonly start: number; readonly text: string }>();

  constructor({ buffer, byteOffset, length }: Uint8Array) {
    this.#bytes = Buffer.from(buffer, byteOffset, length);
    this.#view = new DataView(buffer, byteOffset, length);
  }

  /** Whether a record is left to be read. */
  get hasMore(): boolean {
    return this.#at < this.#bytes.length;
  }

  /** Goes on to the next record; `size` is the width of this one, in bytes. */
  skip(size: number): void {
    this.#at += size;
  }

  u8(field: Place<'u8'>, part = 0): number {
    return this.#view.getUint8(this.#at + part + field);
  }

  u16(field: Place<'u16'>, part = 0): number {
    return this.#view.getUint16(this.#at + part + field, true);
  }

  u32(field: Place<'u32'>, part = 0): number {
    return this.#view.getUint32(this.#at + part + field, true);
  }

  u64(field: Place<'u64'>, part = 0): bigint {
    return this.#view.getBigUint64(this.#at + part + field, true);
  }

  /** A number of 64 bits, exact below 2^53. Half the time of a bigint, for values that stay far below. */
  u64AsNumber(field: Place<'u64'>, part = 0): number {
    const at = this.#at + part + field;
    return this.#view.getUint32(at, true) + this.#view.getUint32(at + 4, true) * 2 ** 32;
  }

  /** Most texts of a listing are equal to the one before in the same field, or empty. */
  text({ offset, width }: TextPlace, part = 0): string {
    const start = this.#at + part + offset;
    if (this.#bytes[start] === 0) return '';
    const field = part + offset;
    const last = this.#texts.get(field);
    if (last && this.#isEqual(start, last.start, width)) return last.text;
    const text = this.#bytes.toString('utf8', start, this.#bytes.indexOf(0, start));
    this.#texts.set(field, { start, text });
    return text;
  }

  /** Whether two fields have the same text: bytes are equal up to a zero. */
  #isEqual(start: number, other: number, width: number): boolean {
    for (let i = 0; i < width; i++) {
      const byte = this.#bytes[start + i];
      if (byte !== this.#bytes[other + i]) return false;
      if (byte === 0) break;
    }
    return true;
  }

  /** Many addresses of a listing are equal to the one before in the same field: the destination of the flows of a frontend. */
  address(field: Place<'address'>, family: Family, part = 0): string {
    const start = this.#at + part + field;
    if (family === 4) return this.#addressAt(start, 4);
    const last = this.#addresses.get(part + field);
    if (last && this.#isEqualAddress(start, last.start)) return last.text;
    const text = this.#addressAt(start, 16);
    this.#addresses.set(part + field, { start, text });
    return text;
  }

  #addressAt(start: number, length: 4 | 16): string {
    return formatAddress(new Uint8Array(this.#view.buffer, this.#view.byteOffset + start, length));
  }

  #isEqualAddress(start: number, other: number): boolean {
    for (let i = 12; i >= 0; i -= 4) {
      if (this.#view.getUint32(start + i) !== this.#view.getUint32(other + i)) return false;
    }
    return true;
  }

  /** The place of an address in the bytes that are read. */
  placeOf(field: Place<'address'>, part = 0): number {
    return this.#at + part + field;
  }

  /** A copy of `length` bytes, from `offset` on. */
  bytes(offset: number, length: number): Uint8Array {
    const start = this.#at + offset;
    return new Uint8Array(this.#bytes.subarray(start, start + length));
  }
}
