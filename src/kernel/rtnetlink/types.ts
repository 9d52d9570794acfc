// Links and addresses, as JavaScript values. Source of every rule: rtnetlink(7), include/uapi/linux/if_link.h, if_addr.h.
import type { OperationResult } from '../ipvs/types.js';

/** A network device. */
export interface Link {
  readonly index: number;
  /** At most 15 bytes (`IFNAMSIZ` less the terminator). */
  readonly name: string;
  /** Kind of a virtual device (`dummy`, `veth`), empty for others (`IFLA_INFO_KIND`). */
  readonly kind: string;
  /** `IFF_` flags. */
  readonly flags: number;
  readonly mtu: number;
  readonly up: boolean;
}

/** What names an address of a link. */
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

/** Links and addresses of one network namespace. Changes need CAP_NET_ADMIN; every call may reject with NetlinkError. */
export interface Rtnetlink {
  listLinks(): Promise<Link[]>;
  /** The link of that name, or undefined. */
  getLink(name: string): Promise<Link | undefined>;
  /** Addresses of every link, or of one, both families. */
  listAddresses(link?: string): Promise<LinkAddress[]>;
  addLink(name: string, kind: string): Promise<void>;
  deleteLink(name: string): Promise<void>;
  addAddress(address: LinkAddressId): Promise<void>;
  deleteAddress(address: LinkAddressId): Promise<void>;
  /** Sends a list of operations as one call in few messages; resolves to one result per operation, in order. */
  apply(operations: readonly RtnetlinkOperation[]): Promise<OperationResult[]>;
  close(): void;
}
