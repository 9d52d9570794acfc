// nftables as JavaScript values: tables, chains, rules, sets, elements, objects, and the operations of a transaction. Source of
// every rule: include/uapi/linux/netfilter/nf_tables.h, net/netfilter/nf_tables_api.c, nft(8).
import type {
  CallOptions,
  EventStream,
  KernelClient,
  ListedAttribute,
  Listing,
  OperationResult,
  Sent,
  WatchOptions,
} from '../shared/types.js';
import type { ElementName, Expression, NewElement, Synproxy } from './expressions/types.js';
import type { Addition, Deletion, Generation, TransactionOptions } from './transaction/types.js';
import type {
  ElementBytes,
  ElementKeyBytes,
  ElementValue,
  ObjectType,
  SetFlag,
  SetShape,
  ValueTypes,
  Verdict,
} from './values/types.js';

export type { Sent } from '../shared/types.js';
export type * from './expressions/types.js';
export type * from './transaction/types.js';
export type * from './values/types.js';

/** The family of a table (`NFPROTO_`): which packets its chains see. `inet` is IPv4 and IPv6. A number if it has no name here. */
export type TableFamily = 'ip' | 'ip6' | 'inet' | 'arp' | 'bridge' | 'netdev' | number;

/** The name of a table. */
export interface TableName {
  readonly family: TableFamily;
  /** 1–255 bytes. */
  readonly name: string;
}

/** The name of what is in a table. */
export interface NameInTable {
  readonly family: TableFamily;
  readonly table: string;
  /** 1–255 bytes. */
  readonly name: string;
}

/** What the kernel lists and this library has no field for. An object cannot be written with it. */
export interface Unread {
  /** Attributes that have no field here. */
  readonly attributes?: readonly ListedAttribute[];
  /** User data of the object beside those that have a field, such as its comment; the kernel does not read them. */
  readonly userData?: Uint8Array;
}

/** A flag of a table (`NFT_TABLE_F_`); a number is a bit that has no name here. `owner` needs Linux 5.12, `persist` 6.9. */
export type TableFlag = 'dormant' | 'owner' | 'persist' | number;

/** A table that is written. */
export interface NewTable extends TableName {
  readonly flags?: readonly TableFlag[];
  /** At most 128 bytes, for nft reads no longer one. It is written with a new table only. Linux 5.10. */
  readonly comment?: string;
}

/** A table as the kernel lists it. */
export interface Table extends NewTable, Unread {
  readonly flags: readonly TableFlag[];
  readonly handle: bigint;
  /** Number of its chains, sets, objects and flowtables. */
  readonly use: number;
  /** Netlink port of the program that owns it. */
  readonly owner?: number;
}

/** The place in the kernel at which the packets enter a base chain (`NF_INET_`). A number if it has no name here. */
export type Hook =
  | 'prerouting'
  | 'input'
  | 'forward'
  | 'output'
  | 'postrouting'
  | 'ingress'
  | 'egress'
  | number;

/** What makes a chain a base chain. It never changes; a chain of another hook must be deleted first. */
export interface BaseChain {
  /** `nat` is at `prerouting`, `input`, `output` and `postrouting`; `route` at `output`. */
  readonly type: 'filter' | 'nat' | 'route';
  readonly hook: Hook;
  /** −2147483648 to 2147483647; chains with lower numbers are first. `nat` needs more than −200. */
  readonly priority: number;
  /** The fate of packets that reach the end. Default `accept`. */
  readonly policy?: 'accept' | 'drop';
  /** Names of the links of `ingress` and `egress`; with an asterisk at the end, beginnings of names (Linux 6.16). */
  readonly devices?: readonly string[];
}

/** A chain that is written. */
export interface NewChain extends NameInTable {
  /** Absent: packets come by `jump` and `goto` only. */
  readonly base?: BaseChain;
  /** At most 128 bytes. Linux 5.10. */
  readonly comment?: string;
}

/** A chain that a program knows to be of a type without its hook is refused when it is compiled; all others by the kernel. */
export type AtHookOfType<Given> = Given extends {
  readonly base:
    | { readonly type: 'nat'; readonly hook: 'forward' | 'ingress' | 'egress' }
    | { readonly type: 'route'; readonly hook: Exclude<Hook, 'output' | number> };
}
  ? never
  : unknown;

/** A chain as the kernel lists it. */
export interface Chain extends NewChain, Unread {
  readonly handle: bigint;
  /** Number of the rules in it and of the jumps to it. */
  readonly use: number;
  /** Flags (`NFT_CHAIN_`) beside `NFT_CHAIN_BASE`: 2 for hardware offload. Absent: 0. */
  readonly flags?: number;
}

/** A rule that is written. */
export interface NewRule {
  readonly family: TableFamily;
  readonly table: string;
  readonly chain: string;
  readonly expressions: readonly Expression[];
  /** At most 128 bytes. */
  readonly comment?: string;
}

/** The name of a rule. */
export interface RuleName {
  readonly family: TableFamily;
  readonly table: string;
  readonly chain: string;
  /** Of the listing. */
  readonly handle: bigint;
}

/** A rule as the kernel lists it. */
export interface Rule extends NewRule, Unread {
  readonly handle: bigint;
  /** The handle of the rule before it; absent in the first one. */
  readonly after?: bigint;
}

/** The name of a set, with what its elements are. Of a listed set, it is the set itself. */
export interface SetName extends NameInTable, SetShape {}

/** A set that is written. */
export interface NewSet extends SetName {
  /** Maximum number of elements; default: none, and 65535 if a rule adds elements. */
  readonly size?: number;
  /** Default lifetime of elements of a set with `timeout`, in ms. Default: without end. */
  readonly timeout?: bigint;
  /** The time after which the kernel removes elements that have expired, in ms: at most so often. Default: its own. */
  readonly gcInterval?: number;
  /** What the kernel is to save. Default: `performance`, which is time. */
  readonly policy?: 'performance' | 'memory';
  /** Counters, limits, quotas that each element has. Linux 5.7; several: 5.11. */
  readonly expressions?: readonly Expression[];
  /** nft joins intervals that overlap, when it adds some. The kernel does not know of it. */
  readonly autoMerge?: boolean;
  /** At most 128 bytes. Linux 5.10. */
  readonly comment?: string;
}

/** A set whose elements are listed: one that was listed itself, or what is known of it. */
export interface SetOfElements extends NameInTable {
  /** As in {@link NftSet}. Absent, or a number: elements have bytes as keys. */
  readonly key?: ValueTypes | number;
  readonly data?: ValueTypes | 'verdict' | number;
  readonly dataIsInterval?: true;
  readonly objects?: ObjectType;
  readonly flags?: readonly SetFlag[];
}

/** A set whose elements are listed as bytes: their lengths follow from the types. */
export type SetOfBytes = NameInTable & Pick<SetShape, 'key' | 'data' | 'flags'>;

/** A set as the kernel lists it. */
export interface NftSet extends Omit<NewSet, 'key' | 'data' | 'flags'>, Unread {
  /** Types; a number (`NFTA_SET_KEY_TYPE`) if nft's number of the type is unknown here. Elements then have bytes as keys. */
  readonly key: ValueTypes | number;
  readonly data?: ValueTypes | 'verdict' | number;
  readonly flags: readonly SetFlag[];
  /** Length of keys, in bytes. */
  readonly keyLength: number;
  /** Length of data, in bytes. */
  readonly dataLength?: number;
  /** It belongs to a rule, and is deleted with it. */
  readonly anonymous?: true;
  /** Number of elements that the kernel keeps. Linux 6.16. */
  readonly count?: number;
  /** How the kernel keeps them: `hash`, `rbtree`. Linux 6.16. */
  readonly backend?: string;
  readonly handle: bigint;
}

/** An element as the kernel lists it. */
export interface Element extends NewElement, Unread {
  /** It is the key behind the last one of an interval: of notifications, which have the two halves of an interval one by one. */
  readonly isEnd?: true;
}

/**
 * Elements of one message of a listing: at least one. Bytes stand for those that have a key and, in a map, data of the lengths of the set's
 * types, and nothing else.
 */
export interface ListedElementBytes extends ElementBytes {
  /** All others, as {@link Nftables.listElements} has them: with a comment, a lifetime, expressions, a value of another length. */
  readonly others: readonly Element[];
}

/** An object that rules refer to by name. */
export type NewObject = NameInTable & {
  /** At most 128 bytes. Linux 5.10. */
  readonly comment?: string;
} & ObjectContent;

/** The protocols of connections that an object is for. */
export interface Connections {
  /** Default: that of the table. */
  readonly network?: 'ip' | 'ip6' | 'inet';
  readonly protocol: 'tcp' | 'udp';
}

/** What an object has beside its name and comment, by its type. */
export type ObjectContent =
  | {
      readonly type: 'counter';
      /** Default 0. */
      readonly packets?: bigint;
      /** Default 0. */
      readonly bytes?: bigint;
    }
  | {
      readonly type: 'quota';
      readonly bytes: bigint;
      /** Matches what is beyond the quota; default: what is within. */
      readonly over?: boolean;
      /** Bytes used so far. Default 0. */
      readonly used?: bigint;
    }
  | ({ readonly type: 'limit' } & Omit<Extract<Expression, { kind: 'limit' }>, 'kind'>)
  /** The helper of conntrack that follows connections, of at most 15 bytes: `ftp`. */
  | ({ readonly type: 'ct helper'; readonly helper: string } & Connections)
  /** Times of conntrack in s, by the names of the states of the protocol. */
  | ({
      readonly type: 'ct timeout';
      readonly policy: Readonly<Record<string, number>>;
    } & Connections)
  /** A connection that is expected beside the one of the packet. */
  | ({
      readonly type: 'ct expectation';
      readonly port: number;
      /** In ms, as nft writes it. */
      readonly timeout: number;
      /** Most connections that are expected at a time. */
      readonly size: number;
    } & Connections)
  /** A context of SELinux, of at most 4095 bytes. */
  | { readonly type: 'secmark'; readonly context: string }
  | ({ readonly type: 'synproxy' } & Synproxy);

/** The name of an object. */
export type ObjectName = NameInTable & { readonly type: ObjectType };

/** An object as the kernel lists it. */
export type NftObject = (NewObject | (NameInTable & { readonly type: number })) &
  Unread & { readonly handle: bigint; readonly use: number };

/** A table of connections whose later packets go from link to link at once, past the chains: their rules have `flowOffload`. */
export interface NewFlowTable extends NameInTable {
  /** Chains of `ingress` with lower priorities are before it. */
  readonly priority: number;
  /** Names of the links whose packets it takes; with an asterisk at the end, beginnings of names (Linux 6.16). Default: none. Those of one that exists are added to it (Linux 5.8). */
  readonly devices?: readonly string[];
  /** `offload`: also to the hardware; `counter`: conntrack also counts its packets. A number is a bit that has no name here. */
  readonly flags?: readonly FlowTableFlag[];
}

/** A flow table that is deleted. */
export interface FlowTableName extends NameInTable {
  /** Only these links are taken out of it: ENOENT if it does not have one. Default: all of it is deleted. Linux 5.8. */
  readonly devices?: readonly string[];
  /** That of the flow table, which the kernel compares, with `devices`. Default 0. */
  readonly priority?: number;
}

/** `NFT_FLOWTABLE_` */
export type FlowTableFlag = 'offload' | 'counter' | number;

/** A flow table as the kernel lists it. */
export interface FlowTable extends NewFlowTable, Unread {
  readonly handle: bigint;
  /** Number of the rules that refer to it. */
  readonly use: number;
}

/** Elements that are added to a set; those of a map have data. */
export type ElementsOf<Set> = Set extends { readonly objects: ObjectType }
  ? readonly (NewElement & { readonly object: string })[]
  : Set extends { readonly data: ValueTypes | 'verdict' }
    ?
        | readonly (NewElement & { readonly data: ElementValue | Verdict })[]
        | (ElementBytes & { readonly data: Uint8Array })
    : readonly NewElement[] | ElementBytes;

/** One operation of a transaction. */
export type NftablesOperation =
  | ({ readonly do: 'addTable'; readonly table: NewTable } & Addition)
  | ({ readonly do: 'deleteTable'; readonly table: TableName } & Deletion)
  /** Deletes all rules of the table. */
  | { readonly do: 'flushTable'; readonly table: TableName }
  | ({ readonly do: 'addChain'; readonly chain: NewChain } & Addition)
  | ({ readonly do: 'deleteChain'; readonly chain: NameInTable } & Deletion)
  /** Deletes all rules of the chain. */
  | { readonly do: 'flushChain'; readonly chain: NameInTable }
  /** Adds the rule at the end of its chain, or behind the rule `after`. */
  | { readonly do: 'addRule'; readonly rule: NewRule; readonly after?: bigint }
  /** Adds the rule at the beginning of its chain, or before the rule `before`. */
  | { readonly do: 'insertRule'; readonly rule: NewRule; readonly before?: bigint }
  | { readonly do: 'replaceRule'; readonly rule: NewRule & RuleName }
  | ({ readonly do: 'deleteRule'; readonly rule: RuleName } & Deletion)
  | ({ readonly do: 'addSet'; readonly set: NewSet } & Addition)
  | ({ readonly do: 'deleteSet'; readonly set: NameInTable } & Deletion)
  /** An element with the same key and other data is an error (EEXIST): delete it before, in the same transaction. */
  | ({
      readonly do: 'addElements';
      readonly set: SetName;
      readonly elements: readonly NewElement[] | ElementBytes;
    } & Addition)
  | ({
      readonly do: 'deleteElements';
      readonly set: SetName;
      readonly elements: readonly ElementName[] | ElementKeyBytes;
    } & Deletion)
  /** Deletes all elements of the set. */
  | { readonly do: 'flushSet'; readonly set: NameInTable }
  | ({ readonly do: 'addObject'; readonly object: NewObject } & Addition)
  | ({ readonly do: 'deleteObject'; readonly object: ObjectName } & Deletion)
  | ({ readonly do: 'addFlowTable'; readonly flowTable: NewFlowTable } & Addition)
  | ({ readonly do: 'deleteFlowTable'; readonly flowTable: FlowTableName } & Deletion);

/** Which objects are listed; default: all. */
export interface TableFilter {
  readonly family?: TableFamily;
  /** Name of the table; needs `family`. */
  readonly table?: string;
}

/** Which rules are listed; default: all. */
export interface RuleFilter extends TableFilter {
  /** Name of the chain; needs `table`. The kernel then reads only this chain. */
  readonly chain?: string;
}

/**
 * A change of the ruleset. Those of one transaction are followed by one event `generation`. Of what was deleted, the kernel tells names
 * and handles; recent ones nothing else, and all other fields are then 0, empty or absent.
 */
export type NftablesEvent = Sent &
  (
    | { readonly kind: 'table'; readonly change: 'new' | 'deleted'; readonly table: Table }
    | { readonly kind: 'chain'; readonly change: 'new' | 'deleted'; readonly chain: Chain }
    | { readonly kind: 'rule'; readonly change: 'new' | 'deleted'; readonly rule: Rule }
    | { readonly kind: 'set'; readonly change: 'new' | 'deleted'; readonly set: NftSet }
    | {
        readonly kind: 'elements';
        readonly change: 'new' | 'deleted';
        /** Name of the set. */
        readonly set: NameInTable;
        /** With bytes as keys and data: the notification does not say their types. */
        readonly elements: readonly Element[];
      }
    | { readonly kind: 'object'; readonly change: 'new' | 'deleted'; readonly object: NftObject }
    | { readonly kind: 'flowTable'; readonly change: 'new' | 'deleted'; readonly flowTable: FlowTable }
    /** A transaction was committed. */
    | { readonly kind: 'generation'; readonly generation: Generation }
  );

/** A transaction that was committed, and the tables in which it changed something. */
export interface Commit extends Sent {
  readonly kind: 'commit';
  readonly generation: Generation;
  /** Each once, in the order of their first changes. Empty if only objects changed that have no notification. */
  readonly tables: readonly TableName[];
}

/** The ruleset of one network namespace. */
export interface Nftables extends KernelClient<NftablesOperation> {
  /**
   * Carries operations out as one transaction: all of them or none, in one buffer of any length. The work of the kernel on it has no
   * time limit. Resolves to one result for each operation: undefined for all; or an error for each that the kernel refuses, whose target
   * names the element or the expression if the kernel says which, and `ERR_ROLLED_BACK` for all others. If an operation is invalid, nothing is
   * sent. A failure of the whole is the result of each: `ERESTART` (another generation), `EPERM`, `EMSGSIZE`, `ENOMEM`,
   * `ERR_UNKNOWN_OUTCOME`. Other errors of the kernel: `ENOENT` (no such table, chain, set, rule, element), `EEXIST` (it exists, with another
   * content or with `exclusive`), `EBUSY` (it is in use), `EOPNOTSUPP` (not for a chain of this type, or the kernel lacks it), `EINVAL`.
   */
  apply(operations: readonly NftablesOperation[], options?: TransactionOptions): Promise<OperationResult[]>;
  addTable(table: NewTable, options?: CallOptions): Promise<void>;
  deleteTable(table: TableName, options?: CallOptions): Promise<void>;
  /** Deletes all rules of the table. */
  flushTable(table: TableName, options?: CallOptions): Promise<void>;
  addChain<const Given extends NewChain>(
    chain: Given & AtHookOfType<Given>,
    options?: CallOptions,
  ): Promise<void>;
  deleteChain(chain: NameInTable, options?: CallOptions): Promise<void>;
  flushChain(chain: NameInTable, options?: CallOptions): Promise<void>;
  addRule(rule: NewRule, options?: CallOptions): Promise<void>;
  insertRule(rule: NewRule, options?: CallOptions): Promise<void>;
  replaceRule(rule: NewRule & RuleName, options?: CallOptions): Promise<void>;
  deleteRule(rule: RuleName, options?: CallOptions): Promise<void>;
  addSet(set: NewSet, options?: CallOptions): Promise<void>;
  deleteSet(set: NameInTable, options?: CallOptions): Promise<void>;
  flushSet(set: NameInTable, options?: CallOptions): Promise<void>;
  addElements<const Set extends SetName>(
    set: Set,
    elements: ElementsOf<Set>,
    options?: CallOptions,
  ): Promise<void>;
  deleteElements(
    set: SetName,
    elements: readonly ElementName[] | ElementKeyBytes,
    options?: CallOptions,
  ): Promise<void>;
  addObject(object: NewObject, options?: CallOptions): Promise<void>;
  deleteObject(object: ObjectName, options?: CallOptions): Promise<void>;
  /** One that exists gets the links that it does not have. */
  addFlowTable(flowTable: NewFlowTable, options?: CallOptions): Promise<void>;
  deleteFlowTable(flowTable: FlowTableName, options?: CallOptions): Promise<void>;

  listTables(filter?: Pick<TableFilter, 'family'>, options?: CallOptions): Listing<Table>;
  listChains(filter?: TableFilter, options?: CallOptions): Listing<Chain>;
  /**
   * Rules, chain by chain, in the order in which they apply. A listing during which a transaction is committed is read again. In rare cases,
   * it contains only a part of a transaction that is committed at the same moment. A watch reports that transaction.
   */
  listRules(filter?: RuleFilter, options?: CallOptions): Listing<Rule>;
  listSets(filter?: TableFilter, options?: CallOptions): Listing<NftSet>;
  /** The elements of a set. With `key` of the set's types, they have values, else bytes. */
  listElements(set: SetOfElements, options?: CallOptions): Listing<Element>;
  /**
   * The elements of a set as bytes, for programs that read many: none costs an object, except those that have more than a key and data. A value
   * for each message of the kernel, at most 64 kB, in memory of its own. Refuses verdicts, intervals, and types that are numbers.
   */
  listElementBytes(set: SetOfBytes, options?: CallOptions): Listing<ListedElementBytes>;
  listObjects(filter?: TableFilter, options?: CallOptions): Listing<NftObject>;
  listFlowTables(filter?: TableFilter, options?: CallOptions): Listing<FlowTable>;
  /** The table; undefined if there is none. The kernel looks it up, and lists no others. */
  getTable(table: TableName, options?: CallOptions): Promise<Table | undefined>;
  /** The chain; undefined if there is none, or no such table. The kernel looks it up, and lists no others. */
  getChain(chain: NameInTable, options?: CallOptions): Promise<Chain | undefined>;
  /** The set, without its elements; undefined if there is none, or no such table. The kernel looks it up, and lists no others. */
  getSet(set: NameInTable, options?: CallOptions): Promise<NftSet | undefined>;
  /** Those of these elements that the set has, which the kernel looks up one by one. */
  getElements(set: SetName, elements: readonly ElementName[], options?: CallOptions): Promise<Element[]>;
  generation(options?: CallOptions): Promise<Generation>;
  /** Port of the client's socket, which events of its own changes have as `sender`. Another client, also of this process, has another one. */
  port(options?: CallOptions): Promise<number>;
  /** Changes of the ruleset by any program. */
  watch(options?: WatchOptions): EventStream<NftablesEvent>;
  /** Committed transactions, with the tables that they changed: what changed in them is not decoded. */
  watchCommits(options?: WatchOptions): EventStream<Commit>;
}
