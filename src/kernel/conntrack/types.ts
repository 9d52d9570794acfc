// Flows that the kernel tracks, as JavaScript values. Source of every rule: net/netfilter/nf_conntrack_netlink.c,
// include/uapi/linux/netfilter/nf_conntrack_common.h, nf_conntrack_tuple_common.h.

import type { NetlinkError } from '../errors.js';
import type { Family } from '../net/address.js';
import type { IpProtocol } from '../net/protocol.js';
import type {
  CallOptions,
  EventStream,
  KernelClient,
  Listing,
  OperationResult,
  WatchOptions,
} from '../shared/types.js';
import type { ConntrackCapabilities, ConntrackStatistics } from './reports.js';
import type { FlowStatus, SctpState, TcpState } from './states.js';

export type * from './reports.js';

/** The kind of an ICMP or ICMPv6 message, and the identifier of its sender (RFC 792, RFC 4443). */
export interface IcmpKind {
  /** 0–255. */
  readonly type: number;
  /** 0–255. */
  readonly code: number;
  /** 0–65535; 0 for types without one. */
  readonly id: number;
}

/** Whom the packets of one direction are from and to (`struct nf_conntrack_tuple`). */
export interface FlowTuple {
  /** Canonical address. */
  readonly source: string;
  /** Canonical address. */
  readonly destination: string;
  /** 0–65535; the key of GRE; 0 for protocols without ports. */
  readonly sourcePort: number;
  /** 0–65535; the key of GRE; 0 for protocols without ports. */
  readonly destinationPort: number;
  /** Of ICMP (1) and ICMPv6 (58), and of no other protocol. */
  readonly icmp?: IcmpKind;
}

/**
 * A tuple as an argument. TCP, UDP and SCTP need both ports, ICMP and ICMPv6 need `icmp`. Left out for another protocol: ports
 * are 0.
 */
export type TupleName = Pick<FlowTuple, 'source' | 'destination'> & Partial<FlowTuple>;

/** The name of a flow in the kernel. A listed flow is one. */
export interface FlowId {
  readonly protocol: IpProtocol;
  /** Packets of the client, before their addresses are translated. */
  readonly original: TupleName;
  /** Zone of the original direction (`nf_conntrack_zone`), 0–65535; 0 is the default one. Left out: 0. */
  readonly zone?: number;
  /**
   * `CTA_ID`, 1–4294967295: distinguishes a flow from a later one with the same tuple, unless the kernel has reused the
   * memory of the earlier one. Left out, or 0: any flow with the tuple.
   */
  readonly id?: number;
}

/** Packets of one direction, since the flow began or its counters were set to zero (`CTA_COUNTERS`). */
export interface FlowCounters {
  readonly packets: bigint;
  /** With the headers of IP. */
  readonly bytes: bigint;
}

/** State of SCTP (`CTA_PROTOINFO_SCTP`). */
export interface SctpInfo {
  readonly state: SctpState;
  /** Verification tag of the original direction, 0–4294967295. */
  readonly originalTag: number;
  /** Verification tag of the reply direction. */
  readonly replyTag: number;
}

/** The flow that another one belongs to: the control connection of FTP for its data. */
export interface FlowMaster {
  readonly protocol: IpProtocol;
  readonly original: FlowTuple;
}

/** A flow as the kernel lists it. */
export interface Flow extends FlowId {
  readonly family: Family;
  readonly original: FlowTuple;
  /**
   * Packets of the answer. With `SRC_NAT` in the status, they are to the address and port to which the source was
   * translated; with `DST_NAT`, they are from the destination's. See {@link natOf}.
   */
  readonly reply: FlowTuple;
  readonly zone: number;
  /** Zone of the reply direction; as `zone`, unless the flow has a zone in one direction only. */
  readonly replyZone: number;
  readonly id: number;
  /** `IPS_` flags by their names, in the order of their bits. */
  readonly status: readonly FlowStatus[];
  readonly mark: number;
  /** Time until the flow ends without another packet, in s. 0 where the kernel reports none: of offloaded flows. */
  readonly timeout: number;
  /** References that the kernel holds (`CTA_USE`). */
  readonly use: number;
  /** State of TCP, and of no other protocol. */
  readonly tcpState?: TcpState;
  /** State of SCTP, and of no other protocol. A kernel without `CONFIG_NF_CT_PROTO_SCTP` has none. */
  readonly sctp?: SctpInfo;
  /** If the setting `net.netfilter.nf_conntrack_acct` was 1 when the flow began. */
  readonly counters?: { readonly original: FlowCounters; readonly reply: FlowCounters };
  /** Time at which the flow began, in ns since 1970, if the setting `net.netfilter.nf_conntrack_timestamp` was 1 then. */
  readonly start?: bigint;
  /** Time at which the flow ended, in ns since 1970: of a flow that ended, as `start`. */
  readonly stop?: bigint;
  /** Labels 0–127, ascending, if a rule of the namespace uses labels (connlabel, `ct label`). */
  readonly labels?: readonly number[];
  /** Name of the helper that reads the flow's packets: `ftp`. */
  readonly helper?: string;
  /** Security context, where a security module labels packets (`CTA_SECCTX`). */
  readonly secctx?: string;
  readonly master?: FlowMaster;
}

/** Bits of the mark to compare or to replace: those that are 1 in `mask`, 0–4294967295. Bits of `value` are within `mask`. */
export interface MaskedMark {
  readonly value: number;
  readonly mask: number;
}

/** The fields of a tuple to compare: at least one. */
export interface TupleFilter {
  /** Address, or network (`10.0.0.0/8`). */
  readonly source?: string;
  /** Address, or network. */
  readonly destination?: string;
  readonly sourcePort?: number;
  readonly destinationPort?: number;
  /** Needs `protocol` 1 or 58. */
  readonly icmp?: Partial<IcmpKind>;
}

/** Conditions that need no family. */
export interface Conditions {
  /** Must be given with a port, and with `icmp`. */
  readonly protocol?: IpProtocol;
  /** The whole mark, or some of its bits. */
  readonly mark?: number | MaskedMark;
  /** Flags that the flow has. */
  readonly status?: readonly FlowStatus[];
  /** Flags that the flow does not have: `['SEEN_REPLY']` selects flows without a reply. */
  readonly notStatus?: readonly FlowStatus[];
  /** Zone of the original direction. */
  readonly zone?: number;
  /** Zone of the reply direction. */
  readonly replyZone?: number;
  /** Labels, 0–127, all of which the flow has. */
  readonly labels?: readonly number[];
}

/** Which flows to list: those for which everything holds that is given. */
export interface FlowSelection extends Conditions {
  /** Must be given with `original` and `reply`. Left out: both. */
  readonly family?: Family;
  readonly original?: TupleFilter;
  readonly reply?: TupleFilter;
}

/** Any part of it, and some part of it. */
export type AtLeastOne<T> = { readonly [Key in keyof T]-?: Required<Pick<T, Key>> & Partial<T> }[keyof T];

/**
 * Which flows to delete: a selection with a condition that flows do not fulfil by default: an address or a network of at least
 * one bit, a port, a part of `icmp`, a bit of the mark that is 1, a zone other than 0, or a label. One that has none selects
 * everything, or everything of a protocol, and is refused with a TypeError; a field that is undefined or unknown is refused,
 * not passed over.
 */
export type FlowFilter = FlowSelection &
  (
    | ({ readonly family: Family } & (
        | { readonly original: AtLeastOne<TupleFilter> }
        | { readonly reply: AtLeastOne<TupleFilter> }
      ))
    | ({ readonly original?: never; readonly reply?: never } & AtLeastOne<
        Pick<Conditions, 'mark' | 'zone' | 'replyZone' | 'labels'>
      >)
  );

/** The result of a deletion by filter. */
export interface FlowDeletion {
  /** How many flows were deleted. Those that ended by themselves meanwhile are not counted. */
  readonly deleted: number;
  /** An error for each flow that was selected and may still be there, with the flow as its target. Codes as in `Ipvs.apply`. */
  readonly failures: readonly NetlinkError[];
}

/** Addresses and ports, to one of which the kernel translates (`CTA_NAT_SRC`, `CTA_NAT_DST`). */
export interface Translation {
  readonly address: string;
  /** Last address of a range that begins with `address`. Default: `address`. */
  readonly lastAddress?: string;
  /** 1–65535. Default: the port stays, unless another flow has it. */
  readonly port?: number;
  /** Last port of a range that begins with `port`. Default: `port`. */
  readonly lastPort?: number;
}

/** What an addition and an update set alike. */
export interface FlowSettings {
  /** Time until the flow ends without another packet, 0–4294967295, in s. */
  readonly timeout?: number;
  /**
   * Flags to set, besides those that the flow has: the kernel clears none (`EBUSY`), and silently ignores those that it
   * keeps for itself, such as `DST_NAT`. `CONFIRMED` is always set.
   */
  readonly status?: readonly FlowStatus[];
  /** Name of the helper, 1–15 bytes. */
  readonly helper?: string;
  /** Only of TCP. */
  readonly tcpState?: TcpState;
  /** Only of SCTP, of which an addition needs it. A kernel without `CONFIG_NF_CT_PROTO_SCTP` ignores it. */
  readonly sctp?: SctpInfo;
}

/** A flow to add. */
export interface NewFlow extends FlowSettings {
  readonly protocol: IpProtocol;
  readonly original: TupleName;
  /** Default: the original tuple, turned round. */
  readonly reply?: TupleName;
  readonly timeout: number;
  /** Zone of the original direction, 0–65535. Default 0. */
  readonly zone?: number;
  /** Zone of the reply direction: as `zone`, or one of the two is 0. Default: as `zone`. */
  readonly replyZone?: number;
  readonly mark?: number;
  /** Labels, 0–127. The kernel drops them, without an error, unless a rule of the namespace uses labels (connlabel, `ct label`). */
  readonly labels?: readonly number[];
  /** Translation of the source. Sets `SRC_NAT`, and changes the reply tuple. */
  readonly sourceNat?: Translation;
  /** Translation of the destination. Sets `DST_NAT`, and changes the reply tuple. */
  readonly destinationNat?: Translation;
  /** The flow that this one belongs to, which must exist (`ENOENT`). Sets `EXPECTED`. */
  readonly master?: { readonly protocol: IpProtocol; readonly original: TupleName };
}

/** The fields of a flow to change: at least one. */
export interface FlowChanges extends FlowSettings {
  /** The whole mark, or some of its bits. */
  readonly mark?: number | MaskedMark;
  /** Labels that replace all labels of the flow. Excludes the two fields below. ENOSPC for a flow that began without labels. */
  readonly labels?: readonly number[];
  readonly addLabels?: readonly number[];
  readonly removeLabels?: readonly number[];
}

/** An operation of a batch. */
export type FlowOperation =
  | { readonly do: 'addFlow'; readonly flow: NewFlow }
  | { readonly do: 'updateFlow'; readonly flow: FlowId; readonly changes: FlowChanges }
  | { readonly do: 'deleteFlow'; readonly flow: FlowId };

/** A change, as batches are reported: an operation, the deletion by a filter, or of all flows. */
export type FlowChange =
  | FlowOperation
  | { readonly do: 'delete'; readonly filter: FlowFilter }
  | { readonly do: 'flush' };

/** Where flows are listed: those that are tracked, those that ended and are still in use, those of which no packet left yet. */
export type FlowTable = 'conntrack' | 'dying' | 'unconfirmed';

/** How flows are listed. */
export interface ListOptions extends CallOptions {
  /**
   * Resolve to the flows read so far when a listing is cut short (`ERR_INTERRUPTED`) instead of rejecting. Default false.
   */
  readonly partial?: boolean;
  /** Default `conntrack`. Since 5.19, the kernel lists no unconfirmed flows. */
  readonly table?: FlowTable;
  /** Sets the counters of each listed flow to zero (`IPCTNL_MSG_CT_GET_CTRZERO`). Not with a selection. Default false. */
  readonly zeroCounters?: boolean;
}

/** How a flow is read. */
export interface GetOptions extends CallOptions {
  /** Sets the counters of the flow to zero. Default false. */
  readonly zeroCounters?: boolean;
}

/** Kinds of events: a flow began, changed, or ended. */
export type FlowEventKind = 'new' | 'update' | 'destroy';

/** A flow that began, changed or ended. Its fields are those of {@link Flow} that the kernel sends with the event. */
export interface FlowEvent {
  readonly kind: FlowEventKind;
  /** Of a flow that ended: with its last counters and its timestamps, and, since 5.14, the last state of TCP. */
  readonly flow: Flow;
}

/** Which events to report, and how. */
export interface FlowWatchOptions extends WatchOptions {
  /** Default: all three. */
  readonly kinds?: readonly FlowEventKind[];
  /** Events of flows that any of these selects. Default: of all flows. */
  readonly selection?: FlowSelection | readonly FlowSelection[];
}

/** The words that flush() asks for. */
export const FLUSH_CONFIRMATION = 'delete every flow';

/** Options of flush(). */
export interface FlushOptions extends CallOptions {
  /** The words `delete every flow`, so that no call is made by accident. */
  readonly confirm: typeof FLUSH_CONFIRMATION;
}

/** A flow that is expected to begin, because a helper read so in the packets of another (`struct nf_conntrack_expect`). */
export interface Expectation {
  readonly family: Family;
  readonly protocol: IpProtocol;
  readonly original: FlowTuple;
  /** Bits of `original` that count: `255.255.255.255`, 65535. */
  readonly mask: FlowTuple;
  readonly master: FlowMaster;
  readonly zone: number;
  readonly id: number;
  /** Time left, in s. */
  readonly timeout: number;
  /** `NF_CT_EXPECT_` flags: 1 permanent, 2 inactive, 4 created by a program. */
  readonly flags: number;
  /** Class of the expectation within its helper. */
  readonly class: number;
  /** Name of the helper. */
  readonly helper?: string;
}

/**
 * Flows of one network namespace. Calls reach the kernel one after another, in the order in which they are made.
 *
 * Every call needs CAP_NET_ADMIN, the reading ones too. Every one may reject with a NetlinkError (`EPERM`, `ERR_CLOSED`,
 * `ERR_TIMEOUT`, `ERR_MALFORMED_REPLY`), and all but apply() and deleteFlows() with a TypeError or RangeError that names the
 * argument and the rule it breaks.
 */
export interface Conntrack extends KernelClient<FlowChange> {
  /**
   * The flows selected, by any of several selections if there are several, each once; all of both families by default.
   * Not a consistent snapshot: the kernel offers none.
   *
   * Cost: for up to four selections of a family, the kernel walks its whole table once for each. For more of them, it walks
   * the table once, and selects by the conditions that they share. The kernel selects by family, protocol, mark, status, whole
   * addresses of IPv4, and ports of TCP and UDP. Flows that other conditions exclude are copied and then dropped here. Kernels before
   * 6.0 do not select by status, those before 5.8 by family and mark only.
   *
   * Rejects with `ERR_INTERRUPTED` when ten attempts in a row failed: the table changed while it was read, as far as a
   * kernel reports that, or replies were lost.
   */
  list(selection?: FlowSelection | readonly FlowSelection[], options?: ListOptions): Listing<Flow>;
  /** The flow with this name; undefined when there is none. */
  get(flow: FlowId, options?: GetOptions): Promise<Flow | undefined>;
  /** Adds a flow. Rejects with `EEXIST` when a flow has one of its tuples, and as `apply()`. */
  add(flow: NewFlow, options?: CallOptions): Promise<void>;
  /** Changes a flow. Rejects with `ENOENT` when there is none, and as `apply()`. */
  update(flow: FlowId, changes: FlowChanges, options?: CallOptions): Promise<void>;
  /**
   * Deletes the flows that the filter selects. It lists them and deletes them by name, so that only selected flows
   * are deleted; flows that begin meanwhile stay. Rejects when they cannot be listed; failures to delete are in the
   * result.
   */
  delete(filter: FlowFilter, options?: CallOptions): Promise<FlowDeletion>;
  /** Deletes flows by their names, as apply() does. */
  deleteFlows(flows: readonly FlowId[], options?: CallOptions): Promise<OperationResult[]>;
  /**
   * Carries operations out as one call in few messages, in order; resolves to one result for each. To delete a flow that is
   * gone is a success, and so is one whose tuple another id has by now, which stays. An update with an id, or of the status,
   * costs a message and an answer of its own.
   *
   * Results: `ERR_INVALID_ARGUMENT`; `EEXIST`, `ENOENT` as above; `EBUSY` for a helper in place of another; `EOPNOTSUPP` for
   * a zone, a label, a mark or NAT that the kernel was built without; `ENOSPC` for labels without a rule that uses them;
   * `ENOMEM`; and as in `Ipvs.apply`.
   */
  apply(operations: readonly FlowOperation[], options?: CallOptions): Promise<OperationResult[]>;
  /** Deletes every flow of both families. */
  flush(options: FlushOptions): Promise<void>;
  /**
   * The flows that begin, change and end from then on. The kernel reports changes of the state of TCP and SCTP, of the status,
   * the mark, the labels and the helper; not of counters and the time left.
   *
   * With the setting `net.netfilter.nf_conntrack_events` 2, the default since 5.19, the kernel reports nothing of flows that
   * began while nobody watched. With 0 it reports nothing at all: an iteration rejects with `EOPNOTSUPP`.
   */
  watch(options?: FlowWatchOptions): EventStream<FlowEvent>;
  statistics(options?: CallOptions): Promise<ConntrackStatistics>;
  /** The expectations of both families. */
  expectations(options?: CallOptions): Listing<Expectation>;
  /** What the kernel offers, found without a change of anything. */
  capabilities(options?: CallOptions): Promise<ConntrackCapabilities>;
}
