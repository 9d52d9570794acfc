// The attributes and flags of ipset's netlink interface (include/uapi/linux/netfilter/ipset/ip_set.h): in listings, and behind
// the records of operations.
import { address, layout, u8, u16, u32, u64 } from '../shared/records/layout.js';

/** `IPSET_ATTR_…` of entries, and of the parameters of a set: numbers from 17 on have a meaning for each. */
export const ATTR = {
  /** Instead of a set's type: the other name of a swap or of a renaming. */
  setName2: 3,
  // Of both.
  ip: 1,
  ipTo: 2,
  port: 4,
  portTo: 5,
  timeout: 6,
  cadtFlags: 8,
  mark: 10,
  markMask: 11,
  /** Linux 6.3. */
  bitmask: 12,
  // Of a set.
  initval: 17,
  hashSize: 18,
  maxElements: 19,
  netmask: 20,
  /** Linux 5.11. */
  bucketSize: 21,
  size: 23,
  memorySize: 26,
  // Of an entry.
  ether: 17,
  name: 18,
  nameRef: 19,
  ip2To: 22,
  iface: 23,
  bytes: 24,
  packets: 25,
  comment: 26,
  skbMark: 27,
  skbPrio: 28,
  skbQueue: 29,
} as const;

/** Flags of `IPSET_ATTR_CADT_FLAGS`. */
export const FLAG = {
  before: 1 << 0,
  physdev: 1 << 1,
  noMatch: 1 << 2,
  withCounters: 1 << 3,
  withComment: 1 << 4,
  withForceAdd: 1 << 5,
  withSkbInfo: 1 << 6,
  wildcard: 1 << 7,
} as const;

/** Values of attributes, of which a record has one each. */
export const VALUE = {
  u8: layout({ value: u8 }),
  u16: layout({ value: u16 }),
  u32: layout({ value: u32 }),
  u64: layout({ value: u64 }),
  address: layout({ value: address }),
} as const;
