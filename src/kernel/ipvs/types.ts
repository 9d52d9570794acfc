// Virtual services and real servers, as JavaScript values. Sources of the rules: include/uapi/linux/ip_vs.h,
// net/netfilter/ipvs/ip_vs_ctl.c, and for the defaults ipvsadm(8) 1.31.
import type { Family } from '../net/address.js';
import type { IpProtocol } from '../net/protocol.js';
import type { CallOptions, KernelClient, Listing, OperationResult } from '../shared/types.js';
import type { IpvsCapabilities, IpvsInfo } from './reports.js';

export type * from './reports.js';

/** A virtual service that clients dial by address. */
export interface AddressId {
  /** Canonical address. */
  readonly address: string;
  /** 0–65535; 0 (every port) only with persistence. */
  readonly port: number;
  /** The kernel keeps a service of another protocol than `tcp`, `udp` and `sctp` too, and schedules none of its packets. */
  readonly protocol: IpProtocol;
}

/** A virtual service chosen by the firewall mark of its packets. */
export interface FirewallMarkId {
  /** 1–4294967295 (`IPVS_SVC_ATTR_FWMARK`). */
  readonly firewallMark: number;
  readonly family: Family;
}

/** The name of a virtual service in the kernel: of an object with both, the mark. */
export type VirtualServiceId = AddressId | FirewallMarkId;

/** The schedulers of Linux 6.18 (net/netfilter/ipvs/Kconfig), each the module `ip_vs_NAME`. */
export const SCHEDULERS = [
  ...(['rr', 'wrr', 'lc', 'wlc', 'fo', 'ovf', 'lblc'] as const),
  ...(['lblcr', 'dh', 'sh', 'mh', 'sed', 'nq', 'twos'] as const),
] as const;

/**
 * The name of a scheduler, 1–15 bytes: one of the kernel's, `none` for none (kernel 4.2: the service takes no connections), or
 * the name of another module `ip_vs_NAME`.
 */
export type Scheduler = (typeof SCHEDULERS)[number] | 'none' | (string & Record<never, never>);

/**
 * A flag of a scheduler, under the names of ipvsadm's `--sched-flags`: `sh-…` is for `sh`, `mh-…` (kernel 4.18) for `mh`, and
 * `flag-…` for every scheduler (`IP_VS_SVC_F_SCHED1`, `2`, `3`). `-fallback` selects another real server when the first has
 * weight 0, and `-port` adds the source port to the hash.
 */
export type SchedulerFlag =
  | ('sh-fallback' | 'sh-port' | 'mh-fallback' | 'mh-port')
  | ('flag-1' | 'flag-2' | 'flag-3');

/** Connections of one client are sent to one real server (`IP_VS_SVC_F_PERSISTENT`). */
export interface Persistence {
  /** 0–4294967, in s (the kernel multiplies it by HZ, at most 1000, in 32 bits). Default 360, as in ipvsadm (whose manual says 300). */
  readonly timeout: number;
  /**
   * Prefix length that groups clients: 1–32, 1–128. Default 32 and 128: every client alone. Listed as 0 for a mask that is no
   * prefix, which other tools can set for IPv4.
   */
  readonly netmask: number;
}

/** The settings of a virtual service. */
export interface VirtualServiceSettings {
  /** Default `wlc`. */
  readonly scheduler: Scheduler;
  /** Listed in the order of their bits, by the name for the scheduler if there is one. Default: none. */
  readonly schedulerFlags: readonly SchedulerFlag[];
  /** Schedules every packet by itself; only of UDP and of marks (`IP_VS_SVC_F_ONEPACKET`). Default false. */
  readonly onePacket: boolean;
  /** Without it, every connection is scheduled by itself. */
  readonly persistence?: Persistence;
  /** Persistence engine, 1–15 bytes (`sip`). */
  readonly persistenceEngine?: string;
}

/** A virtual service: its name and its settings. */
export type VirtualService = VirtualServiceId & VirtualServiceSettings;

/** A virtual service to be added or updated: settings that are left out have their defaults. */
export type VirtualServiceInput = VirtualServiceId &
  Defaulted<Omit<VirtualServiceSettings, 'persistence'>> & {
    readonly persistence?: Defaulted<Persistence> | undefined;
  };

/** The fields of an argument that have defaults: each may be left out, or undefined. */
export type Defaulted<T> = { readonly [Field in keyof T]?: T[Field] | undefined };

/**
 * `IP_VS_CONN_F_MASQ`, `_TUNNEL`, `_DROUTE`: how packets reach a real server. `other` is listed for methods that no tool
 * sets (`_LOCALNODE`, `_BYPASS`) and refused when writing.
 */
export type ForwardingMethod = 'masquerade' | 'tunnel' | 'route' | 'other';

/**
 * How packets to a real server are wrapped (`IP_VS_CONN_F_TUNNEL_TYPE_…`): IP in IP, Generic UDP Encapsulation (kernel 5.2),
 * or Generic Routing Encapsulation (kernel 5.3).
 */
export type Encapsulation =
  | { readonly type: 'ipip' }
  | {
      readonly type: 'gue';
      /** Destination port, 1–65535. */
      readonly port: number;
      /** `none`, `full`, or `remote` for remote checksum offload (`IP_VS_TUNNEL_ENCAP_FLAG_…`). */
      readonly checksum: 'none' | 'full' | 'remote';
    }
  | { readonly type: 'gre'; readonly checksum: 'none' | 'full' }
  | NumberedEncapsulation;

/** An encapsulation with a type or flags that have no name here: of a newer kernel. */
export interface NumberedEncapsulation {
  /** `IP_VS_CONN_F_TUNNEL_TYPE_…` */
  readonly type: number;
  readonly port: number;
  /** The sum of `IP_VS_TUNNEL_ENCAP_FLAG_…` */
  readonly flags: number;
}

/** An encapsulation to be set: `checksum` is `none` by default. */
export type EncapsulationInput =
  | { readonly type: 'ipip' }
  | {
      readonly type: 'gue';
      readonly port: number;
      readonly checksum?: 'none' | 'full' | 'remote' | undefined;
    }
  | { readonly type: 'gre'; readonly checksum?: 'none' | 'full' | undefined }
  | NumberedEncapsulation;

/** The name of a real server within its virtual service. */
export interface RealServerId {
  /** Canonical address. */
  readonly address: string;
  /** 0–65535. In arguments, the port of the virtual service by default, and 0 if that has a mark. */
  readonly port: number;
}

/** A real server. Only with `tunnel` may its family be another than the service's (kernel 3.18). */
export interface RealServer extends RealServerId {
  /** 0–2147483647; with 0 it gets no new connections. Default 1. */
  readonly weight: number;
  /** Default `route`, as in ipvsadm. */
  readonly forwarding: ForwardingMethod;
  /** Connections at which the server is taken out of scheduling, 0–4294967295; 0 = no bound. Default 0. */
  readonly upperThreshold: number;
  /** Connections below which it is scheduled again, at most the upper threshold; 0 = three quarters of it. Default 0. */
  readonly lowerThreshold: number;
  /** Only with `tunnel`, and then always listed. Default IP in IP. */
  readonly encapsulation?: Encapsulation;
}

/** The name of a real server in arguments. */
export interface RealServerIdInput {
  readonly address: string;
  readonly port?: number | undefined;
}

/** A real server to be added or updated: all but its address have defaults. */
export interface RealServerInput
  extends RealServerIdInput,
    Defaulted<Omit<RealServer, 'address' | 'port' | 'encapsulation'>> {
  readonly encapsulation?: EncapsulationInput | undefined;
}

/** Counters since creation or since they were last set to zero (64 bits since kernel 4.1, `IPVS_SVC_ATTR_STATS64`). */
export interface IpvsCounters {
  readonly connections: bigint;
  readonly inPackets: bigint;
  readonly outPackets: bigint;
  readonly inBytes: bigint;
  readonly outBytes: bigint;
}

/** Rates, which the kernel estimates every 2 s: all per second (ipvsadm's CPS, InPPS, OutPPS, InBPS, OutBPS). */
export interface IpvsRates {
  readonly connections: number;
  readonly inPackets: number;
  readonly outPackets: number;
  readonly inBytes: number;
  readonly outBytes: number;
}

/** A real server as the kernel lists it. */
export interface RealServerState extends RealServer {
  readonly activeConnections: number;
  readonly inactiveConnections: number;
  readonly persistentConnections: number;
  readonly counters: IpvsCounters;
  readonly rates: IpvsRates;
}

/** A virtual service as the kernel lists it. */
export type VirtualServiceState = VirtualService & {
  readonly counters: IpvsCounters;
  readonly rates: IpvsRates;
  readonly realServers: readonly RealServerState[];
};

/** Connection timeouts, in s. */
export interface IpvsTimeouts {
  readonly tcp: number;
  readonly tcpFin: number;
  readonly udp: number;
}

/**
 * Connection timeouts to be set, each 0–2147483, in s (the kernel multiplies them by HZ, at most 1000). A timeout that is 0 or
 * left out stays as it is (`IPVS_CMD_SET_CONFIG`).
 */
export type IpvsTimeoutsInput = Defaulted<IpvsTimeouts>;

/** `master` sends the connections of this node by multicast, `backup` receives those of another. One of each can run. */
export type SyncDaemonState = 'master' | 'backup';

/** A thread of the kernel that synchronizes connections between nodes. Attributes after `syncId` need kernel 4.3. */
export interface SyncDaemon {
  /** Listed as a number if it is another one. */
  readonly state: SyncDaemonState | number;
  /** The multicast interface, 1–15 bytes. */
  readonly interface: string;
  /** 0–255: a backup accepts messages with its own id only, with id 0 all. Default 0, as in ipvsadm (whose help says 255). */
  readonly syncId: number;
  /**
   * Of a message, 1–65507, in bytes; the kernel raises a smaller one of a backup to 1024. Default: what fits the MTU, which
   * is 1472 with IPv4 (an MTU of 1500).
   */
  readonly maxLength: number;
  /** Multicast address. Default `224.0.0.81`. */
  readonly group: string;
  /** UDP port, 1–65535. Default 8848. */
  readonly port: number;
  /** Of messages, 1–255. Default 1: they stay on the link. */
  readonly ttl: number;
}

/** A sync daemon to be started: its state, its interface, and settings that have defaults. */
export type SyncDaemonInput = Pick<SyncDaemon, 'interface'> & { readonly state: SyncDaemonState } & Defaulted<
    Omit<SyncDaemon, 'state' | 'interface'>
  >;

/** One change of IPVS. A batch keeps the order in which it is given. */
export type IpvsOperation =
  | { readonly do: 'addService' | 'updateService'; readonly service: VirtualServiceInput }
  | { readonly do: 'deleteService'; readonly service: VirtualServiceId }
  | {
      readonly do: 'addRealServer' | 'updateRealServer';
      readonly service: VirtualServiceId;
      readonly realServer: RealServerInput;
    }
  | {
      readonly do: 'deleteRealServer';
      readonly service: VirtualServiceId;
      readonly realServer: RealServerIdInput;
    }
  /** Sets the counters of one virtual service and of its real servers to zero; without `service`, of all. */
  | { readonly do: 'zero'; readonly service?: VirtualServiceId | undefined }
  /** Deletes every virtual service: `confirm` as in {@link IpvsFlushOptions}. */
  | { readonly do: 'flush'; readonly confirm: typeof FLUSH_CONFIRMATION }
  | { readonly do: 'setTimeouts'; readonly timeouts: IpvsTimeoutsInput }
  | { readonly do: 'startDaemon'; readonly daemon: SyncDaemonInput }
  | { readonly do: 'stopDaemon'; readonly state: SyncDaemonState };

/** An entry of the connection table: a connection, or a template of persistence. */
export interface IpvsConnection {
  /** `tcp`, `udp`, `sctp`; `ip` for the templates of a firewall mark; the kernel's name for any other. */
  readonly protocol: string;
  /** Whether it is a template: it keeps a real server for a client, and is not a connection. */
  readonly template: boolean;
  /** Port 0 in templates. */
  readonly client: Endpoint;
  /** The virtual service; for the templates of a firewall mark, the mark as an address (`0.0.0.5`) with port 0. */
  readonly virtual: Endpoint;
  readonly destination: Endpoint;
  /** The kernel's name: `ESTABLISHED`, `FIN_WAIT`, …; of a template `NONE` or `ASSURED`. */
  readonly state: string;
  /** Time until it expires, in s. */
  readonly expires: number;
  /** The persistence engine of a template and its data, for example the Call-ID of `sip`. */
  readonly persistenceEngine?: { readonly name: string; readonly data: string };
}

/** An address and a port. */
export interface Endpoint {
  /** Canonical address. */
  readonly address: string;
  readonly port: number;
}

/** Selects connections: those that have every value that is given. */
export type ConnectionFilter = Defaulted<Pick<IpvsConnection, 'protocol' | 'template' | 'state'>> &
  Defaulted<Record<'client' | 'virtual' | 'destination', EndpointFilter>>;

/** An address, a port, or both. */
export type EndpointFilter = Defaulted<Endpoint>;

/** The words that flush() asks for. */
export const FLUSH_CONFIRMATION = 'delete every virtual service';

/** Options of flush(). */
export interface IpvsFlushOptions extends CallOptions {
  /** The words `delete every virtual service`, so that no call is made by accident. */
  readonly confirm: typeof FLUSH_CONFIRMATION;
}

/**
 * IPVS of one network namespace. Calls reach the kernel one after another, in the order in which they are made.
 *
 * Every call needs CAP_NET_ADMIN, the reading ones too, except connections(). Every one may reject with a NetlinkError
 * (`EPERM`, `ERR_CLOSED`, `ERR_TIMEOUT`, `ERR_MALFORMED_REPLY`, and those named below), and all but apply() with a TypeError or
 * RangeError that names the argument and the rule it breaks.
 */
export interface Ipvs extends KernelClient<IpvsOperation> {
  /**
   * Every virtual service with its real servers. Not a consistent snapshot: the kernel offers none. It continues a listing at a place in one table
   * of all network namespaces (ip_vs_genl_dump_services(); seen with Linux 6.12): while any namespace adds or deletes virtual services, some
   * may be listed twice or left out. Linux 7 has a table for each network namespace, and the same holds for a moment after many were added or
   * deleted, while the kernel resizes it.
   */
  list(options?: CallOptions): Promise<VirtualServiceState[]>;
  /** Every virtual service, without its real servers and counters: one dump. As consistent as {@link Ipvs.list}. */
  listServices(options?: CallOptions): Promise<VirtualService[]>;
  /** The real servers of each of these virtual services, without counters; none for one that does not exist. One dump each. */
  listRealServers(ids: readonly VirtualServiceId[], options?: CallOptions): Promise<RealServer[][]>;
  /** One virtual service with its real servers, or undefined when there is none. */
  get(id: VirtualServiceId, options?: CallOptions): Promise<VirtualServiceState | undefined>;
  /** Adds; rejects with EEXIST when it exists, ENOENT when the scheduler or the persistence engine is unknown. */
  add(service: VirtualServiceInput, options?: CallOptions): Promise<void>;
  /**
   * Sets all settings in place, those that are left out to their defaults; connections survive. Rejects with ESRCH when there
   * is no such service, ENOENT as {@link Ipvs.add}.
   */
  update(service: VirtualServiceInput, options?: CallOptions): Promise<void>;
  /** Deletes it with its real servers; rejects with ESRCH when there is no such service. */
  delete(id: VirtualServiceId, options?: CallOptions): Promise<void>;
  /** Adds; rejects with EEXIST when it exists, ESRCH without the service, EINVAL when its address is not unicast. */
  addRealServer(id: VirtualServiceId, realServer: RealServerInput, options?: CallOptions): Promise<void>;
  /**
   * Sets all settings in place, those that are left out to their defaults. Rejects with ENOENT when there is no such real
   * server, ESRCH without the service.
   */
  updateRealServer(id: VirtualServiceId, realServer: RealServerInput, options?: CallOptions): Promise<void>;
  /** Deletes; rejects with ENOENT when there is no such real server, ESRCH without the service. */
  deleteRealServer(id: VirtualServiceId, realServer: RealServerIdInput, options?: CallOptions): Promise<void>;
  /**
   * Sends a list of operations as one call in few messages; resolves to one result per operation, in order. Operations
   * after one that failed are done all the same. Results beside those of the single verbs: `ERR_INVALID_ARGUMENT`;
   * `ERR_UNKNOWN_OUTCOME` when replies were lost; `ERR_TIMEOUT` for the operations that were then not sent.
   */
  apply(operations: readonly IpvsOperation[], options?: CallOptions): Promise<OperationResult[]>;
  /** Sets the counters of a virtual service and of its real servers to zero, or of all; rejects with ESRCH without the service. */
  zero(id?: VirtualServiceId, options?: CallOptions): Promise<void>;
  /** Deletes every virtual service of the namespace, whoever made it; rejects with a TypeError without the confirmation. */
  flush(options: IpvsFlushOptions): Promise<void>;
  /** Version and size of the kernel's IPVS. */
  info(options?: CallOptions): Promise<IpvsInfo>;
  /** The connection timeouts. */
  timeouts(options?: CallOptions): Promise<IpvsTimeouts>;
  /** Changes the connection timeouts that are given and not 0. */
  setTimeouts(timeouts: IpvsTimeoutsInput, options?: CallOptions): Promise<void>;
  /** The sync daemons that run: none, one, or one in each state. */
  listDaemons(options?: CallOptions): Promise<SyncDaemon[]>;
  /**
   * Starts a sync daemon. Rejects with EEXIST when one in this state runs, ENODEV without the interface, EINVAL when the group is
   * no multicast address or a real server has another family than its virtual service. Loads nothing, but the kernel starts a
   * thread.
   */
  startDaemon(daemon: SyncDaemonInput, options?: CallOptions): Promise<void>;
  /** Stops the sync daemon in this state; rejects with ESRCH when there is none. */
  stopDaemon(state: SyncDaemonState, options?: CallOptions): Promise<void>;
  /**
   * Connections and templates of persistence, read in pieces from /proc/net/ip_vs_conn: not a snapshot, one that is added or
   * removed meanwhile may be missing or appear twice. Iterations reject with ENOENT without /proc.
   */
  connections(filter?: ConnectionFilter, options?: CallOptions): Listing<IpvsConnection>;
  /** The abilities of this kernel. Reads, and adds or loads nothing. */
  capabilities(options?: CallOptions): Promise<IpvsCapabilities>;
}
