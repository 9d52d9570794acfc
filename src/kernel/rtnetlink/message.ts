// Messages of rtnetlink: written for the addon, with names of links that it replaces, and read from its answers.
import { NetlinkError } from '../../errors.js';
import type { Fault } from '../arguments.js';
import { MESSAGE, REFERENCE, REFERENCE_KIND } from './layouts.js';

/** Numbers in netlink messages are in the order of the machine. */
const LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

const HEADER = 4; // struct nlattr
const NLMSG_HEADER = 16; // struct nlmsghdr
const TYPE_MASK = 0x3fff; // NLA_TYPE_MASK
const LONGEST_ATTRIBUTE = 0xffff;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Rounds up to the alignment of attributes and messages. */
function align(length: number): number {
  return (length + 3) & ~3;
}

/** Checks values: notes the first that breaks a rule. */
export class Checker {
  fault: Fault | undefined;

  /** Notes a fault, unless there is one already. `field` is the path of the value. */
  fail(field: string, value: unknown, rule: string, wrongType = false): void {
    this.fault ??= { field, value, rule, wrongType };
  }

  /** Refuses fields that are not among the known ones. `path` ends with a dot, or is empty; `kind` has an article. */
  onlyFields(path: string, value: object, known: { has(field: string): boolean }, kind: string): void {
    for (const [field, held] of Object.entries(value)) {
      if (known.has(field)) continue;
      this.fail(`${path}${field}`, held, `is no field of ${kind}`, true);
      return;
    }
  }

  /** Whether a value is an object; else a fault. */
  isObject(path: string, value: unknown): value is object {
    const ok = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!ok) this.fail(path, value, 'must be an object', true);
    return ok;
  }

  /** The value if it is an integer within bounds, else 0 and a fault. */
  integer(path: string, value: unknown, least: number, most: number): number {
    if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) {
      return value as number;
    }
    this.fail(path, value, `must be an integer from ${least} to ${most}`, typeof value !== 'number');
    return 0;
  }
}

/** Writes one message: the fixed header of its family, then attributes. Values that break a rule are noted. */
export class MessageWriter extends Checker {
  readonly #type: number;
  readonly #flags: number;
  #bytes = new Uint8Array(256);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;
  readonly #references: { readonly kind: number; readonly offset: number; readonly name: Uint8Array }[] = [];

  /** `flags` are `NLM_F_` flags beside NLM_F_REQUEST. */
  constructor(type: number, flags: number) {
    super();
    this.#type = type;
    this.#flags = flags;
  }

  /** Numbers of a fixed header, or of a struct within an attribute. */
  u8(value: number): this {
    const at = this.#grow(1); // may change the view
    this.#view.setUint8(at, value);
    return this;
  }

  u16(value: number): this {
    const at = this.#grow(2); // may change the view
    this.#view.setUint16(at, value, LITTLE_ENDIAN);
    return this;
  }

  bigEndian16(value: number): this {
    const at = this.#grow(2); // may change the view
    this.#view.setUint16(at, value);
    return this;
  }

  u32(value: number): this {
    const at = this.#grow(4); // may change the view
    this.#view.setUint32(at, value, LITTLE_ENDIAN);
    return this;
  }

  u64(value: number): this {
    const at = this.#grow(8); // may change the view
    this.#view.setBigUint64(at, BigInt(value), LITTLE_ENDIAN);
    return this;
  }

  bytes(value: Uint8Array): this {
    const at = this.#grow(value.length);
    this.#bytes.set(value, at);
    return this;
  }

  /** The index of a link: a number, or a name that the addon looks up when the message is sent. */
  link(value: string | number): this {
    if (typeof value === 'number') return this.u32(value);
    return this.#refer(REFERENCE_KIND.numbers.link, value);
  }

  /** The descriptor of the network namespace at a path, which the addon opens. */
  networkNamespace(path: string): this {
    return this.#refer(REFERENCE_KIND.numbers.networkNamespace, path);
  }

  /** One attribute, whose payload `write` writes. */
  attribute(type: number, write: () => void): this {
    const start = this.#grow(HEADER);
    write();
    const length = this.#length - start;
    if (length > LONGEST_ATTRIBUTE) this.fail('message', length, `must have attributes of at most 64 KiB`);
    this.#view.setUint16(start, length, LITTLE_ENDIAN);
    this.#view.setUint16(start + 2, type, LITTLE_ENDIAN);
    this.#grow(align(length) - length);
    return this;
  }

  /** A struct that begins with its length in 16 bits, and has attributes behind it. */
  struct(write: () => void): this {
    const start = this.#grow(2);
    write();
    this.#view.setUint16(start, this.#length - start, LITTLE_ENDIAN);
    return this;
  }

  /** The message for the addon: a MESSAGE record with payload and references. */
  finish(): Uint8Array {
    const payload = align(this.#length);
    const references = this.#references.map(({ name }) => REFERENCE.SIZE + align(name.length));
    const bytes = new Uint8Array(MESSAGE.SIZE + payload + references.reduce((sum, each) => sum + each, 0));
    const view = new DataView(bytes.buffer);
    view.setUint16(MESSAGE.type, this.#type, true);
    view.setUint16(MESSAGE.flags, this.#flags, true);
    view.setUint32(MESSAGE.payloadLength, payload, true);
    view.setUint32(MESSAGE.referenceCount, references.length, true);
    bytes.set(this.#bytes.subarray(0, this.#length), MESSAGE.SIZE);
    let at = MESSAGE.SIZE + payload;
    for (const { kind, offset, name } of this.#references) {
      view.setUint8(at + REFERENCE.kind, kind);
      view.setUint32(at + REFERENCE.offset, offset, true);
      view.setUint32(at + REFERENCE.length, name.length, true);
      bytes.set(name, at + REFERENCE.SIZE);
      at += REFERENCE.SIZE + align(name.length);
    }
    return bytes;
  }

  #refer(kind: number, name: string): this {
    this.#references.push({ kind, offset: this.#length, name: encoder.encode(name) });
    return this.u32(0);
  }

  /** Room for `size` bytes, which are zero; returns their place. */
  #grow(size: number): number {
    const start = this.#length;
    this.#length += size;
    if (this.#length > this.#bytes.length) {
      const bytes = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length));
      bytes.set(this.#bytes);
      this.#bytes = bytes;
      this.#view = new DataView(bytes.buffer);
    }
    return start;
  }
}

/** Reads attributes one after another. Every width is checked: `ERR_MALFORMED_REPLY` names the attribute. */
export class AttributeReader {
  /** Type of the attribute that was read last, without flags. */
  type = 0;
  readonly #message: Message;
  #next: number;
  readonly #end: number;
  #at = 0;
  #length = 0;

  constructor(message: Message, start: number, end: number) {
    this.#message = message;
    this.#next = start;
    this.#end = end;
  }

  /** Moves to the next attribute; false after the last one. */
  next(): boolean {
    const left = this.#end - this.#next;
    if (left < HEADER) return false;
    const length = this.#message.view.getUint16(this.#next, LITTLE_ENDIAN);
    this.type = this.#message.view.getUint16(this.#next + 2, LITTLE_ENDIAN) & TYPE_MASK;
    if (length < HEADER || length > left) throw this.malformed(`of ${length} bytes, where ${left} are left`);
    this.#at = this.#next + HEADER;
    this.#length = length - HEADER;
    this.#next += align(length);
    return true;
  }

  /** Bytes of the payload. */
  get length(): number {
    return this.#length;
  }

  u8(offset = 0): number {
    return this.#message.view.getUint8(this.#place(offset, 1));
  }

  u16(offset = 0): number {
    return this.#message.view.getUint16(this.#place(offset, 2), LITTLE_ENDIAN);
  }

  bigEndian16(offset = 0): number {
    return this.#message.view.getUint16(this.#place(offset, 2));
  }

  u32(offset = 0): number {
    return this.#message.view.getUint32(this.#place(offset, 4), LITTLE_ENDIAN);
  }

  i32(offset = 0): number {
    return this.#message.view.getInt32(this.#place(offset, 4), LITTLE_ENDIAN);
  }

  u64(offset = 0): number {
    return Number(this.#message.view.getBigUint64(this.#place(offset, 8), LITTLE_ENDIAN));
  }

  /** The payload, or a part of it, as a view. */
  bytes(offset = 0, length = this.#length - offset): Uint8Array {
    const start = this.#place(offset, length);
    return this.#message.bytes.subarray(start, start + length);
  }

  /** A text, up to its terminator if it has one. */
  text(): string {
    const bytes = this.bytes();
    const end = bytes.indexOf(0);
    return decoder.decode(end < 0 ? bytes : bytes.subarray(0, end));
  }

  /** The attributes within the payload, from `offset` on. */
  nested(offset = 0, length = this.#length - offset): AttributeReader {
    const start = this.#place(offset, length);
    return new AttributeReader(this.#message, start, start + length);
  }

  /** The payload from `offset` on, as if it were that of an attribute. */
  slice(offset: number): AttributeReader {
    const rest = new AttributeReader(this.#message, 0, 0);
    rest.type = this.type;
    rest.#at = this.#place(offset, 0);
    rest.#length = this.#length - offset;
    return rest;
  }

  malformed(reason: string): NetlinkError {
    return this.#message.malformed(`attribute ${this.type} ${reason}`);
  }

  #place(offset: number, width: number): number {
    if (width < 0 || offset + width > this.#length) {
      throw this.malformed(`of ${this.#length} bytes, where ${offset + width} are needed`);
    }
    return this.#at + offset;
  }
}

/** One message of an answer. Numbers of its fixed header are read by their place. */
export class Message {
  /** `RTM_NEWROUTE` and its like. */
  readonly type: number;
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly #operation: string;
  readonly #start: number;
  readonly #end: number;

  constructor(bytes: Uint8Array, view: DataView, start: number, end: number, operation: string) {
    this.bytes = bytes;
    this.view = view;
    this.type = view.getUint16(start + 4, LITTLE_ENDIAN);
    this.#operation = operation;
    this.#start = start + NLMSG_HEADER;
    this.#end = end;
  }

  u8(offset: number): number {
    return this.view.getUint8(this.#place(offset, 1));
  }

  u16(offset: number): number {
    return this.view.getUint16(this.#place(offset, 2), LITTLE_ENDIAN);
  }

  u32(offset: number): number {
    return this.view.getUint32(this.#place(offset, 4), LITTLE_ENDIAN);
  }

  /** The attributes behind a fixed header of `size` bytes. */
  attributes(size: number): AttributeReader {
    return new AttributeReader(this, this.#place(size, 0), this.#end);
  }

  malformed(reason: string): NetlinkError {
    return new NetlinkError({
      code: 'ERR_MALFORMED_REPLY',
      operation: this.#operation,
      kernelMessage: `message ${this.type}: ${reason}`,
    });
  }

  #place(offset: number, width: number): number {
    if (this.#start + offset + width > this.#end) throw this.malformed('is shorter than its header');
    return this.#start + offset;
  }
}

/** The messages of an answer. `operation` names it in errors. */
export function* messagesOf(answer: Uint8Array, operation: string): Generator<Message, void> {
  const view = new DataView(answer.buffer, answer.byteOffset, answer.length);
  for (let at = 0; at + NLMSG_HEADER <= answer.length; ) {
    const length = view.getUint32(at, LITTLE_ENDIAN);
    if (length < NLMSG_HEADER || at + length > answer.length) {
      const kernelMessage = `a message of ${length} bytes, where ${answer.length - at} are left`;
      throw new NetlinkError({ code: 'ERR_MALFORMED_REPLY', operation, kernelMessage });
    }
    yield new Message(answer, view, at, at + length, operation);
    at += align(length);
  }
}
