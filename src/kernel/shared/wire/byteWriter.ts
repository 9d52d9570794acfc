// Writes the bytes of messages: numbers, structs and attributes, into a buffer that grows.
import { ATTRIBUTE_HEADER, HOST_IS_LITTLE } from './messages.js';

/** Bytes of the first buffer. */
const FIRST_SIZE = 256;

/** Of Node.js's pool: memory of its own would cost more than to write a message. */
function memory(length: number): Buffer {
  return Buffer.allocUnsafe(length).fill(0);
}

function viewOf({ buffer, byteOffset, length }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, length);
}

/** Writes one value behind another. Values are not checked; each method returns the writer. */
export class ByteWriter {
  #bytes = memory(FIRST_SIZE);
  #view = viewOf(this.#bytes);
  #length = 0;

  /** Bytes that were written. */
  get length(): number {
    return this.#length;
  }

  /** A number of 8 bits. */
  u8(value: number): this {
    const at = this.#grow(1); // may change the view, as all these calls
    this.#view.setUint8(at, value);
    return this;
  }

  /** A number of 16 bits in the machine's byte order. */
  u16(value: number): this {
    const at = this.#grow(2);
    this.#view.setUint16(at, value, HOST_IS_LITTLE);
    return this;
  }

  /** A number of 16 bits in network order. */
  u16be(value: number): this {
    const at = this.#grow(2);
    this.#view.setUint16(at, value);
    return this;
  }

  /** A number of 32 bits in the machine's byte order. */
  u32(value: number): this {
    const at = this.#grow(4);
    this.#view.setUint32(at, value, HOST_IS_LITTLE);
    return this;
  }

  /** A signed number of 32 bits in the machine's byte order. */
  i32(value: number): this {
    const at = this.#grow(4);
    this.#view.setInt32(at, value, HOST_IS_LITTLE);
    return this;
  }

  /** A number of 32 bits in network order. */
  u32be(value: number): this {
    const at = this.#grow(4);
    this.#view.setUint32(at, value);
    return this;
  }

  /** A number of 64 bits in the machine's byte order. */
  u64(value: bigint): this {
    const at = this.#grow(8);
    this.#view.setBigUint64(at, value, HOST_IS_LITTLE);
    return this;
  }

  /** An integer below 2^53 as a number of 64 bits. */
  u64AsNumber(value: number): this {
    return this.u64(BigInt(value));
  }

  /** A number of 64 bits in network order. */
  u64be(value: bigint): this {
    const at = this.#grow(8);
    this.#view.setBigUint64(at, value);
    return this;
  }

  /** Bytes as they are. */
  bytes(value: Uint8Array): this {
    const at = this.#grow(value.length);
    this.#bytes.set(value, at);
    return this;
  }

  /** So many zeros. */
  zeros(count: number): this {
    this.#grow(count);
    return this;
  }

  /** Zeros up to a multiple of 4 bytes. */
  pad(): this {
    const padding = -this.#length & 3;
    if (padding > 0) this.#grow(padding);
    return this;
  }

  /** An attribute, whose value `write` writes, with its padding. Returns `nla_len`; above 65535 it has lost its upper bits. */
  put(type: number, write: () => void): number {
    const start = this.begin(type);
    write();
    return this.end(start);
  }

  /** Begins an attribute, whose value is what is written until {@link end}, which takes the returned place. */
  begin(type: number): number {
    const start = this.#grow(ATTRIBUTE_HEADER);
    this.#view.setUint16(start + 2, type, HOST_IS_LITTLE);
    return start;
  }

  /** Ends the attribute that begins at `start`, with its padding. Returns `nla_len`; above 65535 it has lost its upper bits. */
  end(start: number): number {
    const length = this.#setLength(start);
    this.pad();
    return length;
  }

  /** Room for so many bytes, which are zero, at the returned place of {@link memory}. */
  reserve(size: number): number {
    return this.#grow(size);
  }

  /** The memory of the writer, of which the first `length` bytes are written. Other memory takes its place when it grows. */
  get memory(): Buffer {
    return this.#bytes;
  }

  /** A number of 32 bits in the machine's byte order, in place of what was written at `at`. */
  patch32(at: number, value: number): this {
    this.#view.setUint32(at, value, HOST_IS_LITTLE);
    return this;
  }

  /** Takes back all but the first `length` bytes. */
  truncate(length: number): this {
    this.#bytes.fill(0, length, this.#length);
    this.#length = length;
    return this;
  }

  /** A struct that begins with its length in 16 bits, and whose rest `write` writes. */
  struct(write: () => void): this {
    const start = this.#length;
    this.u16(0);
    write();
    this.#setLength(start);
    return this;
  }

  /** The bytes written so far; they share the memory of the writer. */
  written(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #setLength(start: number): number {
    const length = this.#length - start;
    this.#view.setUint16(start, length, HOST_IS_LITTLE);
    return length;
  }

  /** Room for `size` bytes, which are zero; returns their place. */
  #grow(size: number): number {
    const start = this.#length;
    this.#length += size;
    if (this.#length > this.#bytes.length) {
      const larger = memory(Math.max(this.#bytes.length * 2, this.#length));
      larger.set(this.#bytes);
      this.#bytes = larger;
      this.#view = viewOf(larger);
    }
    return start;
  }
}
