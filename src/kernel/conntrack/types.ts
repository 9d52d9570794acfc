// Flows that the kernel tracks, as JavaScript values. Source of every rule: net/netfilter/nf_conntrack_netlink.c,
// include/uapi/linux/netfilter/nf_conntrack_common.h, nf_conntrack_tuple_common.h.

import type { NetlinkError } from '../../errors.js';
import type { Family } from '../../net/address.js';
import type { IpProtocol } from '../../net/protocol.js';
import type { KernelClient, OperationResult } from '../types.js';

/** Whom the packets of one direction are from and to (`struct nf_conntrack_tuple`). */
export interface FlowTuple {
  /** Canonical address. */
  readonly source: string;
  /** Canonical address. */
  readonly destination: string;
  /** 0–65535; the identifier of ICMP; 0 for protocols without ports. */
  readonly sourcePort: number;
  /** 0–65535; type × 256 + code of ICMP; 0 for protocols without ports. */
  readonly destinationPort: number;
}

/** The name of a flow in the kernel. */
export interface FlowId {
  readonly protocol: IpProtocol;
  /** Packets of the client, before their addresses are translated. */
  readonly original: FlowTuple;
  /** Zone of the original direction (`nf_conntrack_zone`), 0–65535; 0 is the default one. Left out: 0. */
  readonly zone?: number;
  /**
   * `CTA_ID`, 1–4294967295: distinguishes a flow from a later one with the same tuple, unless the kernel has reused the
   * memory of the earlier one. Left out, or 0: any flow with the tuple.
   */
  readonly id?: number;
}

/** A flow as the kernel lists it. */
export interface Flow extends FlowId {
  readonly family: Family;
  /** Packets of the answer: from the address to which the original packets were translated. */
  readonly reply: FlowTuple;
  readonly zone: number;
  readonly id: number;
  /** `IPS_` flags: 0x2 a reply was seen, 0x8 confirmed, 0x10 source translated, 0x20 destination translated, … */
  readonly status: number;
  readonly mark: number;
  /** Time until the flow ends without another packet, in s. */
  readonly timeout: number;
}

/** Which flows to list: those for which everything holds that is given. */
export interface FlowSelection {
  readonly family: Family;
  /** Must be given with a port. */
  readonly protocol?: IpProtocol;
  readonly original?: Partial<FlowTuple>;
  readonly reply?: Partial<FlowTuple>;
}

/** Any part of it, and some part of it. */
type AtLeastOne<T> = { readonly [Key in keyof T]: Pick<T, Key> & Partial<T> }[keyof T];

/**
 * Which flows to delete: a selection that names an address or a port. One that does not selects everything, or everything
 * of a protocol, and is refused with a TypeError; a field that is undefined or unknown is refused, not passed over.
 */
export type FlowFilter = FlowSelection &
  ({ readonly original: AtLeastOne<FlowTuple> } | { readonly reply: AtLeastOne<FlowTuple> });

/** The result of a deletion by filter. */
export interface FlowDeletion {
  /** How many flows were deleted. Those that ended by themselves meanwhile are not counted. */
  readonly deleted: number;
  /** An error for each flow that was selected and may still be there, with the flow as its target. Codes as in `Ipvs.apply`. */
  readonly failures: readonly NetlinkError[];
}

/** A change of the flows, as batches are reported: the deletion of a flow, or of those that a filter selects. */
export type FlowChange = FlowId | { readonly do: 'delete'; readonly filter: FlowFilter };

/** How flows are listed. */
export interface ListOptions {
  /**
   * Resolve to the flows read so far when a listing is cut short (`ERR_INTERRUPTED`) instead of rejecting. Default false.
   */
  readonly partial?: boolean;
}

/**
 * Flows of one network namespace. Calls reach the kernel one after another, in the order in which they are made.
 *
 * Every call needs CAP_NET_ADMIN, the reading ones too. Every one may reject with a NetlinkError (`EPERM`, `ERR_CLOSED`,
 * `ERR_TIMEOUT`, `ERR_MALFORMED_REPLY`), and all but deleteFlows() with a TypeError or RangeError that names the argument
 * and the rule it breaks.
 */
export interface Conntrack extends KernelClient<FlowChange> {
  /**
   * The flows selected, by any of several selections if there are several, each once; all of both families by default.
   * Not a consistent snapshot: the kernel offers none.
   *
   * Costs a walk over the kernel's whole table for each of up to four selections of a family, for more of them one walk
   * and a look at whatever they have in common. The kernel is not asked to select by IPv6 addresses, which it may get
   * wrong, nor by ports of other protocols than TCP and UDP: the other fields then decide how many flows are read.
   * Kernels before 5.8 select by the family only.
   *
   * Rejects with `ERR_INTERRUPTED` when ten attempts in a row failed: the table changed while it was read, as far as a
   * kernel reports that, or replies were lost.
   */
  list(selection?: FlowSelection | readonly FlowSelection[], options?: ListOptions): Promise<Flow[]>;
  /**
   * Deletes the flows that the filter selects. It lists them and deletes them by name, so that only selected flows
   * are deleted; flows that begin meanwhile stay. Rejects when they cannot be listed; failures to delete are in the
   * result.
   */
  delete(filter: FlowFilter): Promise<FlowDeletion>;
  /**
   * Deletes flows as one call in few messages; resolves to one result per flow, in order. A flow that is gone is
   * a success, and so is one whose tuple another id has by now, which stays. Results: `ERR_INVALID_ARGUMENT`, and as in `Ipvs.apply`.
   */
  deleteFlows(flows: readonly FlowId[]): Promise<OperationResult[]>;
}
