// Messages ↔ the bytes that cross to the addon: struct nlmsghdr in the machine's byte order, payload, padding to 4 bytes.
import { endianness } from 'node:os';
import type { Fault } from '../arguments.js';
import { integerFault } from '../arguments.js';
import type { OperationWriter } from '../batch.js';
import type { NetlinkMessage, NetlinkRequest } from './types.js';

/** Whether numbers in messages are little-endian. */
export const HOST_IS_LITTLE = endianness() === 'LE';

/** Bytes of struct nlmsghdr. */
const HEADER = 16;
/** `NLMSG_MIN_TYPE`: smaller types are netlink's own. */
const LEAST_TYPE = 0x10;
/** Longest payload, in bytes: fits into the send buffer of an unprivileged socket behind a full batch. */
const LONGEST_PAYLOAD = 131_072;
/** Bytes of the first buffer. */
const FIRST_SIZE = 1024;
const FIELDS: ReadonlySet<string> = new Set(['type', 'flags', 'payload']);

/** The length with the padding to 4 bytes (`NLMSG_ALIGN`, `NLA_ALIGN`). */
export function aligned(length: number): number {
  return (length + 3) & ~3;
}

/** Writes messages one after another. */
export class MessageWriter implements OperationWriter<NetlinkRequest> {
  readonly #added: number;
  #bytes = new Uint8Array(FIRST_SIZE);
  #view = new DataView(this.#bytes.buffer);
  #end = 0;

  /** @param added flags that every message has */
  constructor(added = 0) {
    this.#added = added;
  }

  write(message: NetlinkRequest): Fault | undefined {
    const fault = findFault(message);
    if (fault) return fault;
    const { type, flags = 0, payload } = message;
    const size = payload?.length ?? 0;
    this.#reserve(HEADER + size);
    const start = this.#end;
    this.#view.setUint32(start, HEADER + size, HOST_IS_LITTLE);
    this.#view.setUint16(start + 4, type, HOST_IS_LITTLE);
    this.#view.setUint16(start + 6, flags | this.#added, HOST_IS_LITTLE);
    // The sequence number and the port remain 0.
    if (payload) this.#bytes.set(payload, start + HEADER);
    this.#end += aligned(HEADER + size);
    return undefined;
  }

  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#end);
  }

  #reserve(size: number): void {
    const needed = this.#end + aligned(size);
    if (needed <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, 2 * this.#bytes.length));
    larger.set(this.bytes());
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }
}

function findFault(message: NetlinkRequest): Fault | undefined {
  if (typeof message !== 'object' || message === null) {
    return { field: 'message', value: message, rule: 'must be an object', wrongType: true };
  }
  for (const [field, value] of Object.entries(message)) {
    if (!FIELDS.has(field)) return { field, value, rule: 'is no field of a message', wrongType: true };
  }
  const { type, flags = 0, payload } = message;
  const fault = integerFault('type', type, LEAST_TYPE, 0xffff) ?? integerFault('flags', flags, 0, 0xffff);
  if (fault || payload === undefined) return fault;
  if (!(payload instanceof Uint8Array)) {
    return { field: 'payload', value: payload, rule: 'must be a Uint8Array', wrongType: true };
  }
  if (payload.length <= LONGEST_PAYLOAD) return undefined;
  const rule = `must have at most ${LONGEST_PAYLOAD} bytes`;
  return { field: 'payload.length', value: payload.length, rule, wrongType: false };
}

/** Reads messages, which the addon has checked. Their payloads share the memory of `bytes`. */
export function* readMessages(bytes: Uint8Array): Generator<NetlinkMessage, void> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let start = 0; start < bytes.length; ) {
    const length = view.getUint32(start, HOST_IS_LITTLE);
    yield {
      type: view.getUint16(start + 4, HOST_IS_LITTLE),
      flags: view.getUint16(start + 6, HOST_IS_LITTLE),
      payload: bytes.subarray(start + HEADER, start + length),
    };
    start += aligned(length);
  }
}
