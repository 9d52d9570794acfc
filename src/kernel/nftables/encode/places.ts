// The element that an error of the kernel is about: the extended acknowledgement has an offset within a message.
import { ByteWriter } from '../../shared/wire/byteWriter.js';
import { aligned, HOST_IS_LITTLE, MESSAGE_HEADER } from '../../shared/wire/messages.js';
import { ELEMENT, ELEMENTS, INTERVAL_END, MESSAGE, NFGEN_HEADER } from '../numbers.js';
import type { NftablesOperation } from '../types.js';
import { OperationEncoder } from './operations.js';

/**
 * The index of the element, in the operation's list of elements or in that of a rule's set, whose attributes have this place.
 *
 * @param message index of the message among those of the operation
 * @param offset `NLMSGERR_ATTR_OFFS`: bytes from the start of the message's header
 * @returns undefined if the place is in no element
 */
export function elementAt(operation: NftablesOperation, message: number, offset: number): number | undefined {
  const writer = new ByteWriter();
  // The messages are made again: only few operations fail, and the bytes of all others need not be kept.
  if (new OperationEncoder(writer).write(operation)) return undefined;
  const bytes = writer.written();
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let before = 0; // elements in earlier messages of the list
  let at = 0;
  for (let index = 0; at < bytes.length; index++) {
    const length = view.getUint32(at, HOST_IS_LITTLE);
    const type = view.getUint16(at + 4, HOST_IS_LITTLE) & 0xff;
    if (type === MESSAGE.newSet) before = 0; // the next set of a rule
    const until = index === message ? offset : length;
    const found = elementsUntil(view, at, length, until);
    if (index === message) return found.inside ? before + found.count - 1 : undefined;
    before += found.count;
    at += aligned(length);
  }
  return undefined;
}

/** The elements of a message that begin before an offset, and whether the last of them goes on there. */
function elementsUntil(
  view: DataView,
  message: number,
  length: number,
  offset: number,
): { count: number; inside: boolean } {
  const [list, end] = listOf(view, message, length);
  let count = 0;
  let at = list;
  for (; at < end && at <= message + offset; at += aligned(view.getUint16(at, HOST_IS_LITTLE))) {
    if (!isEnd(view, at)) count++;
  }
  return { count, inside: count > 0 && message + offset < at };
}

/** Start and end of the list of elements. */
function listOf(view: DataView, message: number, length: number): readonly [number, number] {
  const type = view.getUint16(message + 4, HOST_IS_LITTLE) & 0xff;
  const isElements =
    type === MESSAGE.newElements || type === MESSAGE.deleteElements || type === MESSAGE.destroyElements;
  const end = message + length;
  for (let at = message + MESSAGE_HEADER + NFGEN_HEADER; isElements && at < end; ) {
    const size = view.getUint16(at, HOST_IS_LITTLE);
    if ((view.getUint16(at + 2, HOST_IS_LITTLE) & 0x3fff) === ELEMENTS.list) return [at + 4, at + size];
    at += aligned(size);
  }
  return [end, end];
}

/** Whether an element is the end of the interval before it: its first attribute is flags, with that. */
function isEnd(view: DataView, element: number): boolean {
  return (
    view.getUint16(element + 6, HOST_IS_LITTLE) === ELEMENT.flags &&
    view.getUint32(element + 8) === INTERVAL_END
  );
}
