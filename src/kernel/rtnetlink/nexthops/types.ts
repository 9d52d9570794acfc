// Nexthop objects, as JavaScript values. Source of every rule: include/uapi/linux/nexthop.h, net/ipv4/nexthop.c, ip-nexthop(8).
import type { Family } from '../../net/address.js';
import type { ListedAttribute } from '../../shared/types.js';
import type { LinkReference } from '../links/reference.js';
import type { RouteFlag, RouteProtocol, RouteScope } from '../routes/types.js';

/** The name of a nexthop object. */
export interface NextHopObjectId {
  /** 1–4294967295: the number that routes have as `nextHopId`. */
  readonly id: number;
}

/** One of the nexthops of a group. */
export interface NextHopMember extends NextHopObjectId {
  /** 1–255, and to 65535 since Linux 6.12; default 1. */
  readonly weight?: number;
}

/** How a group moves its flows (`NEXTHOP_GRP_TYPE_RES`, Linux 5.13): a flow keeps its nexthop when another one leaves. */
export interface ResilientGroup {
  /** 1–65535. Not changed later. */
  readonly buckets?: number;
  /** Time without packets after which a bucket moves, in s; default 120. */
  readonly idleTimer?: number;
  /** Time without balance after which also buckets in use move, in s; 0 means never. Default 0. */
  readonly unbalancedTimer?: number;
}

/** What all nexthop objects have. */
export interface NextHopObjectCommon extends NextHopObjectId {
  /** Default `unspec`. */
  readonly protocol?: RouteProtocol;
  /** Only `onlink` is written, of a way with a gateway. */
  readonly flags?: readonly RouteFlag[];
}

/** A way: by a link, with a gateway or without. */
export interface NewNextHopWay extends NextHopObjectCommon {
  /** Name or index of the link, which is up. */
  readonly link: LinkReference;
  readonly gateway?: string;
  /** Family of a way without a gateway. Default 4. */
  readonly family?: Family;
  readonly blackhole?: never;
  readonly fdb?: never;
  readonly group?: never;
  readonly resilient?: never;
}

/** A nexthop that drops packets. */
export interface NewBlackhole extends NextHopObjectCommon {
  /** ENETDOWN while `lo` is down. */
  readonly blackhole: true;
  /** Default 4. */
  readonly family?: Family;
  readonly link?: never;
  readonly gateway?: never;
  readonly fdb?: never;
  readonly group?: never;
  readonly resilient?: never;
}

/** The other end of a VXLAN, for entries of its FDB. Linux 5.8. */
export interface NewFdbNextHop extends NextHopObjectCommon {
  readonly fdb: true;
  readonly gateway: string;
  /** That of the gateway. */
  readonly family?: Family;
  readonly link?: never;
  readonly blackhole?: never;
  readonly group?: never;
  readonly resilient?: never;
}

/** Several nexthops, which share the traffic. */
export interface NewNextHopGroup extends NextHopObjectCommon {
  readonly group: readonly NextHopMember[];
  /** Of a resilient group; without, flows move when the group changes. */
  readonly resilient?: ResilientGroup;
  /** Of members for entries of an FDB. Linux 5.8. */
  readonly fdb?: boolean;
  readonly link?: never;
  readonly gateway?: never;
  readonly family?: never;
  readonly blackhole?: never;
}

/** A nexthop object that is written. */
export type NewNextHopObject = NewNextHopWay | NewBlackhole | NewFdbNextHop | NewNextHopGroup;

/** A member of a group as the kernel lists it. */
export interface ListedNextHopMember extends NextHopMember {
  readonly weight: number;
}

/** A resilient group as the kernel lists it. */
export interface ListedResilientGroup extends ResilientGroup {
  /** Time since it is not balanced, in s. It is not written. */
  readonly unbalancedTime?: number;
  /** Fields of a newer kernel that are not known here. */
  readonly attributes?: readonly ListedAttribute[];
}

/** What every nexthop object has that the kernel lists. */
export interface ListedNextHopFields {
  readonly id: number;
  readonly protocol: RouteProtocol;
  /** The distance to the gateway. It is not written. */
  readonly scope: RouteScope;
  readonly flags: readonly RouteFlag[];
  readonly group?: readonly ListedNextHopMember[];
  readonly resilient?: ListedResilientGroup;
  /** Attributes that have no field here: an encapsulation. The object cannot be written with them. */
  readonly attributes?: readonly ListedAttribute[];
}

/**
 * A nexthop object as the kernel lists it. It is also its name, and can be written again. `link` is the name of the link, or its index
 * where the listing does not know the name; all but groups have `family`.
 */
export type NextHopObject = NewNextHopObject & ListedNextHopFields;

/** Which nexthop objects are listed; default: all. With a field, none that is a group. */
export interface NextHopFilter {
  /** Default: both. */
  readonly family?: Family;
  /** Name or index of the link; ENODEV when there is none. */
  readonly link?: LinkReference;
}
