// Links, as JavaScript values. Source of every rule: include/uapi/linux/if_link.h, if.h, ip-link(8).
import type { UnnamedFlag } from '../routes/types.js';
import type { BondPortSettings, BondSettings, ListedBond, ListedBondPort } from './kinds/bondTypes.js';
import type {
  BridgePortSettings,
  BridgeSettings,
  ListedBridge,
  ListedBridgePort,
  ListedVlan,
  VlanSettings,
} from './kinds/bridgeTypes.js';
import type {
  GreSettings,
  Ip6GreSettings,
  Ip6TunnelSettings,
  IpipSettings,
  ListedTunnel,
  SitSettings,
} from './kinds/ipTunnelTypes.js';
import type {
  GeneveSettings,
  ListedGeneve,
  ListedTun,
  ListedVxlan,
  VxlanSettings,
} from './kinds/tunnelTypes.js';
import type {
  IpvlanSettings,
  ListedIpvlan,
  ListedMacvlan,
  ListedNetkit,
  ListedVrf,
  ListedVrfPort,
  MacvlanSettings,
  NetkitSettings,
  VrfSettings,
} from './kinds/upperTypes.js';

import type { LinkReference } from './reference.js';

export type * from './kinds/bondTypes.js';
export type * from './kinds/bridgeTypes.js';
export type * from './kinds/ipTunnelTypes.js';
export type * from './kinds/tunnelTypes.js';
export type * from './kinds/upperTypes.js';
export type { LinkReference } from './reference.js';
export type * from './statisticsTypes.js';

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
  /** Default false. ENOTCONN for the peer of a veth that is created, and refused for that of a netkit: set it up when both ends exist. */
  readonly up?: boolean;
  /** Default by the kind. */
  readonly arp?: boolean;
  /** Default by the kind. */
  readonly multicast?: boolean;
  /** Receives all multicasts. Default false. */
  readonly allMulticast?: boolean;
  /** Receives all packets. Default false. */
  readonly promiscuous?: boolean;
  /** The address is lost when the link goes down. */
  readonly dynamic?: boolean;
  /** Trailers of 4.2BSD; of no effect. */
  readonly trailers?: boolean;
}

/** The link is a member of another. */
export interface LinkMaster {
  /**
   * Name or index of the bridge, bond or VRF that it is a port of; null when a change is to remove it from there. A port of a bond must be
   * down before (EPERM), and is set up by the kernel.
   */
  readonly master?: LinkReference | null;
}

/** Where a link is created, or moved to. */
export interface LinkPlace {
  /**
   * A network namespace: a path (`/run/netns/blue`), or the id of a process that is in it. A link that is moved is down, and
   * without addresses.
   */
  readonly netns?: string | number;
}

/** The other end of a veth or a netkit. */
export interface VethPeer extends LinkAttributes, LinkSwitches, LinkPlace {
  /** Default: the kernel selects a name. */
  readonly name?: string;
}

/** Settings that some kinds of links have: those of the kind `bridge` are in `bridge`, for example. */
export interface LinkKindSettings {
  readonly bridge?: BridgeSettings;
  readonly vlan?: VlanSettings;
  readonly bond?: BondSettings;
  readonly vxlan?: VxlanSettings;
  readonly macvlan?: MacvlanSettings;
  readonly macvtap?: MacvlanSettings;
  readonly ipvlan?: IpvlanSettings;
  readonly ipvtap?: IpvlanSettings;
  readonly vrf?: VrfSettings;
  readonly geneve?: GeneveSettings;
  readonly gre?: GreSettings;
  readonly gretap?: GreSettings;
  readonly ip6gre?: Ip6GreSettings;
  readonly ip6gretap?: Ip6GreSettings;
  readonly ip6tnl?: Ip6TunnelSettings;
  readonly ipip?: IpipSettings;
  readonly sit?: SitSettings;
  readonly netkit?: NetkitSettings;
}

/** Settings that a link of every kind has when it is created. The kernel has a default for each that is absent. */
export interface NewLinkCommon extends LinkAttributes, LinkSwitches, LinkMaster, LinkPlace {
  /** Index of the new link. EEXIST when it is taken. */
  readonly index?: number;
  /** 1–4096. */
  readonly txQueues?: number;
  /** 1–4096. */
  readonly rxQueues?: number;
  /** Name or index of the link below: of a VLAN, the link with the tagged frames. That of a VXLAN or of a tunnel is among its settings. */
  readonly link?: LinkReference;
}

/** Settings of a link of a kind that is not known when the program is compiled. Those of other kinds are refused. */
export interface NewLinkSettings extends NewLinkCommon, LinkKindSettings {
  /** Of the kinds `veth` and `netkit`. */
  readonly peer?: VethPeer;
}

/** Changes of a link. Absent settings stay. */
export interface LinkSettings extends LinkAttributes, LinkSwitches, LinkMaster, LinkPlace, LinkKindSettings {
  /** New name. EEXIST when it is taken. Kernels before 6.2 answer EBUSY for a link that is up. */
  readonly name?: string;
  /** Of a link that is port of a bridge. The kernel takes it for settings of its own kind of ports if the master is another link. */
  readonly bridgePort?: BridgePortSettings;
  /** Of a link that is port of a bond; likewise. */
  readonly bondPort?: BondPortSettings;
}

/**
 * A network device. It is not a description from which a link could be made again: it leaves out what the library has no field
 * for, but for the settings of kinds and of ports, which show it as `attributes`.
 */
export interface Link extends LinkAttributes, LinkKindSettings {
  readonly bridge?: ListedBridge;
  readonly vlan?: ListedVlan;
  readonly bond?: ListedBond;
  readonly vxlan?: ListedVxlan;
  readonly macvlan?: ListedMacvlan;
  readonly macvtap?: ListedMacvlan;
  readonly ipvlan?: ListedIpvlan;
  readonly ipvtap?: ListedIpvlan;
  readonly vrf?: ListedVrf;
  readonly geneve?: ListedGeneve;
  readonly gre?: ListedTunnel<GreSettings>;
  readonly gretap?: ListedTunnel<GreSettings>;
  readonly ip6gre?: ListedTunnel<Ip6GreSettings>;
  readonly ip6gretap?: ListedTunnel<Ip6GreSettings>;
  readonly ip6tnl?: ListedTunnel<Ip6TunnelSettings>;
  readonly ipip?: ListedTunnel<IpipSettings>;
  readonly sit?: ListedTunnel<SitSettings>;
  readonly netkit?: ListedNetkit;
  /** Of the kind `tun`, which is not created and not changed here. */
  readonly tun?: ListedTun;
  /** 1–2147483647; a link keeps it until it is deleted or moved. */
  readonly index: number;
  /** At most 15 bytes (`IFNAMSIZ` less the terminator). */
  readonly name: string;
  /** Further names, which `addAlternativeName` adds. Linux 5.5. */
  readonly alternativeNames?: readonly string[];
  /** Kind of a virtual device (`dummy`, `veth`), empty for others (`IFLA_INFO_KIND`). */
  readonly kind: string;
  /** Flags that are set. */
  readonly flags: readonly LinkFlag[];
  /** Bytes. */
  readonly mtu: number;
  /** Set up by an administrator (`IFF_UP`), whether or not it has a carrier. */
  readonly up: boolean;
  /** Whether it carries packets. */
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
  /** Queues of packets that are sent. */
  readonly txQueues?: number;
  /** Queues of packets that are received. */
  readonly rxQueues?: number;
  /** Number of users that want all packets. */
  readonly promiscuity?: number;
  /** Bytes. */
  readonly minMtu?: number;
  /** Bytes; 0 means no limit. */
  readonly maxMtu?: number;
  /** Of a port of a bridge. */
  readonly bridgePort?: ListedBridgePort;
  /** Of a port of a bond. */
  readonly bondPort?: ListedBondPort;
  /** Of a port of a VRF. */
  readonly vrfPort?: ListedVrfPort;
}
