// Runs passes: at once when idle, one at a time, coalescing what comes meanwhile; again with back-off after failures.
import type { SyncSummary } from './reconciler.js';

/** What the runner drives. */
export interface Passes {
  readonly pending: boolean;
  distrust(): void;
  sync(): Promise<SyncSummary>;
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
export const RETRY = { first: 500, longest: 30_000 } as const;

/** Runs passes while there is anything to do. */
export class Runner {
  readonly #passes: Passes;
  readonly #events: RunnerEvents;
  readonly #timers: Timers;
  #running: Promise<void> | undefined;
  #retry: unknown;
  #upkeep: unknown;
  #delay: number = RETRY.first;
  /** The kernel could not even be read: until the retry, nothing else is tried. */
  #blind = false;
  #stopped = false;

  constructor(passes: Passes, events: RunnerEvents, timers: Timers) {
    this.#passes = passes;
    this.#events = events;
    this.#timers = timers;
  }

  /** Something may need doing: starts a pass unless one is under way, which is then followed by another. */
  request(): void {
    if (this.#stopped || this.#running || this.#blind) return;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  /** No further passes; resolves when the one under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const timer of [this.#retry, this.#upkeep]) if (timer !== undefined) this.#timers.clear(timer);
    await this.#running;
  }

  async #run(): Promise<void> {
    do {
      // A turn of the event loop, so that changes that arrive together are planned together.
      await new Promise((resolve) => setImmediate(resolve));
      await this.#pass();
    } while (this.#passes.pending && !this.#stopped && !this.#blind);
  }

  async #pass(): Promise<void> {
    try {
      const summary = await this.#passes.sync();
      this.#events.synced(summary);
      this.#lookAgain(summary.again);
      if (summary.failures.length > 0) this.#retryLater();
      else if (summary.full) this.#delay = RETRY.first;
    } catch (error) {
      this.#events.failed(error);
      this.#blind = true;
      this.#retryLater();
    }
  }

  /** A pass that time makes due, unless a change makes one earlier. */
  #lookAgain(milliseconds: number | undefined): void {
    if (this.#upkeep !== undefined) this.#timers.clear(this.#upkeep);
    this.#upkeep = undefined;
    if (milliseconds === undefined || this.#stopped) return;
    this.#upkeep = this.#timers.set(() => this.request(), milliseconds);
  }

  /** A retry is a full pass: what failed is unknown and has to be looked at. Changes that come before it go ahead. */
  #retryLater(): void {
    if (this.#stopped || this.#retry !== undefined) return;
    this.#events.retrying(this.#delay);
    this.#retry = this.#timers.set(() => {
      this.#retry = undefined;
      this.#blind = false;
      this.#passes.distrust();
      this.request();
    }, this.#delay);
    this.#delay = Math.min(this.#delay * 2, RETRY.longest);
  }
}
