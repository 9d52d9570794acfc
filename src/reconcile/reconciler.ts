// Decides when to plan, compare and act. Knows the contract of a mode, and nothing of IPVS, ipset or iptables.
import type { DisturbedCheck, KeyedOperation, Known, Mode } from '../modes/mode.js';
import type { NodeFacts, ServicePlanInput } from '../services/types.js';
import { TimeSlice } from '../timeSlice.js';
import { applyOperations } from './applyOperations.js';
import { Audit } from './audit.js';
import { DesiredState, type Owner } from './desiredState.js';
import { Kept } from './kept.js';
import { observeAll } from './observeAll.js';
import { countPhases, type Failure, type FollowUp, type SyncSummary, together } from './summary.js';

/** Where the reconciler reads what to plan from. */
export interface Inputs {
  serviceNames(): Iterable<string>;
  /** Undefined when there is no such Service. */
  planInput(service: string): ServicePlanInput | undefined;
  /** The same object as long as nothing about the node changed. */
  node(): NodeFacts;
  /** A pass begins with all Services touched up to now; those that are touched from now on wait for the next. */
  taken(): void;
  /** Reads again the facts that no event reports; called before each full pass. */
  refresh(): Promise<void>;
  /** Work that follows each pass in every mode; none by default. */
  readonly followUp?: FollowUp;
}

/** Items that are read alone after failures, at most: for more of them, a full pass costs less. */
const MOST_ALONE = 256;

/** An audit under way, and the summary of its slices up to now. */
interface AuditUnderWay<Item> {
  readonly reads: Audit<Item>;
  done: SyncSummary | undefined;
}

/** Reads before a pass: keys that may be operated on again, and those that could not be read. */
interface Reads {
  readonly again: readonly string[];
  readonly unread: readonly Failure[];
}

/** An operation that a full pass would carry out. */
export interface PlannedOperation {
  /** Which step of the mode's order it belongs to. */
  readonly phase: string;
  readonly key: string;
  /** The node wants the item, whatever its Services are. */
  readonly node: boolean;
  /** Services that want the item; with several, the first wins. None, and not the node: it is no longer wanted. */
  readonly services: readonly string[];
  /** The operation in words. */
  readonly lines: readonly string[];
}

/** Plans the Services that changed, compares, and has the mode carry out the difference. One pass at a time. */
export class Reconciler<Item, Operation extends KeyedOperation> {
  readonly #mode: Mode<Item, Operation>;
  readonly #inputs: Inputs;
  readonly #now: () => number;
  readonly #desired: DesiredState<Item>;
  #known: Known<Item> = new Map();
  /** Keys whose last operation failed, with the item that it was about: left alone until they are read again. */
  readonly #unknown = new Map<string, Item | undefined>();
  #touched = new Set<string>();
  /** Set while not every object is known. */
  #kept: Kept<Item> | undefined;
  /** The facts by which the node's own items were planned. */
  #plannedNode: NodeFacts | undefined;
  /** Full passes that were asked for, and how many of these requests have been met. */
  #fullAsked = 1;
  #fullDone = 0;
  #retry = false;
  #audit: AuditUnderWay<Item> | undefined;

  /** @param now a clock that never runs back, in ms */
  constructor(mode: Mode<Item, Operation>, inputs: Inputs, now: () => number) {
    this.#mode = mode;
    this.#inputs = inputs;
    this.#now = now;
    this.#desired = new DesiredState((item) => mode.groupOf(item));
  }

  /** The next pass plans this Service again. */
  touch(service: string): void {
    this.#touched.add(service);
  }

  /** The next pass plans every Service again. */
  touchAll(): void {
    for (const service of this.#inputs.serviceNames()) this.#touched.add(service);
    for (const service of this.#desired.owners()) this.#touched.add(service);
    for (const { name } of [NODE, KEPT]) this.#touched.delete(name);
  }

  /** Not every object is known: items that the first full pass finds and no plan wants stay until {@link release}. */
  hold(): void {
    this.#kept ??= new Kept(this.#mode.keep);
  }

  /** Every object is known: the next pass removes the items that were kept. */
  release(): void {
    if (!this.#kept) return;
    this.#kept = undefined;
    this.touchAll();
  }

  /** The next pass reads the kernel first and compares everything. */
  requestFullSync(): void {
    this.#fullAsked++;
    this.#audit = undefined;
  }

  /** Begins an audit of everything, in slices. Does nothing while an audit is under way, or a full pass is due. */
  startAudit(): void {
    if (!this.#full) this.#audit ??= { reads: new Audit(this.#mode.observe()), done: undefined };
  }

  /** The next pass reads the items whose last operation failed, and tries again. */
  retryFailed(): void {
    if (this.#unknown.size > MOST_ALONE) this.requestFullSync();
    else if (this.#unknown.size > 0) this.#retry = true;
  }

  /** Others may have changed items of ours: when the check shows that they have, the next pass is a full one. */
  async disturbed(check: DisturbedCheck<Item>): Promise<void> {
    if (!this.#full && (await check(this.#known))) this.requestFullSync();
  }

  /** Whether a pass has anything to do. */
  get pending(): boolean {
    return this.#full || this.#retry || this.#touched.size > 0 || this.#plannedNode !== this.#inputs.node();
  }

  /** Whether an audit is under way. */
  get auditing(): boolean {
    return this.#audit !== undefined;
  }

  /**
   * One pass. Rejects only when the kernel cannot be read as a whole; nothing is lost then, the next pass is a full one.
   * Must not be called while one is under way.
   */
  sync(): Promise<SyncSummary> {
    return this.#elseFull(() => this.#pass());
  }

  async #pass(): Promise<SyncSummary> {
    const started = this.#now();
    const full = this.#full;
    const { again, unread } = full ? await this.#observe() : await this.#observeUnknown();
    const observed = this.#now();
    const { keys, services } = await this.#plan();
    for (const key of again) keys.add(key);
    const compared = full ? this.#everyKey() : [...keys].filter((key) => !this.#unknown.has(key));
    const differences = await this.#compare(compared);
    const planned = this.#now();
    const operations: KeyedOperation[] = [...differences];
    const failures = [...unread, ...(await this.#apply(differences))];
    if (full) await this.#shareAll();
    else this.#share(keys);
    const after = await this.#afterPass(operations, failures);
    const milliseconds = { plan: planned - observed, kernel: observed - started + this.#now() - planned };
    const did = { full, services, repaired: 0, milliseconds };
    return { ...did, ...this.#results(operations, failures), ...after };
  }

  /**
   * One slice of the audit: reads a piece of the kernel's state, and repairs items that others changed there. Resolves to
   * the summary of the whole audit when this was its last slice. Rejects when the kernel cannot be read; a full pass is due
   * then.
   */
  async auditSlice(): Promise<SyncSummary | undefined> {
    const audit = this.#audit;
    return audit && this.#elseFull(() => this.#slice(audit));
  }

  async #slice(audit: AuditUnderWay<Item>): Promise<SyncSummary | undefined> {
    const started = this.#now();
    const keys = await audit.reads.next(this.#known, (key) => this.#unknown.has(key));
    const observed = this.#now();
    const differences = await this.#compare(keys ?? []);
    const planned = this.#now();
    const operations: KeyedOperation[] = [...differences];
    const failures = await this.#apply(differences);
    this.#share(keys ?? []);
    const repaired = operations.length;
    const after = await this.#afterPass(operations, failures);
    const milliseconds = { plan: planned - observed, kernel: observed - started + this.#now() - planned };
    const did = { full: true, services: 0, repaired, milliseconds };
    const done: SyncSummary = { ...did, ...this.#results(operations, failures), ...after };
    audit.done = audit.done ? together(audit.done, done) : done;
    if (keys) return undefined;
    if (this.#audit === audit) this.#audit = undefined;
    return audit.done;
  }

  /** The operations of a full pass, in order; carries none of them out. */
  async preview(): Promise<PlannedOperation[]> {
    await this.#observe();
    await this.#plan();
    const operations = await this.#compare(this.#everyKey());
    return operations.map((operation) => {
      const { phase, key } = operation;
      const owners = this.#desired.ownersOf(key);
      const services = owners.filter((owner) => owner !== NODE.name && owner !== KEPT.name);
      const node = owners.includes(NODE.name);
      return { phase, key, node, services, lines: this.#mode.describe(operation, this.#known) };
    });
  }

  get #full(): boolean {
    return this.#fullDone !== this.#fullAsked;
  }

  /** A pass that breaks off has left behind a state that only a full pass can know. */
  async #elseFull<Result>(pass: () => Promise<Result>): Promise<Result> {
    try {
      return await pass();
    } catch (error) {
      this.requestFullSync();
      throw error;
    }
  }

  #results(operations: readonly KeyedOperation[], failures: readonly Failure[]) {
    const phases = countPhases(operations);
    return { operations: operations.length, phases, failures, unknown: this.#unknown.size };
  }

  /** Adds maintenance, and work that every mode has after a pass, to the operations and failures of the pass. */
  async #afterPass(operations: KeyedOperation[], failures: Failure[]) {
    const now = this.#now();
    const due = await this.#mode.maintain?.({ desired: this.#desired, known: this.#known, now });
    if (due) {
      for (const failure of due.failures) {
        this.#unknown.set(failure.key, undefined);
        failures.push({ ...failure, vital: false });
      }
      failures.push(...(await this.#apply(due.operations)));
      operations.push(...due.operations);
      this.#share(due.operations.map(({ key }) => key));
    }
    const { followUp } = this.#inputs;
    const followed = await followUp?.run();
    operations.push(...(followed?.operations ?? []));
    failures.push(...(followed?.failures ?? []));
    return { counts: due?.counts() ?? {}, again: earliest(due?.dueIn(), followUp?.dueIn) };
  }

  async #observe(): Promise<Reads> {
    const asked = this.#fullAsked;
    await this.#inputs.refresh();
    this.#known = await observeAll(this.#mode);
    this.#kept?.find(this.#known);
    this.#unknown.clear();
    this.#fullDone = asked;
    this.#retry = false;
    return { again: [], unread: [] };
  }

  /** Reads what failed, when that is due. What cannot be read stays unknown. */
  async #observeUnknown(): Promise<Reads> {
    if (!this.#retry) return { again: [], unread: [] };
    const { items, failures } = await this.#mode.observeAlone(this.#unknown, this.#desired);
    const again = [...this.#unknown.keys()].filter((key) => !failures.has(key));
    for (const key of again) {
      const item = items.get(key);
      if (item === undefined) this.#known.delete(key);
      else this.#known.set(key, item);
      this.#audit?.reads.changed(key);
      this.#unknown.delete(key);
    }
    this.#retry = false;
    const unread = [...failures].map(([key, error]) => ({ key, error, vital: this.#isVital(key) }));
    return { again, unread };
  }

  /** Plans what was touched; the keys whose desired item may differ now. What is touched meanwhile waits. */
  async #plan(): Promise<{ keys: Set<string>; services: number }> {
    const touched = this.#touched;
    this.#touched = new Set();
    this.#inputs.taken();
    const keys = new Set<string>();
    const slice = new TimeSlice();
    try {
      for (const service of touched) {
        for (const key of this.#planService(service)) keys.add(key);
        if (slice.spend()) await slice.yield();
      }
    } catch (error) {
      for (const service of touched) this.#touched.add(service);
      throw error;
    }
    for (const key of this.#planKept()) keys.add(key);
    for (const key of this.#planNode(this.#inputs.node())) keys.add(key);
    return { keys, services: touched.size };
  }

  /** By the node's facts of this moment: a change of them touches the Services that were planned before it. */
  #planService(service: string): Set<string> {
    const input = this.#inputs.planInput(service);
    const node = this.#inputs.node();
    const owner = { name: service, rank: input?.createdAt ?? 0 };
    if (!this.#kept) this.#inputs.followUp?.planned(service, input);
    if (!input) this.#mode.forget?.(service);
    const former = this.#desired.planOf(service);
    const plan = input ? this.#mode.planService(input, node) : new Map();
    return this.#desired.replace(owner, this.#kept?.join(plan, former) ?? plan);
  }

  #planKept(): Iterable<string> {
    const kept = this.#kept ? this.#kept.takeChanged() : new Map();
    return kept ? this.#desired.replace(KEPT, kept) : [];
  }

  /** Plans the node's own items when a fact that they depend on differs. */
  #planNode(node: NodeFacts): Iterable<string> {
    const groups = [...this.#desired.takeGroupChanges()];
    const affected = groups.some(([name, { before, now }]) => this.#mode.affectsNode(name, before, now));
    if (node === this.#plannedNode && !affected) return [];
    this.#plannedNode = node;
    return this.#desired.replace(NODE, this.#mode.planNode(this.#desired, node));
  }

  async #compare(keys: Iterable<string>): Promise<Operation[]> {
    const comparison = this.#mode.compare(this.#desired, this.#known, this.#unknown);
    const slice = new TimeSlice();
    for (const key of keys) {
      comparison.look(key);
      if (slice.spend(1)) await slice.yield();
    }
    return comparison.operations();
  }

  *#everyKey(): Iterable<string> {
    yield* this.#desired.keys();
    for (const key of this.#known.keys()) if (this.#desired.get(key) === undefined) yield key;
  }

  #isVital(key: string): boolean {
    return this.#desired.planOf(NODE.name)?.has(key) ?? false;
  }

  async #apply(operations: readonly Operation[]): Promise<Failure[]> {
    if (operations.length === 0) return [];
    const results = await applyOperations(this.#mode, operations);
    const failures: Failure[] = [];
    const slice = new TimeSlice();
    for (const [i, operation] of operations.entries()) {
      if (slice.spend(1)) await slice.yield();
      const { key } = operation;
      this.#audit?.reads.changed(key);
      const error = results[i];
      if (error) {
        failures.push({ key, error, vital: this.#isVital(key) });
        this.#unknown.set(key, this.#mode.subjectOf(operation, this.#known));
      } else this.#mode.learn(this.#known, operation);
    }
    return failures;
  }

  /** Keeps one copy of items that are known to be as they are desired. */
  #share(keys: Iterable<string>): void {
    for (const key of keys) {
      const have = this.#known.get(key);
      if (have !== undefined) this.#known.set(key, this.#shared(key, have));
    }
  }

  /** The same for all items, and for their keys. */
  async #shareAll(): Promise<void> {
    const known: Known<Item> = new Map();
    const slice = new TimeSlice();
    for (const key of this.#desired.keys()) {
      const have = this.#known.get(key);
      if (have !== undefined) known.set(key, this.#shared(key, have));
      if (slice.spend(1)) await slice.yield();
    }
    for (const [key, have] of this.#known) if (!known.has(key)) known.set(key, have);
    this.#known = known;
  }

  #shared(key: string, have: Item): Item {
    const want = this.#desired.get(key);
    if (want === undefined || want === have || this.#unknown.has(key)) return have;
    return this.#mode.isSame(want, have) ? want : have;
  }
}

/** The earlier of two times, in ms; undefined where there is none. */
function earliest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

/** Owner of the items that are kept without a plan. No Service can have this name. */
const KEPT: Owner = { name: '/', rank: Number.POSITIVE_INFINITY };

/** Owner of the node's own plan. No Service can have this name. */
const NODE: Owner = { name: '', rank: -1 };
