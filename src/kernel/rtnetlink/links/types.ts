// Links, as JavaScript values. Source of every rule: include/uapi/linux/if_link.h, if.h, if_bridge.h, ip-link(8).

import type { ListedAttribute } from '../../shared/types.js';
import type { UnnamedFlag } from '../routes/types.js';

/** The name of a link, one of its alternative names (at most 127 bytes, Linux 5.5), or its index. */
export type LinkReference = string | number;

/** A flag of a link (`IFF_`, include/uapi/linux/if.h). */
export type LinkFlag =
  | 'up'
  | 'broadcast'
  | 'debug'
  | 'loopback'
  | 'pointopoint'
  | 'notrailers'
  | 'running'
  | 'noarp'
  | 'promisc'
  | 'allmulti'
  | 'master'
  | 'slave'
  | 'multicast'
  | 'portsel'
  | 'automedia'
  | 'dynamic'
  | 'lower_up'
  | 'dormant'
  | 'echo'
  | UnnamedFlag;

/** Operational state (RFC 2863, `IF_OPER_`), or the number of one without a name here. A dummy that is up is `unknown`. */
export type OperationalState =
  | 'unknown'
  | 'notpresent'
  | 'down'
  | 'lowerlayerdown'
  | 'testing'
  | 'dormant'
  | 'up'
  | number;

/** How IPv6 makes the link-local address (`IN6_ADDR_GEN_MODE_`): one of those with a name, or a number from 0 to 255. */
export type AddressGeneration = 'eui64' | 'none' | 'stable_secret' | 'random' | number;

/** A protocol of VLANs: one of those with a name, or an EtherType from 0 to 65535. */
export type VlanProtocol = '802.1Q' | '802.1ad' | number;

/** Fields that every link has, which are set when it is created or later. */
export interface LinkAttributes {
  /** Bytes. */
  readonly mtu?: number;
  /** Packets. Default of the kind; 1000 for most. */
  readonly txQueueLength?: number;
  /** Hardware address: `02:00:00:00:00:01`. Default random. */
  readonly address?: string;
  /** Hardware address for broadcasts. */
  readonly broadcast?: string;
  /** A text for people, at most 255 bytes. A blank one removes it. */
  readonly alias?: string;
  /** Number of a group of links; default 0. */
  readonly group?: number;
  /** Whether a driver that can ends the carrier (`IFLA_CARRIER`); a dummy can. */
  readonly carrier?: boolean;
  /** Default `eui64`. */
  readonly addressGeneration?: AddressGeneration;
  /** Keeps the link down by protocol. EOPNOTSUPP by most drivers. */
  readonly protoDown?: boolean;
  /** Largest packet that is segmented by the device, in bytes. */
  readonly gsoMaxSize?: number;
  /** Most segments of such a packet. */
  readonly gsoMaxSegments?: number;
  /** Largest packet that is put together on receipt, in bytes. Linux 5.19. */
  readonly groMaxSize?: number;
}

/** Fields of a link that are flags. */
export interface LinkSwitches {
  /** Default false. ENOTCONN for the peer of a veth that is created: set it up when both ends exist. */
  readonly up?: boolean;
  /** Default by the kind. */
  readonly arp?: boolean;
  readonly multicast?: boolean;
  readonly allMulticast?: boolean;
  readonly promiscuous?: boolean;
  /** The address is lost when the link goes down. */
  readonly dynamic?: boolean;
  readonly trailers?: boolean;
}

/** The link is a member of another. */
export interface LinkMaster {
  /** Name of the bridge that it is a port of; null when a change is to remove it from there. */
  readonly master?: string | null;
}

/** Where a link is created, or moved to. */
export interface LinkPlace {
  /**
   * A network namespace: a path (`/run/netns/blue`), or the id of a process that is in it. A link that is moved is down, and
   * without addresses.
   */
  readonly netns?: string | number;
}

/** Fields of a bridge. Times are in s. */
export interface BridgeSettings {
  /** 2–30 s with STP. Default 15. */
  readonly forwardDelay?: number;
  /** Default 2. */
  readonly helloTime?: number;
  /** Default 20. */
  readonly maxAge?: number;
  /** Default 300. */
  readonly ageingTime?: number;
  /** Spanning Tree Protocol. Default false. */
  readonly stp?: boolean;
  /** 0–65535; default 32768. */
  readonly priority?: number;
  /** Default false. */
  readonly vlanFiltering?: boolean;
  /** Default `802.1Q`. */
  readonly vlanProtocol?: VlanProtocol;
  /** 0 means none. Default 1. */
  readonly vlanDefaultPvid?: number;
  readonly vlanStatistics?: boolean;
  /** Only while the bridge has no ports with VLANs. */
  readonly vlanStatisticsPerPort?: boolean;
  /** Bits of link-local groups that are forwarded; bits 0–2 must be 0. */
  readonly groupForwardMask?: number;
  /** `01:80:c2:00:00:0X`. */
  readonly groupAddress?: string;
  /** Learns no addresses from link-local frames. Linux 4.20. */
  readonly noLinkLocalLearning?: boolean;
  /** Default true. */
  readonly multicastSnooping?: boolean;
  /** Linux 5.15; needs `vlanFiltering`. */
  readonly multicastVlanSnooping?: boolean;
  /** 0 never, 1 automatic, 2 always. Default 1. */
  readonly multicastRouter?: number;
  readonly multicastQueryUseAddress?: boolean;
  readonly multicastQuerier?: boolean;
  /** Has no effect since Linux 5.1, which always lists 16. */
  readonly multicastHashElasticity?: number;
  /** A power of 2. Default 4096. */
  readonly multicastHashMax?: number;
  readonly multicastLastMemberCount?: number;
  readonly multicastStartupQueryCount?: number;
  readonly multicastLastMemberInterval?: number;
  readonly multicastMembershipInterval?: number;
  readonly multicastQuerierInterval?: number;
  readonly multicastQueryInterval?: number;
  readonly multicastQueryResponseInterval?: number;
  readonly multicastStartupQueryInterval?: number;
  readonly multicastStatistics?: boolean;
  /** 2 or 3. */
  readonly multicastIgmpVersion?: number;
  /** 1 or 2. */
  readonly multicastMldVersion?: number;
  readonly callIptables?: boolean;
  readonly callIp6tables?: boolean;
  readonly callArptables?: boolean;
}

/** Fields of a link as port of a bridge. Default of most: false. */
export interface BridgePortSettings {
  /** 0 disabled, 1 listening, 2 learning, 3 forwarding, 4 blocking. Only on a bridge without STP. */
  readonly state?: number;
  /** 0–63; default 32. */
  readonly priority?: number;
  readonly cost?: number;
  readonly guard?: boolean;
  readonly hairpin?: boolean;
  readonly fastLeave?: boolean;
  readonly rootBlock?: boolean;
  /** Default true. */
  readonly learning?: boolean;
  /** Default true. */
  readonly flood?: boolean;
  readonly proxyArp?: boolean;
  readonly proxyArpWifi?: boolean;
  /** 0 never, 1 automatic, 2 always. */
  readonly multicastRouter?: number;
  /** Default true. */
  readonly multicastFlood?: boolean;
  /** Default true. */
  readonly broadcastFlood?: boolean;
  readonly multicastToUnicast?: boolean;
  readonly groupForwardMask?: number;
  readonly neighbourSuppression?: boolean;
  readonly vlanTunnel?: boolean;
  readonly isolated?: boolean;
  /** Linux 5.18. */
  readonly locked?: boolean;
  /** Name of the port that takes the traffic while this one has no carrier; null removes it. */
  readonly backupPort?: string | null;
}

/** Changes of priorities at the borders of a VLAN, as pairs: `[[0, 3]]`. */
export type QosMap = readonly (readonly [from: number, to: number])[];

/** Fields of a VLAN. */
export interface VlanSettings {
  /** 0–4095. Required when the link is created, and not changed later. */
  readonly id?: number;
  /** Default `802.1Q`. Not changed later. */
  readonly protocol?: VlanProtocol;
  /** Default true. */
  readonly reorderHeader?: boolean;
  readonly gvrp?: boolean;
  readonly mvrp?: boolean;
  readonly looseBinding?: boolean;
  readonly bridgeBinding?: boolean;
  /** From the priority in the frame to that of the packet. Entries are added to those of before. */
  readonly ingressQosMap?: QosMap;
  /** From the priority of the packet to that in the frame. */
  readonly egressQosMap?: QosMap;
}

/** A bridge as the kernel lists it. */
export interface ListedBridge extends BridgeSettings {
  /** Settings of a newer kernel that have no field here. A change leaves them as they are. */
  readonly attributes?: readonly ListedAttribute[];
}

/** A port of a bridge as the kernel lists it. */
export interface ListedBridgePort extends BridgePortSettings {
  /** Settings of a newer kernel that have no field here. A change leaves them as they are. */
  readonly attributes?: readonly ListedAttribute[];
}

/** A VLAN as the kernel lists it. */
export interface ListedVlan extends VlanSettings {
  /** Settings of a newer kernel that have no field here. A change leaves them as they are. */
  readonly attributes?: readonly ListedAttribute[];
}

/** The other end of a veth. */
export interface VethPeer extends LinkAttributes, LinkSwitches, LinkPlace {
  /** Default: the kernel selects a name. */
  readonly name?: string;
}

/** Settings that some kinds of links have. */
export interface LinkKindSettings {
  /** Of the kind `bridge`. */
  readonly bridge?: BridgeSettings;
  /** Of the kind `vlan`. */
  readonly vlan?: VlanSettings;
}

/** Settings that a link of every kind has when it is created. The kernel has a default for each that is absent. */
export interface NewLinkCommon extends LinkAttributes, LinkSwitches, LinkMaster, LinkPlace {
  /** Index of the new link. EEXIST when it is taken. */
  readonly index?: number;
  /** 1–4096. */
  readonly txQueues?: number;
  /** 1–4096. */
  readonly rxQueues?: number;
  /** Name of the link below: of a VLAN, the link with the tagged frames. */
  readonly link?: string;
}

/** Settings of a link of a kind that is not known when the program is compiled. Those of other kinds are refused. */
export interface NewLinkSettings extends NewLinkCommon, LinkKindSettings {
  /** Of the kind `veth`. */
  readonly peer?: VethPeer;
}

/** Settings of a new bridge. */
export interface NewBridge extends NewLinkCommon {
  readonly bridge?: BridgeSettings;
  readonly vlan?: never;
  readonly peer?: never;
}

/** Settings of a new VLAN. */
export interface NewVlan extends NewLinkCommon {
  readonly link: string;
  readonly vlan: VlanSettings & { readonly id: number };
  readonly bridge?: never;
  readonly peer?: never;
}

/** Settings of a new veth. */
export interface NewVeth extends NewLinkCommon {
  readonly peer?: VethPeer;
  readonly bridge?: never;
  readonly vlan?: never;
}

/** Settings of a new link of a kind that has none of its own here. */
export interface NewPlainLink extends NewLinkCommon {
  readonly bridge?: never;
  readonly vlan?: never;
  readonly peer?: never;
}

/** The kinds of links above another link, which have no settings of their own here. */
export type UpperKind = 'macvlan' | 'macvtap' | 'ipvlan' | 'ipvtap';

/** Settings of a new link above another one. */
export interface NewUpperLink extends NewPlainLink {
  readonly link: string;
}

/** A new link. Its kind decides which settings it has and needs; a kind without a name here may have the common ones. */
export type NewLink =
  | { readonly kind: 'bridge'; readonly settings?: NewBridge }
  | { readonly kind: 'vlan'; readonly settings: NewVlan }
  | { readonly kind: 'veth'; readonly settings?: NewVeth }
  | { readonly kind: UpperKind; readonly settings: NewUpperLink }
  | { readonly kind: string & {}; readonly settings?: NewPlainLink };

/** A kind that has none of the signatures of `addLink` for itself: a text, or a literal of another kind. */
export type OtherKind<Kind extends string> = Kind extends 'bridge' | 'vlan' | 'veth' | UpperKind
  ? never
  : Kind;

/** What an operation must have beside its type: that of links allows any text as kind, also a kind that needs settings, without them. */
export type WithNeededSettings<Operation> = Operation extends {
  readonly do: 'addLink';
  readonly kind: 'vlan' | UpperKind;
}
  ? { readonly settings: NewVlan | NewUpperLink }
  : unknown;

/** Settings of a new link of another kind: all, if the kind is any text. */
export type OtherSettings<Kind extends string> = string extends Kind ? NewLinkSettings : NewPlainLink;

/** Changes of a link. Absent settings stay. */
export interface LinkSettings extends LinkAttributes, LinkSwitches, LinkMaster, LinkPlace, LinkKindSettings {
  /** New name. EEXIST when it is taken. Kernels before 6.2 answer EBUSY for a link that is up. */
  readonly name?: string;
  /** Of a link that is port of a bridge. */
  readonly bridgePort?: BridgePortSettings;
}

/**
 * A network device. It is not a description from which a link could be made again: it leaves out what the library has no field
 * for, but for the settings of bridges, their ports and VLANs, which show it as `attributes`.
 */
export interface Link extends LinkAttributes, LinkKindSettings {
  readonly bridge?: ListedBridge;
  readonly vlan?: ListedVlan;
  readonly index: number;
  /** At most 15 bytes (`IFNAMSIZ` less the terminator). */
  readonly name: string;
  /** Further names. Linux 5.5. */
  readonly alternativeNames?: readonly string[];
  /** Kind of a virtual device (`dummy`, `veth`), empty for others (`IFLA_INFO_KIND`). */
  readonly kind: string;
  readonly flags: readonly LinkFlag[];
  /** Bytes. */
  readonly mtu: number;
  /** Set up by an administrator (`IFF_UP`), whether or not it has a carrier. */
  readonly up: boolean;
  readonly state: OperationalState;
  /** Name of the link that it is a port of. */
  readonly master?: string;
  /** Name of the link below, or of the other end of a veth, if that is in the same network namespace. */
  readonly link?: string;
  /** Index of that link in its own network namespace. */
  readonly linkIndex?: number;
  /** Id of the network namespace of that link (`IFLA_LINK_NETNSID`), if it is another one. */
  readonly linkNetnsId?: number;
  /** Queueing discipline: `noqueue`. */
  readonly queueingDiscipline?: string;
  readonly txQueues?: number;
  readonly rxQueues?: number;
  /** Number of users that want all packets. */
  readonly promiscuity?: number;
  /** Bytes. */
  readonly minMtu?: number;
  /** Bytes; 0 means no limit. */
  readonly maxMtu?: number;
  /** Of a port of a bridge. */
  readonly bridgePort?: ListedBridgePort;
}
