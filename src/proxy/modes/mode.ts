// The contract between the reconciler and a mode. A mode plans the kernel's state and programs it; the reconciler
// decides when. Modes share only this contract.
import type { NetlinkError } from '../../kernel/errors.js';
import type { Family } from '../../kernel/net/address.js';
import type { HostAddress, HostFacts, HostLink, NodeFacts, ServicePlanInput } from '../services/types.js';

/** The items that one owner, a Service or the node, needs in the kernel, by key. Immutable. */
export type Plan<Item> = ReadonlyMap<string, Item>;

/** The items of all plans. */
export interface Desired<Item> {
  /** The desired item of a key. If several owners have the key, the item of the oldest one. */
  get(key: string): Item | undefined;
  keys(): IterableIterator<string>;
  /** Number of the desired items in a group (see {@link ItemGroups}). */
  groupSize(name: string): number;
  /** Their keys. From its first call, the keys of this group are listed, which takes memory. */
  group(name: string): ReadonlySet<string>;
  /** Names of the groups that have items. */
  groups(): Iterable<string>;
}

/** The items in the kernel, by key, as it acknowledged or reported them. */
export type Known<Item> = Map<string, Item>;

/** A change of the kernel, as it is counted. */
export interface PhasedOperation {
  readonly key: string;
  /** Its phase, in logs, metrics and plans: `addServers`. */
  readonly phase: string;
  /** Number of the kernel's operations that it makes; default 1. */
  readonly size?: number;
}

/** A change of the kernel, for the item of one key. */
export interface KeyedOperation<Item = unknown> extends PhasedOperation {
  /**
   * The item after the operation; undefined if it is removed. To save memory, an added item is the same object as the desired
   * one.
   */
  readonly becomes: Item | undefined;
}

/** A pass whose operations have been applied. */
export interface Pass<Item> {
  readonly desired: Desired<Item>;
  readonly known: Known<Item>;
  /** Monotonic time, in ms. */
  readonly now: number;
}

/** Compares one key at a time, so that the caller can yield between keys. */
export interface Comparison<Item, Operation> {
  /**
   * Compares the items of a key. Call it at most once for each key, and again only for a key without removals after its
   * additions have been applied.
   *
   * @returns the desired item if it equals the known one in all fields, and is another object: it can take its place
   */
  look(key: string): Item | undefined;
  /** Operations that add or change, for the keys compared since the last call, in the required order. */
  additions(): Operation[];
  /**
   * Operations that remove, for all compared keys, in the required order. They follow all additions of the pass. Call
   * it once, after the last key.
   */
  removals(): Operation[];
}

/** Operations that are due by time or after a pass, and not because of a difference. */
export interface Maintenance<Operation> {
  readonly operations: readonly Operation[];
  readonly failures: readonly { readonly key: string; readonly error: NetlinkError }[];
  /** Time until the next maintenance is due, in ms. Valid after the operations have been applied. */
  dueIn(): number | undefined;
  /** Numbers for logs and metrics: `draining`; `drainTimeouts`, since the start. */
  counts(): Readonly<Record<string, number>>;
}

/** The result of reading single items. */
export interface Found<Item> {
  /** Items that are in the kernel, by key. */
  readonly items: ReadonlyMap<string, Item>;
  /** Errors of the items that could not be read, by key. */
  readonly failures: ReadonlyMap<string, NetlinkError>;
}

/** Selects the state that stays in the kernel while some objects are unreadable. Pure. */
export interface Keep<Item> {
  /** The known items that are ours and belong to Services, by key. */
  found(known: ReadonlyMap<string, Item>): Map<string, Item>;
  /** The part of a found item that the desired item of its key does not have; undefined if there is none. */
  beyond(found: Item, wanted: Item): Item | undefined;
  /** A desired item with such a part added. */
  join(wanted: Item, part: Item): Item;
  /**
   * What kept state is in the form of a plan, by key, if it has another one: a change of the configuration or of the Service has given its
   * frontends other items. Absent: there is only one form.
   *
   * @param kept items that no plan has contained, and parts that plans do not have
   * @param former the previous plan of the Service
   */
  inFormOf?(
    plan: Plan<Item>,
    kept: Pick<ReadonlyMap<string, Item>, 'get' | 'has'>,
    former: Plan<Item> | undefined,
  ): Iterable<readonly [string, Item]>;
  /**
   * Items, by key, to which an item leads only since a part was added to it, and which the plan may lack. Absent: there are none.
   *
   * @param joined the item with the part, @param plan the one that has the item without it
   */
  behind?(joined: Item, plan: Plan<Item>): Iterable<readonly [string, Item]>;
  /** Whether a desired item would stop the traffic that a kept one serves. Absent: none would. @param kept see above */
  contradicts?(wanted: Item, kept: ReadonlyMap<string, Item>): boolean;
}

/** What the items of a mode are. Pure. */
export interface ItemRules<Item> {
  /** Whether a clean-up must remove the item from the kernel. */
  isOurs(item: Item): boolean;
  /** Whether a clean-up leaves an item that only this mode makes, because another program uses it. Absent: it leaves none. */
  isUsed?(item: Item): boolean;
  /** Selects the state that stays while some objects are unreadable. */
  readonly keep: Keep<Item>;
  /** Absent: there are no groups. */
  readonly groups?: ItemGroups<Item>;
}

/** Groups of items, on whose numbers the plan of the node depends, see {@link Desired.group}. Pure. */
export interface ItemGroups<Item> {
  /**
   * The group of an item; undefined if it has none. Items of one key may be in several groups, one after another: the item that is desired
   * counts.
   */
  of(item: Item): string | undefined;
  /** Whether a change of the number of keys in a group may change the plan of the node. */
  affectsNode(group: string, before: number, now: number): boolean;
}

/** A mode in which the frontends of a Service port share its endpoints, as chains of rules do. Pure. */
export interface SharedEndpoints {
  /**
   * The form of all plans of Services in a cluster with so many endpoints in each family. When it changes, every Service is planned
   * again.
   */
  formOf(totalEndpoints: ServicePlanInput['totalEndpoints']): string;
}

/** How a mode programs the pieces of a large pass. */
export interface PieceRules {
  /**
   * The kernel's time for additions grows with the items that it has: pieces grow with what is done before them, up to this number of
   * Services.
   */
  readonly largest: number;
  /**
   * On a kernel that has no items of this proxy, the first pass programs Services while it plans others. The plan of a Service must only add items to
   * those of the node, and must change none of them. Otherwise the first pass plans all Services, and then programs them.
   */
  readonly ahead: boolean;
}

/** A mode with operations that are due by time or after a pass, and not because of a difference. */
export interface Upkeep<Item, Operation> {
  /**
   * The kernel has connections of the mode beside the flows of conntrack, as those of IPVS. The mode then bounds the draining of endpoints, and a
   * flow that began with the reply of an endpoint keeps new ones from it. Otherwise flows to draining endpoints are deleted after the setting
   * `drain-timeout` of their Service.
   */
  readonly ownConnections: boolean;
  /** What is due. */
  due(pass: Pass<Item>): Promise<Maintenance<Operation>>;
}

/** A mode whose operations are transactions, in which one item can be refused because of another. */
export interface Transactions<Item> {
  /** The part of an item that the kernel refused with this error; undefined if the error does not name it. */
  refusedBy(error: NetlinkError): RefusedPart<Item> | undefined;
  /**
   * Keys of the items without which the kernel refuses this item. A retry reads them too: another program may have deleted one.
   */
  dependsOn(item: Item): Iterable<string>;
}

/** The host's addresses as a mode uses them. Pure. */
export interface HostRules {
  /** Whether the facts depend on an address. They rarely depend on addresses that the mode itself assigns. */
  uses(address: HostAddress, nodeIPs: NodeFacts['nodeIPs']): boolean;
  /** Whether the facts depend on a link. Absent: they depend on none. */
  usesLink?(link: HostLink): boolean;
  /** The facts, from the addresses that are used. The names of the links that are used are added to them. */
  facts(addresses: readonly HostAddress[], nodeIPs: NodeFacts['nodeIPs']): HostFacts;
  /**
   * Whether node ports are served on an address of this host in a family without networks for them: their rule has all addresses, and the facts
   * have none. Absent: the facts have all.
   */
  servesOnAll?(address: string, nodeIPs: NodeFacts['nodeIPs']): boolean;
  /** The plans of Services depend on the networks of this node's pods; by default, only that of the node does. */
  readonly podNetworks?: boolean;
}

/** A part of an item, such as a rule, that the kernel refused. */
export interface RefusedPart<Item> {
  isIn(item: Item): boolean;
}

/** Decides whether another program changed our items, from the items that are known after the current pass. */
export type DisturbedCheck<Item> = (known: ReadonlyMap<string, Item>) => boolean | Promise<boolean>;

/** Called by a mode when another program may have changed its items. */
export interface DisturbedListener<Item> {
  disturbed(check: DisturbedCheck<Item>): void;
}

/** Numbers of rules in the chains of a table. */
export interface RuleCount {
  readonly family: Family;
  readonly table: 'filter' | 'nat';
  readonly total: number;
  /** Those that were written since the last call. */
  readonly written: number;
}

/** The state of a mode that ran on this node before, opened to be removed. */
export interface FormerState {
  readonly mode: Mode<unknown, KeyedOperation>;
  /** Number of connections that end when the state is removed. Absent: none. Rejects with a NetlinkError. */
  connections?(): Promise<number>;
  /** Work after its items have been removed. Absent: none. Rejects with a NetlinkError. */
  finish?(): Promise<void>;
  close(): void;
}

/** A mode that may have run on this node before. */
export interface FormerMode {
  readonly name: string;
  /**
   * Opens its state; undefined if it left none; `later` if that can be said only when a mode before it is removed. It has nothing that the
   * running mode uses. Rejects with the NetlinkError of a part that cannot be opened or read.
   *
   * @param remaining names of the modes before it whose state remains for now: what could be theirs is no sign of this mode. Default: none
   */
  open(remaining?: readonly string[]): Promise<FormerState | 'later' | undefined>;
}

/** A proxy mode: how the kernel is programmed (`ipvs`). All methods up to `describe` are pure. */
export interface Mode<Item, Operation extends KeyedOperation<Item>> {
  readonly name: string;

  /** Time without changes after which an audit starts, in ms. */
  readonly auditPeriod: number;

  /** The host's addresses as the mode uses them. */
  readonly host: HostRules;

  /** What the items are. */
  readonly items: ItemRules<Item>;

  /**
   * The frontends of a Service port share its endpoints, so that an endpoint has as many items as the Service has ports. Absent: each
   * frontend has endpoints of its own, as virtual services have. It determines what the limit of frontends × endpoints counts.
   */
  readonly sharedEndpoints?: SharedEndpoints;

  /** Absent: every piece of a pass has at most 256 Services, and none is programmed while others are planned for the first time. */
  readonly pieces?: PieceRules;

  /** Absent: no operation fails because of another. */
  readonly transactions?: Transactions<Item>;

  /**
   * The plan of one Service. Depends only on the arguments; `input.left` also has the endpoints that were terminating in the last
   * plan.
   */
  planService(input: ServicePlanInput, node: NodeFacts): Plan<Item>;

  /** The items that belong to no single Service. Its cost does not depend on the number of Services. */
  planNode(desired: Desired<Item>, node: NodeFacts): Plan<Item>;

  /**
   * Compares the desired items with the known ones. An item may change only before its key is compared, or when
   * its operations have been taken.
   *
   * @param unknown items whose state in the kernel is unknown; they are not compared
   */
  compare(
    desired: Desired<Item>,
    known: ReadonlyMap<string, Item>,
    unknown?: ReadonlyMap<string, Item | undefined>,
  ): Comparison<Item, Operation>;

  /** The lines of a readable diff, for each of the kernel's operations that an operation makes. */
  describe(operation: Operation, known: Known<Item>): string[][];

  /**
   * Does what `apply` would do before it calls the kernel, while the kernel carries out other operations. The same list is given to
   * `apply` next. Absent: there is nothing.
   */
  prepare?(operations: readonly Operation[]): Promise<void>;

  /**
   * Applies operations, in order. Returns one result for each. If the batch is a transaction, the mode leaves out what the kernel
   * refuses (`shared/program/leaveOut.ts`): an operation fails for itself, or for others of its Service.
   */
  apply(operations: readonly Operation[]): Promise<(NetlinkError | undefined)[]>;

  /**
   * The kernel acknowledged an operation. Absent: the mode keeps nothing beside the known items.
   *
   * @param before the item that was known of its key until now
   */
  acknowledged?(operation: Operation, before: Item | undefined): void;

  /**
   * Reads our items from the kernel, in pieces of bounded size and in any order. If an item comes twice, the second one is right. A
   * piece may be older than the call for it, but not older than the first call. With the end of an iteration, the reading ends.
   *
   * @param whole with the parts of items that {@link Keep} needs, even if a comparison does not; default false
   */
  observe(whole?: boolean): AsyncIterable<ReadonlyMap<string, Item>>;

  /**
   * A mark of all that {@link Mode.observe} reads: while it is the same, neither this proxy nor another program has changed anything of it.
   * Undefined: the kernel has none. Absent: the same. Rejects with a NetlinkError.
   */
  mark?(): Promise<string | undefined>;

  /**
   * Reads single items. The result contains only those that are in the kernel. If the kernel cannot report an item
   * alone, and its operations can be repeated safely, the item counts as not yet in its desired state. If one item
   * cannot be read, the others are still read.
   *
   * @param items by key; undefined for keys without an item
   */
  observeAlone(items: ReadonlyMap<string, Item | undefined>, desired: Desired<Item>): Promise<Found<Item>>;

  /** Absent: nothing is due without a difference. */
  readonly upkeep?: Upkeep<Item, Operation>;

  /** Detects immediately that another program changed our items. Optional: without it, only audits detect this. */
  watch?(listener: DisturbedListener<Item>): Promise<{ close(): void }>;
}
