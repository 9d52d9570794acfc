// How long to wait after failures that follow one another.
import type { ApiError } from './error.js';

/** Shortest and longest delay, ms; kube-proxy's. */
export const BACKOFF = { first: 800, most: 30_000 };

/** Delays that double with each failure, spread at random so that the nodes of a cluster do not come back together. */
export class Backoff {
  readonly #bounds: typeof BACKOFF;
  readonly #random: () => number;
  #failures = 0;

  /** `random` gives numbers from 0 up to 1. */
  constructor(random: () => number = Math.random, bounds = BACKOFF) {
    this.#random = random;
    this.#bounds = bounds;
  }

  /** Ms to wait now: `first` to twice that after the first failure, twice as long after each further one, up to `most`. */
  next(): number {
    const { first, most } = this.#bounds;
    const base = Math.min(first * 2 ** this.#failures, most / 2);
    this.#failures++;
    return base * (1 + this.#random());
  }

  /** Starts over: things went well. */
  reset(): void {
    this.#failures = 0;
  }
}

/** How often a request is repeated before the delays begin to double, as client-go's rest.Request does. */
const REPEATS = 10;

/** Pauses after failed requests. */
export interface Pauses {
  /** Pause before a request is repeated whose connection was closed, in ms; up to half as long again at random. */
  readonly repeat: number;
  /** Bounds of the pause after any other failure. */
  readonly backoff: typeof BACKOFF;
}

/**
 * The pace of client-go: rest.Request repeats a request up to ten times, a second apart, when its connection was closed,
 * or when the server says when to come back; then, and after every other failure, the reflector backs off.
 */
export class RetryPace {
  readonly #repeat: number;
  readonly #random: () => number;
  readonly #backoff: Backoff;
  #repeats = 0;

  /** `random` gives numbers from 0 up to 1. */
  constructor({ repeat, backoff }: Pauses, random: () => number = Math.random) {
    this.#repeat = repeat;
    this.#random = random;
    this.#backoff = new Backoff(random, backoff);
  }

  /** Time to wait now, in ms. `costly`: the request was answered in part, and a repetition would send all of that again. */
  next(error: ApiError, costly = false): number {
    const repeatable = (error.closed && !costly) || error.postponed;
    if (!repeatable || this.#repeats === REPEATS) {
      this.#repeats = 0;
      return Math.max(this.#backoff.next(), error.retryAfter ?? 0);
    }
    this.#repeats++;
    return error.retryAfter ?? this.#repeat * (1 + this.#random() / 2);
  }

  /** Time to wait after a watch that ended without an error, and without an event, in ms. */
  backOff(): number {
    return this.#backoff.next();
  }

  /** Starts over: things went well. */
  reset(): void {
    this.#repeats = 0;
    this.#backoff.reset();
  }
}
