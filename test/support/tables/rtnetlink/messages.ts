// Messages as the kernel lists objects, made of messages that the library writes.
import assert from 'node:assert/strict';
import { MESSAGE } from '../../../../src/kernel/rtnetlink/layouts.js';
import { type Message, type MessageWriter, messagesOf } from '../../../../src/kernel/rtnetlink/message.js';
import { HOST_IS_LITTLE } from '../../../../src/kernel/shared/wire/messages.js';

/** Names of links by index. */
export const NAMES = new Map([
  [1, 'lo'],
  [3, 'va'],
]);
/** Bytes of struct nlmsghdr. */
export const HEADER = 16;

/** The message with a header, as the kernel would list the object. Links have the index 0, which has no name. */
export function listed(writer: MessageWriter): Uint8Array {
  assert.equal(writer.check.invalid, undefined);
  const record = writer.finish();
  const view = new DataView(record.buffer, record.byteOffset, record.length);
  const size = view.getUint32(MESSAGE.payloadLength, true);
  return withHeader(view.getUint16(MESSAGE.type, true), record.subarray(MESSAGE.SIZE, MESSAGE.SIZE + size));
}

/** An answer with so many copies of a message. */
export function repeated(message: Uint8Array, count: number): Uint8Array {
  return Buffer.concat(Array.from({ length: count }, () => message));
}

/** A message of this type. */
export function withHeader(type: number, payload: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(HEADER + payload.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, bytes.length, HOST_IS_LITTLE);
  view.setUint16(4, type, HOST_IS_LITTLE);
  bytes.set(payload, HEADER);
  return bytes;
}

/** The value of the only message. */
export function only<T>(bytes: Uint8Array, read: (message: Message) => T): T {
  const messages = [...messagesOf(bytes, 'rtnetlink.test')];
  assert.equal(messages.length, 1);
  return read(messages[0] as Message);
}
