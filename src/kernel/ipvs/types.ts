// Virtual services and real servers, as JavaScript values. Source of every rule: include/uapi/linux/ip_vs.h and net/netfilter/ipvs/ip_vs_ctl.c.
import type { Family } from '../../net/address.js';
import type { Protocol } from '../../net/protocol.js';
import type { KernelClient, OperationResult } from '../types.js';

/** A virtual service that clients dial by address. */
export interface AddressId {
  /** Canonical address. */
  readonly address: string;
  /** 0–65535; 0 (every port) only with persistence. */
  readonly port: number;
  readonly protocol: Protocol;
}

/** A virtual service chosen by the firewall mark of its packets. */
export interface FirewallMarkId {
  /** 1–4294967295 (`IPVS_SVC_ATTR_FWMARK`). */
  readonly firewallMark: number;
  readonly family: Family;
}

/** The name of a virtual service in the kernel: of an object with both, the mark. */
export type VirtualServiceId = AddressId | FirewallMarkId;

/** `IP_VS_SVC_F_PERSISTENT`: connections of one client go to one real server. */
export const FLAG_PERSISTENT = 0x1;
/** `IP_VS_SVC_F_ONEPACKET`: every UDP packet is scheduled by itself. */
export const FLAG_ONE_PACKET = 0x4;
/** `IP_VS_SVC_F_SCHED_MH_PORT`, first scheduler flag: `mh` and `sh` hash the source port too. */
export const FLAG_SCHEDULER_1 = 0x8;
/** `IP_VS_SVC_F_SCHED2` (`mh-port` for the `mh` scheduler, kernel 4.18). */
export const FLAG_SCHEDULER_2 = 0x10;
/** `IP_VS_SVC_F_HASHED`: set by the kernel on every service; never sent, and left out of listings. */
export const FLAG_HASHED = 0x2;

/** The settings of a virtual service. */
export interface VirtualServiceSettings {
  /** Scheduler name, 1–15 bytes: `rr`, `wrr`, `lc`, `sh`, `mh`, …; `none` for none (kernel 4.2): it takes no connections. */
  readonly scheduler: string;
  /** Sum of the FLAG_ constants, 0–4294967295. */
  readonly flags: number;
  /** Of persistence, 0–4294967, in s (the kernel multiplies it by HZ, at most 1000, in 32 bits); 0 without persistence. */
  readonly timeout: number;
  /**
   * Prefix length that groups clients for persistence: 1–32, 1–128. kube-proxy's are 32 and 128. Listed as 0 for a mask
   * that is no prefix, which other tools can set for IPv4.
   */
  readonly netmask: number;
  /** Persistence engine, 1–15 bytes (`sip`), when one is set. An update without it removes it. */
  readonly persistenceEngine?: string;
}

/** A virtual service: its name and its settings. */
export type VirtualService = VirtualServiceId & VirtualServiceSettings;

/**
 * `IP_VS_CONN_F_MASQ`, `_TUNNEL`, `_DROUTE`: how packets reach a real server. `other` is listed for methods that no tool
 * sets (`_LOCALNODE`, `_BYPASS`) and refused when writing.
 */
export type ForwardingMethod = 'masquerade' | 'tunnel' | 'route' | 'other';

/** How packets to a real server are wrapped, when not plainly as IP in IP (kernel 5.2; `gre` 5.3). */
export interface Encapsulation {
  /** `IP_VS_CONN_F_TUNNEL_TYPE_…`. */
  readonly type: 'gue' | 'gre';
  /** Destination port of `gue`, 1–65535; 0 for `gre`. */
  readonly port: number;
  /** `IP_VS_TUNNEL_ENCAP_FLAG_…`: 0 no checksum, 1 checksum, 2 remote checksum (`gue`). */
  readonly flags: number;
}

/** The name of a real server within its virtual service. */
export interface RealServerId {
  /** Canonical address. */
  readonly address: string;
  /** 0–65535. */
  readonly port: number;
}

/** A real server. Only with `tunnel` may its family be another than the service's (kernel 3.18). */
export interface RealServer extends RealServerId {
  /** 0–2147483647; with 0 it gets no new connections. */
  readonly weight: number;
  readonly forwarding: ForwardingMethod;
  /** Connections at which the server is taken out of scheduling, 0–4294967295; 0 = no bound. */
  readonly upperThreshold: number;
  /** Connections below which it is scheduled again, at most the upper threshold; 0 = three quarters of it. */
  readonly lowerThreshold: number;
  /** Only with `tunnel`; left out for IP in IP. An update without it sets IP in IP again. */
  readonly encapsulation?: Encapsulation;
}

/** Counters since creation or the last reset (64 bits since kernel 4.1). */
export interface IpvsCounters {
  readonly connections: bigint;
  readonly inPackets: bigint;
  readonly outPackets: bigint;
  readonly inBytes: bigint;
  readonly outBytes: bigint;
}

/** A real server as the kernel lists it. */
export interface RealServerState extends RealServer {
  readonly activeConnections: number;
  readonly inactiveConnections: number;
  readonly persistentConnections: number;
  readonly counters: IpvsCounters;
}

/** A virtual service as the kernel lists it. */
export type VirtualServiceState = VirtualService & {
  readonly counters: IpvsCounters;
  readonly realServers: readonly RealServerState[];
};

/** One change of IPVS. A batch keeps the order in which it is given. */
export type IpvsOperation =
  | { readonly do: 'addService' | 'updateService'; readonly service: VirtualService }
  | { readonly do: 'deleteService'; readonly service: VirtualServiceId }
  | {
      readonly do: 'addRealServer' | 'updateRealServer';
      readonly service: VirtualServiceId;
      readonly realServer: RealServer;
    }
  | {
      readonly do: 'deleteRealServer';
      readonly service: VirtualServiceId;
      readonly realServer: RealServerId;
    };

/**
 * Connection timeouts, 0–2147483, in seconds (the kernel multiplies them by HZ, at most 1000). When they are set, 0 leaves
 * the kernel's value as it is (`IPVS_CMD_SET_CONFIG`).
 */
export interface IpvsTimeouts {
  readonly tcp: number;
  readonly tcpFin: number;
  readonly udp: number;
}

/** A change of IPVS, as batches are reported. */
export type IpvsChange =
  | IpvsOperation
  | { readonly do: 'flush' }
  | { readonly do: 'setTimeouts'; readonly timeouts: IpvsTimeouts };

/** The kernel's own description of its IPVS (`IPVS_CMD_GET_INFO`). */
export interface IpvsInfo {
  /** `1.2.1`. */
  readonly version: string;
  /** Buckets of the connection table, 4096 by default (`conn_tab_bits`). */
  readonly connectionTableSize: number;
}

/**
 * IPVS of one network namespace. Calls reach the kernel one after another, in the order in which they are made.
 *
 * Every call needs CAP_NET_ADMIN, the reading ones too. Every one may reject with a NetlinkError (`EPERM`, `ERR_CLOSED`,
 * `ERR_TIMEOUT`, `ERR_MALFORMED_REPLY`, and those named below), and all but apply() with a TypeError or RangeError that
 * names the argument and the rule it breaks.
 */
export interface Ipvs extends KernelClient<IpvsChange> {
  /** Every virtual service with its real servers. Not a consistent snapshot: the kernel offers none. */
  list(): Promise<VirtualServiceState[]>;
  /** Every virtual service, without its real servers and counters: one dump. As consistent as {@link Ipvs.list}. */
  listServices(): Promise<VirtualService[]>;
  /** The real servers of each of these virtual services, without counters; none for one that does not exist. One dump each. */
  listRealServers(ids: readonly VirtualServiceId[]): Promise<RealServer[][]>;
  /** One virtual service with its real servers, or undefined when there is none. */
  get(id: VirtualServiceId): Promise<VirtualServiceState | undefined>;
  /** Adds; rejects with EEXIST when it exists, ENOENT when the scheduler is unknown. */
  add(service: VirtualService): Promise<void>;
  /** Changes settings in place, connections survive; rejects with ESRCH when there is no such service. */
  update(service: VirtualService): Promise<void>;
  /** Deletes it with its real servers; rejects with ESRCH when there is no such service. */
  delete(id: VirtualServiceId): Promise<void>;
  /** Adds; rejects with EEXIST when it exists, ESRCH without the service. */
  addRealServer(id: VirtualServiceId, realServer: RealServer): Promise<void>;
  /** Changes in place; rejects with ENOENT when there is no such real server, ESRCH without the service. */
  updateRealServer(id: VirtualServiceId, realServer: RealServer): Promise<void>;
  /** Deletes; rejects with ENOENT when there is no such real server, ESRCH without the service. */
  deleteRealServer(id: VirtualServiceId, realServer: RealServerId): Promise<void>;
  /**
   * Sends a list of operations as one call in few messages; resolves to one result per operation, in order. Operations
   * after one that failed are done all the same. Results beside those of the single verbs: `ERR_INVALID_ARGUMENT`;
   * `ERR_UNKNOWN_OUTCOME` when replies were lost; `ERR_TIMEOUT` for the operations that were then not sent.
   */
  apply(operations: readonly IpvsOperation[]): Promise<OperationResult[]>;
  /** Deletes every virtual service of the namespace, whoever made it. */
  flush(): Promise<void>;
  /** Version and size of the kernel's IPVS. */
  info(): Promise<IpvsInfo>;
  /** The connection timeouts. */
  timeouts(): Promise<IpvsTimeouts>;
  /** Changes the connection timeouts that are not 0. */
  setTimeouts(timeouts: IpvsTimeouts): Promise<void>;
}
