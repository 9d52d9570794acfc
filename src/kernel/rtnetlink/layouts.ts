// The records of rtnetlink. `npm run task -- layouts` writes them to native/rtnetlink/layouts.h.
import { codes, layout, text, u8, u16, u32, unused } from '../shared/records/layout.js';

/** The kinds of names in a message that the addon replaces by a number. */
export const REFERENCE_KIND = codes('ReferenceKind', { link: 1, networkNamespace: 2 });

/** The object that an event is about. */
export const EVENT_KIND = codes('EventKind', {
  ...{ link: 1, address: 2, route: 3, rule: 4, neighbour: 5, forwardingEntry: 6 },
});

/** One change: place and length of its {@link MESSAGE} in the bytes behind the records. */
export const OPERATION = layout({ messageOffset: u32, messageLength: u32 });

/** A message to the kernel. The payload, a multiple of 4 bytes, and the references follow. */
export const MESSAGE = layout({
  type: u16,
  flags: u16,
  payloadLength: u32,
  referenceCount: u32,
});

/** The place of a number in a payload, and the name that stands for it, which follows, padded to 4 bytes. */
export const REFERENCE = layout({
  /** One of {@link REFERENCE_KIND}. */
  kind: u8,
  unused: unused(3),
  offset: u32,
  length: u32,
});

/**
 * A change that a watch reports. A message with its header follows, padded to 4 bytes; then the {@link LINK_NAME}s of the links
 * that it refers to.
 */
export const EVENT = layout({
  /** One of {@link EVENT_KIND}. */
  kind: u8,
  /** 1 when the object was deleted, else 0. */
  deleted: u8,
  nameCount: u16,
  /** Bytes of the message. */
  length: u32,
});

/** The name of a link. */
export const LINK_NAME = layout({ index: u32, name: text(16) });
