// The records of IPVS. `npm run task -- layouts` writes them to native/ipvs/layouts.h.
import { address, codes, layout, nested, text, u8, u16, u32, u64, unused } from '../shared/records/layout.js';

/** The verbs of operations: the kernel's commands (`IPVS_CMD_NEW_SERVICE` and its like, include/uapi/linux/ip_vs.h). */
export const VERB = codes('Verb', {
  addService: 1,
  updateService: 2,
  deleteService: 3,
  addRealServer: 5,
  updateRealServer: 6,
  deleteRealServer: 7,
  startDaemon: 9,
  stopDaemon: 10,
  setTimeouts: 12,
  zero: 16,
  flush: 17,
});

/** The methods of forwarding that may be written (`IP_VS_CONN_F_MASQ` and its like). */
export const FORWARDING = { masquerade: 0, tunnel: 2, route: 3 } as const;

/** `IP_VS_CONN_F_TUNNEL_TYPE_IPIP` and its like. */
export const TUNNEL = { ipip: 0, gue: 1, gre: 2 } as const;

/** `IP_VS_TUNNEL_ENCAP_FLAG_NOCSUM` and its like. */
export const CHECKSUM = { none: 0, full: 1, remote: 2 } as const;

/** The states of sync daemons (`IP_VS_STATE_MASTER`, `IP_VS_STATE_BACKUP`). */
export const DAEMON_STATE = { master: 1, backup: 2 } as const;

/** A virtual service. */
export const SERVICE = layout({
  /** 4 or 6. */
  family: u8,
  unused0: unused(1),
  protocol: u16,
  port: u16,
  unused1: unused(2),
  /** 0 for a service that is named by its address. */
  firewallMark: u32,
  address,
  flags: u32,
  /** Of persistence, in seconds. */
  timeout: u32,
  /** Prefix length; 0 for an IPv4 mask that is not a prefix. */
  netmask: u8,
  unused: unused(3),
  /** In a listing: number of the real servers that follow. */
  realServers: u32,
  scheduler: text(16),
  persistenceEngine: text(16),
});

/** A real server. */
export const SERVER = layout({
  /** 4 or 6. */
  family: u8,
  /** One of {@link FORWARDING}, or another number in a listing. */
  forwarding: u8,
  port: u16,
  weight: u32,
  upperThreshold: u32,
  lowerThreshold: u32,
  /** One of {@link TUNNEL}, or another number in a listing. */
  tunnelType: u8,
  unused: unused(1),
  tunnelPort: u16,
  /** One of {@link CHECKSUM}; bits in a listing. */
  tunnelFlags: u16,
  unused2: unused(2),
  address,
});

/** Counters of a virtual service or a real server, or its rates, each per second. */
export const COUNTERS = layout({
  connections: u64,
  inPackets: u64,
  outPackets: u64,
  inBytes: u64,
  outBytes: u64,
});

/** A sync daemon. In an operation, 0 in a field after the interface leaves the value to the kernel. */
export const DAEMON = layout({
  /** One of {@link DAEMON_STATE}, or another number in a listing. */
  state: u32,
  syncId: u32,
  interface: text(16),
  maxLength: u16,
  port: u16,
  ttl: u8,
  /** Of the group: 4 or 6. */
  family: u8,
  group: address,
});

/** Timeouts of connections, in seconds. */
export const TIMEOUTS = layout({ tcp: u32, tcpFin: u32, udp: u32 });

/** One change. Of the service, all verbs but those that add and update it use the fields that name it. */
export const OPERATION = layout({
  /** One of {@link VERB}. */
  verb: u8,
  unused: unused(7),
  /** With `zero`, a family of 0 stands for all services. */
  service: nested(SERVICE),
  /** The real server, the daemon or the timeouts of the verb. */
  argument: nested(SERVER, DAEMON, TIMEOUTS),
});

/** A virtual service in a listing; its real servers follow it. */
export const LISTED_SERVICE = layout({
  service: nested(SERVICE),
  counters: nested(COUNTERS),
  rates: nested(COUNTERS),
});

/** A real server in a listing. */
export const LISTED_SERVER = layout({
  server: nested(SERVER),
  activeConnections: u32,
  inactiveConnections: u32,
  persistentConnections: u32,
  unused: unused(4),
  counters: nested(COUNTERS),
  rates: nested(COUNTERS),
});

/** Version and size of the kernel's IPVS. */
export const KERNEL_IPVS = layout({
  /** One byte each: major, minor, patch. */
  version: u32,
  connectionTableSize: u32,
});
