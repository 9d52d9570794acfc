// The records of rtnetlink. `npm run layouts` writes them to native/rtnetlink/layouts.h.
import { address, bits, codes, layout, part, text, u8, u16, u32, unused } from '../shared/records/layout.js';

/** The verbs of operations. `send` is an encoded message; the others are on addresses. */
export const VERB = codes('Verb', {
  addAddress: 1,
  replaceAddress: 2,
  deleteAddress: 3,
  send: 4,
});

/** The kinds of names in a message that the addon replaces by a number. */
export const REFERENCE_KIND = codes('ReferenceKind', { link: 1, networkNamespace: 2 });

/** The object that an event is about. */
export const EVENT_KIND = codes('EventKind', { link: 1, address: 2, route: 3, rule: 4, neighbour: 5 });

/** The optional fields that an address has. */
export const ADDRESS_PART = bits('AddressPart', { peer: 1, broadcast: 2 });

/** An address of a link. In a listing, attributes that have no field follow it: {@link ATTRIBUTE}s, padded to 4 bytes. */
export const ADDRESS = layout({
  /** 4 or 6. */
  family: u8,
  prefix: u8,
  scope: u8,
  /** A sum of {@link ADDRESS_PART}. */
  parts: u8,
  flags: u32,
  linkIndex: u32,
  /** Route metric of the prefix; 0 means the default. */
  metric: u32,
  /** In s; 0xffffffff: for ever. */
  valid: u32,
  preferred: u32,
  link: text(16),
  label: text(16),
  address,
  peer: address,
  broadcast: address,
  /** Its origin (IFAPROT_); 0 where there is none. */
  protocol: u8,
  unused: unused(3),
  /** Bytes of the attributes that follow. */
  attributesLength: u32,
});

/** The head of an attribute whose value follows, padded to 4 bytes. */
export const ATTRIBUTE = layout({
  /** Without `NLA_F_`. */
  type: u16,
  /** Bytes of the value. */
  length: u16,
});

/** One change. */
export const OPERATION = layout({
  /** One of {@link VERB}. */
  verb: u8,
  unused: unused(3),
  /** Of `send`: place and length of the {@link MESSAGE} in the bytes behind the records. */
  messageOffset: u32,
  messageLength: u32,
  /** Of the other verbs. The index of the link is looked up by its name. */
  address: part(ADDRESS),
});

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
 * A change that a watch reports. An {@link ADDRESS} follows, or a message with its header, padded to 4 bytes; then the
 * {@link LINK_NAME}s of the links that the message refers to.
 */
export const EVENT = layout({
  /** One of {@link EVENT_KIND}. */
  kind: u8,
  /** 1 when the object was deleted, else 0. */
  deleted: u8,
  nameCount: u16,
  /** Bytes of the address or the message. */
  length: u32,
});

/** The name of a link. */
export const LINK_NAME = layout({ index: u32, name: text(16) });
