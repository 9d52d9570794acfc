// The records of IPVS. `npm run layouts` writes them to native/ipvs/layouts.h.
import { address, codes, layout, part, text, u8, u16, u32, u64, unused } from '../layout.js';

/** The verbs of operations: the kernel's commands (`IPVS_CMD_NEW_SERVICE` and its like, include/uapi/linux/ip_vs.h). */
export const VERB = codes('Verb', {
  addService: 1,
  updateService: 2,
  deleteService: 3,
  addRealServer: 5,
  updateRealServer: 6,
  deleteRealServer: 7,
});

/** A virtual service. */
export const SERVICE = layout({
  /** 4 or 6. */
  family: u8,
  protocol: u8,
  port: u16,
  /** 0 for a service that is named by its address. */
  firewallMark: u32,
  flags: u32,
  /** Of persistence, in seconds. */
  timeout: u32,
  /** Prefix length; 0 for an IPv4 mask that is no prefix. */
  netmask: u8,
  unused: unused(3),
  /** In a listing: number of the real servers that follow. */
  realServers: u32,
  address,
  scheduler: text(16),
  persistenceEngine: text(16),
});

/** A real server. */
export const SERVER = layout({
  /** 4 or 6. */
  family: u8,
  /** `IP_VS_CONN_F_MASQ` and its like. */
  forwarding: u8,
  port: u16,
  weight: u32,
  upperThreshold: u32,
  lowerThreshold: u32,
  /** `IP_VS_CONN_F_TUNNEL_TYPE_IPIP` and its like. */
  tunnelType: u8,
  unused: unused(1),
  tunnelPort: u16,
  tunnelFlags: u16,
  unused2: unused(2),
  address,
});

/** Counters of a virtual service or a real server. */
export const COUNTERS = layout({
  connections: u64,
  inPackets: u64,
  outPackets: u64,
  inBytes: u64,
  outBytes: u64,
});

/** One change. Of the service, verbs on real servers use the fields that name it. */
export const OPERATION = layout({
  /** One of {@link VERB}. */
  verb: u8,
  unused: unused(7),
  service: part(SERVICE),
  server: part(SERVER),
});

/** A virtual service in a listing; its real servers follow it. */
export const LISTED_SERVICE = layout({ service: part(SERVICE), counters: part(COUNTERS) });

/** A real server in a listing. */
export const LISTED_SERVER = layout({
  server: part(SERVER),
  activeConnections: u32,
  inactiveConnections: u32,
  persistentConnections: u32,
  unused: unused(4),
  counters: part(COUNTERS),
});

/** Timeouts of connections, in seconds. */
export const TIMEOUTS = layout({ tcp: u32, tcpFin: u32, udp: u32 });

/** Version and size of the kernel's IPVS. */
export const KERNEL_IPVS = layout({
  /** One byte each: major, minor, patch. */
  version: u32,
  connectionTableSize: u32,
});
