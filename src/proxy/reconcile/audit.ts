// Reads all our items from the kernel once, in portions. Passes for changes run between two portions: the items of their
// operations are read again at the end, alone. Items that no plan wants are compared last of all: a mode reads its items in any order,
// and what is removed may be in use by others until these are repaired or removed too.

import { TimeSlice } from '../../kernel/timeSlice.js';
import type { Desired, Known } from '../modes/mode.js';

/** Maximum keys in a slice. */
const SLICE = 256;

/** The current audit. */
export class Audit<Item> {
  readonly #reading: AsyncIterator<ReadonlyMap<string, Item>>;
  /** The keys that were known at the start and have not been read: the texts of the known items, which take no memory of their own. */
  #unseen: Set<string> | undefined;
  /** The reading was ended. */
  #closed = false;
  /** Keys with operations since the start of the audit: the state read from the kernel may be older. */
  readonly #changed = new Set<string>();
  /** Keys that no plan wanted when their items were read. */
  readonly #unwanted: string[] = [];
  /** Iterates over the unseen keys after everything has been read: their items are missing. */
  #missing: Iterator<string> | undefined;
  /** The rest of the changed keys, once no key is missing any more. */
  #left: Iterator<string> | undefined;

  /** @param observed the kernel's items; each slice reads one piece */
  constructor(observed: AsyncIterable<ReadonlyMap<string, Item>>) {
    this.#reading = observed[Symbol.asyncIterator]();
  }

  /** Records that an operation was tried on the item of this key. */
  changed(key: string): void {
    // Once these are read alone, what is known of the others is newer than what the audit has read.
    if (!this.#left) this.#changed.add(key);
  }

  /** The keys to compare in a slice; the others of these keys are compared last, because no plan wants them. */
  wantedOf(keys: readonly string[], desired: Pick<Desired<Item>, 'get'>): string[] {
    return keys.filter((key) => {
      const isWanted = desired.get(key) !== undefined;
      if (!isWanted) this.#unwanted.push(key);
      return isWanted;
    });
  }

  /** The keys to compare last. */
  get unwanted(): readonly string[] {
    return this.#unwanted;
  }

  /** Ends the reading. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#reading.return?.();
  }

  /**
   * The next keys to read alone in a slice, after {@link next} has returned undefined; undefined if there are no more. They have
   * operations since the start of the audit.
   */
  again(): string[] | undefined {
    this.#left ??= this.#changed.keys();
    const keys: string[] = [];
    while (keys.length < SLICE) {
      const { value, done } = this.#left.next();
      if (done) break;
      keys.push(value);
    }
    return keys.length > 0 ? keys : undefined;
  }

  /**
   * Reads the next slice and updates the known items.
   *
   * @param isUnknown whether the audit skips a key because its item is unknown
   * @returns the keys to compare; undefined once everything has been read
   */
  async next(known: Known<Item>, isUnknown: (key: string) => boolean): Promise<string[] | undefined> {
    const skip = (key: string) => this.#changed.has(key) || isUnknown(key);
    this.#unseen ??= await keysOf(known);
    // Of a reading that was ended before it began, every key would count as missing.
    if (this.#closed) return [];
    if (!this.#missing) {
      const { value, done } = await this.#reading.next();
      if (!done) return this.#take(value, known, skip);
      this.#missing = this.#unseen.keys();
    }
    return this.#dropMissing(known, this.#missing, skip);
  }

  #take(piece: ReadonlyMap<string, Item>, known: Known<Item>, skip: (key: string) => boolean): string[] {
    const keys: string[] = [];
    for (const [key, item] of piece) {
      this.#unseen?.delete(key);
      if (skip(key)) continue;
      known.set(key, item);
      keys.push(key);
    }
    return keys;
  }

  #dropMissing(
    known: Known<Item>,
    keys: Iterator<string>,
    skip: (key: string) => boolean,
  ): string[] | undefined {
    const missing: string[] = [];
    for (let looks = 0; looks < SLICE; looks++) {
      const { value: key, done } = keys.next();
      if (done) return looks === 0 ? undefined : missing;
      if (skip(key)) continue;
      known.delete(key);
      missing.push(key);
    }
    return missing;
  }
}

async function keysOf(known: ReadonlyMap<string, unknown>): Promise<Set<string>> {
  const keys = new Set<string>();
  const slice = new TimeSlice();
  for (const key of known.keys()) {
    keys.add(key);
    if (slice.spend(1)) await slice.yield();
  }
  return keys;
}
