// Decides when to plan, compare and apply. Depends on the contract of a mode, not on IPVS, ipset or iptables.

import { TimeSlice } from '../../kernel/timeSlice.js';
import type { DisturbedCheck, KeyedOperation, Mode } from '../modes/mode.js';
import { endsWithin } from '../timers.js';
import { Audit } from './audit.js';
import { type Before, NO_REPAIR, repairsAfterReading, repairsOf } from './drift.js';
import { programFirst } from './firstPiece.js';
import type { Inputs } from './inputs.js';
import { KernelState } from './kernelState.js';
import { observeAll } from './observeAll.js';
import { ahead, countServices, divide, everything } from './pieces.js';
import { describeItems, type PlannedOperation } from './plannedOperation.js';
import { Planner } from './planner.js';
import { Repairs } from './repairs.js';
import { PassRecord, type SyncSummary, together } from './summary.js';

/** Maximum number of failed items that are read alone. For more, a full pass costs less. */
const MOST_ALONE = 256;

/** Longest wait for the reading of an empty kernel, in ms. It takes a few ms on a node, and 80 ms on a slow one. */
const READING_ALONE = 150;

/** The current audit, and the summary of its slices so far. */
interface AuditUnderWay<Item> {
  readonly reads: Audit<Item>;
  done: SyncSummary | undefined;
  /** The mark before the first slice; undefined until it, and if the kernel has none. */
  mark?: string | undefined;
}

/** Plans the changed Services, compares, and applies the differences. Runs one pass at a time. */
export class Reconciler<Item, Operation extends KeyedOperation<Item>> {
  readonly #mode: Mode<Item, Operation>;
  readonly #inputs: Inputs;
  readonly #now: () => number;
  readonly #planner: Planner<Item, Operation>;
  readonly #kernel: KernelState<Item, Operation>;
  /** Number of requests for a full pass, and the number of those that are done. */
  #fullAsked = 1;
  #fullDone = 0;
  #retry = false;
  /** More failed items are due than are read alone: a full pass is due, once no audit is running. */
  #retryMany = false;
  /** A full pass has ended: what is known differs from the kernel only if another program changed it. */
  #inPlace = false;
  #audit: AuditUnderWay<Item> | undefined;
  /** The kernel had this mark when an audit had found all items in place. */
  #inPlaceAt: string | undefined;
  readonly #repairs = new Repairs();
  /** The operations under way are those of an audit. */
  #repairing = false;

  /** @param now monotonic time, in ms */
  constructor(mode: Mode<Item, Operation>, inputs: Inputs, now: () => number) {
    this.#mode = mode;
    this.#inputs = inputs;
    this.#now = now;
    this.#planner = new Planner(mode, inputs);
    const { followUp } = inputs;
    const events = {
      tried: (key: string) => this.#tried(key),
      accepted: (key: string, isRepair: boolean) =>
        followUp?.programmed(isRepair ? this.#planner.ownersOf(key) : undefined),
    };
    this.#kernel = new KernelState(mode, this.#planner, events, now);
  }

  #tried(key: string): void {
    this.#audit?.reads.changed(key);
    if (this.#repairing) this.#repairs.add(key);
  }

  /** The next pass plans this Service again. */
  touch(service: string): void {
    this.#planner.touchOne(service);
  }

  /** The same for several Services. The set is given up. */
  touchSet(services: Set<string>): void {
    this.#planner.touchSet(services);
  }

  /** The next pass plans every Service again. */
  touchAll(): void {
    this.#planner.touchAll();
  }

  /**
   * Some objects are unreadable: items that the first full pass finds and no plan contains stay until {@link release}.
   */
  hold(): void {
    this.#planner.hold();
  }

  /** Every object is known: the next pass removes the kept items. */
  release(): void {
    this.#planner.release();
  }

  /** Whether some objects are unreadable, since {@link hold}. */
  get held(): boolean {
    return this.#planner.held;
  }

  /** The next pass is a full pass. */
  requestFullSync(): void {
    this.#fullAsked++;
    this.endAudit();
  }

  /** The next pass does all work again that follows passes. */
  followUpAgain(): void {
    this.#inputs.followUp?.again();
  }

  /** Ends the current audit, if there is one, and with it the program that reads the kernel for it. */
  endAudit(): void {
    // A slice that reads the kernel now rejects or resolves as it would; an error of a reading that ends concerns nothing.
    this.#audit?.reads.close().catch(() => {});
    this.#audit = undefined;
  }

  /** Starts an audit. Does nothing during an audit, or if a full pass is due that does not wait for audits. */
  startAudit(): void {
    if (!this.#fullWanted) this.#audit ??= { reads: new Audit(this.#mode.observe()), done: undefined };
  }

  /** The next pass reads the items whose last operation failed and whose retry is due, and tries them again. */
  retryFailed(): void {
    const { length } = this.#kernel.unknown.due();
    if (length > MOST_ALONE) this.#retryMany = true;
    else if (length > 0) this.#retry = true;
  }

  /** Time until the next retry of a failed item, in ms; undefined if there is none, or if the next pass retries. */
  get retryIn(): number | undefined {
    if (this.#fullWanted || this.#retry || this.#retryMany) return undefined;
    return this.#kernel.unknown.retryIn;
  }

  /** Another program may have changed our items. If the check confirms it, the next pass is a full pass. */
  async disturbed(check: DisturbedCheck<Item>): Promise<void> {
    if (!this.#full && (await check(this.#kernel.known))) this.requestFullSync();
  }

  /** Whether a pass has work to do. */
  get pending(): boolean {
    return this.#full || this.#retry || this.#planner.pending;
  }

  /** Owners of the items that the kernel refused, and the number of owners with plans. */
  refused(): { readonly node: boolean; readonly services: number; readonly plans: number } {
    const { vital, services } = this.#kernel.unknown;
    return { node: vital.length > 0, services: services.size, plans: this.#planner.desired.plans };
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
    return this.#elseFull(async () => {
      const record = new PassRecord(this.#now);
      const full = this.#full;
      const retries = full && !this.#fullWanted ? { retriesMany: true as const } : {};
      const services = await (full ? this.#fullPass(record) : this.#changes(record));
      this.#inPlace ||= full;
      const after = await record.waitFor(this.#afterPass(record));
      return { full, ...retries, services, ...record.results(), ...after };
    });
  }

  /** Plans the touched Services, and programs what differs from the known state. Returns the number of Services. */
  async #changes(record: PassRecord): Promise<number> {
    const slice = new TimeSlice();
    const pieces = this.#planner.take();
    const keys = new Set<string>();
    for (const piece of pieces) for (const key of await this.#planner.plan(piece, slice)) keys.add(key);
    for (const key of this.#planner.planRest()) keys.add(key);
    // After the plans: what an item that cannot be read alone counts as depends on whether it is desired.
    if (this.#kernel.unknown.planned(keys, MOST_ALONE)) this.#retry = true;
    for (const key of await this.#observeUnknown(record)) keys.add(key);
    await this.#program(pieces, keys, record);
    return countServices(pieces);
  }

  /** Reads the kernel while the touched Services are planned, then programs all differences. */
  async #fullPass(record: PassRecord): Promise<number> {
    const planner = this.#planner;
    let isFirst = planner.desired.plans === 0 && !planner.held;
    if (this.#inPlace) record.isRepair = repairsAfterReading(this.#kernel, this.#planner);
    await record.waitFor(this.#inputs.refresh());
    let read = false;
    const reading = this.#observe().then(() => {
      read = true;
    });
    reading.catch(() => {}); // It is awaited below.
    let pieces: string[][] = [];
    let programmed: ReadonlySet<string> = new Set();
    try {
      if (planner.held) await record.waitFor(reading);
      const slice = new TimeSlice();
      pieces = planner.take();
      const [first = []] = pieces;
      isFirst &&= pieces.length > 1;
      for (const [place, piece] of pieces.entries()) {
        await planner.plan(piece, slice);
        // On an empty kernel the first piece is programmed next: to plan the others would take the CPU from the reading.
        if (isFirst && piece === first) await endsWithin(READING_ALONE, reading);
        if (!isFirst || !read) continue;
        isFirst = false;
        if (!(await programFirst(this.#mode, planner, this.#kernel, first, record))) continue;
        if (!this.#mode.pieces?.ahead) continue;
        const others = pieces.slice(place + 1);
        await this.#kernel.program(ahead(planner, others), record);
        programmed = new Set(others.flat());
        break;
      }
    } finally {
      await record.waitFor(reading);
    }
    const late = planner.take();
    for (const piece of late) await planner.plan(piece);
    planner.planRest();
    if (late.length > 0) programmed = new Set(); // A key that two Services had may now have one.
    await this.#kernel.program(everything(planner, this.#kernel.known, programmed), record);
    this.#kernel.unknown.ownAgain();
    return countServices(pieces) + countServices(late);
  }

  /** All plans are made. Keys of few Services are one piece: the operations are in one order. */
  #program(pieces: readonly string[][], keys: Set<string>, record: PassRecord): Promise<void> {
    const few = pieces.length <= 1;
    return this.#kernel.program(few ? [{ keys, last: true }] : divide(this.#planner, pieces, keys), record);
  }

  /** Saves memory after a pass. Must not be called during one. */
  tidy(): Promise<void> {
    return this.#kernel.compact();
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
    const { known } = this.#kernel;
    const unknown = this.#kernel.unknown.items;
    const record = new PassRecord(this.#now);
    const isFirst = audit.done === undefined;
    if (isFirst) audit.mark = await record.waitFor(this.#mark());
    const isUnchanged = isFirst && audit.mark !== undefined && audit.mark === this.#inPlaceAt;
    if (isUnchanged) await audit.reads.close();
    let keys = isUnchanged
      ? undefined
      : await record.waitFor(audit.reads.next(known, (key) => unknown.has(key)));
    if (!keys && !isUnchanged) {
      const again = audit.reads.again();
      keys = again && (await this.#readAgain(again, record));
    }
    const compared = keys ? audit.reads.wantedOf(keys, this.#planner.desired) : audit.reads.unwanted;
    this.#repairing = true;
    record.isRepair = () => true;
    try {
      await this.#kernel.program([{ keys: compared, last: true }], record);
    } finally {
      this.#repairing = false;
    }
    const after = await record.waitFor(this.#afterPass(record));
    const done: SyncSummary = { full: true, services: 0, ...record.results(), ...after };
    audit.done = audit.done ? together(audit.done, done) : done;
    if (keys) return undefined;
    if (this.#audit === audit) this.#audit = undefined;
    const { operations, failures } = audit.done;
    const isInPlace = operations + failures.length + unknown.size === 0;
    this.#inPlaceAt = isInPlace && (await this.#mark()) === audit.mark ? audit.mark : undefined;
    return { ...audit.done, repeated: this.#repairs.end() };
  }

  /** The mark of the kernel's state. Without it, audits read everything. */
  async #mark(): Promise<string | undefined> {
    return this.#mode.mark?.().catch(() => undefined);
  }

  /**
   * Reads items that have operations since the start of the audit. Those that it could not repair are among them: what they refer to
   * was missing too, and is there by now.
   */
  async #readAgain(keys: readonly string[], record: PassRecord): Promise<string[]> {
    const { known, unknown } = this.#kernel;
    const certain = keys.filter((key) => known.has(key) && !unknown.items.has(key));
    const failed = keys.filter((key) => unknown.items.has(key) && this.#repairs.has(key));
    const read = await this.#kernel.readAgain(certain, record);
    return failed.length === 0 ? read : [...read, ...(await this.#kernel.retry(failed, record))];
  }

  /** The operations of a full pass, in order. Applies none of them. */
  async preview(): Promise<PlannedOperation[]> {
    await this.#inputs.refresh();
    await this.#observe();
    for (const piece of this.#planner.take()) await this.#planner.plan(piece);
    this.#planner.planRest();
    const keys: string[] = [];
    for await (const piece of everything(this.#planner, this.#kernel.known))
      for (const key of piece.keys) keys.push(key);
    const operations = await this.#kernel.differences(keys);
    return describeItems(this.#mode, operations, this.#kernel.known, this.#planner);
  }

  /** A full pass is due, whether an audit is running or not. */
  get #fullWanted(): boolean {
    return this.#fullDone !== this.#fullAsked;
  }

  /** The next pass is a full pass. Failed items wait for the end of an audit: else they could end each one. */
  get #full(): boolean {
    return this.#fullWanted || (this.#retryMany && !this.#audit);
  }

  /** After a pass that was aborted, the state of the kernel is unknown: a full pass is due. */
  async #elseFull<Result>(pass: () => Promise<Result>): Promise<Result> {
    try {
      const result = await pass();
      this.#planner.settle();
      this.#kernel.unknown.settle();
      return result;
    } catch (error) {
      this.#planner.putBack();
      this.requestFullSync();
      throw error;
    }
  }

  /** Runs maintenance and follow-up work, and adds their operations and failures to those of the pass. */
  async #afterPass(record: PassRecord) {
    const kernel = this.#kernel;
    const { desired, share } = this.#planner;
    record.isRepair = NO_REPAIR;
    const due = await this.#mode.upkeep?.due({ desired, known: kernel.known, now: this.#now() });
    if (due) {
      for (const failure of due.failures) {
        kernel.unknown.add(failure.key, undefined, failure.error);
        record.failures.push({ ...failure, vital: false });
      }
      await kernel.apply(due.operations, record);
    }
    const { followUp } = this.#inputs;
    const followed = await followUp?.run(kernel.unknown.services);
    record.count(followed?.operations ?? []);
    for (const failure of followed?.failures ?? []) record.failures.push(failure);
    const again = earliest(due?.dueIn(), followUp?.dueIn);
    const { items, vital } = kernel.unknown;
    const refused = { unknown: items.size, vitalUnknown: vital, mostRefused: share.isMost };
    return { counts: due?.counts() ?? {}, again, ...refused };
  }

  async #observe(): Promise<void> {
    const asked = this.#fullAsked;
    this.#kernel.observed(await observeAll(this.#mode, this.#planner.held));
    this.#planner.found(this.#kernel.known);
    this.#kernel.unknown.readAll();
    this.#fullDone = asked;
    this.#retry = false;
    this.#retryMany = false;
  }

  /**
   * Reads the unknown items that are due if a retry is, and the items on which they depend. Items that cannot be read stay
   * unknown. If there are many, the next pass is a full pass, which reads and tries all.
   *
   * @returns keys that have been read
   */
  async #observeUnknown(record: PassRecord): Promise<string[]> {
    if (!this.#retry) return [];
    this.#retry = false;
    const due = this.#kernel.unknown.due();
    if (due.length > MOST_ALONE) {
      this.#retryMany = true;
      return [];
    }
    const before = new Map<string, Before>();
    const keys = await this.#kernel.retry(due, record, (key, state) => before.set(key, state));
    record.isRepair = repairsOf(before, this.#kernel, this.#planner);
    for (const key of keys) this.#audit?.reads.changed(key);
    return keys;
  }
}

/** The earlier of two times, in ms; undefined if both are. */
function earliest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}
