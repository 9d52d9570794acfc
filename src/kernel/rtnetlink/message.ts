// Messages of rtnetlink: written for the addon, with names of links that it replaces, and read from its answers.
import { NetlinkError } from '../errors.js';
import { argumentError } from '../shared/arguments.js';
import { Checker } from '../shared/checker.js';
import type { Attempt } from '../shared/failures.js';
import { AttributeCursor, type AttributeSource } from '../shared/wire/attributeCursor.js';
import { ByteWriter } from '../shared/wire/byteWriter.js';
import {
  aligned,
  HOST_IS_LITTLE,
  LONGEST_ATTRIBUTE,
  type MessagePlace,
  messagesIn,
} from '../shared/wire/messages.js';
import { MESSAGE, REFERENCE, REFERENCE_KIND } from './layouts.js';

/** The place of a number in a payload, the name that stands for it, and its length in bytes. */
interface Reference {
  readonly kind: number;
  readonly offset: number;
  readonly name: string;
  readonly length: number;
}

/** Writes one message: the fixed header of its family, then attributes. Invalid values are noted. */
export class MessageWriter extends ByteWriter {
  /** Notes the invalid values. */
  readonly check = new Checker();
  readonly #type: number;
  readonly #flags: number;
  readonly #references: Reference[] = [];

  /** `flags` are `NLM_F_` flags beside NLM_F_REQUEST. */
  constructor(type: number, flags: number) {
    super();
    this.#type = type;
    this.#flags = flags;
    this.zeros(MESSAGE.SIZE);
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

  /** One attribute, whose value `write` writes. */
  attribute(type: number, write: () => void): this {
    const length = this.put(type, write);
    if (length > LONGEST_ATTRIBUTE)
      this.check.fail('message', length, 'must have attributes of at most 64 KiB');
    return this;
  }

  /** Ends the message, for the addon: a MESSAGE record with payload and references. */
  finish(): Uint8Array {
    let at = this.pad().length;
    const payloadLength = at - MESSAGE.SIZE;
    for (const { length } of this.#references) this.zeros(REFERENCE.SIZE + aligned(length));
    const bytes = this.written();
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    view.setUint16(MESSAGE.type, this.#type, true);
    view.setUint16(MESSAGE.flags, this.#flags, true);
    view.setUint32(MESSAGE.payloadLength, payloadLength, true);
    view.setUint32(MESSAGE.referenceCount, this.#references.length, true);
    for (const { kind, offset, name, length } of this.#references) {
      view.setUint8(at + REFERENCE.kind, kind);
      view.setUint32(at + REFERENCE.offset, offset, true);
      view.setUint32(at + REFERENCE.length, length, true);
      bytes.write(name, at + REFERENCE.SIZE);
      at += REFERENCE.SIZE + aligned(length);
    }
    return bytes;
  }

  #refer(kind: number, name: string): this {
    this.#references.push({
      kind,
      offset: this.length - MESSAGE.SIZE,
      name,
      length: Buffer.byteLength(name),
    });
    return this.u32(0);
  }
}

/** One message of an answer. Numbers of its fixed header are read by their place. */
export class Message implements AttributeSource {
  /** `RTM_NEWROUTE` and its like. */
  readonly type: number;
  /** `nlmsg_pid` */
  readonly port: number;
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly #operation: string;
  readonly #start: number;
  readonly #end: number;

  constructor(
    bytes: Uint8Array,
    view: DataView,
    { type, port, start, end }: MessagePlace,
    operation: string,
  ) {
    this.bytes = bytes;
    this.view = view;
    this.type = type;
    this.port = port;
    this.#operation = operation;
    this.#start = start;
    this.#end = end;
  }

  u8(offset: number): number {
    return this.view.getUint8(this.#place(offset, 1));
  }

  u16(offset: number): number {
    return this.view.getUint16(this.#place(offset, 2), HOST_IS_LITTLE);
  }

  u32(offset: number): number {
    return this.view.getUint32(this.#place(offset, 4), HOST_IS_LITTLE);
  }

  /** The attributes behind a fixed header of `size` bytes. */
  attributes(size: number): AttributeCursor {
    return new AttributeCursor(this, this.#place(size, 0), this.#end);
  }

  malformed(part: string, reason: string): NetlinkError {
    return new NetlinkError({
      code: 'ERR_MALFORMED_REPLY',
      operation: this.#operation,
      kernelMessage: `message ${this.type}: ${part}: ${reason}`,
    });
  }

  #place(offset: number, width: number): number {
    const at = this.#start + offset;
    if (at + width > this.#end) {
      throw this.malformed('header', `${this.#end - this.#start} bytes, expected at least ${offset + width}`);
    }
    return at;
  }
}

/** The messages of an answer. `operation` names it in errors. */
export function* messagesOf(answer: Uint8Array, operation: string): Generator<Message, void> {
  const view = new DataView(answer.buffer, answer.byteOffset, answer.length);
  for (const place of messagesIn(view, operation)) yield new Message(answer, view, place, operation);
}

/** The message, or the error of its first invalid value. */
export function checkedMessage(message: MessageWriter, { operation }: Attempt): Uint8Array {
  if (message.check.invalid) throw argumentError(operation, message.check.invalid);
  return message.finish();
}
