// Addresses of links, as JavaScript values. Source of every rule: include/uapi/linux/if_addr.h, ip-address(8).
import type { ListedAttribute } from '../../shared/types.js';
import type { LinkReference } from '../links/reference.js';
import type { RouteScope, UnnamedFlag } from '../routes/types.js';

/** A flag of an address (`IFA_F_`). Those of {@link NewAddressFlag} are written; the kernel sets the others by itself. */
export type AddressFlag =
  /** Of IPv4: `secondary`. Of IPv6: a temporary address. */
  | 'secondary'
  /** Of IPv6: without duplicate address detection. */
  | 'nodad'
  | 'optimistic'
  /** Of IPv6: duplicate address detection found another host with the address. */
  | 'dadfailed'
  | 'home'
  /** The preferred lifetime is over. */
  | 'deprecated'
  /** Of IPv6: duplicate address detection is under way. */
  | 'tentative'
  /** For ever. */
  | 'permanent'
  /** Of IPv6: temporary addresses are made for it. */
  | 'mngtmpaddr'
  /** Adds no route of the prefix. */
  | 'noprefixroute'
  /** Joins multicast groups. */
  | 'autojoin'
  | 'stable-privacy'
  | UnnamedFlag;

/** A flag that is written. */
export type NewAddressFlag = Extract<
  AddressFlag,
  'nodad' | 'optimistic' | 'home' | 'mngtmpaddr' | 'noprefixroute' | 'autojoin'
>;

/**
 * The origin of an address (`IFAPROT_`, Linux 5.18): one of those with a name, which are the kernel's own, or a number from 0 to
 * 255.
 */
export type AddressProtocol = 'kernel_lo' | 'kernel_ra' | 'kernel_ll' | number;

/** The name of an address of a link. */
export interface LinkAddressId {
  /** Name or index of the link. */
  readonly link: LinkReference;
  /** Canonical address. */
  readonly address: string;
  /** Prefix length: 0–32, 0–128. */
  readonly prefix: number;
  /** The other end of a point-to-point link, whose prefix length `prefix` then is. */
  readonly peer?: string;
}

/** What an address has beside its name. */
export interface AddressSettings {
  /** Default `global`; `host` for 127.0.0.0/8. The kernel sets the scope of IPv6 addresses by itself. */
  readonly scope?: RouteScope;
  /** Of IPv4. Default none. */
  readonly broadcast?: string;
  /** Of IPv4: a name that begins with that of the link. Default: the name of the link. At most 15 bytes. */
  readonly label?: string;
  /** Metric of the route of the prefix. Linux 4.18. */
  readonly metric?: number;
  /** The address is deleted after this time, in s: 1–4294967294. Default: never. */
  readonly validLifetime?: number;
  /** The address is deprecated after this time, in s: at most the valid lifetime. Default: never. */
  readonly preferredLifetime?: number;
  /** Default none. Linux 5.18. */
  readonly protocol?: AddressProtocol;
}

/** An address that is added, or that replaces one. */
export interface NewLinkAddress extends LinkAddressId, AddressSettings {
  /** Those that the kernel sets by itself have no effect: an address that was listed may be written. */
  readonly flags?: readonly AddressFlag[];
}

/** An address as the kernel lists it. It is also the name of the address. */
export interface LinkAddress extends LinkAddressId, AddressSettings {
  /** Name of the link. */
  readonly link: string;
  readonly scope: RouteScope;
  readonly flags: readonly AddressFlag[];
  /** Attributes that have no field here. The address cannot be written with them. */
  readonly attributes?: readonly ListedAttribute[];
}
