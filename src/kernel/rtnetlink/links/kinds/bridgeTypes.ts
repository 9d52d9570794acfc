// Bridges, their ports and VLANs, as JavaScript values. Source of every rule: include/uapi/linux/if_link.h, if_bridge.h, ip-link(8).
import type { ListedAttribute } from '../../../shared/types.js';
import type { LinkReference } from '../reference.js';

/** A protocol of VLANs: one of those with a name, or an EtherType from 0 to 65535. */
export type VlanProtocol = '802.1Q' | '802.1ad' | number;

/** Who runs STP (`BR_STP_MODE_`): `auto` means /sbin/bridge-stp, or the kernel without it. Or a number from 0 to 4294967295. */
export type StpMode = 'auto' | 'user' | 'kernel' | number;

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
  /** Default `auto`. Only while STP is off. Linux 7.3 has it. */
  readonly stpMode?: StpMode;
  /** 0–65535; default 32768. */
  readonly priority?: number;
  /** Default false. */
  readonly vlanFiltering?: boolean;
  /** Default `802.1Q`. */
  readonly vlanProtocol?: VlanProtocol;
  /** 0 means none. Default 1. */
  readonly vlanDefaultPvid?: number;
  /** Counts packets of each VLAN. Default false. */
  readonly vlanStatistics?: boolean;
  /** Only while the bridge has no ports with VLANs. */
  readonly vlanStatisticsPerPort?: boolean;
  /** Bits of link-local groups that are forwarded; bits 0–2 must be 0. */
  readonly groupForwardMask?: number;
  /** `01:80:c2:00:00:0X`. */
  readonly groupAddress?: string;
  /** Learns no addresses from link-local frames. Linux 4.20. */
  readonly noLinkLocalLearning?: boolean;
  /** Entries that are learned at most; default 0, which means no limit. Linux 6.8. */
  readonly maxLearned?: number;
  /** A spanning tree for each group of VLANs (MST). Default false. It changes only while the bridge and its ports have no VLANs. Linux 5.18. */
  readonly multipleSpanningTrees?: boolean;
  /**
   * Sends a notification (`RTM_NEWMDB`) when a switchdev driver fails to offload an entry of the multicast database (MDB) to the hardware
   * (`BR_BOOLOPT_MDB_OFFLOAD_FAIL_NOTIFICATION`). Default false. Linux 6.16.
   */
  readonly offloadFailureNotification?: boolean;
  /** Whether the addresses of the bridge and its ports have one entry for all VLANs. Linux 6.18. */
  readonly localEntriesInVlan0?: boolean;
  /** Default true. */
  readonly multicastSnooping?: boolean;
  /** Linux 5.15; needs `vlanFiltering`. */
  readonly multicastVlanSnooping?: boolean;
  /** 0 never, 1 automatic, 2 always. Default 1. */
  readonly multicastRouter?: number;
  /** Queries have an address of the bridge as source, and not 0.0.0.0. Default false. */
  readonly multicastQueryUseAddress?: boolean;
  /** Sends queries for members of groups. Default false. */
  readonly multicastQuerier?: boolean;
  /** Has no effect since Linux 5.1, which always lists 16. */
  readonly multicastHashElasticity?: number;
  /** A power of 2. Default 4096. */
  readonly multicastHashMax?: number;
  /** Queries after a member has left, until the group is deleted. Default 2. */
  readonly multicastLastMemberCount?: number;
  /** Queries after the start. Default 2. */
  readonly multicastStartupQueryCount?: number;
  /** Time between queries after a member has left. Default 1 s. */
  readonly multicastLastMemberInterval?: number;
  /** Time after which a member without reports is deleted. Default 260 s. */
  readonly multicastMembershipInterval?: number;
  /** Time without queries of another querier, after which the bridge queries. Default 255 s. */
  readonly multicastQuerierInterval?: number;
  /** Time between queries. Default 125 s. */
  readonly multicastQueryInterval?: number;
  /** Time within which members answer a query. Default 10 s. */
  readonly multicastQueryResponseInterval?: number;
  /** Time between queries after the start. Default 31.25 s. */
  readonly multicastStartupQueryInterval?: number;
  /** Counts packets of IGMP and MLD. Default false. */
  readonly multicastStatistics?: boolean;
  /** 2 or 3. */
  readonly multicastIgmpVersion?: number;
  /** 1 or 2. */
  readonly multicastMldVersion?: number;
  /** Forwarded packets of IPv4 pass iptables (`bridge-nf-call-iptables` for this bridge). Default false. */
  readonly callIptables?: boolean;
  /** The same of IPv6. */
  readonly callIp6tables?: boolean;
  /** The same of ARP. */
  readonly callArptables?: boolean;
}

/** Fields of a link as port of a bridge. Default of most: false. */
export interface BridgePortSettings {
  /** 0 disabled, 1 listening, 2 learning, 3 forwarding, 4 blocking. Only on a bridge without STP. */
  readonly state?: number;
  /** 0–63; default 32. */
  readonly priority?: number;
  /** 1–65535: cost of a path in STP. Default by the speed of the link. */
  readonly cost?: number;
  /** Ignores BPDUs, and disables the port that gets one. */
  readonly guard?: boolean;
  /** Sends frames back through the port by which they came. */
  readonly hairpin?: boolean;
  /** Ends a group at once when its member leaves. */
  readonly fastLeave?: boolean;
  /** Never becomes the root port. */
  readonly rootBlock?: boolean;
  /** Default true. */
  readonly learning?: boolean;
  /** Default true. */
  readonly flood?: boolean;
  /** Answers ARP for hosts behind other ports. */
  readonly proxyArp?: boolean;
  /** Answers ARP for hosts of this port, as access points of wireless networks do. */
  readonly proxyArpWifi?: boolean;
  /** 0 never, 1 automatic, 2 always. */
  readonly multicastRouter?: number;
  /** Default true. */
  readonly multicastFlood?: boolean;
  /** Default true. */
  readonly broadcastFlood?: boolean;
  /** Sends multicasts to each member as a unicast. */
  readonly multicastToUnicast?: boolean;
  /** Bits of link-local groups that are forwarded by this port. Default 0. */
  readonly groupForwardMask?: number;
  /** Answers ARP and neighbour discovery from the table of neighbours. */
  readonly neighbourSuppression?: boolean;
  /** Maps VLANs to numbers of tunnels. */
  readonly vlanTunnel?: boolean;
  /** Forwards no frames to other ports that are isolated. */
  readonly isolated?: boolean;
  /** Linux 5.18. */
  readonly locked?: boolean;
  /** Whether a locked port learns unknown addresses as locked entries. Linux 6.2. */
  readonly macAuthenticationBypass?: boolean;
  /** Hosts that are tracked by group at most. Default 512. Linux 5.12. */
  readonly multicastHostsLimit?: number;
  /** Default 0, which means no limit. Linux 6.3. */
  readonly multicastMaxGroups?: number;
  /** `neighbourSuppression` for VLANs that have it. Linux 6.4. */
  readonly neighbourVlanSuppression?: boolean;
  /** Whether gratuitous ARP is forwarded in spite of `neighbourSuppression`. Linux 7.3 has it. */
  readonly forwardGratuitous?: boolean;
  /** Id of a nexthop object for what is sent through `backupPort`; 0 removes it. Linux 6.6. */
  readonly backupNextHopId?: number;
  /** Name or index of the port that takes the traffic while this one has no carrier; null removes it. */
  readonly backupPort?: LinkReference | null;
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
  /** Announces the VLAN by GVRP. Default false. */
  readonly gvrp?: boolean;
  /** Announces the VLAN by MVRP. Default false. */
  readonly mvrp?: boolean;
  /** Does not follow the link below when that goes up or down. Default false. */
  readonly looseBinding?: boolean;
  /** Has a carrier as long as a port of the bridge below with this VLAN has one. Default false. Linux 5.2. */
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
  /** Name of that port. */
  readonly backupPort?: string;
  /** Settings of a newer kernel that have no field here. A change leaves them as they are. */
  readonly attributes?: readonly ListedAttribute[];
}

/** A VLAN as the kernel lists it. */
export interface ListedVlan extends VlanSettings {
  /** Settings of a newer kernel that have no field here. A change leaves them as they are. */
  readonly attributes?: readonly ListedAttribute[];
}
