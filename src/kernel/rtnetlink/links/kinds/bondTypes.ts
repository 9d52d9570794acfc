// Bonds and their ports, as JavaScript values. Source of every rule: include/uapi/linux/if_bonding.h, if_link.h (IFLA_BOND_),
// Documentation/networking/bonding.rst, drivers/net/bonding/bond_options.c.
import type { ListedAttribute } from '../../../shared/types.js';
import type { LinkReference } from '../reference.js';

/** How a bond uses its ports (`BOND_MODE_`): one of those with a name, or a number from 0 to 255. */
export type BondMode =
  | 'balance-rr'
  | 'active-backup'
  | 'balance-xor'
  | 'broadcast'
  | '802.3ad'
  | 'balance-tlb'
  | 'balance-alb'
  | number;

/** What a port is selected by (`BOND_XMIT_POLICY_`): one of those with a name, or a number from 0 to 255. */
export type BondHashPolicy =
  | 'layer2'
  | 'layer3+4'
  | 'layer2+3'
  | 'encap2+3'
  | 'encap3+4'
  | 'vlan+srcmac'
  | number;

/** Which ports' ARP packets are validated: one of those with a name, or a number from 0 to 4294967295. */
export type BondArpValidation =
  | 'none'
  | 'active'
  | 'backup'
  | 'all'
  | 'filter'
  | 'filter_active'
  | 'filter_backup'
  | number;

/**
 * Fields of a bond. The kernel has a default for each that is absent. It refuses a setting that the mode does not have (`EACCES`, or
 * `EINVAL`), and others while the bond is up (`EBUSY`) or has ports (`ENOTEMPTY`), also if it would change nothing: give the settings
 * that are to change, and not all that were listed.
 */
export interface BondSettings {
  /** Default `balance-rr`. Only without ports. */
  readonly mode?: BondMode;
  /** Name or index of the port that sends; null selects none. Of `active-backup`, `balance-tlb` and `balance-alb`. */
  readonly activePort?: LinkReference | null;
  /** Time between looks at the carrier of ports (`miimon`), in ms; 0 means never. Default 0, of `802.3ad` 100. */
  readonly miiInterval?: number;
  /** Time after which a port with a carrier is used, in ms: a multiple of `miiInterval`. Default 0. */
  readonly upDelay?: number;
  /** Time after which a port without a carrier is not used any more, in ms: a multiple of `miiInterval`. Default 0. */
  readonly downDelay?: number;
  /** Default true. Kernels since 6.18 always use the carrier. */
  readonly useCarrier?: boolean;
  /** Time between ARP requests to `arpTargets`, in ms; 0 means none. Excludes `miiInterval`. Default 0. */
  readonly arpInterval?: number;
  /** At most 16 IPv4 addresses, in place of those before. */
  readonly arpTargets?: readonly string[];
  /** Default `none`. */
  readonly arpValidation?: BondArpValidation;
  /** Whether one of `arpTargets` must answer, or all: `any` by default. */
  readonly arpAllTargets?: 'any' | 'all' | number;
  /** ARP requests without an answer, after which a port is down: 1–255. Default 2. Linux 5.17. */
  readonly arpMissedMax?: number;
  /** At most 16 IPv6 addresses for neighbour solicitations, as `arpTargets`. Linux 5.18. */
  readonly nsTargets?: readonly string[];
  /** Name or index of the port that is used whenever it can be; null selects none. */
  readonly primary?: LinkReference | null;
  /** When `primary` is used again. Default `always`. */
  readonly primaryReselection?: 'always' | 'better' | 'failure' | number;
  /** Whether ports keep their hardware addresses. Default `none`. Only without ports. */
  readonly failOverMac?: 'none' | 'active' | 'follow' | number;
  /** Default `layer2`. */
  readonly hashPolicy?: BondHashPolicy;
  /** IGMP reports after a change of the port: 0–255. Default 1. */
  readonly resendIgmp?: number;
  /** Gratuitous ARPs and unsolicited neighbour advertisements after a change of the port: 0–255. Default 1. */
  readonly peerNotifications?: number;
  /** Time between them, in ms: a multiple of `miiInterval`. Default 0. Linux 5.3. */
  readonly peerNotificationDelay?: number;
  /** Whether packets that ports receive which are not active are delivered. Default false. */
  readonly allPortsActive?: boolean;
  /** Ports with a carrier that the bond needs for its own. Default 0. Of `802.3ad`. */
  readonly minLinks?: number;
  /** Time between packets by which switches learn, in s. Default 1. */
  readonly learnPacketInterval?: number;
  /** Packets that are sent through a port before the next one is used: 0–65535; 0 means a random port. Of `balance-rr`. */
  readonly packetsPerPort?: number;
  /** How often the partner sends LACP packets: `slow` is 30 s, `fast` 1 s. Of `802.3ad`, only while it is down. */
  readonly lacpRate?: 'slow' | 'fast' | number;
  /** Whether LACP packets are sent at regular times. Default true. Of `802.3ad`, only while it is down. Linux 5.15. */
  readonly lacpActive?: boolean;
  /** Of `802.3ad`, only while it is down. Default `stable`. */
  readonly aggregatorSelection?: 'stable' | 'bandwidth' | 'count' | number;
  /** 1–65535. Of `802.3ad`. It is listed with CAP_NET_ADMIN only. */
  readonly actorSystemPriority?: number;
  /** Hardware address. Of `802.3ad`. It is listed with CAP_NET_ADMIN only. */
  readonly actorSystem?: string;
  /** 0–1023. Of `802.3ad`, only while it is down. It is listed with CAP_NET_ADMIN only. */
  readonly userPortKey?: number;
  /** Whether flows move between ports by their load. Default true. Of `balance-tlb` and `balance-alb`, only while it is down. */
  readonly dynamicLoadBalancing?: boolean;
  /** Whether collecting and distributing begin together. Default true. Of `802.3ad`. Linux 6.9. */
  readonly coupledControl?: boolean;
  /** Whether ARP and neighbour discovery are sent through every port. Of `802.3ad`. Linux 6.17. */
  readonly broadcastNeighbour?: boolean;
  /** Whether a bond without a partner has no carrier. Default false. Of `802.3ad`. Linux 7.3 has it. */
  readonly lacpStrict?: boolean;
}

/** The active aggregator of a bond in the mode `802.3ad`. */
export interface BondAggregator {
  /** Number of the aggregator. */
  readonly id?: number;
  /** Ports that belong to it. */
  readonly ports?: number;
  /** Key of this host. */
  readonly actorKey?: number;
  /** Key of the partner. */
  readonly partnerKey?: number;
  /** Hardware address. */
  readonly partner?: string;
}

/** A bond as the kernel lists it. */
export interface ListedBond extends BondSettings {
  /** Name of that port. */
  readonly activePort?: string;
  /** Name of that port. */
  readonly primary?: string;
  /** It is not written. */
  readonly aggregator?: BondAggregator;
  /** Settings of a newer kernel that have no field here. A change leaves them as they are. */
  readonly attributes?: readonly ListedAttribute[];
}

/** Fields of a link as port of a bond. */
export interface BondPortSettings {
  /** 0–65535; 0 means none. */
  readonly queueId?: number;
  /** −2147483648 to 2147483647: which port becomes the active one. Default 0. Linux 6.0. */
  readonly priority?: number;
}

/** A port of a bond as the kernel lists it. The fields beside the settings are not written. */
export interface ListedBondPort extends BondPortSettings {
  /** Whether the port is in use. */
  readonly state?: 'active' | 'backup' | number;
  /** The carrier: `going_down` and `going_back` are the times of `downDelay` and `upDelay`. */
  readonly miiStatus?: 'up' | 'going_down' | 'down' | 'going_back' | number;
  /** How often it had lost its carrier. */
  readonly linkFailures?: number;
  /** The hardware address that it had before. */
  readonly permanentAddress?: string;
  /** Of `802.3ad`, as the next two. */
  readonly aggregatorId?: number;
  /** Bits of `LACP_STATE_`. */
  readonly actorState?: number;
  /** Bits of `LACP_STATE_`. */
  readonly partnerState?: number;
  /** Settings of a newer kernel that have no field here. A change leaves them as they are. */
  readonly attributes?: readonly ListedAttribute[];
}
