// Writes the attributes of a message: struct nlattr, value, padding to 4 bytes.
import { inspect } from 'node:util';
import { parseAddressAsIs } from '../net/address.js';
import { integerRule, isIntegerWithin, shown } from '../shared/arguments.js';
import { ByteWriter } from '../shared/wire/byteWriter.js';
import { ATTRIBUTE_HEADER, LONGEST_ATTRIBUTE } from '../shared/wire/messages.js';

/** `NLA_F_NESTED`: the value of an attribute is attributes. */
export const NLA_F_NESTED = 0x8000;
/** `NLA_F_NET_BYTEORDER`: the value is in network order. A few families, as ipset's, require it. */
export const NLA_F_NET_BYTEORDER = 0x4000;

/** Most bytes of a value. */
const LONGEST_VALUE = LONGEST_ATTRIBUTE - ATTRIBUTE_HEADER;

/** The least and the largest number of so many bits. */
function boundsOf(bits: number, isSigned: boolean): { least: bigint; most: bigint } {
  const range = 1n << BigInt(isSigned ? bits - 1 : bits);
  return { least: isSigned ? -range : 0n, most: range - 1n };
}

/**
 * Writes the payload of a message: the header of the family and attributes, in the order of the calls. Each method returns the
 * writer. `type` is 0–65535 (`nla_type`, with `NLA_F_…` where a family needs it). An invalid value is a RangeError, one of
 * another type a TypeError; both name the attribute, and nothing is written.
 */
export class AttributeWriter {
  /** Names the attributes in errors; those that are nested, after the types of the outer ones. */
  #path = 'attribute';
  readonly #writer = new ByteWriter();

  /** @param header the fixed header of the family, which is copied: `genlmsghdr` ({@link genericHeader}), `rtmsg` */
  constructor(header: Uint8Array = new Uint8Array()) {
    if (!(header instanceof Uint8Array)) {
      throw new TypeError(`header must be a Uint8Array, found ${shown(header)}`);
    }
    this.#writer.bytes(header).pad();
  }

  /** A number of 8 bits. */
  u8(type: number, value: number): this {
    return this.#integer(type, value, 'u8', 1, () => this.#writer.u8(value));
  }

  /** A number of 16 bits in the machine's byte order. */
  u16(type: number, value: number): this {
    return this.#integer(type, value, 'u16', 2, () => this.#writer.u16(value));
  }

  /** A number of 32 bits in the machine's byte order. */
  u32(type: number, value: number): this {
    return this.#integer(type, value, 'u32', 4, () => this.#writer.u32(value));
  }

  /** A number of 64 bits in the machine's byte order. */
  u64(type: number, value: bigint): this {
    return this.#integer(type, value, 'u64', 8, () => this.#writer.u64(value));
  }

  /** A signed number of 8 bits. */
  i8(type: number, value: number): this {
    return this.#integer(type, value, 'i8', 1, () => this.#writer.u8(value));
  }

  /** A signed number of 16 bits in the machine's byte order. */
  i16(type: number, value: number): this {
    return this.#integer(type, value, 'i16', 2, () => this.#writer.u16(value));
  }

  /** A signed number of 32 bits in the machine's byte order. */
  i32(type: number, value: number): this {
    return this.#integer(type, value, 'i32', 4, () => this.#writer.u32(value));
  }

  /** A signed number of 64 bits in the machine's byte order. */
  i64(type: number, value: bigint): this {
    return this.#integer(type, value, 'i64', 8, () => this.#writer.u64(value));
  }

  /** A number of 16 bits in network order. */
  u16be(type: number, value: number): this {
    return this.#integer(type, value, 'u16be', 2, () => this.#writer.u16be(value));
  }

  /** A number of 32 bits in network order. */
  u32be(type: number, value: number): this {
    return this.#integer(type, value, 'u32be', 4, () => this.#writer.u32be(value));
  }

  /** A number of 64 bits in network order. */
  u64be(type: number, value: bigint): this {
    return this.#integer(type, value, 'u64be', 8, () => this.#writer.u64be(value));
  }

  /** A text in UTF-8 with a zero at its end (`NLA_NUL_STRING`). */
  text(type: number, value: string): this {
    if (typeof value !== 'string')
      throw new TypeError(this.#invalid(type, 'text', 'must be a string', value));
    if (value.includes('\0')) throw new RangeError(this.#invalid(type, 'text', 'must have no zero', value));
    return this.bytes(type, Buffer.from(`${value}\0`));
  }

  /** Bytes as they are. */
  bytes(type: number, value: Uint8Array): this {
    if (!(value instanceof Uint8Array)) {
      throw new TypeError(this.#invalid(type, 'bytes', 'must be a Uint8Array', value));
    }
    return this.#attribute(type, value.length, () => this.#writer.bytes(value));
  }

  /** An IP address in network order: 4 or 16 bytes. */
  address(type: number, value: string): this {
    const bytes = typeof value === 'string' ? parseAddressAsIs(value) : undefined;
    if (!bytes) {
      const invalid = this.#invalid(type, 'address', 'must be an IP address', value);
      throw typeof value === 'string' ? new RangeError(invalid) : new TypeError(invalid);
    }
    return this.bytes(type, bytes);
  }

  /** An attribute without a value (`NLA_FLAG`). */
  flag(type: number): this {
    return this.#attribute(type, 0, () => undefined);
  }

  /** An attribute of the attributes that `write` writes before it returns, with `NLA_F_NESTED`. */
  nested(type: number, write: (attributes: AttributeWriter) => void): this {
    this.#checkType(type);
    if (typeof write !== 'function') {
      throw new TypeError(this.#invalid(type, 'nested', 'must be a function', write));
    }
    const inner = new AttributeWriter();
    inner.#path = `${this.#path} ${type},`;
    const result: unknown = write(inner);
    if (result instanceof Promise) {
      throw new TypeError(this.#invalid(type, 'nested', 'must be a function that is not async', write));
    }
    return this.bytes(type | NLA_F_NESTED, inner.payload());
  }

  /** A copy of what was written. */
  payload(): Uint8Array {
    return this.#writer.written().slice();
  }

  #integer(type: number, value: number | bigint, kind: string, width: number, write: () => void): this {
    const big = width === 8;
    if (typeof value !== (big ? 'bigint' : 'number')) {
      throw new TypeError(this.#invalid(type, kind, `must be a ${big ? 'bigint' : 'number'}`, value));
    }
    const { least, most } = boundsOf(8 * width, kind.startsWith('i'));
    const isValid = big
      ? value >= least && value <= most
      : isIntegerWithin(value, Number(least), Number(most));
    if (!isValid) throw new RangeError(this.#invalid(type, kind, integerRule(least, most), value));
    return this.#attribute(type, width, write);
  }

  #attribute(type: number, size: number, write: () => void): this {
    this.#checkType(type);
    if (size > LONGEST_VALUE) {
      throw new RangeError(this.#invalid(type, 'length', `must be at most ${LONGEST_VALUE} bytes`, size));
    }
    this.#writer.put(type, write);
    return this;
  }

  #checkType(type: number): void {
    if (isIntegerWithin(type, 0, 0xffff)) return;
    const invalid = this.#invalid(type, 'type', integerRule(0, 0xffff), type);
    throw typeof type === 'number' ? new RangeError(invalid) : new TypeError(invalid);
  }

  #invalid(type: number, kind: string, rule: string, value: unknown): string {
    return `${this.#path} ${shown(type)} (${kind}) ${rule}, found ${inspect(value, { depth: 0 })}`;
  }
}
