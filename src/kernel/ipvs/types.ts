// What IPVS holds, as JavaScript values. Source of every rule: include/uapi/linux/ip_vs.h and net/netfilter/ipvs/ip_vs_ctl.c.
import type { NetlinkError } from '../../errors.js';
import type { Family } from '../../net/address.js';
import type { Protocol } from '../../net/protocol.js';

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

/** What names a virtual service in the kernel. */
export type VirtualServiceId = AddressId | FirewallMarkId;

/** `IP_VS_SVC_F_PERSISTENT`: connections of one client go to one real server. */
export const FLAG_PERSISTENT = 0x1;
/** `IP_VS_SVC_F_ONEPACKET`: every UDP packet is scheduled by itself. */
export const FLAG_ONE_PACKET = 0x4;
/** `IP_VS_SVC_F_SCHED_MH_PORT`, first scheduler flag: `mh` and `sh` hash the source port too. */
export const FLAG_SCHEDULER_1 = 0x8;
/** `IP_VS_SVC_F_SCHED2` (`mh-port` for the `mh` scheduler, kernel 4.18). */
export const FLAG_SCHEDULER_2 = 0x10;
/** `IP_VS_SVC_F_HASHED`: set by the kernel on every service; never sent, and left out of what is listed. */
export const FLAG_HASHED = 0x2;

/** The settings of a virtual service. */
export interface VirtualServiceSettings {
  /** Scheduler name, at most 15 bytes: `rr`, `wrr`, `lc`, `sh`, `mh`, … */
  readonly scheduler: string;
  /** Sum of the FLAG_ constants; default 0. */
  readonly flags: number;
  /** Persistence in seconds; 0 without persistence. */
  readonly timeout: number;
  /** Prefix length that groups clients for persistence: 1–32, 1–128. kube-proxy's are 32 and 128. */
  readonly netmask: number;
  /** Persistence engine (`sip`), when one is set. */
  readonly persistenceEngine?: string;
}

/** A virtual service: its name and its settings. */
export type VirtualService = VirtualServiceId & VirtualServiceSettings;

/** `IP_VS_CONN_F_MASQ`, `_TUNNEL`, `_DROUTE`: how packets reach a real server. */
export type ForwardingMethod = 'masquerade' | 'tunnel' | 'route';

/** What names a real server within its virtual service. */
export interface RealServerId {
  /** Canonical address. */
  readonly address: string;
  /** 0–65535. */
  readonly port: number;
}

/** A real server. */
export interface RealServer extends RealServerId {
  /** 0–2147483647; 0 takes no new connections. Default 1. */
  readonly weight: number;
  /** Default `masquerade`. */
  readonly forwarding: ForwardingMethod;
  /** Connections at which the server is taken out of scheduling; 0 = no bound. */
  readonly upperThreshold: number;
  /** Connections below which it comes back; 0 = three quarters of the upper one. */
  readonly lowerThreshold: number;
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

/** Connection time-outs in seconds; 0 when setting leaves the kernel's value as it is (`IPVS_CMD_SET_CONFIG`). */
export interface IpvsTimeouts {
  readonly tcp: number;
  readonly tcpFin: number;
  readonly udp: number;
}

/** What the kernel says of its IPVS (`IPVS_CMD_GET_INFO`). */
export interface IpvsInfo {
  /** `1.2.1`. */
  readonly version: string;
  /** Buckets of the connection table, 4096 by default (`conn_tab_bits`). */
  readonly connectionTableSize: number;
}

/** The result of one operation of a batch: an error, or undefined when the kernel did it. */
export type OperationResult = NetlinkError | undefined;

/** How a client of the kernel is opened. */
export interface OpenOptions {
  /** Path of a network namespace (`/run/netns/blue`, `/proc/1/ns/net`); default: that of the process. */
  readonly netns?: string;
  /** Milliseconds to wait for a reply before `ERR_TIMEOUT`. Default 5000. */
  readonly timeout?: number;
}

/** IPVS of one network namespace. Every call needs CAP_NET_ADMIN, the reading ones too; every one may reject with NetlinkError. */
export interface Ipvs {
  /** Every virtual service with its real servers. Not a consistent snapshot: the kernel offers none. */
  list(): Promise<VirtualServiceState[]>;
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
  /** Sends a list of operations as one call in few messages; resolves to one result per operation, in order. */
  apply(operations: readonly IpvsOperation[]): Promise<OperationResult[]>;
  /** Deletes every virtual service of the namespace, whoever made it. */
  flush(): Promise<void>;
  info(): Promise<IpvsInfo>;
  timeouts(): Promise<IpvsTimeouts>;
  setTimeouts(timeouts: IpvsTimeouts): Promise<void>;
  /** Closes the sockets; calls under way finish, later ones reject with ERR_CLOSED. */
  close(): void;
}
