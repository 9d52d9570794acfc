// The attributes of messages to the fake kernel, and its messages. Pure.
import { NetlinkError } from '../../errors.js';
import { LIST_ELEMENT, NESTED, NFGEN_HEADER, SUBSYSTEM } from '../../nftables/numbers.js';
import { AttributeCursor } from '../../shared/wire/attributeCursor.js';
import { ByteWriter } from '../../shared/wire/byteWriter.js';
import { MESSAGE_HEADER } from '../../shared/wire/messages.js';

function sourceOf(bytes: Uint8Array) {
  return {
    bytes,
    view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length),
    malformed: (target: string, kernelMessage: string) =>
      new NetlinkError({ code: 'EINVAL', errno: 22, operation: 'nftables', target, kernelMessage }),
  };
}

/** Attributes by their types: of several with the same type, the last. The values share the memory of the message. */
export class Attributes {
  readonly #values = new Map<number, Uint8Array>();

  /** @param start bytes before the first attribute */
  constructor(bytes: Uint8Array, start = 0) {
    const cursor = new AttributeCursor(sourceOf(bytes), start, bytes.length);
    while (cursor.next()) this.#values.set(cursor.type, cursor.bytes());
  }

  has(type: number): boolean {
    return this.#values.has(type);
  }

  bytes(type: number): Uint8Array | undefined {
    return this.#values.get(type);
  }

  /** A copy, which may be kept. */
  copy(type: number): Uint8Array | undefined {
    const value = this.#values.get(type);
    return value && new Uint8Array(value);
  }

  /** A number of 32 bits in network order. */
  u32(type: number): number | undefined {
    const value = this.#values.get(type);
    return value && new DataView(value.buffer, value.byteOffset, 4).getUint32(0);
  }

  /** A number of 64 bits in network order. */
  u64(type: number): bigint | undefined {
    const value = this.#values.get(type);
    return value && new DataView(value.buffer, value.byteOffset, 8).getBigUint64(0);
  }

  text(type: number): string | undefined {
    const value = this.#values.get(type);
    if (!value) return undefined;
    const end = value.indexOf(0);
    return Buffer.from(end < 0 ? value : value.subarray(0, end)).toString();
  }

  nested(type: number): Attributes | undefined {
    const value = this.#values.get(type);
    return value && new Attributes(value);
  }
}

/** The values of a list (`NFTA_LIST_ELEM`), with their places in the list, in bytes. */
export function* listIn(bytes: Uint8Array): Generator<{ value: Uint8Array; at: number }, void> {
  for (const { type, value } of eachIn(bytes))
    if (type === LIST_ELEMENT) yield { value, at: value.byteOffset - bytes.byteOffset };
}

/** All attributes, in order. */
export function* eachIn(bytes: Uint8Array): Generator<{ type: number; value: Uint8Array }, void> {
  const cursor = new AttributeCursor(sourceOf(bytes), 0, bytes.length);
  while (cursor.next()) yield { type: cursor.type, value: cursor.bytes() };
}

/** Writes attributes. */
export class AttributesOut {
  readonly writer = new ByteWriter();

  u32(type: number, value: number): this {
    this.writer.put(type, () => this.writer.u32be(value));
    return this;
  }

  u64(type: number, value: bigint): this {
    this.writer.put(type, () => this.writer.u64be(value));
    return this;
  }

  text(type: number, value: string): this {
    this.writer.put(type, () => this.writer.bytes(Buffer.from(`${value}\0`)));
    return this;
  }

  /** Nothing if there is no value. */
  bytes(type: number, value: Uint8Array | undefined): this {
    if (value) this.writer.put(type, () => this.writer.bytes(value));
    return this;
  }

  /** The same of attributes in an attribute. */
  nested(type: number, value: Uint8Array | undefined): this {
    return this.bytes(type | NESTED, value);
  }

  /** Attributes in an attribute, which `write` writes. */
  within(type: number, write: () => void): this {
    this.writer.put(type | NESTED, write);
    return this;
  }
}

/** A message of nf_tables. */
export function messageOf(
  type: number,
  family: number,
  write: (out: AttributesOut) => void,
  flags = 0,
): Uint8Array {
  const out = new AttributesOut();
  write(out);
  const payload = out.writer.written();
  return new ByteWriter()
    .u32(MESSAGE_HEADER + NFGEN_HEADER + payload.length)
    .u16((SUBSYSTEM << 8) | type)
    .u16(flags)
    .u32(0)
    .u32(0)
    .u8(family)
    .zeros(NFGEN_HEADER - 1)
    .bytes(payload)
    .pad()
    .written();
}
