// Asks whether the server has the version from which a watch continues. A server that was restored from a backup does not
// have it, and answers the watch with silence, as if there were no changes.
import { performance } from 'node:perf_hooks';
import { Backoff } from '../backoff.js';
import { type ApiError, asApiError } from './error.js';

/** Times of a check, in ms. */
export interface CheckTimes {
  /** From a check that found nothing wrong to the next one: drawn at random between both. Default 10 and 20 min. */
  readonly interval: readonly [number, number];
  /** From a check that left a doubt to the next one, at least; twice that at most. Default 5 s. */
  readonly pause: number;
}

export const CHECK_TIMES: CheckTimes = { interval: [600_000, 1_200_000], pause: 5_000 };

/** Number of answers "too large" in a row after which the version counts as lost. */
const ANSWERS = 3;

/** Parts of a check. */
interface CheckParts {
  /** Asks the server; rejects with its error. */
  readonly ask: (signal: AbortSignal) => Promise<void>;
  /** The server does not have the version: a list is needed. */
  readonly lost: (error: ApiError) => void;
  /** The server gave no answer. `retryIn`: time until the next question, in ms. */
  readonly trouble: (error: ApiError, retryIn: number) => void;
  readonly times: CheckTimes;
  /** Numbers from 0 up to 1. */
  readonly random: () => number;
}

/** The checks of one resource. */
export class VersionCheck {
  readonly #parts: CheckParts;
  /** For errors that say nothing of the version, and may last. */
  readonly #backoff: Backoff;
  #signal: AbortSignal | undefined;
  #timer: NodeJS.Timeout | undefined;
  #asking = false;
  /** Time of the last answer, on the clock of performance.now(), in ms. */
  #askedAt = Number.NEGATIVE_INFINITY;
  #answers = 0;
  /** The last list after a check was not older: the server had only been late. */
  #late = false;

  constructor(parts: CheckParts) {
    this.#parts = parts;
    const { pause, interval } = parts.times;
    this.#backoff = new Backoff({ first: pause, most: interval[1], spread: 1 }, parts.random);
  }

  /** Checks at random intervals until the signal aborts; call {@link stop} then. */
  start(signal: AbortSignal): void {
    this.#signal = signal;
    this.#schedule(this.#interval());
  }

  /** Ends the timer. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  /** A watch was opened again after its connection broke: it may be another server than before. */
  doubt(): void {
    if (this.#asking || this.#late) return;
    const { pause } = this.#parts.times;
    this.#schedule(Math.max(0, this.#askedAt + pause - performance.now()));
  }

  /** A list was read. `late`: after a check, and the server had the version after all. */
  listed(late: boolean): void {
    this.#late = late;
    this.#settle();
  }

  #settle(): void {
    this.#answers = 0;
    this.#backoff.reset();
    this.#schedule(this.#interval());
  }

  #interval(): number {
    const [least, most] = this.#parts.times.interval;
    return least + this.#parts.random() * (most - least);
  }

  #schedule(milliseconds: number): void {
    clearTimeout(this.#timer);
    if (this.#signal?.aborted) return;
    // A process whose only work is the next check in some minutes may end.
    this.#timer = setTimeout(() => this.#check(), milliseconds).unref();
  }

  async #check(): Promise<void> {
    const signal = this.#signal;
    if (!signal || this.#asking) return;
    this.#asking = true;
    this.#late = false;
    let failure: ApiError | undefined;
    try {
      await this.#parts.ask(signal);
    } catch (error) {
      failure = asApiError(error, 'check version');
    }
    this.#asking = false;
    this.#askedAt = performance.now();
    if (signal.aborted) return;
    if (failure) this.#failed(failure);
    else this.#settle();
  }

  #failed(error: ApiError): void {
    const { times, random, lost, trouble } = this.#parts;
    if (error.tooLarge && ++this.#answers >= ANSWERS) {
      this.#settle();
      lost(error);
      return;
    }
    const pause = Math.max(
      error.tooLarge ? times.pause * (1 + random()) : this.#backoff.next(),
      error.retryAfter ?? 0,
    );
    this.#schedule(pause);
    trouble(error, pause);
  }
}
