// Runs passes: at once when idle, one at a time, coalescing what comes meanwhile; again with back-off after failures.
import { Backoff } from '../backoff.js';
import type { SyncSummary } from './summary.js';

/** What the runner drives. */
export interface Passes {
  readonly pending: boolean;
  /** An audit is under way. */
  readonly auditing: boolean;
  retryFailed(): void;
  startAudit(): void;
  sync(): Promise<SyncSummary>;
  /** Resolves to undefined when the audit is not over yet. */
  auditSlice(): Promise<SyncSummary | undefined>;
}

/** Timers, injected so that tests need not wait. */
export interface Timers {
  set(run: () => void, milliseconds: number): unknown;
  clear(timer: unknown): void;
}

/** What a runner tells. */
export interface RunnerEvents {
  synced(summary: SyncSummary): void;
  /** The kernel could not be read; a retry is due in the given milliseconds. */
  failed(error: unknown): void;
  retrying(milliseconds: number): void;
}

/** Delay before the first retry and the longest one, ms; it doubles in between. */
export const RETRY = { first: 500, most: 30_000 } as const;

/** Why a pass is due although nothing changed. */
type Reason = 'retry' | 'upkeep' | 'audit' | 'overdue audit';

/** How often passes are made, ms. */
export interface Periods {
  /** Quiet after which everything is looked at, since others change the kernel too: `ipvs.syncPeriod`. */
  readonly audit: number;
  /** From the end of a pass to the start of the next, at least: `ipvs.minSyncPeriod`; default 0. */
  readonly rest?: number;
}

/** An audit waits for quiet, but no longer than this many periods. */
export const OVERDUE = 10;

/** Runs passes while there is anything to do. */
export class Runner {
  readonly #passes: Passes;
  readonly #events: RunnerEvents;
  readonly #timers: Timers;
  readonly #periods: Periods;
  readonly #armed = new Map<Reason, unknown>();
  #running: Promise<void> | undefined;
  /** The one pass under way. */
  #current: Promise<void> | undefined;
  /** Not random: a retry concerns this node alone. */
  readonly #backoff = new Backoff({ ...RETRY, spread: 0 }, () => 0);
  /** The kernel could not even be read: until the retry, nothing else is tried. */
  #blind = false;
  #stopped = false;
  /** A pass is due although nothing changed. */
  #due = false;
  /** Resolves when the next pass may start. */
  #rested: Promise<void> | undefined;
  #wake: () => void = () => {};

  constructor(passes: Passes, events: RunnerEvents, timers: Timers, periods: Periods) {
    this.#passes = passes;
    this.#events = events;
    this.#timers = timers;
    this.#periods = periods;
  }

  /** Something may need doing: starts a pass unless one is under way, which is then followed by another. */
  request(): void {
    if (this.#stopped || this.#running || this.#blind) return;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  /** Resolves when no pass is under way. */
  async idle(): Promise<void> {
    while (this.#current) await this.#current;
  }

  /** No further passes; resolves when the one under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake();
    for (const reason of [...this.#armed.keys()]) this.#disarm(reason);
    await this.#running;
  }

  async #run(): Promise<void> {
    do {
      if (this.#rested) await this.#rested;
      // A turn of the event loop, so that changes that arrive together are planned together.
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

  #rest(): void {
    const { rest = 0 } = this.#periods;
    if (rest === 0) return;
    this.#rested = new Promise((resolve) => {
      const timer = this.#timers.set(resolve, rest);
      this.#wake = () => {
        this.#timers.clear(timer);
        resolve();
      };
    });
  }

  async #pass(): Promise<void> {
    try {
      const summary = await this.#next();
      if (!summary) return;
      this.#events.synced(summary);
      this.#disarm('upkeep');
      if (summary.again !== undefined) this.#arm('upkeep', summary.again);
      // Draining real servers are looked at every few seconds: that must not postpone the audit.
      if (changed(summary)) this.#arm('audit', this.#periods.audit);
      if (summary.full) this.#arm('overdue audit', OVERDUE * this.#periods.audit);
      if (summary.failures.length > 0) this.#retryLater();
      else if (summary.unknown === 0) this.#backoff.reset();
    } catch (error) {
      this.#events.failed(error);
      this.#blind = true;
      this.#retryLater();
    }
  }

  /** Changes go first: an audit waits between two of its slices. */
  async #next(): Promise<SyncSummary | undefined> {
    if (!this.#due && !this.#passes.pending && this.#passes.auditing) return this.#passes.auditSlice();
    this.#due = false;
    try {
      return await this.#passes.sync();
    } finally {
      this.#rest();
    }
  }

  /** What failed is unknown and has to be read again. Changes that are made before the retry go ahead. */
  #retryLater(): void {
    if (this.#stopped || this.#armed.has('retry')) return;
    const delay = this.#backoff.next();
    this.#events.retrying(delay);
    this.#arm('retry', delay);
  }

  #arm(reason: Reason, milliseconds: number): void {
    this.#disarm(reason);
    if (this.#stopped) return;
    const run = () => {
      this.#armed.delete(reason);
      this.#blind = false;
      if (reason === 'retry') this.#passes.retryFailed();
      if (reason === 'retry' || reason === 'upkeep') this.#due = true;
      else this.#passes.startAudit();
      this.request();
    };
    this.#armed.set(reason, this.#timers.set(run, milliseconds));
  }

  #disarm(reason: Reason): void {
    if (this.#armed.has(reason)) this.#timers.clear(this.#armed.get(reason));
    this.#armed.delete(reason);
  }
}

/** Whether a pass planned or programmed anything, or compared everything: the audit then waits for a new period of quiet. */
function changed({ full, services, operations }: SyncSummary): boolean {
  return full || services > 0 || operations > 0;
}
