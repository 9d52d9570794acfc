// Links above others, VRFs and netkits, as JavaScript values. Source of every rule: include/uapi/linux/if_link.h (IFLA_MACVLAN_,
// IFLA_IPVLAN_, IFLA_VRF_, IFLA_NETKIT_), drivers/net/macvlan.c, drivers/net/ipvlan/, drivers/net/vrf.c, drivers/net/netkit.c, ip-link(8).
import type { ListedAttribute } from '../../../shared/types.js';
import type { RouteTable, UnnamedFlag } from '../../routes/types.js';

/** What a macvlan may send to others (`MACVLAN_MODE_`): one of those with a name, or a number from 0 to 4294967295. */
export type MacvlanMode =
  /** To no other macvlan of the link. */
  | 'private'
  /** To others through the switch outside. The default. */
  | 'vepa'
  /** To others directly. */
  | 'bridge'
  /** It has the link for itself. */
  | 'passthru'
  /** It receives from `sources` only. */
  | 'source'
  | number;

/**
 * A flag of a macvlan: `nopromisc` (of `passthru`) does not make the link promiscuous; `nodst` (of `source`, Linux 5.13) gives a
 * packet from one of `sources` to no other macvlan.
 */
export type MacvlanFlag = 'nopromisc' | 'nodst' | UnnamedFlag;

/** Fields of a macvlan or a macvtap. */
export interface MacvlanSettings {
  /** Default `vepa`. From and to `passthru` it is not changed later (EINVAL). */
  readonly mode?: MacvlanMode;
  /** All flags: those that are not named are cleared. */
  readonly flags?: readonly MacvlanFlag[];
  /** Of the mode `source`: hardware addresses, in place of those before. */
  readonly sources?: readonly string[];
  /** Longest queue of broadcasts, of all macvlans of the link: the largest value counts. Default 1000. Linux 5.11. */
  readonly broadcastQueueLength?: number;
  /** Macvlans up to which a multicast is not queued; −1 means none. Default 1. Linux 6.4. */
  readonly broadcastCutoff?: number;
}

/** A macvlan or a macvtap as the kernel lists it. */
export interface ListedMacvlan extends MacvlanSettings {
  /** The length of the queue that is used. It is not written. */
  readonly usedBroadcastQueueLength?: number;
  /** Settings of a newer kernel that have no field here. A change leaves them as they are. */
  readonly attributes?: readonly ListedAttribute[];
}

/** The layer of an ipvlan (`IPVLAN_MODE_`): one of those with a name, or a number from 0 to 65535. */
export type IpvlanMode = 'l2' | 'l3' | 'l3s' | number;

/** How an ipvlan reaches the others of the link: `private` not at all, `vepa` through the switch outside. Default: directly. Linux 4.15. */
export type IpvlanFlag = 'private' | 'vepa' | UnnamedFlag;

/** Fields of an ipvlan or an ipvtap. The kernel has one value of each for all ipvlans of the link below. */
export interface IpvlanSettings {
  /** Default `l3`. */
  readonly mode?: IpvlanMode;
  /** All flags: one that is not named is cleared. At most one. */
  readonly flags?: readonly IpvlanFlag[];
}

/** An ipvlan or an ipvtap as the kernel lists it. */
export interface ListedIpvlan extends IpvlanSettings {
  /** Settings of a newer kernel that have no field here. A change leaves them as they are. */
  readonly attributes?: readonly ListedAttribute[];
}

/** Fields of a VRF: a table of routes for the links that have it as master. */
export interface VrfSettings {
  /** Required when the link is created, and not changed later. */
  readonly table?: RouteTable;
}

/** A VRF as the kernel lists it. */
export interface ListedVrf extends VrfSettings {
  /** Settings of a newer kernel that have no field here. */
  readonly attributes?: readonly ListedAttribute[];
}

/** A port of a VRF as the kernel lists it. */
export interface ListedVrfPort {
  readonly table?: RouteTable;
  /** Settings of a newer kernel that have no field here. */
  readonly attributes?: readonly ListedAttribute[];
}

/** What a netkit does with packets without a program of BPF (`NETKIT_`): one of those with a name, or a number from 0 to 4294967295. */
export type NetkitPolicy = 'pass' | 'drop' | number;

/** Whether mark and priority are cleared on the way to another network namespace (`NETKIT_SCRUB_`): `none` leaves that to the program. */
export type NetkitScrub = 'none' | 'default' | number;

/** Fields of a netkit: a pair of links whose programs of BPF run in the network namespace of the first. The policies are changed later (else EACCES), by the first link. */
export interface NetkitSettings {
  /** Packets of IP, or frames of Ethernet. Default `l3`. */
  readonly mode?: 'l2' | 'l3' | number;
  /** Of packets that this end sends. Default `pass`. */
  readonly policy?: NetkitPolicy;
  /** The same of the other end. */
  readonly peerPolicy?: NetkitPolicy;
  /** Default `default`. Linux 6.10. */
  readonly scrub?: NetkitScrub;
  /** The same of the other end. */
  readonly peerScrub?: NetkitScrub;
  /** Bytes that are free before a packet. Default 0. Linux 6.14. */
  readonly headroom?: number;
  /** Bytes that are free behind a packet. Default 0. Linux 6.14. */
  readonly tailroom?: number;
  /** `single` has no other end. Default `pair`. Linux 7.0. */
  readonly pairing?: 'pair' | 'single' | number;
}

/** A netkit as the kernel lists it. */
export interface ListedNetkit extends NetkitSettings {
  /** Whether it is the first of the pair. It is not written. */
  readonly primary?: boolean;
  /** Settings of a newer kernel that have no field here. A change leaves them as they are. */
  readonly attributes?: readonly ListedAttribute[];
}
