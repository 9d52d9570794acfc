// Messages ↔ the bytes that cross to the addon: struct nlmsghdr in the machine's byte order, payload, padding to 4 bytes.
import type { NativeClient } from '../shared/addon.js';
import { type InvalidValue, invalidInteger, invalidObject } from '../shared/arguments.js';
import type { OperationWriter } from '../shared/batch.js';
import { ByteWriter } from '../shared/wire/byteWriter.js';
import { MESSAGE_HEADER, messagesIn } from '../shared/wire/messages.js';
import { asksForListing } from './requestsToList.js';
import type { NetlinkMessage, NetlinkRequest } from './types.js';

/** `NLMSG_MIN_TYPE`: smaller types are netlink's own. */
const LEAST_TYPE = 0x10;
/** Longest payload, in bytes: fits into the send buffer of an unprivileged socket behind a full batch. */
const LONGEST_PAYLOAD = 131_072;
const NOTHING = new Uint8Array();
const FIELDS: ReadonlySet<string> = new Set(['type', 'flags', 'payload']);

/** Writes messages one after another. */
export class MessageWriter implements OperationWriter<NetlinkRequest> {
  readonly #added: number;
  readonly #changing: number | undefined;
  #writer = new ByteWriter();

  /**
   * @param added flags that every message has
   * @param changing the protocol of messages that change, none of which asks for a listing; undefined if they may
   */
  constructor(added = 0, changing?: number) {
    this.#added = added;
    this.#changing = changing;
  }

  begin(): void {
    this.#writer = new ByteWriter();
  }

  write(message: NetlinkRequest): InvalidValue | undefined {
    const invalid = findInvalid(message) ?? this.#invalidListing(message);
    if (invalid) return invalid;
    const { type, flags = 0, payload = NOTHING } = message;
    // The sequence number and the port remain 0.
    this.#writer
      .u32(MESSAGE_HEADER + payload.length)
      .u16(type)
      .u16(flags | this.#added)
      .u32(0)
      .u32(0)
      .bytes(payload)
      .pad();
    return undefined;
  }

  #invalidListing({ type, flags = 0 }: NetlinkRequest): InvalidValue | undefined {
    if (this.#changing === undefined || !asksForListing(this.#changing, type, flags)) return undefined;
    const rule = 'must not ask for a listing (NLM_F_DUMP), which dump() reads';
    return { field: 'flags', value: flags, rule, wrongType: false };
  }

  bytes(): Uint8Array {
    return this.#writer.written();
  }

  get size(): number {
    return this.#writer.length;
  }

  send(client: NativeClient): ReturnType<NativeClient['apply']> {
    return client.apply(this.bytes());
  }
}

function findInvalid(message: NetlinkRequest): InvalidValue | undefined {
  const noObject = invalidObject('message', message);
  if (noObject) return noObject;
  for (const [field, value] of Object.entries(message)) {
    if (!FIELDS.has(field)) return { field, value, rule: 'is not a field of a message', wrongType: true };
  }
  const { type, flags = 0, payload } = message;
  const invalid =
    invalidInteger('type', type, LEAST_TYPE, 0xffff) ?? invalidInteger('flags', flags, 0, 0xffff);
  if (invalid || payload === undefined) return invalid;
  if (!(payload instanceof Uint8Array)) {
    return { field: 'payload', value: payload, rule: 'must be a Uint8Array', wrongType: true };
  }
  if (payload.length <= LONGEST_PAYLOAD) return undefined;
  const rule = `must have at most ${LONGEST_PAYLOAD} bytes`;
  return { field: 'payload.length', value: payload.length, rule, wrongType: false };
}

/** Reads messages. Their payloads share the memory of `bytes`, and are not Buffers, whose slice() would share it too. */
export function* readMessages(bytes: Uint8Array): Generator<NetlinkMessage, void> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (const { type, flags, start, end } of messagesIn(view, 'netlink.read')) {
    yield { type, flags, payload: new Uint8Array(bytes.buffer, bytes.byteOffset + start, end - start) };
  }
}
