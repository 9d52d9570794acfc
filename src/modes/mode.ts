// The contract between the reconciler and a mode. A mode decides what the kernel should hold, and how to program it; the
// reconciler decides when. Modes share this contract and nothing else.
import type { NetlinkError } from '../errors.js';
import type { HostAddress, HostFacts, NodeFacts, ServicePlanInput } from '../services/types.js';

/** The items that one owner, a Service or the node, wants in the kernel, by key. Never changed once planned. */
export type Plan<Item> = ReadonlyMap<string, Item>;

/** The items that all owners want. */
export interface Desired<Item> {
  /** The item wanted under a key: of several owners, the oldest one's. */
  get(key: string): Item | undefined;
  keys(): IterableIterator<string>;
  /** Keys of the wanted items in a group (see {@link Mode.groupOf}). */
  group(name: string): ReadonlySet<string>;
}

/** The items that the kernel holds, by key, as far as it acknowledged or showed them. */
export type Known<Item> = Map<string, Item>;

/** One step towards the desired state, for the item of one key. */
export interface KeyedOperation {
  readonly key: string;
  /** Label of the step in logs, metrics and plans: `addServers`. */
  readonly phase: string;
}

/** A pass whose operations have been carried out. */
export interface Pass<Item> {
  readonly desired: Desired<Item>;
  readonly known: Known<Item>;
  /** A clock that never runs back, in ms. */
  readonly now: number;
}

/** Compares key by key, so that its caller can yield in between. */
export interface Comparison<Operation> {
  /** Compares the items of a key; each key only once. */
  look(key: string): void;
  /** The operations that bring the keys looked at from known to desired, in the order in which they have to be done. */
  operations(): Operation[];
}

/** Work that is due because of time or of a pass, not because of a difference. */
export interface Maintenance<Operation> {
  readonly operations: readonly Operation[];
  readonly failures: readonly { readonly key: string; readonly error: NetlinkError }[];
  /** Time until more is due although nothing changes, in ms; asked for once the operations have been carried out. */
  dueIn(): number | undefined;
  /** Numbers for logs and metrics: `draining`. */
  counts(): Readonly<Record<string, number>>;
}

/** The result of reading some items alone. */
export interface Found<Item> {
  /** Items that the kernel holds, by key. */
  readonly items: ReadonlyMap<string, Item>;
  /** Why an item could not be read, by key. */
  readonly failures: ReadonlyMap<string, NetlinkError>;
}

/** The state that a mode keeps in the kernel while not every object can be read. Pure. */
export interface Keep<Item> {
  /** Those of the items that the kernel holds, by key, that are ours and there for Services. */
  found(known: ReadonlyMap<string, Item>): Map<string, Item>;
  /** The part of a found item that is missing from the wanted item of its key; undefined when none is. */
  beyond(found: Item, wanted: Item): Item | undefined;
  /** A wanted item together with such a part. */
  join(wanted: Item, part: Item): Item;
}

/** How a mode uses the addresses of the host. Pure. */
export interface HostRules {
  /** Whether the facts depend on an address. Addresses that the mode assigns itself seldom matter. */
  uses(address: HostAddress, nodeIPs: NodeFacts['nodeIPs']): boolean;
  /** The facts, from the addresses that are used. */
  facts(addresses: readonly HostAddress[], nodeIPs: NodeFacts['nodeIPs']): HostFacts;
}

/** Decides by the known items, as they are after the pass under way, whether others changed ours. */
export type DisturbedCheck<Item> = (known: ReadonlyMap<string, Item>) => boolean | Promise<boolean>;

/** Is told by a mode that others may have changed its items. */
export interface DisturbedListener<Item> {
  disturbed(check: DisturbedCheck<Item>): void;
}

/**
 * The code of the error of an operation that was correct and was rolled back, because another one of its transaction
 * failed. The reconciler tries it again at once, without the one that failed.
 */
export const ROLLED_BACK = 'ERR_ROLLED_BACK';

/** A way to program the kernel (`ipvs`). All methods up to `describe` are pure. */
export interface Mode<Item, Operation extends KeyedOperation> {
  readonly name: string;

  /** Quiet time after which everything is audited, since others change the kernel too, in ms. */
  readonly auditPeriod: number;

  /** How the mode uses the addresses of the host. */
  readonly host: HostRules;

  /** The plan of one Service. Depends on nothing but its arguments and earlier plans of the same Service. */
  planService(input: ServicePlanInput, node: NodeFacts): Plan<Item>;

  /** The items that do not belong to one Service, and those that follow from all Services together; walks over no Services. */
  planNode(desired: Desired<Item>, node: NodeFacts): Plan<Item>;

  /** Whether `planNode` may plan otherwise once a group has changed from one number of keys to another. */
  affectsNode(group: string, before: number, now: number): boolean;

  /** The group an item is counted in, if any: see {@link Desired.group}. */
  groupOf(item: Item): string | undefined;

  /** Whether an item that the kernel holds would have to be removed if nothing were proxied any more. */
  isOurs(item: Item): boolean;

  /**
   * Compares the desired items with the known ones; neither changes until the operations have been asked for.
   *
   * @param unknown items that the kernel may hold although they are not known: none of them is looked at
   */
  compare(
    desired: Desired<Item>,
    known: ReadonlyMap<string, Item>,
    unknown?: ReadonlyMap<string, Item | undefined>,
  ): Comparison<Operation>;

  /** Whether the wanted item equals the known one in all that is known, once {@link compare} found no difference. */
  isSame(want: Item, have: Item): boolean;

  /** The state that stays while not every object can be read. */
  readonly keep: Keep<Item>;

  /** Forgets a Service that was deleted. */
  forget?(service: string): void;

  /** Applies an acknowledged operation to the known items. */
  learn(known: Known<Item>, operation: Operation): void;

  /** The item of a failed operation, which the kernel may hold now. Undefined when it is none. */
  subjectOf(operation: Operation, known: ReadonlyMap<string, Item>): Item | undefined;

  /** An operation in words: lines of a readable diff. */
  describe(operation: Operation, known: Known<Item>): string[];

  /**
   * Carries operations out, in order. One result for each: an error hides no other. A batch may be a transaction: the
   * operation that made it fail has its error, the others have {@link ROLLED_BACK}.
   */
  apply(operations: readonly Operation[]): Promise<(NetlinkError | undefined)[]>;

  /** Reads our items in the kernel, in pieces of a bounded size. The kernel is read only while a piece is awaited. */
  observe(): AsyncIterable<ReadonlyMap<string, Item>>;

  /**
   * Reads some items alone; those that the kernel does not hold are missing in the result. An item that the kernel never
   * shows alone, and whose operations may be repeated without harm, counts as not yet in its desired state. An item whose
   * reading fails keeps no other from being read.
   *
   * @param items by key; undefined for keys that are of no item
   */
  observeAlone(items: ReadonlyMap<string, Item | undefined>, desired: Desired<Item>): Promise<Found<Item>>;

  /** Operations that are due beside the difference of a pass; a mode without any leaves it out. */
  maintain?(pass: Pass<Item>): Promise<Maintenance<Operation>>;

  /** Notices at once that others changed our items; a mode that cannot leaves it out, and its audits find it. */
  watch?(listener: DisturbedListener<Item>): Promise<{ close(): void }>;
}
