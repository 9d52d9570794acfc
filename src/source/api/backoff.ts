// How long to wait after failures that follow one another.

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
