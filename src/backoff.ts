// How long to wait after failures that follow one another.

/** Bounds of the delays of a back-off. */
export interface BackoffBounds {
  /** Delay after the first failure, in ms. */
  readonly first: number;
  /** Longest delay, in ms. */
  readonly most: number;
  /** Random part of a delay, as a share of its fixed part: 1 adds up to the same again, 0 adds nothing. */
  readonly spread: number;
}

/** Delays that double with each failure. A random part keeps the nodes of a cluster from trying again together. */
export class Backoff {
  readonly #bounds: BackoffBounds;
  readonly #random: () => number;
  #failures = 0;

  /** `random` returns numbers from 0 up to 1. */
  constructor(bounds: BackoffBounds, random: () => number) {
    this.#bounds = bounds;
    this.#random = random;
  }

  /** The delay after one more failure, in ms. Its fixed part doubles until the longest delay would exceed `most`. */
  next(): number {
    const { first, most, spread } = this.#bounds;
    const fixed = Math.min(first * 2 ** this.#failures, most / (1 + spread));
    this.#failures++;
    return fixed * (1 + this.#random() * spread);
  }

  /** Begins again with the first delay, after a success. */
  reset(): void {
    this.#failures = 0;
  }
}
