// Decides when to plan, compare and apply. Depends on the contract of a mode, not on IPVS, ipset or iptables.
import type { DisturbedCheck, KeyedOperation, Known, Mode, Outlook } from '../modes/mode.js';
import type { NodeFacts } from '../services/types.js';
import { TimeSlice } from '../timeSlice.js';
import { applyOperations } from './applyOperations.js';
import { Audit } from './audit.js';
import { DesiredState, type Owner } from './desiredState.js';
import type { Inputs } from './inputs.js';
import { Kept } from './kept.js';
import { observeAll } from './observeAll.js';
import { countOperations, countPhases, type Failure, type SyncSummary, together } from './summary.js';

/** Maximum number of failed items that are read alone. For more, a full pass costs less. */
const MOST_ALONE = 256;

/** The current audit, and the summary of its slices so far. */
interface AuditUnderWay<Item> {
  readonly reads: Audit<Item>;
  done: SyncSummary | undefined;
}

/** Reads before a pass: keys that are no longer unknown, and keys that could not be read. */
interface Reads {
  readonly again: readonly string[];
  readonly unread: readonly Failure[];
}

/** An operation that a full pass would carry out. */
export interface PlannedOperation {
  /** Its phase in the mode's order. */
  readonly phase: string;
  readonly key: string;
  /** The item is in the node's own plan. */
  readonly node: boolean;
  /**
   * Services whose plans have the item; the first wins. If `node` is false and there is none, the item is not desired.
   */
  readonly services: readonly string[];
  /** The state of the item in the kernel: `unwanted` if no plan has it. */
  readonly state: 'missing' | 'different' | 'unwanted';
  /** The operation as a readable diff. */
  readonly lines: readonly string[];
}

/** Plans the changed Services, compares, and applies the differences. Runs one pass at a time. */
export class Reconciler<Item, Operation extends KeyedOperation> {
  readonly #mode: Mode<Item, Operation>;
  readonly #inputs: Inputs;
  readonly #now: () => number;
  readonly #desired: DesiredState<Item>;
  #known: Known<Item> = new Map();
  /** Keys whose last operation failed, with its item. They are not changed until they have been read again. */
  readonly #unknown = new Map<string, Item | undefined>();
  #touched = new Set<string>();
  /** Set while some objects are unreadable. */
  #kept: Kept<Item> | undefined;
  /** The facts from which the node's own items were planned. */
  #plannedNode: NodeFacts | undefined;
  /** Number of requests for a full pass, and the number of those that are done. */
  #fullAsked = 1;
  #fullDone = 0;
  #retry = false;
  #audit: AuditUnderWay<Item> | undefined;

  /** @param now monotonic time, in ms */
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

  /**
   * Some objects are unreadable: items that the first full pass finds and no plan contains stay until {@link release}.
   */
  hold(): void {
    this.#kept ??= new Kept(this.#mode.keep);
  }

  /** Every object is known: the next pass removes the kept items. */
  release(): void {
    if (!this.#kept) return;
    this.#kept = undefined;
    this.touchAll();
  }

  /** The next pass is a full pass. */
  requestFullSync(): void {
    this.#fullAsked++;
    this.#audit = undefined;
  }

  /** Starts an audit. Does nothing during an audit, or if a full pass is due. */
  startAudit(): void {
    if (!this.#full) this.#audit ??= { reads: new Audit(this.#mode.observe()), done: undefined };
  }

  /** The next pass reads the items whose last operation failed, and retries. */
  retryFailed(): void {
    if (this.#unknown.size > MOST_ALONE) this.requestFullSync();
    else if (this.#unknown.size > 0) this.#retry = true;
  }

  /** Another program may have changed our items. If the check confirms it, the next pass is a full pass. */
  async disturbed(check: DisturbedCheck<Item>): Promise<void> {
    if (!this.#full && (await check(this.#known))) this.requestFullSync();
  }

  /** Whether a pass has work to do. */
  get pending(): boolean {
    return this.#full || this.#retry || this.#touched.size > 0 || this.#plannedNode !== this.#inputs.node();
  }

  /** Whether an audit is running. */
  get auditing(): boolean {
    return this.#audit !== undefined;
  }

  /**
   * Runs one pass. Rejects only if the kernel cannot be read; no change is lost, and the next pass is a full pass. Must
   * not be called during a pass.
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
   * Runs one slice of the audit: reads a piece of the kernel's state, and repairs items that another program changed.
   * The last slice resolves to the summary of the whole audit. Rejects if the kernel cannot be read; then a full pass
   * is due.
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
    const repaired = countOperations(operations);
    const after = await this.#afterPass(operations, failures);
    const milliseconds = { plan: planned - observed, kernel: observed - started + this.#now() - planned };
    const did = { full: true, services: 0, repaired, milliseconds };
    const done: SyncSummary = { ...did, ...this.#results(operations, failures), ...after };
    audit.done = audit.done ? together(audit.done, done) : done;
    if (keys) return undefined;
    if (this.#audit === audit) this.#audit = undefined;
    return audit.done;
  }

  /** The operations of a full pass, in order. Applies none of them. */
  async preview(): Promise<PlannedOperation[]> {
    await this.#observe();
    await this.#plan();
    const operations = await this.#compare(this.#everyKey());
    return operations.map((operation) => {
      const { phase, key } = operation;
      const owners = this.#desired.ownersOf(key);
      const services = owners.filter((owner) => owner !== NODE.name && owner !== KEPT.name);
      const node = owners.includes(NODE.name);
      const state = this.#stateOf(key);
      return { phase, key, node, services, state, lines: this.#mode.describe(operation, this.#known) };
    });
  }

  #stateOf(key: string): PlannedOperation['state'] {
    if (this.#desired.get(key) === undefined) return 'unwanted';
    return this.#known.has(key) ? 'different' : 'missing';
  }

  get #full(): boolean {
    return this.#fullDone !== this.#fullAsked;
  }

  /** After a pass that was aborted, the state of the kernel is unknown: a full pass is due. */
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
    return { operations: countOperations(operations), phases, failures, unknown: this.#unknown.size };
  }

  /** Runs maintenance and follow-up work, and adds their operations and failures to those of the pass. */
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

  /** Reads the unknown items if a retry is due. Items that cannot be read stay unknown. */
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

  /** Plans the touched Services; returns the keys whose desired item may have changed. */
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

  /** Uses the current facts of the node. If they change later in this pass, the affected Services are touched again. */
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

  /** Plans the node's own items if a fact or group that they depend on has changed. */
  #planNode(node: NodeFacts): Iterable<string> {
    const outlook: Outlook = { complete: true, services: this.#desired.plans };
    const groups = [...this.#desired.takeGroupChanges()];
    const affected = groups.some(([name, { before, now }]) =>
      this.#mode.affectsNode(name, before, now, outlook),
    );
    if (node === this.#plannedNode && !affected) return [];
    this.#plannedNode = node;
    return this.#desired.replace(NODE, this.#mode.planNode(this.#desired, node, outlook));
  }

  async #compare(keys: Iterable<string>): Promise<Operation[]> {
    const comparison = this.#mode.compare(this.#desired, this.#known, this.#unknown);
    const slice = new TimeSlice();
    for (const key of keys) {
      comparison.look(key);
      if (slice.spend(1)) await slice.yield();
    }
    return [...comparison.additions(), ...comparison.removals()];
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

  /** Saves memory: known items that equal the desired ones become the same objects. */
  #share(keys: Iterable<string>): void {
    for (const key of keys) {
      const have = this.#known.get(key);
      if (have !== undefined) this.#known.set(key, this.#shared(key, have));
    }
  }

  /** The same for all items and their keys. */
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

/** The earlier of two times, in ms; undefined if both are. */
function earliest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

/** Owner of the kept items. No Service can have this name. */
const KEPT: Owner = { name: '/', rank: Number.POSITIVE_INFINITY };

/** Owner of the node's own plan. No Service can have this name. */
const NODE: Owner = { name: '', rank: -1 };
