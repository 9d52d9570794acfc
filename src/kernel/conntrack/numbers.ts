// Numbers of ctnetlink: include/uapi/linux/netfilter/nfnetlink.h, nfnetlink_conntrack.h.

/** `NETLINK_NETFILTER`. */
export const NETLINK_NETFILTER = 12;

/** Bytes of `nfgenmsg`. */
export const NETFILTER_HEADER = 4;

/** `NFNL_SUBSYS_CTNETLINK` and `NFNL_SUBSYS_CTNETLINK_EXP`. */
const CTNETLINK = 1 << 8;
const CTNETLINK_EXP = 2 << 8;

/** Types of messages: `IPCTNL_MSG_CT_…`, and `IPCTNL_MSG_EXP_GET`, which lists expectations. */
export const MESSAGE = {
  new: CTNETLINK,
  get: CTNETLINK | 1,
  delete: CTNETLINK | 2,
  getAndZero: CTNETLINK | 3,
  cpus: CTNETLINK | 4,
  statistics: CTNETLINK | 5,
  dying: CTNETLINK | 6,
  unconfirmed: CTNETLINK | 7,
  expectations: CTNETLINK_EXP | 1,
} as const;

/** Multicast groups: `NFNLGRP_CONNTRACK_…`. */
export const GROUP = { new: 1, update: 2, destroy: 3 } as const;

/** `AF_INET` and `AF_INET6` by family; 0 is `AF_UNSPEC`. */
export const AF = { 0: 0, 4: 2, 6: 10 } as const;

/** `NLM_F_…` that messages here have. */
export const FLAG = { request: 1, dump: 0x300, create: 0x400, exclusive: 0x200 } as const;

/** `IPPROTO_…`. */
export const PROTOCOL = { icmp: 1, tcp: 6, udp: 17, icmpv6: 58, sctp: 132, raw: 255 } as const;

/** `IPS_CONFIRMED`. */
export const CONFIRMED = 8;

/** Attributes of flows: `CTA_…`. */
export const CTA = {
  original: 1,
  reply: 2,
  status: 3,
  protocolInfo: 4,
  help: 5,
  sourceNat: 6,
  timeout: 7,
  mark: 8,
  originalCounters: 9,
  replyCounters: 10,
  use: 11,
  id: 12,
  destinationNat: 13,
  master: 14,
  zone: 18,
  secctx: 19,
  timestamp: 20,
  markMask: 21,
  labels: 22,
  labelsMask: 23,
  filter: 25,
  statusMask: 26,
} as const;

/** Attributes of tuples: `CTA_TUPLE_…`, `CTA_IP_…`, `CTA_PROTO_…`. */
export const CTA_TUPLE = { addresses: 1, protocol: 2, zone: 3 } as const;
export const CTA_IP = { source4: 1, destination4: 2, source6: 3, destination6: 4 } as const;
export const CTA_PROTO = {
  number: 1,
  sourcePort: 2,
  destinationPort: 3,
  icmpId: 4,
  icmpType: 5,
  icmpCode: 6,
  icmpv6Id: 7,
  icmpv6Type: 8,
  icmpv6Code: 9,
} as const;

/** `CTA_PROTOINFO_…`, and of TCP and SCTP within it. */
export const CTA_INFO = { tcp: 1, sctp: 3 } as const;
export const CTA_TCP = { state: 1 } as const;
export const CTA_SCTP = { state: 1, originalTag: 2, replyTag: 3 } as const;

/** Attributes within those of the same names: `CTA_COUNTERS_…`, `CTA_TIMESTAMP_…`, `CTA_HELP_NAME`, `CTA_SECCTX_NAME`. */
export const CTA_COUNTERS = { packets: 1, bytes: 2 } as const;
export const CTA_TIMESTAMP = { start: 1, stop: 2 } as const;
export const CTA_NAME = 1;

/** `CTA_NAT_…` and `CTA_PROTONAT_…`. */
export const CTA_NAT = { first4: 1, last4: 2, ports: 3, first6: 4, last6: 5 } as const;
export const CTA_PORTS = { first: 1, last: 2 } as const;

/**
 * `enum ctattr_filter`, and the flags of its attributes: not in the kernel's public headers. Numbers of net/netfilter/nf_internals.h, part
 * of the ABI since 5.8.
 */
export const CTA_FILTER = { originalFlags: 1, replyFlags: 2 } as const;
export const FILTER_FLAG = {
  source: 1 << 0,
  destination: 1 << 1,
  protocol: 1 << 3,
  sourcePort: 1 << 4,
  destinationPort: 1 << 5,
} as const;

/** Attributes of expectations: `CTA_EXPECT_…`. */
export const CTA_EXPECT = {
  master: 1,
  tuple: 2,
  mask: 3,
  timeout: 4,
  id: 5,
  helper: 6,
  zone: 7,
  flags: 8,
  class: 9,
} as const;

/** `CTA_STATS_GLOBAL_…`, and those of one CPU, `CTA_STATS_…`. */
export const CTA_GLOBAL = { entries: 1, maxEntries: 2 } as const;
export const CTA_CPU = {
  found: 2,
  invalid: 4,
  insert: 8,
  insertFailed: 9,
  drop: 10,
  earlyDrop: 11,
  error: 12,
  searchRestart: 13,
  clashResolve: 14,
  chainTooLong: 15,
} as const;
