// Links, addresses, routes, rules and neighbours, as JavaScript values. Source of every rule: rtnetlink(7),
// include/uapi/linux/rtnetlink.h, if_link.h, if_addr.h, fib_rules.h, neighbour.h.
import type { Family } from '../net/address.js';
import type {
  CallOptions,
  EventStream,
  KernelClient,
  Listing,
  OperationResult,
  Sent,
  WatchOptions,
} from '../shared/types.js';
import type { LinkAddress, LinkAddressId, NewLinkAddress } from './addresses/types.js';
import type { BridgeVlan, BridgeVlanId, NewBridgeVlan } from './bridgeVlans/types.js';
import type { ForwardingEntry, ForwardingEntryId, NewForwardingEntry } from './forwarding/types.js';
import type {
  NewLink,
  NewLinkOf,
  NewLinkThatNeeds,
  OtherKind,
  OtherSettings,
  WithNeededSettings,
} from './links/newTypes.js';
import type { Link, LinkReference, LinkSettings, LinkStatistics } from './links/types.js';
import type { NetworkNamespace, NewNamespaceId } from './namespaces/types.js';
import type { Neighbour, NeighbourFilter, NeighbourId, NewNeighbour } from './neighbours/types.js';
import type { NewNextHopObject, NextHopFilter, NextHopObject, NextHopObjectId } from './nexthops/types.js';
import type { NewRoute, OneWay, Route, RouteFilter, RouteQuery, WithOneWay } from './routes/types.js';
import type { NewRule, Rule, RuleName, WithFields } from './rules/types.js';

export type { ListedAttribute, Sent } from '../shared/types.js';
export type * from './addresses/types.js';
export type * from './bridgeVlans/types.js';
export type * from './forwarding/types.js';
export type * from './links/newTypes.js';
export type * from './links/types.js';
export type * from './namespaces/types.js';
export type * from './neighbours/types.js';
export type * from './nexthops/types.js';
export type * from './routes/types.js';
export type * from './rules/types.js';

/** The kinds of objects that a watch reports. */
export type RtnetlinkEventKind = 'link' | 'address' | 'route' | 'rule' | 'neighbour' | 'forwardingEntry';

/**
 * A change, as the kernel notified of it (`RTM_NEWLINK`, `RTM_DELADDR` and their like). A change that is not a deletion has the
 * new state. The kernel may repeat an event, and deletes some objects without one: the IPv4 routes of a link that goes down.
 */
export type RtnetlinkEvent = Sent &
  (
    | { readonly kind: 'link'; readonly deleted: boolean; readonly link: Link }
    | { readonly kind: 'address'; readonly deleted: boolean; readonly address: LinkAddress }
    | { readonly kind: 'route'; readonly deleted: boolean; readonly route: Route }
    | { readonly kind: 'rule'; readonly deleted: boolean; readonly rule: Rule }
    | { readonly kind: 'neighbour'; readonly deleted: boolean; readonly neighbour: Neighbour }
    | { readonly kind: 'forwardingEntry'; readonly deleted: boolean; readonly entry: ForwardingEntry }
  );

/** How changes are watched. */
export interface RtnetlinkWatchOptions extends WatchOptions {
  /** The objects whose changes are reported. Default: all. */
  readonly kinds?: readonly RtnetlinkEventKind[];
}

/** The features of the kernel. */
export interface RtnetlinkCapabilities {
  /**
   * Whether a link of each kind can be created: `dummy`, `veth`, `bridge`, `vlan`. Without CAP_NET_ADMIN, undefined. The
   * modules of kinds that are there are loaded.
   */
  readonly linkKinds: Readonly<Record<'dummy' | 'veth' | 'bridge' | 'vlan', boolean | undefined>>;
  /** IPv6 is built in, or its module is loaded. */
  readonly ipv6: boolean;
  /** Rules of policy routing (`CONFIG_IP_MULTIPLE_TABLES`). */
  readonly rules: boolean;
}

/** One change. A batch keeps the order in which it is given; names of links are looked up at their place in it. */
export type RtnetlinkOperation =
  /** Creates a link. EEXIST when the name is taken, EOPNOTSUPP when the kernel does not know the kind. */
  | (NewLink & { readonly do: 'addLink'; readonly name: string })
  /** Changes a link. ENODEV when there is none. */
  | { readonly do: 'setLink'; readonly link: LinkReference; readonly settings: LinkSettings }
  /** ENODEV when there is none. */
  | { readonly do: 'deleteLink'; readonly link: LinkReference; readonly name?: never }
  /** @deprecated The field is `link`, as that of `setLink`. Version 1.0.0 will not have `name`. */
  | { readonly do: 'deleteLink'; readonly name: LinkReference; readonly link?: never }
  /**
   * Gives a link a further name, of 1 to 127 bytes, by which it is found as by its own. EEXIST when a link has it as name or alternative
   * name. Linux 5.5.
   */
  | { readonly do: 'addAlternativeName'; readonly link: LinkReference; readonly name: string }
  /** ENOENT when no link has it; EINVAL when another link has it, or it is the name of the link. */
  | { readonly do: 'deleteAlternativeName'; readonly link: LinkReference; readonly name: string }
  /** EEXIST when it is there; ENODEV without the link. */
  | { readonly do: 'addAddress'; readonly address: NewLinkAddress }
  /** Changes lifetimes, metric and flags of an address, or adds it. */
  | { readonly do: 'replaceAddress'; readonly address: NewLinkAddress }
  /** EADDRNOTAVAIL when it is not there. */
  | { readonly do: 'deleteAddress'; readonly address: LinkAddressId }
  /** EEXIST when there is one with this destination, table, metric and TOS; ENETUNREACH without a way to the gateway. */
  | { readonly do: 'addRoute'; readonly route: NewRoute }
  /** ENOENT when there is none with this destination, table, metric and TOS. */
  | { readonly do: 'changeRoute'; readonly route: NewRoute }
  | { readonly do: 'replaceRoute'; readonly route: NewRoute }
  /** Adds a route after those with the same destination, table and metric. In IPv6, makes one route with several nexthops. */
  | { readonly do: 'appendRoute'; readonly route: NewRoute }
  /** ESRCH when there is none with all these fields. */
  | { readonly do: 'deleteRoute'; readonly route: NewRoute }
  /** EEXIST when there is one with all these fields. */
  | { readonly do: 'addRule'; readonly rule: NewRule }
  /** Deletes the first rule with all these fields; ENOENT when there is none. See {@link Rtnetlink.deleteRule}. */
  | { readonly do: 'deleteRule'; readonly rule: RuleName }
  /** EEXIST when it is there. */
  | { readonly do: 'addNeighbour'; readonly neighbour: NewNeighbour }
  /** ENOENT when it is not there. */
  | { readonly do: 'changeNeighbour'; readonly neighbour: NewNeighbour }
  | { readonly do: 'replaceNeighbour'; readonly neighbour: NewNeighbour }
  /** ENOENT when it is not there. */
  | { readonly do: 'deleteNeighbour'; readonly neighbour: NeighbourId }
  /** EEXIST when there is one with this id; ENETDOWN when the link is down, EHOSTUNREACH without a way to the gateway. Linux 5.3. */
  | { readonly do: 'addNextHop'; readonly nextHop: NewNextHopObject }
  /** Changes the object with this id, and the routes by it, or adds it. */
  | { readonly do: 'replaceNextHop'; readonly nextHop: NewNextHopObject }
  /** Deletes the routes by it too. ENOENT when there is none. */
  | { readonly do: 'deleteNextHop'; readonly nextHop: NextHopObjectId }
  /** Adds VLANs to a port or a bridge, or changes them. EOPNOTSUPP for a link that is neither. */
  | { readonly do: 'addBridgeVlan'; readonly bridgeVlan: NewBridgeVlan }
  /** Succeeds also when there is none, as the kernel has it. */
  | { readonly do: 'deleteBridgeVlan'; readonly bridgeVlan: BridgeVlanId }
  /**
   * Adds an entry to a forwarding database. EEXIST when it is there; EOPNOTSUPP for a link that is no port, with `master`; EINVAL for a
   * state that the link does not have; EPERM for `dynamic` while the port does not learn, as that of a bridge that is down.
   */
  | { readonly do: 'addForwardingEntry'; readonly entry: NewForwardingEntry }
  /** VXLAN: adds another end to an entry for a multicast address or `00:00:00:00:00:00`, or an entry. Other entries stay as they are. */
  | { readonly do: 'appendForwardingEntry'; readonly entry: NewForwardingEntry }
  /** Changes an entry, or adds it. EOPNOTSUPP for an entry of a VXLAN that may have several ends. */
  | { readonly do: 'replaceForwardingEntry'; readonly entry: NewForwardingEntry }
  /** Of a VXLAN with `destination`, only that end. ENOENT when there is none. */
  | { readonly do: 'deleteForwardingEntry'; readonly entry: ForwardingEntryId }
  /**
   * Gives another network namespace an id in this one. EEXIST when it has one, or the id is another's; ENOENT without the file, EINVAL when
   * it is no network namespace, ESRCH without the process. An id stays until that namespace ends: the kernel has no request that deletes it.
   */
  | { readonly do: 'setNamespaceId'; readonly namespaceId: NewNamespaceId };

/**
 * Links, addresses, routes, rules and neighbours of one network namespace. Calls reach the kernel one after another, in the
 * order in which they are made.
 *
 * Changes need CAP_NET_ADMIN. Every call may reject with a NetlinkError (`EPERM`, `ERR_CLOSED`, `ERR_TIMEOUT`,
 * `ERR_MALFORMED_REPLY`; listings with `ERR_INTERRUPTED` when they changed ten times in a row while they were read), and
 * all but apply() with a TypeError or RangeError that names the argument and the rule it breaks. The errors of each change
 * are those of its {@link RtnetlinkOperation}. Listings throw the errors of their arguments at once.
 */
export interface Rtnetlink extends KernelClient<RtnetlinkOperation> {
  /** Every link. */
  listLinks(options?: CallOptions): Promise<Link[]>;
  /** The link of that name or index, or undefined. */
  getLink(link: LinkReference, options?: CallOptions): Promise<Link | undefined>;
  /** The counters of every link. */
  listLinkStatistics(options?: CallOptions): Promise<LinkStatistics[]>;
  /** The counters of the link of that name or index, or undefined. */
  getLinkStatistics(link: LinkReference, options?: CallOptions): Promise<LinkStatistics | undefined>;
  /** Creates a link. It is down unless the settings say otherwise. */
  addLink<Kind extends keyof NewLinkOf>(
    name: string,
    kind: Kind,
    settings?: NewLinkOf[Kind],
    options?: CallOptions,
  ): Promise<void>;
  /** The same for a kind that needs settings. */
  addLink<Kind extends keyof NewLinkThatNeeds>(
    name: string,
    kind: Kind,
    settings: NewLinkThatNeeds[Kind],
    options?: CallOptions,
  ): Promise<void>;
  /** The same for a link of another kind. */
  addLink<Kind extends string>(
    name: string,
    kind: OtherKind<Kind>,
    settings?: OtherSettings<Kind>,
    options?: CallOptions,
  ): Promise<void>;
  /** Changes a link: up, down, name, master, network namespace and others. */
  setLink(link: LinkReference, settings: LinkSettings, options?: CallOptions): Promise<void>;
  /** ENODEV when there is none, EOPNOTSUPP for links that cannot be deleted (`lo`). */
  deleteLink(link: LinkReference, options?: CallOptions): Promise<void>;
  /** A link has its alternative names in `alternativeNames`, and every verb that names a link takes them. */
  addAlternativeName(link: LinkReference, name: string, options?: CallOptions): Promise<void>;
  /** Takes an alternative name from a link. */
  deleteAlternativeName(link: LinkReference, name: string, options?: CallOptions): Promise<void>;

  /** Addresses of every link, or of one (ENODEV when there is none of that name or index), both families. */
  listAddresses(link?: LinkReference, options?: CallOptions): Promise<LinkAddress[]>;
  /** Adds an address to a link. */
  addAddress(address: NewLinkAddress, options?: CallOptions): Promise<void>;
  /** Changes an address, or adds it. */
  replaceAddress(address: NewLinkAddress, options?: CallOptions): Promise<void>;
  /** Removes an address from a link. */
  deleteAddress(address: LinkAddressId, options?: CallOptions): Promise<void>;

  /** Routes. A table that does not exist has none. */
  listRoutes(filter?: RouteFilter, options?: CallOptions): Listing<Route>;
  /**
   * The route of a packet to an address. ENETUNREACH without a route; EHOSTUNREACH, EACCES and EINVAL for routes of the
   * types unreachable, prohibit and blackhole.
   */
  getRoute(address: string, query?: RouteQuery, options?: CallOptions): Promise<Route>;
  /** Adds a route. */
  addRoute<const Given extends NewRoute>(route: Given & OneWay<Given>, options?: CallOptions): Promise<void>;
  /** Changes a route. */
  changeRoute<const Given extends NewRoute>(
    route: Given & OneWay<Given>,
    options?: CallOptions,
  ): Promise<void>;
  /** Changes a route, or adds it. */
  replaceRoute<const Given extends NewRoute>(
    route: Given & OneWay<Given>,
    options?: CallOptions,
  ): Promise<void>;
  /** Adds a route behind those of the same name, or a way to one of IPv6. */
  appendRoute<const Given extends NewRoute>(
    route: Given & OneWay<Given>,
    options?: CallOptions,
  ): Promise<void>;
  /** Deletes the first route that has all these fields. */
  deleteRoute(route: NewRoute, options?: CallOptions): Promise<void>;

  /** Rules of both families, or of one, in the order in which they apply. */
  listRules(family?: Family, options?: CallOptions): Promise<Rule[]>;
  /** Adds a rule of policy routing. */
  addRule(rule: NewRule, options?: CallOptions): Promise<void>;
  /**
   * Deletes the first rule of the family that has all these fields, in the order of priorities. Rejects with a TypeError without
   * a field that few rules have: a priority, a prefix longer than 0, a link, a TOS or a mark that is not 0, a protocol of IP,
   * ports, users, a table, `l3mdev`, `goto` or a suppression. `action`, `protocol`, `invert` and `family` do not suffice: the
   * rule for the table `local` has them too.
   */
  deleteRule<const Given extends RuleName>(
    rule: Given & WithFields<Given>,
    options?: CallOptions,
  ): Promise<void>;

  /** Neighbours, or with `proxy` the addresses for which this host answers. */
  listNeighbours(filter?: NeighbourFilter, options?: CallOptions): Listing<Neighbour>;
  /** The neighbour of that link and address, or undefined. Linux 5.0. */
  getNeighbour(neighbour: NeighbourId, options?: CallOptions): Promise<Neighbour | undefined>;
  /** Adds a neighbour. */
  addNeighbour(neighbour: NewNeighbour, options?: CallOptions): Promise<void>;
  /** Changes a neighbour. */
  changeNeighbour(neighbour: NewNeighbour, options?: CallOptions): Promise<void>;
  /** Changes a neighbour, or adds it. */
  replaceNeighbour(neighbour: NewNeighbour, options?: CallOptions): Promise<void>;
  /** Deletes a neighbour. */
  deleteNeighbour(neighbour: NeighbourId, options?: CallOptions): Promise<void>;

  /** Nexthop objects, by which routes go that have their id (`nextHopId`). Linux 5.3. */
  listNextHops(filter?: NextHopFilter, options?: CallOptions): Listing<NextHopObject>;
  /** The nexthop object with that id, or undefined. */
  getNextHop(id: number, options?: CallOptions): Promise<NextHopObject | undefined>;
  /** Adds a nexthop object. */
  addNextHop(nextHop: NewNextHopObject, options?: CallOptions): Promise<void>;
  /** Changes a nexthop object, or adds it. */
  replaceNextHop(nextHop: NewNextHopObject, options?: CallOptions): Promise<void>;
  /** Deletes a nexthop object, with the routes by it. */
  deleteNextHop(nextHop: NextHopObjectId, options?: CallOptions): Promise<void>;

  /** The VLANs of all bridges and their ports, or of one of them (ENODEV when there is none of that name or index). */
  listBridgeVlans(link?: LinkReference, options?: CallOptions): Promise<BridgeVlan[]>;
  /** Adds VLANs to a port or a bridge. */
  addBridgeVlan(bridgeVlan: NewBridgeVlan, options?: CallOptions): Promise<void>;
  /** Removes VLANs from a port or a bridge. */
  deleteBridgeVlan(bridgeVlan: BridgeVlanId, options?: CallOptions): Promise<void>;

  /** The entries of the forwarding databases of all links, or of one: also those of its bridge that are its. */
  listForwardingEntries(link?: LinkReference, options?: CallOptions): Listing<ForwardingEntry>;
  /** Adds an entry to a forwarding database. */
  addForwardingEntry(entry: NewForwardingEntry, options?: CallOptions): Promise<void>;
  /** Adds another end to an entry of a VXLAN. */
  appendForwardingEntry(entry: NewForwardingEntry, options?: CallOptions): Promise<void>;
  /** Changes an entry, or adds it. */
  replaceForwardingEntry(entry: NewForwardingEntry, options?: CallOptions): Promise<void>;
  /** Deletes an entry. */
  deleteForwardingEntry(entry: ForwardingEntryId, options?: CallOptions): Promise<void>;

  /** The ids of other network namespaces in this one, in ascending order: those of links whose other end is there have one by themselves. */
  listNamespaceIds(options?: CallOptions): Promise<number[]>;
  /** The id of a network namespace in this one, or undefined. ENOENT without the file, ESRCH without the process. */
  getNamespaceId(netns: NetworkNamespace, options?: CallOptions): Promise<number | undefined>;
  /** Gives another network namespace an id in this one. */
  setNamespaceId(namespaceId: NewNamespaceId, options?: CallOptions): Promise<void>;

  /**
   * Carries operations out in their order, and returns one result for each, in the same order: undefined, or the error. Those
   * after one that failed are done all the same. Results beside those of the single verbs: as in `Ipvs.apply`.
   */
  apply<const Operation extends RtnetlinkOperation>(
    operations: readonly (Operation & WithNeededSettings<Operation> & WithOneWay<Operation>)[],
    options?: CallOptions,
  ): Promise<OperationResult[]>;
  /**
   * Changes, by this process or another. A link that was renamed is reported as a loss: its addresses have the new name. Needs
   * no privilege in the process's own namespace.
   */
  watch(options?: RtnetlinkWatchOptions): EventStream<RtnetlinkEvent>;
  /** Port of the client's socket, which events of its own changes have as `sender`. Another client, also of this process, has another one. */
  port(options?: CallOptions): Promise<number>;
  /** The features of the kernel, found by trying. Changes nothing. */
  capabilities(options?: CallOptions): Promise<RtnetlinkCapabilities>;
}
