// The contract between the reconciler and a mode. A mode knows what the kernel should hold and how to make it so; the
// reconciler knows when to ask. Modes share this contract and nothing else.
import type { NetlinkError } from '../errors.js';
import type { HostAddress, HostChange, NodeChange, NodeFacts, ServiceFrontends } from '../services/types.js';

/** What one owner (a service, or the node) wants the kernel to hold: items by key. Never changed once planned. */
export type Fragment<Item> = ReadonlyMap<string, Item>;

/** What all owners together want. */
export interface Desired<Item> {
  /** The item wanted under a key: of several owners, the oldest one's. */
  get(key: string): Item | undefined;
  keys(): IterableIterator<string>;
  /** Keys of the wanted items in a group (see {@link Mode.groupOf}). */
  group(name: string): ReadonlySet<string>;
}

/** What the kernel holds, as far as it acknowledged or showed it: items by key. */
export type Known<Item> = Map<string, Item>;

/** One step towards the desired state; serves the item of one key. */
export interface KeyedOperation {
  readonly key: string;
  /** Which step of the mode's order it belongs to: `addServers`. */
  readonly phase: string;
}

/** A pass whose difference has been carried out. */
export interface Pass<Item> {
  readonly desired: Desired<Item>;
  readonly known: Known<Item>;
  /** A clock that never runs back, in ms. */
  readonly now: number;
}

/** Looks for differences key by key, so that its caller can give the thread away in between. */
export interface Comparison<Operation> {
  /** Takes in a key; each only once. */
  look(key: string): void;
  /** The operations that bring the keys looked at from known to desired, in the order in which they have to be done. */
  operations(): Operation[];
}

/** What is due, and what could not be found out. */
export interface Upkeep<Operation> {
  readonly operations: readonly Operation[];
  readonly failures: readonly { readonly key: string; readonly error: NetlinkError }[];
  /** Real servers that drain, those that are removed now included. */
  readonly draining: number;
}

/** What reading some items alone found. */
export interface Found<Item> {
  /** Items that the kernel holds, by key. */
  readonly items: ReadonlyMap<string, Item>;
  /** Why an item could not be read, by key. */
  readonly failures: ReadonlyMap<string, NetlinkError>;
}

/** What a mode keeps in the kernel while not every object is known. Pure. */
export interface Keep<Item> {
  /** Those of the items that the kernel holds, by key, that are ours and there for Services. */
  found(known: ReadonlyMap<string, Item>): Map<string, Item>;
  /** The part of a found item that is missing from the wanted item of its key; undefined when none is. */
  beyond(found: Item, wanted: Item): Item | undefined;
  /** A wanted item, and such a part beside it. */
  join(wanted: Item, part: Item): Item;
}

/** A way to program the kernel (`ipvs`). All up to `describe` is pure. */
export interface Mode<Item, Operation extends KeyedOperation> {
  readonly name: string;

  /**
   * What a service wants. Depends on nothing but its arguments.
   *
   * @param former what it wanted until now: some of what has just gone may end gracefully
   */
  planService(frontends: ServiceFrontends, node: NodeFacts, former?: Fragment<Item>): Fragment<Item>;

  /** What the node wants whatever its services are, and what follows from all of them together; no walk over services. */
  planNode(desired: Desired<Item>, node: NodeFacts): Fragment<Item>;

  /** Whether `planNode` may answer differently once a group has changed from one number of keys to another. */
  affectsNode(group: string, before: number, now: number): boolean;

  /** Whether planning depends on an address of the host. Addresses that the mode binds itself seldom matter. */
  isRelevant(address: HostAddress, node: NodeFacts): boolean;

  /** What differs for Services when the host's addresses are those of the second node facts, not of the first. */
  hostChange(before: NodeFacts, after: NodeFacts): Pick<NodeChange, 'nodePorts' | 'addresses'>;

  /** Whether a change of the host's links and addresses is one that others made to ours. */
  isDisturbedBy(known: ReadonlyMap<string, Item>, change: HostChange): boolean;

  /** Whether the host's addresses show that others changed ours since they were last known. Looks at all of them. */
  isDisturbed(known: ReadonlyMap<string, Item>, addresses: readonly HostAddress[]): boolean;

  /** The group an item is counted in, if any: what `planNode` asks about. */
  groupOf(item: Item): string | undefined;

  /** Whether a key can belong to one service only, so that a second claimant is an operator's mistake. */
  isExclusive(key: string): boolean;

  /** Whether a thing that the kernel holds would have to be removed if nothing were proxied any more. */
  isOurs(item: Item): boolean;

  /**
   * Compares what is desired with what is known; neither changes until its operations have been asked for.
   *
   * @param unknown items that the kernel may hold although they are not known: none of them is looked at
   */
  compare(
    desired: Desired<Item>,
    known: ReadonlyMap<string, Item>,
    unknown?: ReadonlyMap<string, Item | undefined>,
  ): Comparison<Operation>;

  /** Whether the wanted item can stand for the known one, between which {@link compare} found no difference. */
  isSame(want: Item, have: Item): boolean;

  /** What stays of a kernel's state while not every object is known. */
  readonly keep: Keep<Item>;

  /** Takes note of a Service that has been planned; undefined when it was deleted. */
  planned(service: string, frontends: ServiceFrontends | undefined): void;

  /** Takes an acknowledged operation into what is known. */
  learn(known: Known<Item>, operation: Operation): void;

  /** What a failed operation was about: the item that the kernel may hold now. Undefined when it is none. */
  subjectOf(operation: Operation, known: ReadonlyMap<string, Item>): Item | undefined;

  /** An operation in words: lines of a readable diff. */
  describe(operation: Operation, known: Known<Item>): string[];

  /** Carries operations out, in order; one result for each, an error never hides the others. */
  apply(operations: readonly Operation[]): Promise<(NetlinkError | undefined)[]>;

  /**
   * Reads our items in the kernel, in pieces of a bounded size. The kernel is read only while a piece is
   * awaited.
   */
  observe(): AsyncIterable<ReadonlyMap<string, Item>>;

  /**
   * Reads some items alone; those that the kernel does not hold are missing in the answer. An item that the kernel never
   * shows alone, and whose operations may be repeated without harm, counts as not yet in its desired state. An item whose
   * reading fails keeps no other from being read.
   *
   * @param items by key; undefined for keys that stand for no item
   */
  observeAlone(items: ReadonlyMap<string, Item | undefined>, desired: Desired<Item>): Promise<Found<Item>>;

  /** What follows from a pass beside its difference, and what time makes due: done and learned like anything else. */
  upkeep(pass: Pass<Item>): Promise<Upkeep<Operation>>;

  /** Time after which upkeep may be due although nothing changes, in ms; undefined when nothing is pending. */
  upkeepIn(now: number): number | undefined;
}
