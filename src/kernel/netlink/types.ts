// Messages of netlink as they are, for families that have no client of their own. Source of every rule: netlink(7),
// include/uapi/linux/netlink.h and genetlink.h.
import type {
  CallOptions,
  EventStream,
  KernelClient,
  Listing,
  OpenOptions,
  OperationResult,
  WatchOptions,
} from '../shared/types.js';

/**
 * A protocol of netlink: `generic` (`NETLINK_GENERIC`, families with names), `route` (`NETLINK_ROUTE`: links, addresses, routes,
 * rules, neighbours, traffic control), `netfilter` (`NETLINK_NETFILTER`: conntrack, ipset, nf_tables), or the number of another
 * one, 0–31.
 */
export type NetlinkProtocol = 'generic' | 'route' | 'netfilter' | number;

/** How netlink is opened. */
export interface NetlinkOptions extends OpenOptions {
  readonly protocol: NetlinkProtocol;
  /**
   * Whether the kernel checks requests strictly (`NETLINK_GET_STRICT_CHK`, of the protocol `route` only): it then applies the filters
   * of a request to list, and refuses headers and attributes that it does not know. Without, it ignores them, as for programs
   * from before Linux 4.20. Default true.
   */
  readonly strictChecking?: boolean | undefined;
}

/** A message to the kernel. Its length, its sequence number and `NLM_F_REQUEST` are filled in. */
export interface NetlinkRequest {
  /** `nlmsg_type`: 16–65535. Smaller ones are netlink's own. Of generic netlink: the id of the family. */
  readonly type: number;
  /** `NLM_F_…`: 0–65535. Default 0; `NLM_F_ACK`, and `NLM_F_DUMP` of a listing, are added. */
  readonly flags?: number | undefined;
  /** The header of the family and the attributes ({@link AttributeWriter}): at most 131072 bytes. Default: none. */
  readonly payload?: Uint8Array | undefined;
}

/** A message from the kernel. */
export interface NetlinkMessage {
  /** `nlmsg_type`. */
  readonly type: number;
  /** `NLM_F_…`. */
  readonly flags: number;
  /** The header of the family and the attributes ({@link AttributeReader}). */
  readonly payload: Uint8Array;
}

/** A notification. */
export interface NetlinkEvent {
  readonly kind: 'message';
  readonly message: NetlinkMessage;
}

/** A family of generic netlink (`CTRL_CMD_GETFAMILY`). */
export interface GenericFamily {
  readonly name: string;
  /** The type of its messages; another one after its module was loaded again. */
  readonly id: number;
  readonly version: number;
  /** Bytes of the header behind `genlmsghdr`. */
  readonly headerSize: number;
  /** Its multicast groups: the numbers for {@link Netlink.watch}, by name. */
  readonly groups: ReadonlyMap<string, number>;
}

/**
 * Netlink of one protocol in one network namespace. Calls reach the kernel one after another, in the order in which they are
 * made.
 *
 * Every call may reject with a NetlinkError (an errno of the kernel with the text of its extended acknowledgement, `EPERM`,
 * `ERR_CLOSED`, `ERR_TIMEOUT`, `ERR_MALFORMED_REPLY`; query() and dump() with `ERR_INTERRUPTED`), and all but send() with a
 * TypeError or RangeError that names the argument and the rule it breaks.
 */
export interface Netlink extends KernelClient<NetlinkRequest> {
  /** The family of generic netlink of that name. ENOENT when its module is not loaded. On `generic` only. */
  resolveFamily(name: string, options?: CallOptions): Promise<GenericFamily>;
  /**
   * Sends changes as one call in few buffers; resolves to one result per message, in order. Messages after one that failed are
   * sent all the same. Replies other than acknowledgements are dropped; a message that asks for a listing (`NLM_F_DUMP`, or
   * one of its bits where that suffices) is refused, and dump() is for it. Not for transactions of nf_tables, whose messages must
   * be in one buffer.
   */
  send(messages: readonly NetlinkRequest[], options?: CallOptions): Promise<OperationResult[]>;
  /** Sends a request that reads, and returns its replies. It is sent again when replies were lost. */
  query(request: NetlinkRequest, options?: CallOptions): Promise<NetlinkMessage[]>;
  /** The replies to a request to list (`NLM_F_DUMP`). It is sent again when the listed objects changed meanwhile. */
  dump(request: NetlinkRequest, options?: CallOptions): Listing<NetlinkMessage>;
  /** The notifications of multicast groups, by their numbers: `RTNLGRP_…`, `NFNLGRP_…`, or those of a {@link GenericFamily}. */
  watch(groups: readonly number[], options?: WatchOptions): EventStream<NetlinkEvent>;
}
