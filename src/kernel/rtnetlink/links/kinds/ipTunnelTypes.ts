// Tunnels of IP, as JavaScript values. Source of every rule: include/uapi/linux/if_tunnel.h (IFLA_GRE_, IFLA_IPTUN_), ip6_tunnel.h,
// net/ipv4/ip_gre.c, ipip.c, net/ipv6/sit.c, ip6_gre.c, ip6_tunnel.c, ip-link(8).
import type { ListedAttribute } from '../../../shared/types.js';
import type { UnnamedFlag } from '../../routes/types.js';
import type { LinkReference } from '../reference.js';

/** How packets of a tunnel are put into UDP (`TUNNEL_ENCAP_`): foo over UDP, generic UDP encapsulation, or a number of 16 bits. */
export type UdpEncapsulation = 'none' | 'fou' | 'gue' | number;

/** UDP checksums over IPv4 and over IPv6, and remote checksum offload (`TUNNEL_ENCAP_FLAG_`). */
export type UdpEncapsulationFlag = 'checksum' | 'checksum6' | 'remoteChecksum' | UnnamedFlag;

/**
 * Fields of every tunnel. A change sets all of them but `mark`, and those that are absent to their defaults: it needs `remote`, `local` and
 * `ttl`, and `{ ...listed, ttl: 5 }` keeps the others. EEXIST for a second tunnel of a kind with the same ends and keys; the kernel may have
 * one without ends in each network namespace (`gre0`, `tunl0`, `sit0`).
 */
export interface TunnelSettings {
  /** Address of the other end, of the family of the tunnel. Default 0.0.0.0 or ::, which is any. */
  readonly remote?: string;
  /** Source address. Default 0.0.0.0 or ::, which is that of the route. */
  readonly local?: string;
  /** Name or index of the link by which packets are sent. Default: that of the route. */
  readonly link?: LinkReference;
  /** 0–255: TTL or hop limit of the outer packet; 0 means that of the inner one. Default 0, of `sit` 64. */
  readonly ttl?: number;
  /** Mark for the look-up of the route. Default 0. Linux 4.12. */
  readonly mark?: number;
  /** Default `none`. */
  readonly encapsulation?: UdpEncapsulation;
  /** All flags: those that are not named are cleared. */
  readonly encapsulationFlags?: readonly UdpEncapsulationFlag[];
  /** UDP source port: 0–65535; 0 means one for each flow. Default 0. */
  readonly encapsulationSourcePort?: number;
  /** UDP port of the other end: 0–65535. Default 0. */
  readonly encapsulationDestinationPort?: number;
  /** The packets' metadata have the other end (`external`). It is listed if it is true. A tunnel that has it is not changed later (EINVAL of most kinds). */
  readonly external?: boolean;
}

/** Fields of a tunnel over IPv4. */
export interface Tunnel4Settings extends TunnelSettings {
  /** 0–255; 1 means that of the inner packet. Default 0. */
  readonly tos?: number;
  /** Forbids routers to fragment (`pmtudisc`). Default true. A TTL that is not 0 needs it. */
  readonly pathMtuDiscovery?: boolean;
}

/** A tunnel of IPv4 in IPv4: the kind `ipip`. */
export interface IpipSettings extends Tunnel4Settings {
  /** Protocol of inner packets: 4 (IPv4), 137 (MPLS), 0 (both). Default 4. */
  readonly protocol?: number;
}

/** A tunnel of IPv6 in IPv4: the kind `sit`. */
export interface SitSettings extends Tunnel4Settings {
  /** Protocol of inner packets: 41 (IPv6), 4 (IPv4), 137 (MPLS), 0 (all). Default 41. */
  readonly protocol?: number;
  /** 1 means ISATAP (`SIT_ISATAP`). Default 0. */
  readonly flags?: number;
  /** 6rd: the prefix of IPv6 that has the other end's address of IPv4 within. Default 2002::. */
  readonly rapidPrefix?: string;
  /** Its length: 0–128. Default 16. */
  readonly rapidPrefixLength?: number;
  /** 6rd: the prefix that all addresses of IPv4 have. Default 0.0.0.0. */
  readonly rapidRelayPrefix?: string;
  /** Its length: 0–32. Default 0. */
  readonly rapidRelayPrefixLength?: number;
}

/** What GRE has in its header. */
export interface GreHeader {
  /** Key that a received packet must have; packets without one are for tunnels without one. Default none. */
  readonly inputKey?: number;
  /** Key of packets that are sent. Default none. */
  readonly outputKey?: number;
  /** Default false. */
  readonly inputSequence?: boolean;
  /** Default false. */
  readonly outputSequence?: boolean;
  /** Default false. */
  readonly inputChecksum?: boolean;
  /** Default false. */
  readonly outputChecksum?: boolean;
}

/** A tunnel of GRE over IPv4, of IP (`gre`) or of Ethernet (`gretap`). */
export interface GreSettings extends Tunnel4Settings, GreHeader {
  /** Sends packets that must not be fragmented all the same; needs `pathMtuDiscovery: false`. Default false. */
  readonly ignoreDontFragment?: boolean;
}

/**
 * A flag of a tunnel over IPv6 (`IP6_TNL_F_`): no encapsulation limit; traffic class, flow label or mark of the inner packet; DSCP of the
 * outer packet; mobile IPv6; an other end that is an address of this host.
 */
export type Tunnel6Flag =
  | 'ignoreEncapsulationLimit'
  | 'inheritTrafficClass'
  | 'inheritFlowLabel'
  | 'mobileIPv6'
  | 'copyDscp'
  | 'inheritMark'
  | 'allowLocalRemote'
  | UnnamedFlag;

/** Fields of a tunnel over IPv6. */
export interface Tunnel6Settings extends TunnelSettings {
  /** 0–255: how often a packet may be put into further tunnels. Default 0; ip(8) sets 4. */
  readonly encapsulationLimit?: number;
  /** Traffic class (bits 20 to 27) and flow label (bits 0 to 19): 0–0xfffffff. Default 0. */
  readonly flowInfo?: number;
  /** All flags: those that are not named are cleared. */
  readonly flags?: readonly Tunnel6Flag[];
}

/** A tunnel of IP in IPv6: the kind `ip6tnl`. */
export interface Ip6TunnelSettings extends Tunnel6Settings {
  /** Protocol of inner packets: 41 (IPv6), 4 (IPv4), 137 (MPLS), 0 (all). Default 0; ip(8) sets 41. */
  readonly protocol?: number;
}

/** A tunnel of GRE over IPv6, of IP (`ip6gre`) or of Ethernet (`ip6gretap`). */
export interface Ip6GreSettings extends Tunnel6Settings, GreHeader {}

/** A tunnel as the kernel lists it. */
export type ListedTunnel<Settings extends TunnelSettings> = Omit<Settings, 'link'> & {
  /** Name of that link. */
  readonly link?: string;
  /** Settings of a newer kernel that have no field here. A change is refused with them. */
  readonly attributes?: readonly ListedAttribute[];
};
