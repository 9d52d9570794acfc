// Reads the attributes of a message without ever reading beyond one.
import { NetlinkError } from '../errors.js';
import { formatAddress } from '../net/address.js';
import {
  argumentError,
  findUnknown,
  type InvalidValue,
  invalidInteger,
  invalidObject,
} from '../shared/arguments.js';
import { AttributeCursor, terminatedText } from '../shared/wire/attributeCursor.js';
import { aligned, HOST_IS_LITTLE } from '../shared/wire/messages.js';

/** Where attributes are, as errors name them. */
export interface AttributePlace {
  /** Bytes of the family's header before the first attribute. Default 0. */
  readonly offset?: number | undefined;
  /** `family.verb` of the operation whose reply is read. Default `netlink.read`. */
  readonly operation?: string | undefined;
}

const PLACE_FIELDS: ReadonlySet<string> = new Set(['offset', 'operation']);
const NO_PLACE: AttributePlace = {};

/**
 * The attributes of a payload, in their order. Kernels add attributes: skip those that you do not know. A payload that breaks a rule
 * is a NetlinkError `ERR_MALFORMED_REPLY` that names the attribute.
 */
export class AttributeReader implements Iterable<Attribute> {
  readonly #payload: Uint8Array;
  readonly #offset: number;
  readonly #operation: string;
  readonly #path: string;

  constructor(payload: Uint8Array, place: AttributePlace = NO_PLACE, path = 'attribute') {
    const invalid = invalidBytes('payload', payload) ?? invalidPlace(place) ?? invalidText('path', path);
    if (invalid) throw argumentError('netlink.AttributeReader', invalid);
    const { offset = 0, operation = 'netlink.read' } = place;
    this.#payload = payload;
    this.#offset = aligned(offset);
    this.#operation = operation;
    this.#path = path;
    if (offset > payload.length) {
      throw malformed(operation, `header of ${offset} bytes`, `the message has ${payload.length}`);
    }
  }

  /** Reads the attributes one after another. */
  *[Symbol.iterator](): Generator<Attribute, void> {
    const payload = this.#payload;
    const source = {
      bytes: payload,
      view: new DataView(payload.buffer, payload.byteOffset, payload.length),
      malformed: (target: string, reason: string) => malformed(this.#operation, target, reason),
    };
    const attributes = new AttributeCursor(source, this.#offset, payload.length, this.#path);
    while (attributes.next()) {
      yield new Attribute(attributes.type, attributes.bytes(), this.#operation, attributes.name);
    }
  }
}

/** An attribute. The methods read its value; one of another width is a NetlinkError `ERR_MALFORMED_REPLY`. */
export class Attribute {
  /** `nla_type` without `NLA_F_…`. */
  readonly type: number;
  readonly #value: Uint8Array;
  readonly #operation: string;
  readonly #path: string;

  /** Made by {@link AttributeReader}. */
  constructor(type: number, value: Uint8Array, operation: string, path: string) {
    const invalid =
      invalidInteger('type', type, 0, 0xffff) ??
      invalidBytes('value', value) ??
      invalidText('operation', operation) ??
      invalidText('path', path);
    if (invalid) throw argumentError('netlink.Attribute', invalid);
    this.type = type;
    this.#value = value;
    this.#operation = operation;
    this.#path = path;
  }

  /** Bytes of the value. */
  get size(): number {
    return this.#value.length;
  }

  /** A number of 8 bits. */
  u8(): number {
    return this.#fixed(1).getUint8(0);
  }

  /** A number of 16 bits in the machine's byte order. */
  u16(): number {
    return this.#fixed(2).getUint16(0, HOST_IS_LITTLE);
  }

  /** A number of 32 bits in the machine's byte order. */
  u32(): number {
    return this.#fixed(4).getUint32(0, HOST_IS_LITTLE);
  }

  /** A number of 64 bits in the machine's byte order. */
  u64(): bigint {
    return this.#fixed(8).getBigUint64(0, HOST_IS_LITTLE);
  }

  /** A signed number of 8 bits. */
  i8(): number {
    return this.#fixed(1).getInt8(0);
  }

  /** A signed number of 16 bits in the machine's byte order. */
  i16(): number {
    return this.#fixed(2).getInt16(0, HOST_IS_LITTLE);
  }

  /** A signed number of 32 bits in the machine's byte order: the id of a network namespace (`IFLA_LINK_NETNSID`). */
  i32(): number {
    return this.#fixed(4).getInt32(0, HOST_IS_LITTLE);
  }

  /** A signed number of 64 bits in the machine's byte order. */
  i64(): bigint {
    return this.#fixed(8).getBigInt64(0, HOST_IS_LITTLE);
  }

  /** A number of 16 bits in network order. */
  u16be(): number {
    return this.#fixed(2).getUint16(0);
  }

  /** A number of 32 bits in network order. */
  u32be(): number {
    return this.#fixed(4).getUint32(0);
  }

  /** A number of 64 bits in network order. */
  u64be(): bigint {
    return this.#fixed(8).getBigUint64(0);
  }

  /** A text in UTF-8, up to a zero if there is one. */
  text(): string {
    return terminatedText(this.#value);
  }

  /** A copy of the value. */
  bytes(): Uint8Array {
    return new Uint8Array(this.#value); // slice() of a Buffer is not a copy
  }

  /** An IP address: 4 or 16 bytes in network order. */
  address(): string {
    if (this.size !== 4 && this.size !== 16) this.#fail('expected 4 or 16');
    return formatAddress(this.#value);
  }

  /** The attributes in this one. */
  nested(): AttributeReader {
    return new AttributeReader(this.#value, { operation: this.#operation }, `${this.#path},`);
  }

  #fixed(width: number): DataView {
    const { buffer, byteOffset, length } = this.#value;
    if (length !== width) this.#fail(`expected ${width}`);
    return new DataView(buffer, byteOffset, length);
  }

  #fail(expected: string): never {
    throw malformed(this.#operation, this.#path, `the value has ${this.size} bytes, ${expected}`);
  }
}

function invalidBytes(field: string, value: unknown): InvalidValue | undefined {
  if (value instanceof Uint8Array) return undefined;
  return { field, value, rule: 'must be a Uint8Array', wrongType: true };
}

function invalidText(field: string, value: unknown): InvalidValue | undefined {
  if (typeof value === 'string' && value !== '' && !value.includes('\0')) return undefined;
  return { field, value, rule: 'must be a text of at least one byte', wrongType: typeof value !== 'string' };
}

function invalidPlace(place: AttributePlace): InvalidValue | undefined {
  if (place === NO_PLACE) return undefined;
  const invalid = invalidObject('place', place) ?? findUnknown(place, PLACE_FIELDS);
  if (invalid) return invalid;
  const { offset = 0, operation } = place;
  const broken = invalidInteger('offset', offset, 0, Number.MAX_SAFE_INTEGER);
  return broken ?? (operation === undefined ? undefined : invalidText('operation', operation));
}

function malformed(operation: string, target: string, kernelMessage: string): NetlinkError {
  return new NetlinkError({ code: 'ERR_MALFORMED_REPLY', operation, target, kernelMessage });
}
