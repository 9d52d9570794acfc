// Runs passes, one at a time: immediately if idle, otherwise one for all changes that arrive meanwhile. Also runs them when retries
// are due, and after a back-off if the kernel cannot be read.

import { Backoff } from '../backoff.js';
import { LONGEST_TIMER } from '../timers.js';
import { RETRY } from './retries.js';
import type { SyncSummary } from './summary.js';

/** The passes and audits that the runner starts. */
export interface Passes {
  readonly pending: boolean;
  /** An audit is running. */
  readonly auditing: boolean;
  /** Time until the next retry of a failed item, in ms; undefined if there is none, or if the next pass retries. */
  readonly retryIn: number | undefined;
  retryFailed(): void;
  startAudit(): void;
  sync(): Promise<SyncSummary>;
  /** Resolves to undefined if the audit has more slices. */
  auditSlice(): Promise<SyncSummary | undefined>;
  /** Saves memory after a pass or audit. */
  tidy(): Promise<void>;
}

/** Timers, injected so that tests need not wait. */
export interface Timers {
  /** Monotonic time, in ms. */
  now(): number;
  set(run: () => void, milliseconds: number): unknown;
  clear(timer: unknown): void;
}

/** The events of a runner. */
export interface RunnerEvents {
  synced(summary: SyncSummary): void;
  /** The kernel could not be read. */
  failed(error: unknown): void;
  /** A retry is due after this time, in ms. */
  retrying(milliseconds: number): void;
}

/** Reasons for a pass without a change. */
type Reason = 'retry' | 'upkeep' | 'audit' | 'overdue audit';

/** Times between passes, in ms. */
interface Periods {
  /** Time without changes after which an audit starts: `ipvs.syncPeriod`. */
  readonly audit: number;
  /** Time from the end of a pass to the start of the next: `minSyncPeriod`; default 0. Audits do not wait for it. */
  readonly rest?: number;
  /** Passes rest this many times as long as they take, see {@link Runner.#restOf}; default: the rest does not depend on the pass. */
  readonly restFactor?: number | undefined;
}

/** If changes never pause, an audit starts after this number of audit periods. */
export const OVERDUE = 2;

/** Runs passes while there is work to do. */
export class Runner {
  readonly #passes: Passes;
  readonly #events: RunnerEvents;
  readonly #timers: Timers;
  readonly #periods: Periods;
  readonly #armed = new Map<Reason, unknown>();
  #running: Promise<void> | undefined;
  /** The current pass. */
  #current: Promise<void> | undefined;
  /** Delays while the kernel cannot be read. Not random: a retry concerns this node alone. */
  readonly #backoff = new Backoff({ ...RETRY, spread: 0 }, () => 0);
  /** The kernel could not be read: no pass runs until the retry. */
  #blind = false;
  #stopped = false;
  /** A pass is due although nothing changed. */
  #due = false;
  /** Set while no pass may start: minSyncPeriod. */
  #resting: unknown;
  /** The time up to which passes have rested, as far as rests depend on the passes. Further back: less rest is owed. */
  #restedUntil = Number.NEGATIVE_INFINITY;
  /** Continues a wait for the end of the rest. */
  #wake: () => void = () => {};
  /** A pass has run since the last slice of the audit. */
  #slicesTurn = false;

  constructor(passes: Passes, events: RunnerEvents, timers: Timers, periods: Periods) {
    this.#passes = passes;
    this.#events = events;
    this.#timers = timers;
    this.#periods = periods;
  }

  /** Starts a pass. If one is running, another follows it. */
  request(): void {
    if (this.#stopped || this.#running || this.#blind) return;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  /** Resolves when no pass is running. */
  async idle(): Promise<void> {
    while (this.#current) await this.#current;
  }

  /** Starts no further passes; resolves when the current one has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#resting !== undefined) this.#timers.clear(this.#resting);
    this.#resting = undefined;
    this.#wake();
    for (const reason of [...this.#armed.keys()]) this.#disarm(reason);
    await this.#running;
  }

  async #run(): Promise<void> {
    do {
      if (this.#resting !== undefined) await this.#rested();
      // Changes that arrive in the same turn of the event loop are planned together.
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#stopped) return;
      this.#current = this.#pass();
      await this.#current;
      this.#current = undefined;
    } while (this.#anything && !this.#stopped && !this.#blind);
  }

  get #anything(): boolean {
    return this.#due || this.#passes.pending || this.#passes.auditing;
  }

  /**
   * The time to the next pass, in ms. With a factor of 4, passes take a fifth of the time: each owes four times its own time, from which the
   * time without passes before it is taken off, up to `rest`. A change after a pause thus delays the next one only if its pass took long.
   *
   * @param took the time of the pass, in ms; undefined if it failed
   */
  #restOf(took: number | undefined): number {
    const { rest: most = 0, restFactor } = this.#periods;
    if (took === undefined || restFactor === undefined) return most;
    const now = this.#timers.now();
    const pause = Math.max(0, now - took - this.#restedUntil);
    const rest = Math.min(most, restFactor * took - Math.min(most, pause));
    this.#restedUntil = now + rest;
    return Math.max(0, Math.ceil(rest));
  }

  #rest(took: number | undefined): void {
    const rest = this.#restOf(took);
    if (rest === 0 || this.#stopped) return;
    this.#resting = this.#timers.set(() => {
      this.#resting = undefined;
      this.#wake();
    }, rest);
  }

  /** Resolves when the next pass may start, or an audit has started. */
  async #rested(): Promise<void> {
    while (this.#resting !== undefined && !this.#passes.auditing && !this.#stopped) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async #pass(): Promise<void> {
    try {
      const summary = await this.#next();
      this.#backoff.reset();
      const { retryIn } = this.#passes;
      if (retryIn === undefined) this.#disarm('retry');
      else this.#arm('retry', retryIn);
      if (!summary) return;
      this.#events.synced(summary);
      this.#disarm('upkeep');
      if (summary.again !== undefined) this.#arm('upkeep', summary.again);
      // Connections of draining real servers are counted every few seconds: this must not postpone the audit.
      if (changed(summary)) this.#arm('audit', this.#periods.audit);
      if (isReading(summary)) this.#arm('overdue audit', OVERDUE * this.#periods.audit);
      if (summary.failures.length > 0 && retryIn !== undefined) this.#events.retrying(retryIn);
      if (!this.#stopped) await this.#passes.tidy();
    } catch (error) {
      this.#events.failed(error);
      this.#blind = true;
      const delay = this.#backoff.next();
      this.#events.retrying(delay);
      this.#arm('retry', delay);
    }
  }

  /**
   * An audit has the time between passes, and one slice after each pass if changes never pause: then it takes at most as many
   * passes as it has slices.
   */
  get #auditsNext(): boolean {
    if (!this.#passes.auditing) return false;
    const wanted = this.#due || this.#passes.pending;
    return !wanted || this.#slicesTurn || this.#resting !== undefined;
  }

  async #next(): Promise<SyncSummary | undefined> {
    if (this.#auditsNext) {
      this.#slicesTurn = false;
      return this.#passes.auditSlice();
    }
    this.#due = false;
    this.#slicesTurn = true;
    let took: number | undefined;
    try {
      const summary = await this.#passes.sync();
      took = summary.milliseconds.plan + summary.milliseconds.kernel;
      return summary;
    } finally {
      this.#rest(took);
    }
  }

  /** A timer counts from the start of the turn of the event loop in which it was set, and may thus fire before the retry is due. */
  #retryDue(): boolean {
    this.#passes.retryFailed();
    const { retryIn = 0 } = this.#passes;
    if (retryIn > 0) this.#arm('retry', retryIn);
    return retryIn === 0;
  }

  #arm(reason: Reason, milliseconds: number): void {
    this.#disarm(reason);
    if (this.#stopped) return;
    const run = () => {
      this.#armed.delete(reason);
      this.#blind = false;
      if (reason === 'retry' && !this.#retryDue()) return;
      if (reason === 'retry' || reason === 'upkeep') this.#due = true;
      else this.#passes.startAudit();
      this.#wake();
      this.request();
    };
    this.#armed.set(reason, this.#timers.set(run, Math.min(milliseconds, LONGEST_TIMER)));
  }

  #disarm(reason: Reason): void {
    if (this.#armed.has(reason)) this.#timers.clear(this.#armed.get(reason));
    this.#armed.delete(reason);
  }
}

/** Whether the next audit counts its time from this pass or audit. Retries come more often than audits, which they must not postpone. */
function isReading({ full, retriesMany }: SyncSummary): boolean {
  return full && !retriesMany;
}

/**
 * Whether a pass was full, had Services, or had operations that did not all fail: then the audit waits for a new period without
 * changes. Repeated attempts that fail do not postpone it.
 */
function changed(summary: SyncSummary): boolean {
  const { services, operations, failures } = summary;
  return isReading(summary) || services > 0 || operations > failures.length;
}
