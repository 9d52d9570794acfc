// The records of rtnetlink. `npm run layouts` writes them to native/rtnetlink/layouts.h.
import { address, codes, layout, part, text, u8, u32, unused } from '../layout.js';

/** The verbs of operations. */
export const VERB = codes('Verb', { addLink: 1, deleteLink: 2, addAddress: 3, deleteAddress: 4 });

/** The object that an event is about. */
export const EVENT_KIND = codes('EventKind', { link: 1, address: 2 });

/** A link. */
export const LINK = layout({ index: u32, flags: u32, mtu: u32, name: text(16), kind: text(32) });

/** An address of a link. */
export const ADDRESS = layout({
  /** 4 or 6. */
  family: u8,
  prefix: u8,
  scope: u8,
  unused: unused(1),
  flags: u32,
  linkIndex: u32,
  link: text(16),
  address,
});

/** One change. */
export const OPERATION = layout({
  /** One of {@link VERB}. */
  verb: u8,
  /** Of the address: 4 or 6. */
  family: u8,
  prefix: u8,
  unused: unused(1),
  link: text(16),
  address,
  /** Of a link that is added. */
  kind: text(32),
});

/** A change that a watch reports. */
export const EVENT = layout({
  /** One of {@link EVENT_KIND}. */
  kind: u8,
  /** 1 when the link or the address was deleted, else 0. */
  deleted: u8,
  unused: unused(2),
  /** By the kind. */
  changed: part(LINK, ADDRESS),
});
