// Sets and their entries, as JavaScript values. Source of every rule: ipset(8), include/uapi/linux/netfilter/ipset/ip_set.h.
import type { Family } from '../../net/address.js';
import type { IpProtocol } from '../../net/protocol.js';
import type { CallOptions, KernelClient, Listing, OperationResult } from '../types.js';

/** The set types of the kernel. A listing has another name for a type of a newer kernel. */
export type SetType =
  | 'bitmap:ip'
  | 'bitmap:ip,mac'
  | 'bitmap:port'
  | 'hash:ip'
  | 'hash:mac'
  | 'hash:ip,mac'
  | 'hash:net'
  | 'hash:net,net'
  | 'hash:ip,port'
  | 'hash:net,port'
  | 'hash:ip,port,ip'
  | 'hash:ip,port,net'
  | 'hash:ip,mark'
  | 'hash:net,port,net'
  | 'hash:net,iface'
  | 'list:set';

/** A set as it is created. */
export interface SetDefinition {
  /** At most 31 bytes (`IPSET_MAXNAMELEN` less the terminator). */
  readonly name: string;
  readonly type: SetType;
  /** Address family of a hash; left out for hash:mac, bitmap:port and list:set; at most 4 for bitmap:ip and bitmap:ip,mac. */
  readonly family?: Family;
  /** Hash only: initial buckets, default 1024, rounded up by the kernel to a power of two. At least the expected entries: growing is slow. */
  readonly hashSize?: number;
  /** Hash only: most entries, default 65536. */
  readonly maxElements?: number;
  /** Hash only: most entries in a bucket, 1–255; the kernel uses an even number from 2 to its limit, its default (12 or 14). Linux 5.11, libipset 7.10. */
  readonly bucketSize?: number;
  /** Hash only: initial value of the hash function, default random. Linux 5.11, libipset 7.10. */
  readonly initval?: number;
  /** hash:ip, hash:ip,port, hash:net,net and bitmap:ip: addresses are stored without the bits behind this prefix length. */
  readonly netmask?: number;
  /** hash:ip, hash:ip,port and hash:net,net: addresses are stored with these bits only; not with `netmask`. Linux 6.3, libipset 7.16. */
  readonly bitmask?: string;
  /** hash:ip,mark: marks are stored with these bits only; default all, not 0. */
  readonly markMask?: number;
  /** list:set: number of its members, default 8. Newer kernels keep it and have no limit. */
  readonly size?: number;
  /**
   * bitmap:port: first and last port, default 0–65535. bitmap:ip and bitmap:ip,mac: first and last IPv4 address, at most 65536
   * (with `netmask`: networks).
   */
  readonly range?: readonly [from: number, to: number] | readonly [from: string, to: string];
  /** Entries have a timeout; this one, in s, if they are added without. 0: they stay. At most 2147483. */
  readonly timeout?: number;
  /** Entries count packets and bytes. */
  readonly counters?: boolean;
  /** Entries have comments. */
  readonly comment?: boolean;
  /** Entries have a packet mark, a tc class and a hardware queue, for the target SET (`--map-set`). */
  readonly skbInfo?: boolean;
  /** Hash only: an entry added to the full set replaces another one. */
  readonly forceAdd?: boolean;
}

/** A set as the kernel describes it. */
export interface SetHeader extends SetDefinition {
  /** The kernel's revision of the type. */
  readonly revision: number;
  /** Rules and sets that refer to it; a set that is referred to cannot be destroyed. */
  readonly references: number;
  /** Number of entries, where the kernel reports it (4.9). It includes entries whose timeout has passed, until they are collected. */
  readonly elements?: number;
  /** Memory of the set, in bytes. */
  readonly memorySize?: number;
  /** True when the set was made with an extension: timeout, counters, comment, skbInfo. */
  readonly extended: boolean;
  /** Parameters of a newer kernel that have no field here. */
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
 * One entry; which fields it has follows from the set's type. A listing leaves nothing out: `attributes` has what has no field.
 *
 * Fields whose names begin with `last` make a range: the operation adds or deletes every entry of it. The kernel exchanges
 * the ends of a range if the last one is less. It accepts ranges of addresses for IPv4 only.
 */
export interface SetEntry {
  /** Canonical address; types with `ip` or `net` in the first place. */
  readonly address?: string;
  /**
   * Prefix length of `address`. Types with `net` in the first place: of the network, where it is not the full length; 0 only in
   * hash:net,iface and hash:net,port,net. Types with `ip` in the first place (IPv4): a range, every address of the network.
   */
  readonly prefix?: number;
  /** Last address of a range that begins with `address`; not with `prefix`. Networks are made of it where the type has them. */
  readonly lastAddress?: string;
  /** Types with `port`, but for bitmap:port. */
  readonly protocol?: IpProtocol;
  /** 0–65535; of tcp, udp, sctp and UDP-Lite (136), and of bitmap:port. */
  readonly port?: number;
  /** Last port of a range that begins with `port`. */
  readonly lastPort?: number;
  /** Instead of a port: of ICMP (1) in sets of IPv4, of ICMPv6 (58) in sets of IPv6. Other protocols have neither. */
  readonly icmp?: IcmpType;
  /** Types with `ip` or `net` in another place: canonical address, or base address of the network. */
  readonly address2?: string;
  /** Prefix length of `address2` in types with `net` in the last place; left out for the full length; 0 only in hash:net,port,net. */
  readonly prefix2?: number;
  /** Last address of a range that begins with `address2`; not with `prefix2`. */
  readonly lastAddress2?: string;
  /** `01:23:45:67:89:ab`, in hash:mac and its kin; may be left out in bitmap:ip,mac, and the kernel fills it in with that of the first packet. */
  readonly mac?: string;
  /** Packet mark of hash:ip,mark, 32 bits. */
  readonly mark?: number;
  /** Network interface of hash:net,iface, at most 15 bytes. It need not exist. */
  readonly interface?: string;
  /** `interface` is a port of a bridge. */
  readonly physdev?: boolean;
  /** `interface` is the beginning of a name. Linux 5.5. */
  readonly wildcard?: boolean;
  /** Types with `net`: an exception from a larger network in the same set (`nomatch`). */
  readonly noMatch?: boolean;
  /** The member of a list:set, an existing set that is no list. */
  readonly set?: string;
  /** list:set: the member is put before this one; deleted and tested only if it is there. Never listed. */
  readonly before?: string;
  /** list:set: the same, after. Not with `before`. */
  readonly after?: string;
  /** Sets with `timeout`: time left, in s, at most 2147483; 0 for an entry that stays. Default: the set's. */
  readonly timeout?: number;
  /** Sets with `counters`: counted packets, 64 bits; default 0. */
  readonly packets?: bigint;
  /** Sets with `counters`: counted bytes, 64 bits; default 0. */
  readonly bytes?: bigint;
  /** Sets with `comment`: a text of 1 to 255 bytes without quotation marks and line breaks, which `ipset save` could not print. */
  readonly comment?: string;
  /** Sets with `skbInfo`: packet mark, 32 bits. */
  readonly skbMark?: number;
  /** The bits of the packet's mark that `skbMark` replaces; default all. */
  readonly skbMask?: number;
  /** Sets with `skbInfo`: tc class, the major number in the upper 16 of 32 bits. */
  readonly skbPrio?: number;
  /** Sets with `skbInfo`: hardware queue, 16 bits. */
  readonly skbQueue?: number;
  /** Listed only, and ignored when the entry is deleted or tested: attributes of a newer kernel. */
  readonly attributes?: readonly ListedAttribute[];
}

/** A set with its entries. */
export interface SetState {
  readonly set: SetHeader;
  readonly entries: readonly SetEntry[];
}

/** The set of an entry: its name, and the properties on which the encoding of its entries depends. */
export type SetReference = Pick<SetDefinition, 'name' | 'type' | 'family'>;

/** How strictly a change is carried out. */
export interface Strictness {
  /**
   * True: creating a set that exists is EEXIST; adding an entry that exists, or deleting one that is absent, is
   * IPSET_ERR_EXIST. Such entries are sent one at a time, which takes longer. Default false, as `ipset -exist`: a repeated
   * operation is harmless. An entry that exists gets the extensions of the one that is added (timeout, comment, skbMark and its
   * kin), and keeps its counters if that has none.
   */
  readonly strict?: boolean | undefined;
}

/** Options of a verb that creates, adds or deletes. */
export interface ChangeOptions extends CallOptions, Strictness {}

/** One change of ipset. A batch keeps the order in which it is given. */
export type IpsetOperation =
  | ({ readonly do: 'create'; readonly set: SetDefinition } & Strictness)
  | ({ readonly do: 'add' | 'delete'; readonly set: SetReference; readonly entry: SetEntry } & Strictness)
  | { readonly do: 'flush' | 'destroy'; readonly name: string }
  | { readonly do: 'flushAll' | 'destroyAll' }
  | { readonly do: 'swap'; readonly name: string; readonly other: string }
  | { readonly do: 'rename'; readonly name: string; readonly newName: string };

/** A set type that the kernel supports. */
export interface SupportedType {
  readonly name: SetType;
  /** Least and greatest revision: `ipset help` lists what each one added. */
  readonly revisions: readonly [least: number, greatest: number];
}

/** What of ipset this machine has. */
export interface IpsetCapabilities {
  /** Least and greatest version of the netlink interface (IPSET_PROTOCOL); undefined in a kernel without ip_set. */
  readonly protocol?: readonly [least: number, greatest: number];
  /** The types that the kernel supports. */
  readonly types: readonly SupportedType[];
  /** libipset, with which sets are written; undefined when it is missing or unusable. */
  readonly library?: LoadedLibrary;
  /** How to get what is missing. */
  readonly hint?: string;
}

/** The library that is loaded. */
export interface LoadedLibrary {
  /** Its file, without symbolic links. */
  readonly path: string;
  /** Version in the name of the file: 13.4.0 is libipset 7.17. libipset has no function that reports its release. */
  readonly version: string;
}

/** A hash that replaces a full one. */
export interface LargerSet {
  /** Most entries; default that of the set. */
  readonly maxElements?: number | undefined;
  /** Buckets; default that of the set. At least the expected entries. */
  readonly hashSize?: number | undefined;
}

/** The words that flushAll() asks for. */
export const FLUSH_ALL_CONFIRMATION = 'remove every entry of every set';

/** Options of flushAll(). */
export interface FlushAllOptions extends CallOptions {
  /** The words `remove every entry of every set`, so that no call is made by accident. */
  readonly confirm: typeof FLUSH_ALL_CONFIRMATION;
}

/** The words that destroyAll() asks for. */
export const DESTROY_ALL_CONFIRMATION = 'destroy every set';

/** Options of destroyAll(). */
export interface DestroyAllOptions extends CallOptions {
  /** The words `destroy every set`, so that no call is made by accident. */
  readonly confirm: typeof DESTROY_ALL_CONFIRMATION;
}

/**
 * ipset of one network namespace. Every call needs CAP_NET_ADMIN; every one may reject with NetlinkError, those that write,
 * and test(), with `ERR_LIBRARY` where libipset is missing or too old for a parameter. An argument that breaks a rule rejects
 * with TypeError or RangeError; in apply() its operation alone fails, with `ERR_INVALID_ARGUMENT`.
 */
export interface Ipset extends KernelClient<IpsetOperation> {
  /** Every set, without entries. */
  list(options?: CallOptions): Promise<SetHeader[]>;
  /** One set with its entries, or undefined when there is none. */
  get(name: string, options?: CallOptions): Promise<SetState | undefined>;
  /** The entries of a set, which may be many. Iterations reject with ENOENT when there is no such set. */
  entries(name: string, options?: CallOptions): Listing<SetEntry>;
  /**
   * Whether a set has an entry, or matches it: a set with networks matches the addresses in them, but not those in exceptions
   * (`noMatch`; an entry with it tests for the exception). Extensions are ignored. Rejects with ENOENT when there is no such
   * set, IPSET_ERR_TYPE_MISMATCH when it is of another type or family. For an entry that the set cannot have it is false.
   */
  test(set: SetReference, entry: SetEntry, options?: CallOptions): Promise<boolean>;
  /** The types that the kernel supports. The kernel loads their modules. */
  types(options?: CallOptions): Promise<SupportedType[]>;
  /** Everything that decides whether a set can be written here. The kernel loads the modules of the types. */
  capabilities(options?: CallOptions): Promise<IpsetCapabilities>;
  /** Creates; one that exists with the same parameters is no error, with others EEXIST; see {@link Strictness}. */
  create(set: SetDefinition, options?: ChangeOptions): Promise<void>;
  /**
   * Adds; an entry that is there already is no error, see {@link Strictness}. Rejects with ENOENT when there is no such set,
   * IPSET_ERR_TYPE_MISMATCH when it is of another type or family, IPSET_ERR_HASH_FULL when it is full, IPSET_ERR_BITMAP_RANGE
   * for an address or port outside of the bitmap, IPSET_ERR_TIMEOUT, _COUNTER, _COMMENT and _SKBINFO for an extension that the
   * set does not have; for a list IPSET_ERR_NAME (no such member), _LOOP (a list), _NAMEREF and _REF_EXIST (before, after).
   */
  add(set: SetReference, entry: SetEntry, options?: ChangeOptions): Promise<void>;
  /** Deletes; an entry that is not there is no error, see {@link Strictness}; a set that is not there is (ENOENT). Extensions are ignored. */
  delete(set: SetReference, entry: SetEntry, options?: ChangeOptions): Promise<void>;
  /** Removes every entry; rejects with ENOENT when there is no such set. */
  flush(name: string, options?: CallOptions): Promise<void>;
  /** Removes every entry of every set, whoever made it; rejects with a TypeError without the confirmation. */
  flushAll(options: FlushAllOptions): Promise<void>;
  /** Destroys; rejects with ENOENT when there is no such set, EBUSY while something refers to it. */
  destroy(name: string, options?: CallOptions): Promise<void>;
  /** Destroys every set, or none: rejects with EBUSY while something refers to one of them, with a TypeError without the confirmation. */
  destroyAll(options: DestroyAllOptions): Promise<void>;
  /** Renames; rejects with ENOENT when there is no such set, EEXIST when there is one of the new name, IPSET_ERR_REFERENCED while a list or a rule refers to it. */
  rename(name: string, newName: string, options?: CallOptions): Promise<void>;
  /**
   * Exchanges the contents of two sets of one type and family; rules that refer to one then match the other's entries. Rejects
   * with ENOENT when one of them is missing, IPSET_ERR_TYPE_MISMATCH.
   */
  swap(name: string, other: string, options?: CallOptions): Promise<void>;
  /**
   * Replaces a hash by a larger one with the same entries: creates a temporary set, copies the entries with their extensions,
   * swaps the two, and destroys the temporary set. Rules and lists that refer to the set then refer to the larger one. If a step
   * before the swap fails, the set is as it was, and the temporary set is removed.
   *
   * Entries that others add or delete while they are copied are added and deleted again after the swap; an addition never is
   * lost. Packets that are counted between the copy and the swap are lost. Rejects with ENOENT when there is no such set, with
   * RangeError for a type that is no hash.
   */
  grow(name: string, larger: LargerSet, options?: CallOptions): Promise<void>;
  /** Sends a list of operations as one call, entries of one set aggregated; resolves to one result per operation, in order. */
  apply(operations: readonly IpsetOperation[], options?: CallOptions): Promise<OperationResult[]>;
}
