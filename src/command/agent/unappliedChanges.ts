// The oldest change that the kernel does not have completely, for the metric of its arrival. Pure; the clock is injected.

/** The changes that are not applied. A change is applied when a pass that read it has ended and no item is unknown. */
export class UnappliedChanges {
  readonly #now: () => number;
  /** Arrival of the oldest change that no pass has read, in ms since 1970. */
  #waiting: number | undefined;
  /** The same of those that a pass has read. */
  #taken: number | undefined;

  /** @param now time of day, in ms since 1970 */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** A change arrived. */
  queued(): void {
    this.#waiting ??= this.#now();
  }

  /** A pass has read the changes that arrived up to now. */
  taken(): void {
    this.#taken ??= this.#waiting;
    this.#waiting = undefined;
  }

  /** A pass or an audit has ended. `unknown`: number of items whose last operation failed. */
  synced(unknown: number): void {
    // A failed item has no time of its own: the oldest of the changes stays until nothing fails.
    if (unknown > 0) this.#taken ??= this.#now();
    else this.#taken = undefined;
  }

  /** Arrival of the oldest change that is not applied, in ms since 1970; undefined if all are. */
  get oldest(): number | undefined {
    return this.#taken ?? this.#waiting;
  }
}
