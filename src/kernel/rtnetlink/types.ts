// Links and addresses, as JavaScript values. Source of every rule: rtnetlink(7), include/uapi/linux/if_link.h, if_addr.h.
import type { EventStream, KernelClient, OperationResult, WatchOptions } from '../types.js';

/** A network device. */
export interface Link {
  readonly index: number;
  /** At most 15 bytes (`IFNAMSIZ` less the terminator). */
  readonly name: string;
  /** Kind of a virtual device (`dummy`, `veth`), empty for others (`IFLA_INFO_KIND`). At most 31 bytes. */
  readonly kind: string;
  /** `IFF_` flags. */
  readonly flags: number;
  /** Bytes. */
  readonly mtu: number;
  /** Set up by an administrator (`IFF_UP`), whether or not it has a carrier. */
  readonly up: boolean;
}

/** The name of an address of a link. */
export interface LinkAddressId {
  /** Name of the link. */
  readonly link: string;
  /** Canonical address. */
  readonly address: string;
  /** Prefix length: 0–32, 0–128. */
  readonly prefix: number;
}

/** An address as the kernel lists it. */
export interface LinkAddress extends LinkAddressId {
  /** `RT_SCOPE_`: 0 global, 200 site, 253 link, 254 host. */
  readonly scope: number;
  /** `IFA_F_` flags. */
  readonly flags: number;
}

/** A change of a link or an address, as the kernel notified of it (`RTM_NEWLINK`, `RTM_DELADDR` and their like). */
export type RtnetlinkEvent =
  | { readonly kind: 'link'; readonly deleted: boolean; readonly link: Link }
  | { readonly kind: 'address'; readonly deleted: boolean; readonly address: LinkAddress };

/** One change of links and addresses. A batch keeps the order in which it is given. */
export type RtnetlinkOperation =
  /** Creates a link, down, of a kind that needs no parameters. EEXIST when the name is taken. */
  | { readonly do: 'addLink'; readonly name: string; readonly kind: string }
  /** ENODEV when there is none. */
  | { readonly do: 'deleteLink'; readonly name: string }
  /** EEXIST when it is there; ENODEV without the link. Scope global. */
  | { readonly do: 'addAddress'; readonly address: LinkAddressId }
  /** EADDRNOTAVAIL when it is not there. */
  | { readonly do: 'deleteAddress'; readonly address: LinkAddressId };

/**
 * Links and addresses of one network namespace. Calls reach the kernel one after another, in the order in which they are
 * made.
 *
 * Changes need CAP_NET_ADMIN. Every call may reject with a NetlinkError (`EPERM`, `ERR_CLOSED`, `ERR_TIMEOUT`,
 * `ERR_MALFORMED_REPLY`; listings with `ERR_INTERRUPTED` when they changed ten times in a row while they were read), and
 * all but apply() with a TypeError or RangeError that names the argument and the rule it breaks.
 */
export interface Rtnetlink extends KernelClient<RtnetlinkOperation> {
  /** Every link. */
  listLinks(): Promise<Link[]>;
  /** The link of that name, or undefined. */
  getLink(name: string): Promise<Link | undefined>;
  /** Addresses of every link, or of one (ENODEV when there is none of that name), both families. */
  listAddresses(link?: string): Promise<LinkAddress[]>;
  /** Creates a link, down. EEXIST when the name is taken, EOPNOTSUPP when the kernel does not know the kind. */
  addLink(name: string, kind: string): Promise<void>;
  /** ENODEV when there is none, EOPNOTSUPP for links that cannot be deleted (`lo`). */
  deleteLink(name: string): Promise<void>;
  /** EEXIST when it is there, ENODEV without the link, EACCES for IPv6 on a link that has it disabled. */
  addAddress(address: LinkAddressId): Promise<void>;
  /** EADDRNOTAVAIL when it is not there, ENODEV without the link. */
  deleteAddress(address: LinkAddressId): Promise<void>;
  /**
   * Sends a list of operations as one call in few messages; resolves to one result per operation, in order. Operations
   * after one that failed are done all the same. Results beside those of the single verbs: as in `Ipvs.apply`.
   */
  apply(operations: readonly RtnetlinkOperation[]): Promise<OperationResult[]>;
  /**
   * Changes of links and addresses, by this process or another. A link that was renamed is reported as a loss: its addresses
   * have the new name. Needs no privilege in the process's own namespace.
   */
  watch(options?: WatchOptions): EventStream<RtnetlinkEvent>;
}
