// VXLANs, tunnels of Geneve and devices of tun, as JavaScript values. Source of every rule: include/uapi/linux/if_link.h (IFLA_VXLAN_,
// IFLA_GENEVE_, IFLA_TUN_), drivers/net/vxlan/vxlan_core.c, drivers/net/geneve.c, drivers/net/tun.c, ip-link(8).
import type { ListedAttribute } from '../../../shared/types.js';
import type { LinkReference } from '../reference.js';

/** A range of UDP ports. */
export interface UdpPorts {
  /** 0–65535. */
  readonly first: number;
  /** 0–65535, not less than `first`. */
  readonly last: number;
}

/**
 * Fields of a VXLAN. `remote`, `local`, `link`, `ttl` as a number, `tos`, `flowLabel`, `dontFragment`, `learning`, `ageingTime`,
 * `vniFilter` and `localBypass` are changed later; for others the kernel answers EOPNOTSUPP, also if they would change nothing.
 */
export interface VxlanSettings {
  /** Number of the network (VNI): 0–16777215. Required when the link is created without `external`. */
  readonly id?: number;
  /** Address of the other end, or of the multicast group of all others. Default none: the entries of the FDB have it. */
  readonly remote?: string;
  /** Source address. */
  readonly local?: string;
  /** Name or index of the link by which packets are sent; required for a multicast group. */
  readonly link?: LinkReference;
  /** UDP port of the other end: 0–65535. Default 8472, which Linux had before 4789 was assigned. */
  readonly port?: number;
  /** UDP source ports, of which each flow has one. Default: the range of local ports. */
  readonly sourcePorts?: UdpPorts;
  /** 0–255, or that of the inner packet (Linux 4.18). 0 means that of the route; 1 for a multicast group. Default 0. */
  readonly ttl?: number | 'inherit';
  /** 0–255; 1 means that of the inner packet. Default 0. */
  readonly tos?: number;
  /** Flow label of IPv6: 0–1048575. Default 0. */
  readonly flowLabel?: number;
  /** Whether routers may fragment packets of IPv4. Default `unset`. Linux 5.0. */
  readonly dontFragment?: 'unset' | 'set' | 'inherit' | number;
  /** Whether entries of the FDB are learned. Default true. */
  readonly learning?: boolean;
  /** Time after which learned entries are deleted, in s; 0 means never. Default 300. */
  readonly ageingTime?: number;
  /** Most entries of the FDB; 0 means no limit. Default 0. */
  readonly addressLimit?: number;
  /** Answers ARP and neighbour discovery from the table of neighbours. Default false. */
  readonly proxy?: boolean;
  /** Sends packets for a router that is a neighbour directly (`rsc`). Default false. */
  readonly routeShortCircuit?: boolean;
  /** Notifies of unknown hardware addresses. Default false. */
  readonly l2Miss?: boolean;
  /** Notifies of unknown IP addresses. Default false. */
  readonly l3Miss?: boolean;
  /** UDP checksums over IPv4. Default true. */
  readonly udpChecksum?: boolean;
  /** Sends without UDP checksum over IPv6. Default false. */
  readonly udp6ZeroChecksumTx?: boolean;
  /** Accepts no UDP checksum over IPv6. Default false. */
  readonly udp6ZeroChecksumRx?: boolean;
  /** Remote checksum offload. Default false. */
  readonly remoteChecksumTx?: boolean;
  /** Default false. */
  readonly remoteChecksumRx?: boolean;
  /** It is listed if it is true, as the next two. */
  readonly remoteChecksumNoPartial?: boolean;
  /** Group policy extension (GBP). */
  readonly groupPolicy?: boolean;
  /** Generic protocol extension (GPE). Excludes GBP. */
  readonly genericProtocol?: boolean;
  /** The packets' metadata have the network and the other end (`external`). Excludes `id`. Default false. */
  readonly external?: boolean;
  /** One device for selected networks; needs `external`. Linux 5.18. */
  readonly vniFilter?: boolean;
  /** Delivers packets for an own address directly. Default true. Linux 6.5. */
  readonly localBypass?: boolean;
  /** Where the flow label comes from: `flowLabel`, or the inner packet. Linux 6.8. */
  readonly flowLabelPolicy?: 'fixed' | 'inherit' | number;
  /** Bits of the header that must be 0 on receipt: 64 bits in network order. Linux 6.14. */
  readonly reservedBits?: bigint;
  /** Sends multicasts by the routes of multicasts. Default false. Linux 6.17. */
  readonly multicastRouting?: boolean;
}

/** A VXLAN as the kernel lists it. */
export interface ListedVxlan extends VxlanSettings {
  /** Name of that link. */
  readonly link?: string;
  /** Settings of a newer kernel that have no field here. A change leaves them as they are. */
  readonly attributes?: readonly ListedAttribute[];
}

/**
 * Fields of a tunnel of Geneve. `ttl`, `tos`, `flowLabel`, `dontFragment`, `sourcePorts` and an address of the same family are changed later;
 * for others the kernel answers EOPNOTSUPP.
 */
export interface GeneveSettings {
  /** Number of the network (VNI): 0–16777215. Required when the link is created without `external`. */
  readonly id?: number;
  /** Address of the other end, which is no multicast group. Default 0.0.0.0: none. */
  readonly remote?: string;
  /** Source address, of the same family. Default: that of the route. Linux 7.3 has it. */
  readonly local?: string;
  /** UDP port: 0–65535. Default 6081. */
  readonly port?: number;
  /** UDP source ports, of which each flow has one. Default 1 to 65535. Linux 6.15. */
  readonly sourcePorts?: UdpPorts;
  /** 0–255, or that of the inner packet (Linux 4.20). 0 means that of the route. Default 0. */
  readonly ttl?: number | 'inherit';
  /** 0–255; 1 means that of the inner packet. Default 0. */
  readonly tos?: number;
  /** Flow label of IPv6: 0–1048575. Default 0. EINVAL with an address of IPv4. */
  readonly flowLabel?: number;
  /** Whether routers may fragment packets of IPv4. Default `unset`. Linux 5.0. */
  readonly dontFragment?: 'unset' | 'set' | 'inherit' | number;
  /** UDP checksums over IPv4. Default false. */
  readonly udpChecksum?: boolean;
  /** Sends without UDP checksum over IPv6. Default false; it is listed with an address of IPv6. */
  readonly udp6ZeroChecksumTx?: boolean;
  /** Accepts no UDP checksum over IPv6. Default false; with an address of IPv4, true. */
  readonly udp6ZeroChecksumRx?: boolean;
  /** The packets' metadata have the network and the other end. Excludes others than `port`. It is listed if it is true, as the next two. */
  readonly external?: boolean;
  /** Inner packets may be of IP, without Ethernet. Linux 5.18. */
  readonly innerProtocolInherit?: boolean;
  /** Sends hints for GRO to others of the same kernel. Linux 7.0. */
  readonly groHint?: boolean;
}

/** A tunnel of Geneve as the kernel lists it. */
export interface ListedGeneve extends GeneveSettings {
  /** Settings of a newer kernel that have no field here. A change leaves them as they are. */
  readonly attributes?: readonly ListedAttribute[];
}

/**
 * A device of the kind `tun`, as the kernel lists it (Linux 4.17). Netlink neither creates nor changes it: a process opens
 * `/dev/net/tun` and calls ioctl(2) `TUNSETIFF`, as `ip tuntap` does.
 */
export interface ListedTun {
  /** `tun` has packets of IP, `tap` frames of Ethernet. */
  readonly type?: 'tun' | 'tap' | number;
  /** User that may attach to it; absent: none but root. */
  readonly owner?: number;
  /** Group whose members may attach to it. */
  readonly group?: number;
  /** Whether packets have a header (`struct tun_pi`). */
  readonly packetHeader?: boolean;
  /** Whether packets have a header of virtio. */
  readonly vnetHeader?: boolean;
  /** Whether it stays without a process. */
  readonly persistent?: boolean;
  readonly multiQueue?: boolean;
  /** Of one with several queues: those that are attached. */
  readonly queues?: number;
  /** Of one with several queues: those that are attached, and disabled. */
  readonly disabledQueues?: number;
  /** Settings of a newer kernel that have no field here. */
  readonly attributes?: readonly ListedAttribute[];
}
