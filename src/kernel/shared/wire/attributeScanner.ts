// Reads attributes without an object for each, for listings of many small objects. A cursor has better errors, and costs more.
import { NetlinkError } from '../../errors.js';
import { terminatedText } from './attributeCursor.js';
import { ATTRIBUTE_HEADER, aligned, HOST_IS_LITTLE } from './messages.js';

/** Without `NLA_F_NESTED` and `NLA_F_NET_BYTEORDER`. */
const TYPE_MASK = 0x3fff;

/**
 * Attributes in `bytes`: `enter()` makes one the current attribute, whose value the other methods read. The attributes within it are
 * entered in the same way, from its `start` to its `end`.
 */
export class AttributeScanner {
  /** `nla_type` of the current attribute, without `NLA_F_…`. */
  type = 0;
  /** Place of its value in the bytes, and the place behind it. */
  start = 0;
  end = 0;
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly #operation: string;

  /** `operation` names it in the error `ERR_MALFORMED_REPLY`. */
  constructor(bytes: Uint8Array, operation: string) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#operation = operation;
  }

  /** Enters the attribute at `at`, of those that end at `end`. Returns the place of the next one. */
  enter(at: number, end: number): number {
    const left = end - at;
    if (left < ATTRIBUTE_HEADER) throw this.malformed(`${left} bytes are too few for an attribute`);
    const length = this.view.getUint16(at, HOST_IS_LITTLE);
    this.type = this.view.getUint16(at + 2, HOST_IS_LITTLE) & TYPE_MASK;
    if (length < ATTRIBUTE_HEADER || length > left) {
      throw this.malformed(`attribute ${this.type}: length ${length}, of ${left} bytes that are left`);
    }
    this.start = at + ATTRIBUTE_HEADER;
    this.end = at + length;
    return at + aligned(length);
  }

  /** The place of the value, which has `width` bytes at least. */
  place(width: number): number {
    const length = this.end - this.start;
    if (length >= width) return this.start;
    throw this.malformed(`attribute ${this.type}: the value has ${length} bytes, expected at least ${width}`);
  }

  /** A number of 8 bits. */
  u8(): number {
    return this.view.getUint8(this.place(1));
  }

  /** A number of 16 bits in network order. */
  u16be(): number {
    return this.view.getUint16(this.place(2));
  }

  /** A number of 32 bits in network order. */
  u32be(): number {
    return this.view.getUint32(this.place(4));
  }

  /** A number of 64 bits in network order. */
  u64be(): bigint {
    return this.view.getBigUint64(this.place(8));
  }

  /** A text in UTF-8, up to a zero if there is one. */
  text(): string {
    return terminatedText(this.bytes.subarray(this.start, this.end));
  }

  /** The error about a message that cannot be read. */
  malformed(kernelMessage: string): NetlinkError {
    return new NetlinkError({ code: 'ERR_MALFORMED_REPLY', operation: this.#operation, kernelMessage });
  }
}
