// Delays after repeated failures.

/** Bounds of the delays of a back-off. */
export interface BackoffBounds {
  /** Delay after the first failure, in ms. */
  readonly first: number;
  /** Longest delay, in ms. */
  readonly most: number;
  /** Maximum random part of a delay, relative to its fixed part: 1 at most doubles the delay, 0 adds nothing. */
  readonly spread: number;
}

/** Delays that double with each failure. A random part prevents that all nodes of a cluster retry at the same time. */
export class Backoff {
  readonly #bounds: BackoffBounds;
  readonly #random: () => number;
  #failures = 0;

  /** @param random returns numbers from 0 to 1, without 1 */
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

  /** After a success: the next delay is the first again. */
  reset(): void {
    this.#failures = 0;
  }
}
