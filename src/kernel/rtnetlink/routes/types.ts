// Routes, as JavaScript values. Source of every rule: include/uapi/linux/rtnetlink.h, ip-route(8).
import type { Family } from '../../net/address.js';
import type { ListedAttribute } from '../../shared/types.js';
import type { LinkReference } from '../links/reference.js';

/** A flag that has no name here: `bit_12` of a newer kernel. It is listed only. */
export type UnnamedFlag = `bit_${number}`;

/** A type of routes (`RTN_`): one of those with a name, or a number from 0 to 255. */
export type RouteType =
  | 'unicast'
  | 'local'
  | 'broadcast'
  | 'anycast'
  | 'multicast'
  | 'blackhole'
  | 'unreachable'
  | 'prohibit'
  | 'throw'
  | number;

/** A table: one of those with a name, or a number from 1 to 4294967295. */
export type RouteTable = 'default' | 'main' | 'local' | number;

/** The origin of a route or a rule (`RTPROT_`): one of those with a name, or a number from 0 to 255. */
export type RouteProtocol =
  | 'unspec'
  | 'redirect'
  | 'kernel'
  | 'boot'
  | 'static'
  | 'gated'
  | 'ra'
  | 'mrt'
  | 'zebra'
  | 'bird'
  | 'dnrouted'
  | 'xorp'
  | 'ntk'
  | 'dhcp'
  | 'mrouted'
  | 'keepalived'
  | 'babel'
  | 'bgp'
  | 'isis'
  | 'ospf'
  | 'rip'
  | 'eigrp'
  | number;

/** The distance to a destination (`RT_SCOPE_`): one of those with a name, or a number from 0 to 255. */
export type RouteScope = 'global' | 'site' | 'link' | 'host' | 'nowhere' | number;

/** Preference of an IPv6 router (RFC 4191): one of those with a name, or a number from 0 to 255. */
export type RouterPreference = 'low' | 'medium' | 'high' | number;

/** A flag of a route or a next hop (`RTNH_F_`). Only `onlink` and `pervasive` are written. */
export type RouteFlag =
  | 'dead'
  | 'pervasive'
  | 'onlink'
  | 'offload'
  | 'linkdown'
  | 'unresolved'
  | 'trap'
  | UnnamedFlag;

/** The metrics of TCP and of the path, which can be locked. */
export interface RouteMetrics {
  /** Bytes. */
  readonly mtu?: number;
  /** Bytes. */
  readonly advertisedMss?: number;
  /** Bytes. */
  readonly window?: number;
  /** Round-trip time, in ms. */
  readonly rtt?: number;
  /** In ms. */
  readonly rttVariance?: number;
  /** Segments. */
  readonly slowStartThreshold?: number;
  /** Segments; has an effect only if it is locked. */
  readonly congestionWindow?: number;
  /** Segments. */
  readonly initialCongestionWindow?: number;
  /** Segments. */
  readonly initialReceiveWindow?: number;
  /** Segments that may arrive in another order before one counts as lost. */
  readonly reordering?: number;
  /** 0–255. */
  readonly hopLimit?: number;
  /** In ms. */
  readonly minimumRto?: number;
  /** Acknowledges at once. */
  readonly quickAck?: boolean;
  /** TCP Fast Open without a cookie. Linux 4.15. */
  readonly fastOpenNoCookie?: boolean;
  /** Bits of `RTAX_FEATURE_`: 1 is ECN. */
  readonly features?: number;
  /** Algorithm: `dctcp`. */
  readonly congestionControl?: string;
  /** Metrics that TCP does not change. */
  readonly locked?: readonly (keyof Omit<RouteMetrics, 'locked' | 'congestionControl'> | UnnamedFlag)[];
}

/** The metrics of a route as the kernel lists them. */
export interface ListedMetrics extends RouteMetrics {
  /** Metrics of a newer kernel that have no field here. The route cannot be written with them. */
  readonly attributes?: readonly ListedAttribute[];
}

/** The next hop to a destination. */
export interface RouteHop {
  /** Address of the gateway: of the other family also (`RTA_VIA`, Linux 5.2). */
  readonly gateway?: string;
  /** Name or index of the link. A listing has the name. */
  readonly link?: LinkReference;
  /** Index of the link, instead of `link`. A listing has it where it does not know the name. */
  readonly linkIndex?: number;
  /**
   * Of IPv4: the realm of destinations, plus 65536 times that of sources. A kernel without `CONFIG_IP_ROUTE_CLASSID` ignores them.
   */
  readonly realms?: number;
  /** Of those that are written, `onlink` and `pervasive`. */
  readonly flags?: readonly RouteFlag[];
}

/** One of several nexthops, which share the traffic. */
export interface NextHop extends RouteHop {
  /** 1–256; default 1. */
  readonly weight?: number;
}

/** One of several nexthops, as the kernel lists it. */
export interface ListedNextHop extends NextHop {
  /** Name of the link. */
  readonly link?: string;
  /** Share of the traffic: 1–256. */
  readonly weight: number;
  /** Flags that are set. */
  readonly flags: readonly RouteFlag[];
  /** Attributes that have no field here: of an encapsulation. The route cannot be written with them. */
  readonly attributes?: readonly ListedAttribute[];
}

/** A route that is written. */
export interface NewRoute extends RouteHop {
  /** `10.0.0.0/24`, an address, or `default`. */
  readonly destination: string;
  /** Of `default`; otherwise the family of the destination. Default: that of the gateway, else 4. */
  readonly family?: Family;
  /** Default `unicast`. */
  readonly type?: RouteType;
  /** Default `main`; `local` for the types local, broadcast and anycast. */
  readonly table?: RouteTable;
  /** Default `boot`. */
  readonly protocol?: RouteProtocol;
  /**
   * Of IPv4. Default `host` for the type local; `link` for broadcast, multicast and anycast, and for unicast without a
   * gateway; otherwise `global`.
   */
  readonly scope?: RouteScope;
  /** The lower the more preferred. Default 0, of IPv6 1024. */
  readonly metric?: number;
  /** Prefix of sources, of IPv6 only. */
  readonly source?: string;
  /** 0–255. */
  readonly tos?: number;
  /** Address that packets get as source. */
  readonly preferredSource?: string;
  /** Several ways, instead of gateway and link. */
  readonly nextHops?: readonly NextHop[];
  /** Number of a nexthop object (ip-nexthop(8)), instead of gateway and link. Linux 5.3. */
  readonly nextHopId?: number;
  /** The route is deleted after this time, in s. Of IPv6 only. */
  readonly expires?: number;
  /** Of IPv6 only; default `medium`. */
  readonly preference?: RouterPreference;
  /** Default: those of the link and of TCP. */
  readonly metrics?: RouteMetrics;
}

/**
 * `never` for a route whose type has two kinds of ways, as `nextHops` beside a gateway: the compiler refuses it. The verbs refuse a route
 * that has two only when the program runs.
 */
export type OneWay<Given> = Given extends
  | (({ readonly nextHops: readonly NextHop[] } | { readonly nextHopId: number }) &
      ({ readonly gateway: string } | { readonly link: LinkReference } | { readonly linkIndex: number }))
  | { readonly nextHops: readonly NextHop[]; readonly nextHopId: number }
  | { readonly link: LinkReference; readonly linkIndex: number }
  ? never
  : unknown;

/** The same of an operation on a route. */
export type WithOneWay<Operation> = Operation extends { readonly route: infer Given }
  ? { readonly route: OneWay<Given> }
  : unknown;

/** A route as the kernel lists it. It is also the name of the route. */
export interface Route extends NewRoute {
  /** Name of the link. */
  readonly link?: string;
  /** Always with its length: `0.0.0.0/0`, `10.0.0.1/32`. */
  readonly destination: string;
  /** Family of the destination. */
  readonly family: Family;
  readonly type: RouteType;
  readonly table: RouteTable;
  readonly protocol: RouteProtocol;
  /** Of IPv6 always `global`. */
  readonly scope: RouteScope;
  /** Flags of the only way; without meaning for several. */
  readonly flags: readonly RouteFlag[];
  readonly nextHops?: readonly ListedNextHop[];
  readonly metrics?: ListedMetrics;
  /**
   * The nexthops of the nexthop object `nextHopId`, which the kernel lists if `net.ipv4.nexthop_compat_mode` is 1. It is not written.
   */
  readonly resolved?: readonly ListedNextHop[];
  /** Attributes that have no field here. The route cannot be written with them. */
  readonly attributes?: readonly ListedAttribute[];
}

/** Which routes are listed; default: all of both families. */
export interface RouteFilter {
  /** Default: both. */
  readonly family?: Family;
  /** Default: every table. */
  readonly table?: RouteTable;
  /** Default: every origin. */
  readonly protocol?: RouteProtocol;
  /** Default: every type. */
  readonly type?: RouteType;
  /** Name or index of the link; ENODEV when there is none. */
  readonly link?: LinkReference;
}

/** The packet for which the route is asked for. */
export interface RouteQuery {
  /** Source address. */
  readonly from?: string;
  /** Name or index of the link by which the packet came: the route is that of a forwarded packet. Needs `from`. */
  readonly inputLink?: LinkReference;
  /** Name or index of the link to which the socket is bound. */
  readonly outputLink?: LinkReference;
  /** 0–255. */
  readonly tos?: number;
  /** Mark of the packet. */
  readonly mark?: number;
  /** User whose packet it is. */
  readonly uid?: number;
  /** Number of the IP protocol: 1, 6, 17, 58. */
  readonly ipProtocol?: number;
  /** With `ipProtocol`. */
  readonly sourcePort?: number;
  /** With `ipProtocol`. */
  readonly destinationPort?: number;
  /** Asks for the route as the table has it, and not as it is for this packet. Linux 4.14. */
  readonly fibMatch?: boolean;
}
