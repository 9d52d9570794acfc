// Sets and their entries, as JavaScript values. Source of every rule: ipset(8), include/uapi/linux/netfilter/ipset/ip_set.h.
import type { Family } from '../../net/address.js';
import type { IpProtocol } from '../../net/protocol.js';
import type { KernelClient, OperationResult } from '../types.js';

/** The set types this library writes. */
export type SetType =
  | 'hash:ip'
  | 'hash:net'
  | 'hash:ip,port'
  | 'hash:ip,port,ip'
  | 'hash:ip,port,net'
  | 'bitmap:port';

/** A set as it is created. */
export interface SetDefinition {
  /** At most 31 bytes (`IPSET_MAXNAMELEN` less the terminator). */
  readonly name: string;
  readonly type: SetType;
  /** Address family of a hash; left out for bitmap:port. */
  readonly family?: Family;
  /** Hash only: initial buckets, default 1024, rounded up by the kernel to a power of two. At least the expected entries: growing is slow. */
  readonly hashSize?: number;
  /** Hash only: most entries, default 65536. */
  readonly maxElements?: number;
  /** bitmap:port only: first and last port, default 0–65535. */
  readonly range?: readonly [from: number, to: number];
}

/** A set as the kernel describes it. Types this library does not write are listed too, by the kernel's name for them. */
export interface SetHeader extends Omit<SetDefinition, 'type'> {
  readonly type: string;
  /** The kernel's revision of the type. */
  readonly revision: number;
  /** Rules and sets that refer to it; a set that is referred to cannot be destroyed. */
  readonly references: number;
  /** Number of entries, where the kernel reports it (4.9). */
  readonly elements?: number;
  /** True when the set was made with an extension: timeout, counters, comment, skbinfo. */
  readonly extended: boolean;
  /**
   * The parameters that have no field here (`netmask`, `markmask`, `timeout`, the range of bitmap:ip, …). Left out are the
   * size of the set in memory, and the kernel's choice of `initval` and `bucketsize`.
   */
  readonly attributes?: readonly ListedAttribute[];
}

/** A netlink attribute of a listing for which this library has no field. */
export interface ListedAttribute {
  /** `IPSET_ATTR_…` of include/uapi/linux/netfilter/ipset/ip_set.h, without the flags of the attribute's type. */
  readonly type: number;
  /** As the kernel sent it: numbers are in network order. */
  readonly value: Uint8Array;
}

/** Type and code of an ICMP message, 0–255. */
export interface IcmpType {
  readonly type: number;
  readonly code: number;
}

/**
 * One entry; which fields it has follows from the set's type. A listing leaves nothing out: fields of types that this
 * library does not write are read, too, and `attributes` has everything else.
 */
export interface SetEntry {
  /** Canonical address; hash types. */
  readonly address?: string;
  /** Prefix length of `address` in hash:net, where it is not the full length. */
  readonly prefix?: number;
  /** hash:ip,port and its kin. */
  readonly protocol?: IpProtocol;
  /** 0–65535; of tcp, udp, sctp and UDP-Lite (136), and of bitmap:port. */
  readonly port?: number;
  /** Instead of a port: of ICMP (1) in sets of IPv4, of ICMPv6 (58) in sets of IPv6. Other protocols have neither. */
  readonly icmp?: IcmpType;
  /** hash:ip,port,ip: canonical address; hash:ip,port,net: base address of the network. */
  readonly address2?: string;
  /** Prefix length of `address2` in hash:ip,port,net, 1 to the full length; left out for the full length. The kernel refuses 0. */
  readonly prefix2?: number;
  /** Listed only: an exception from a larger network in the same set (`nomatch`), made by somebody else. */
  readonly noMatch?: true;
  /** Listed only: the member of a list:set. */
  readonly set?: string;
  /** Listed only: `01:23:45:67:89:ab`, in hash:mac and its kin. */
  readonly mac?: string;
  /** Listed only: the network interface of hash:net,iface. */
  readonly interface?: string;
  /** Listed only: `interface` is a port of a bridge. */
  readonly physdev?: true;
  /** Listed only: `interface` is the beginning of a name. */
  readonly wildcard?: true;
  /** Listed only: the packet mark of hash:ip,mark. */
  readonly mark?: number;
  /** Listed only, and ignored when the entry is deleted: the other attributes that the kernel listed, as `timeout` and `comment`. */
  readonly attributes?: readonly ListedAttribute[];
}

/** A set with its entries. */
export interface SetState {
  readonly set: SetHeader;
  readonly entries: readonly SetEntry[];
}

/** One change of ipset. A batch keeps the order in which it is given. */
export type IpsetOperation =
  | { readonly do: 'create'; readonly set: SetDefinition }
  | { readonly do: 'add' | 'delete'; readonly set: SetReference; readonly entry: SetEntry }
  | { readonly do: 'flush' | 'destroy'; readonly name: string }
  | { readonly do: 'swap'; readonly name: string; readonly other: string };

/** The set of an entry: its name, and the properties on which the encoding of its entries depends. */
export type SetReference = Pick<SetDefinition, 'name' | 'type' | 'family'>;

/**
 * ipset of one network namespace. Every call needs CAP_NET_ADMIN; every one may reject with NetlinkError, those that write
 * with `ERR_LIBRARY` where libipset is missing. An argument that breaks a rule rejects with TypeError or RangeError; in
 * apply() its operation alone fails, with `ERR_INVALID_ARGUMENT`.
 */
export interface Ipset extends KernelClient<IpsetOperation> {
  /** Every set, without entries. */
  list(): Promise<SetHeader[]>;
  /** One set with its entries, or undefined when there is none. */
  get(name: string): Promise<SetState | undefined>;
  /** Creates; one that exists with the same parameters is no error, with others EEXIST. */
  create(set: SetDefinition): Promise<void>;
  /**
   * Adds; an entry that is there already is no error. Rejects with ENOENT when there is no such set,
   * IPSET_ERR_TYPE_MISMATCH when it is of another type or family, IPSET_ERR_HASH_FULL when it is full,
   * IPSET_ERR_BITMAP_RANGE for a port outside of the bitmap.
   */
  add(set: SetReference, entry: SetEntry): Promise<void>;
  /** Deletes; an entry that is not there is no error, a set that is not there is (ENOENT). */
  delete(set: SetReference, entry: SetEntry): Promise<void>;
  /** Removes every entry; rejects with ENOENT when there is no such set. */
  flush(name: string): Promise<void>;
  /** Destroys; rejects with ENOENT when there is no such set, EBUSY while something refers to it. */
  destroy(name: string): Promise<void>;
  /**
   * Exchanges the contents of two sets of one type and family; rules that refer to one then match the other's entries. Rejects
   * with ENOENT when one of them is missing, IPSET_ERR_TYPE_MISMATCH.
   */
  swap(name: string, other: string): Promise<void>;
  /** Sends a list of operations as one call, entries of one set aggregated; resolves to one result per operation, in order. */
  apply(operations: readonly IpsetOperation[]): Promise<OperationResult[]>;
}
