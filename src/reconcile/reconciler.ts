// When to plan, compare and act. Knows the contract of a mode and nothing of what it programs.
import { Breath } from '../breath.js';
import type { NetlinkError } from '../errors.js';
import type { KeyedOperation, Known, Mode } from '../modes/mode.js';
import type { HostAddress, NodeFacts, ServiceFrontends } from '../services/types.js';
import { Kept } from './kept.js';
import { Ledger, type Owner } from './ledger.js';

/** Where the reconciler reads what to plan from. */
export interface Inputs {
  serviceNames(): Iterable<string>;
  /** Undefined when there is no such Service. */
  frontends(service: string): ServiceFrontends | undefined;
  /** The same object as long as nothing about the node changed. */
  node(): NodeFacts;
  /** A pass takes in all that was touched up to now; what is touched from now on waits for the next. */
  taken(): void;
  /** Reads again what no event tells of; comes before each full pass. */
  refresh(): Promise<void>;
}

/** An operation that failed. Its item is unknown until it is observed again. */
export interface Failure {
  readonly key: string;
  readonly error: NetlinkError;
  /** It is something that the node wants whatever its Services are: without it none of them may work. */
  readonly vital: boolean;
}

/** What one pass did. */
export interface SyncSummary {
  /** The kernel was read and everything compared: at start, after failures, in audits. */
  readonly full: boolean;
  /** Services planned. */
  readonly services: number;
  /** Operations carried out, failed ones too. */
  readonly operations: number;
  /** How many of them put right what others had changed: an audit found it although nothing else was to be done. */
  readonly repaired: number;
  /** How many of them in each phase of the mode's order; phases without any are left out. */
  readonly phases: ReadonlyMap<string, number>;
  readonly failures: readonly Failure[];
  /** Addresses and ports that several Services claim, with the claimants; the first has it. */
  readonly contested: readonly { readonly key: string; readonly services: readonly string[] }[];
  /** Real servers whose connections run out. */
  readonly draining: number;
  /** Milliseconds after which another pass has something to look at although nothing changes. */
  readonly again: number | undefined;
  /** Milliseconds spent planning and comparing, and waiting for the kernel. */
  readonly milliseconds: { readonly plan: number; readonly kernel: number };
}

/** Plans what changed, compares it with what is known, and has the mode carry out the difference. One pass at a time. */
export class Reconciler<Item, Operation extends KeyedOperation> {
  readonly #mode: Mode<Item, Operation>;
  readonly #inputs: Inputs;
  readonly #now: () => number;
  readonly #ledger: Ledger<Item>;
  #known: Known<Item> = new Map();
  /** Keys whose last operation failed: left alone until a full pass has observed them. */
  #unknown = new Set<string>();
  #touched = new Set<string>();
  /** Not every object is known. */
  #kept: Kept<Item> | undefined;
  #full = true;
  /** The kernel has been read before. */
  #observed = false;

  /** @param now milliseconds of a clock that never runs back */
  constructor(mode: Mode<Item, Operation>, inputs: Inputs, now: () => number) {
    this.#mode = mode;
    this.#inputs = inputs;
    this.#now = now;
    this.#ledger = new Ledger((item) => mode.groupOf(item));
  }

  /** The next pass plans this Service again. */
  touch(service: string): void {
    this.#touched.add(service);
  }

  /** The next pass plans every Service again: something about the node changed. */
  touchAll(): void {
    for (const service of this.#inputs.serviceNames()) this.#touched.add(service);
    for (const service of this.#ledger.owners()) this.#touched.add(service);
    for (const { name } of [NODE, KEPT]) this.#touched.delete(name);
  }

  /** Not every object is known: what the first full pass finds and no plan wants stays until {@link release}. */
  hold(): void {
    this.#kept ??= new Kept(this.#mode.keep);
  }

  /** Every object is known: the next pass removes what was kept. */
  release(): void {
    if (!this.#kept) return;
    this.#kept = undefined;
    this.touchAll();
  }

  /** The next pass reads the kernel first and compares everything. */
  distrust(): void {
    this.#full = true;
  }

  /** Takes in that the host's addresses changed: when others had a hand in what is ours, the next pass looks at all. */
  heed(addresses: readonly HostAddress[]): void {
    if (!this.#full && this.#mode.isDisturbed(this.#known, addresses)) this.#full = true;
  }

  /** Whether a pass has anything to look at. */
  get pending(): boolean {
    return this.#full || this.#touched.size > 0;
  }

  /**
   * One pass. Rejects only when the kernel cannot be read; nothing is lost then, the next pass takes it all up again.
   * Must not be called while one is under way.
   */
  async sync(): Promise<SyncSummary> {
    const started = this.#now();
    const full = this.#full;
    const audit = full && this.#observed && this.#unknown.size === 0;
    if (full) await this.#observe();
    const observed = this.#now();
    const { keys, services } = await this.#plan();
    const contested = this.#contested(keys);
    const operations = await this.#compare(full ? this.#everyKey() : this.#settled(keys));
    const repaired = audit && services === 0 ? operations.length : 0;
    const planned = this.#now();
    const failures = await this.#apply(operations);
    const upkeep = await this.#upkeep();
    const upkept = upkeep.failures.map((failure) => ({ ...failure, vital: false }));
    failures.push(...upkept, ...(await this.#apply(upkeep.operations)));
    operations.push(...upkeep.operations);
    const done = this.#now();
    return {
      full,
      services,
      operations: operations.length,
      repaired,
      phases: countPhases(operations),
      failures,
      contested,
      draining: upkeep.draining,
      again: this.#mode.upkeepIn(),
      milliseconds: { plan: planned - observed, kernel: observed - started + done - planned },
    };
  }

  /** What a full pass would do, in words; does nothing. */
  async preview(): Promise<string[]> {
    await this.#observe();
    await this.#plan();
    const operations = await this.#compare(this.#everyKey());
    return operations.flatMap((operation) => this.#mode.describe(operation, this.#known));
  }

  async #upkeep() {
    return this.#mode.upkeep({ desired: this.#ledger, known: this.#known, now: this.#now() });
  }

  async #observe(): Promise<void> {
    await this.#inputs.refresh();
    this.#known = await this.#mode.observe();
    this.#kept?.find(this.#known);
    this.#unknown.clear();
    this.#full = false;
    this.#observed = true;
  }

  /** Plans what was touched; the keys whose desired item may differ now. What is touched meanwhile waits. */
  async #plan(): Promise<{ keys: Set<string>; services: number }> {
    const touched = this.#touched;
    this.#touched = new Set();
    this.#inputs.taken();
    const node = this.#inputs.node();
    const keys = new Set<string>();
    const breath = new Breath();
    try {
      for (const service of touched) {
        for (const key of this.#planService(service, node)) keys.add(key);
        if (breath.due) await breath.take();
      }
    } catch (error) {
      for (const service of touched) this.#touched.add(service);
      throw error;
    }
    for (const key of this.#ledger.replace(KEPT, this.#kept?.items ?? new Map())) keys.add(key);
    for (const key of this.#ledger.replace(NODE, this.#mode.planNode(this.#ledger, node))) keys.add(key);
    return { keys, services: touched.size };
  }

  #planService(service: string, node: NodeFacts): Set<string> {
    const frontends = this.#inputs.frontends(service);
    const owner = { name: service, rank: frontends?.createdAt ?? 0 };
    if (!frontends) return this.#ledger.replace(owner, new Map());
    const plan = this.#mode.planService(frontends, node, this.#ledger.fragment(service));
    if (this.#kept) return this.#ledger.replace(owner, this.#kept.join(plan));
    this.#mode.planned(frontends);
    return this.#ledger.replace(owner, plan);
  }

  async #compare(keys: Iterable<string>): Promise<Operation[]> {
    const comparison = this.#mode.compare(this.#ledger, this.#known);
    const breath = new Breath();
    for (const key of keys) {
      comparison.look(key);
      if (breath.due) await breath.take();
    }
    return comparison.operations();
  }

  *#everyKey(): Iterable<string> {
    yield* this.#ledger.keys();
    for (const key of this.#known.keys()) if (this.#ledger.get(key) === undefined) yield key;
  }

  #settled(keys: Set<string>): Set<string> {
    for (const key of this.#unknown) keys.delete(key);
    return keys;
  }

  #contested(keys: Iterable<string>): { key: string; services: readonly string[] }[] {
    const contested = [];
    for (const key of keys) {
      const services = this.#ledger.contenders(key);
      if (services.length > 1 && this.#mode.isExclusive(key)) contested.push({ key, services });
    }
    return contested;
  }

  #isVital(key: string): boolean {
    return this.#ledger.fragment(NODE.name)?.has(key) ?? false;
  }

  async #apply(operations: readonly Operation[]): Promise<Failure[]> {
    if (operations.length === 0) return [];
    const results = await this.#mode.apply(operations);
    const failures: Failure[] = [];
    const breath = new Breath();
    for (const [i, operation] of operations.entries()) {
      if (breath.due) await breath.take();
      const error = results[i];
      if (error) failures.push({ key: operation.key, error, vital: this.#isVital(operation.key) });
      else this.#mode.learn(this.#known, operation);
    }
    for (const { key } of failures) this.#unknown.add(key);
    return failures;
  }
}

function countPhases(operations: readonly KeyedOperation[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { phase } of operations) counts.set(phase, (counts.get(phase) ?? 0) + 1);
  return counts;
}

/** Owner of what is kept without a plan. The name is none that a Service can have. */
const KEPT: Owner = { name: '/', rank: Number.POSITIVE_INFINITY };

/** Owner of what the node wants whatever its services are. The name is none that a Service can have. */
const NODE: Owner = { name: '', rank: -1 };
