// The records of ipset. `npm run task -- layouts` writes them to native/ipset/layouts.h.
import { address, bits, codes, layout, text, u8, u16, u32, unused } from '../shared/records/layout.js';

/** The verbs of operations. */
export const VERB = codes('Verb', {
  create: 1,
  add: 2,
  delete: 3,
  flush: 4,
  destroy: 5,
  swap: 6,
  rename: 7,
  flushAll: 8,
  destroyAll: 9,
});

/** The types of sets. */
export const SET_TYPE = codes('SetType', {
  'hash:ip': 1,
  'hash:net': 2,
  'hash:ip,port': 3,
  'hash:ip,port,ip': 4,
  'hash:ip,port,net': 5,
  'bitmap:port': 6,
  'bitmap:ip': 7,
  'bitmap:ip,mac': 8,
  'hash:mac': 9,
  'hash:ip,mac': 10,
  'hash:ip,mark': 11,
  'hash:net,net': 12,
  'hash:net,port': 13,
  'hash:net,port,net': 14,
  'hash:net,iface': 15,
  'list:set': 16,
});

/** The fields that an entry has in its record; it has others as attributes behind it. `noMatch` is listed only. */
export const ENTRY_FIELD = bits('EntryField', {
  address: 1,
  prefix: 2,
  protocol: 4,
  port: 8,
  address2: 16,
  prefix2: 32,
  noMatch: 64,
});

/** Properties of a listed set: the number of its entries is known, its range of ports is known, it has an extension. */
export const SET_FLAG = bits('SetFlag', { hasElements: 1, hasPorts: 2, isExtended: 4 });

/**
 * One change. The attributes behind it have the other parts of an entry, the parameters of a set, or the other name of a
 * swap or of a renaming: numbers little-endian, texts with a zero at the end.
 */
export const OPERATION = layout({
  /** One of {@link VERB}. */
  verb: u8,
  /** One of {@link SET_TYPE}. */
  type: u8,
  /** Of the set: 4, 6, or 0 for none. */
  family: u8,
  /** Of the entry: sum of {@link ENTRY_FIELD}. */
  fields: u8,
  protocol: u8,
  prefix: u8,
  prefix2: u8,
  /** Size of the attributes that follow, in units of 4 bytes. */
  attributes: u8,
  port: u16,
  /** 1: an object that exists already, or is absent already, is an error. */
  strict: u8,
  unused: unused(1),
  name: text(32),
  address,
  address2: address,
});

/** A set in a listing. Its other attributes follow it, then its entries. */
export const SET = layout({
  /** 4, 6, or 0 for none. */
  family: u8,
  revision: u8,
  /** Sum of {@link SET_FLAG}. */
  flags: u8,
  /** Size of the attributes that follow, in units of 4 bytes. */
  attributes: u8,
  hashSize: u32,
  maxElements: u32,
  firstPort: u16,
  lastPort: u16,
  references: u32,
  elements: u32,
  /** Number of the entries that follow. */
  entries: u32,
  name: text(32),
  type: text(32),
});

/** An entry in a listing. Its other attributes follow it. */
export const ENTRY = layout({
  /** Sum of {@link ENTRY_FIELD}. */
  fields: u8,
  protocol: u8,
  prefix: u8,
  prefix2: u8,
  port: u16,
  /** 4, 6, or 0 for none. */
  family: u8,
  /** Size of the attributes that follow, in units of 4 bytes. */
  attributes: u8,
  address,
  address2: address,
});

/** An attribute without a field of its own; its value follows it, padded to a multiple of 4 bytes. */
export const ATTRIBUTE = layout({
  /** Of the value, in bytes. */
  length: u16,
  /** `IPSET_ATTR_…`. */
  type: u16,
});

/** A set type that the kernel supports. */
export const TYPE = layout({ leastRevision: u8, greatestRevision: u8, name: text(32) });
