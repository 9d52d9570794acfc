// When failed items are tried again: each item has a back-off of its own. Pure.

/** Delays before the first retry of an item and at most, in ms. The delay doubles with each failure of the item. */
export const RETRY = { first: 500, most: 30_000 } as const;

/**
 * Retries are due at multiples of a fifth of their delay, or at the multiple before if others are due then: those of items that failed
 * within a fifth of their delay are made in one pass, because a retry may read all rules of a family.
 */
const STEPS = 5;
/** The longest delay before it is lengthened to such a multiple, in ms. */
const LONGEST = (RETRY.most * STEPS) / (STEPS + 1);

/** An item that waits for its retry. */
interface Waiting {
  /** Number of attempts in succession that failed. */
  readonly failures: number;
  /** In ms. */
  readonly dueAt: number;
}

/** The items that wait for a retry, by key. */
export class Retries {
  readonly #waiting = new Map<string, Waiting>();
  /** Time, in ms → keys that are due then. There are few times, however many keys wait: each delay has five steps. */
  readonly #times = new Map<number, Set<string>>();
  /** Number of failures of the keys that are tried in this pass. */
  readonly #tried = new Map<string, number>();

  /** Records that an attempt failed. A key that waits already was not tried. */
  failed(key: string, now: number): void {
    if (this.#waiting.has(key)) return;
    const failures = (this.#tried.get(key) ?? 0) + 1;
    const delay = Math.min(RETRY.first * 2 ** (failures - 1), LONGEST);
    const step = delay / STEPS;
    const dueAt = Math.ceil((now + delay) / step) * step;
    const earlier = dueAt - step;
    this.#wait(key, { failures, dueAt: this.#times.has(earlier) ? earlier : dueAt });
  }

  /** The current pass tries the key. Unless it fails again, its failures are forgotten at the end of the pass. */
  tries(key: string): void {
    const waiting = this.#stop(key);
    if (waiting) this.#tried.set(key, waiting.failures);
  }

  /** What the key stands for has changed: its failures say nothing about it, and it is due now. */
  changed(key: string, now: number): void {
    if (this.#stop(key)) this.#wait(key, { failures: 0, dueAt: now });
  }

  /** The keys that are due. */
  due(now: number): string[] {
    const keys: string[] = [];
    for (const [time, due] of this.#times) if (time <= now) for (const key of due) keys.push(key);
    return keys;
  }

  /** The pass has ended. */
  settle(): void {
    this.#tried.clear();
  }

  /** Time of the next retry, in ms; undefined if no key waits. */
  get next(): number | undefined {
    let next: number | undefined;
    for (const time of this.#times.keys()) if (next === undefined || time < next) next = time;
    return next;
  }

  #wait(key: string, waiting: Waiting): void {
    this.#waiting.set(key, waiting);
    const due = this.#times.get(waiting.dueAt);
    if (due) due.add(key);
    else this.#times.set(waiting.dueAt, new Set([key]));
  }

  #stop(key: string): Waiting | undefined {
    const waiting = this.#waiting.get(key);
    if (!waiting) return undefined;
    this.#waiting.delete(key);
    const due = this.#times.get(waiting.dueAt);
    due?.delete(key);
    if (due?.size === 0) this.#times.delete(waiting.dueAt);
    return waiting;
  }
}
