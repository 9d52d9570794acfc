// Sets and their entries, as JavaScript values. Source of every rule: ipset(8), include/uapi/linux/netfilter/ipset/ip_set.h.
import type {
  CallOptions,
  KernelClient,
  ListedAttribute,
  Listing,
  OperationResult,
} from '../shared/types.js';
import type {
  EntryChange,
  EntryOf,
  ListedEntry,
  SetDefinition,
  SetReference,
  SetType,
} from './values/setTypes.js';

export type { ListedAttribute } from '../shared/types.js';
export type * from './values/setTypes.js';

/** A set as the kernel describes it. */
export type SetHeader = SetDefinition & SetFacts;

/** The facts about a set that the kernel reports in addition to its definition. */
export interface SetFacts {
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

/** A set with its entries. */
export interface SetState {
  readonly set: SetHeader;
  readonly entries: readonly ListedEntry[];
}

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
  | (EntryChange & Strictness)
  | { readonly do: 'flush' | 'destroy'; readonly name: string }
  /** `confirm` as in {@link FlushAllOptions}. */
  | { readonly do: 'flushAll'; readonly confirm: typeof FLUSH_ALL_CONFIRMATION }
  /** `confirm` as in {@link DestroyAllOptions}. */
  | { readonly do: 'destroyAll'; readonly confirm: typeof DESTROY_ALL_CONFIRMATION }
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
 * and test(), with `ERR_LIBRARY` where libipset is missing or too old for a parameter. An invalid argument rejects
 * with TypeError or RangeError; in apply() its operation alone fails, with `ERR_INVALID_ARGUMENT`.
 */
export interface Ipset extends KernelClient<IpsetOperation> {
  /** Every set, without entries. */
  list(options?: CallOptions): Promise<SetHeader[]>;
  /** One set with its entries, or undefined when there is none. */
  get(name: string, options?: CallOptions): Promise<SetState | undefined>;
  /** The entries of a set, which may be many. Iterations reject with ENOENT when there is no such set. */
  entries(name: string, options?: CallOptions): Listing<ListedEntry>;
  /**
   * Whether a set has an entry, or matches it: a set with networks matches the addresses in them, but not those in exceptions
   * (`noMatch`; an entry with it tests for the exception). Extensions are ignored. Rejects with ENOENT when there is no such
   * set, IPSET_ERR_TYPE_MISMATCH when it is of another type or family. For an entry that the set cannot have it is false.
   */
  test<Type extends SetType>(
    set: SetReference<Type>,
    entry: EntryOf<Type>,
    options?: CallOptions,
  ): Promise<boolean>;
  /** The types that the kernel supports. The kernel loads their modules. */
  types(options?: CallOptions): Promise<SupportedType[]>;
  /** Everything that decides whether a set can be written here. The kernel loads the modules of the types. */
  capabilities(options?: CallOptions): Promise<IpsetCapabilities>;
  /** Creates; one that exists with the same parameters is not an error, with others EEXIST; see {@link Strictness}. */
  create(set: SetDefinition, options?: ChangeOptions): Promise<void>;
  /**
   * Adds; an entry that is there already is not an error, see {@link Strictness}. Rejects with ENOENT when there is no such set,
   * IPSET_ERR_TYPE_MISMATCH when it is of another type or family, IPSET_ERR_HASH_FULL when it is full, IPSET_ERR_BITMAP_RANGE
   * for an address or port outside of the bitmap, IPSET_ERR_TIMEOUT, _COUNTER, _COMMENT and _SKBINFO for an extension that the
   * set does not have; for a list IPSET_ERR_NAME (no such member), _LOOP (a list), _NAMEREF and _REF_EXIST (before, after).
   */
  add<Type extends SetType>(
    set: SetReference<Type>,
    entry: EntryOf<Type>,
    options?: ChangeOptions,
  ): Promise<void>;
  /** Deletes; an entry that is not there is no error, see {@link Strictness}; a set that is not there is (ENOENT). Extensions are ignored. */
  delete<Type extends SetType>(
    set: SetReference<Type>,
    entry: EntryOf<Type>,
    options?: ChangeOptions,
  ): Promise<void>;
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
   * RangeError for a type that is not a hash.
   */
  grow(name: string, larger: LargerSet, options?: CallOptions): Promise<void>;
  /** Sends a list of operations as one call, entries of one set aggregated; resolves to one result per operation, in order. */
  apply(operations: readonly IpsetOperation[], options?: CallOptions): Promise<OperationResult[]>;
}
