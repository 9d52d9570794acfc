// Replies to requests → values, and the requests for elements. Pure.
import { NetlinkError } from '../errors.js';
import { readMessages } from '../netlink/messages.js';
import { argumentError, checkArray } from '../shared/arguments.js';
import { ByteWriter } from '../shared/wire/byteWriter.js';
import { aligned, HOST_IS_LITTLE, MESSAGE_HEADER, messagesIn } from '../shared/wire/messages.js';
import { readEvent } from './decode/events.js';
import { readGeneration } from './decode/tables.js';
import { encodeElements } from './encode/elements.js';
import { Messages } from './encode/messages.js';
import { MESSAGE, SUBSYSTEM } from './numbers.js';
import type { ElementName, Generation, NftablesEvent, SetName } from './types.js';

/** Reads the values of a message, of which there may be none or several. */
export type Read<T> = (payload: Uint8Array) => Iterable<T>;

/** Reads the values of each message. */
export function* readEach<T>(replies: Uint8Array, read: Read<T>): Generator<T | undefined, void> {
  for (const { payload } of readMessages(replies)) {
    yield undefined;
    yield* read(payload);
  }
}

/** The element in the replies to the request for it: of an interval, its start, and then its end, which listings have before it. */
export function elementsIn<T>(replies: Uint8Array, read: Read<T>): T[] {
  return [...readMessages(replies)].reverse().flatMap(({ payload }) => [...read(payload)]);
}

/** The generation in the reply to the request for it. */
export function generationIn(replies: Uint8Array): Generation {
  for (const { payload } of readMessages(replies)) return readGeneration(payload);
  const kernelMessage = 'the kernel sent none';
  throw new NetlinkError({ code: 'ERR_MALFORMED_REPLY', operation: 'nftables.generation', kernelMessage });
}

/** The events of notifications. Those of objects that this library does not know are left out. */
export function* readEvents(records: Uint8Array): Generator<NftablesEvent, void> {
  const view = new DataView(records.buffer, records.byteOffset, records.length);
  for (const { type, port, start, end } of messagesIn(view, 'netlink.read')) {
    if (type >> 8 !== SUBSYSTEM) continue;
    const payload = new Uint8Array(records.buffer, records.byteOffset + start, end - start);
    const event = readEvent({ type, payload });
    if (event) yield port === 0 ? event : { ...event, sender: port };
  }
}

/** The request for one thing by its name, which `encode` writes. Throws the error of the call if the name is invalid. */
export function requestByName(operation: string, encode: (messages: Messages) => void): Uint8Array {
  const bytes = new ByteWriter();
  const messages = new Messages(bytes);
  messages.operation();
  encode(messages);
  if (messages.check.invalid) throw argumentError(operation, messages.check.invalid);
  return bytes.written();
}

/** The requests for elements of a set, one for each. Throws the error of the call if one is invalid. */
export function elementRequests(set: SetName, elements: readonly ElementName[]): Uint8Array[] {
  const operation = 'nftables.getElements';
  checkArray(operation, 'elements', elements);
  return elements.map((element, place) => {
    const bytes = new ByteWriter();
    const messages = new Messages(bytes);
    messages.operation();
    encodeElements(messages, { type: MESSAGE.getElements, flags: 0, isName: true }, set, [element]);
    const { invalid } = messages.check;
    if (!invalid) return bytes.written();
    const field = invalid.field.replace(/^elements\[0\]/, `elements[${place}]`);
    throw argumentError(operation, { ...invalid, field });
  });
}

/** Place of `nfgen_res_id` in a message: the lower half of the generation, in network order. */
const GENERATION_AT = 18;

/**
 * Whether the messages of a listing are of one generation. The kernel marks a listing as interrupted (NLM_F_DUMP_INTR) only between its pieces:
 * within the last one, a commit goes unnoticed. Well-formed messages only; others count as of one generation, and fail when they are read.
 */
export function isOfOneGeneration(replies: Uint8Array): boolean {
  const view = new DataView(replies.buffer, replies.byteOffset, replies.length);
  let first: number | undefined;
  for (let at = 0; at + GENERATION_AT + 2 <= view.byteLength; ) {
    const generation = view.getUint16(at + GENERATION_AT);
    first ??= generation;
    if (generation !== first) return false;
    const length = view.getUint32(at, HOST_IS_LITTLE);
    if (length < MESSAGE_HEADER) return true;
    at += aligned(length);
  }
  return true;
}
