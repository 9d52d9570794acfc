// Reads all our items from the kernel once, in slices. Passes for changes run between two slices: the items of their
// operations are read again at the end, alone.
import type { Known } from '../modes/mode.js';

/** Maximum keys in a slice. */
const SLICE = 256;

/** The current audit. */
export class Audit<Item> {
  readonly #reading: AsyncIterator<ReadonlyMap<string, Item>>;
  readonly #seen = new Set<string>();
  /** Keys with operations since the start of the audit: the state read from the kernel may be older. */
  readonly #changed = new Set<string>();
  /** Iterates over the known keys after everything has been read, to find those that are missing. */
  #known: Iterator<string> | undefined;
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
    if (!this.#known) {
      const { value, done } = await this.#reading.next();
      if (!done) return this.#take(value, known, skip);
      this.#known = known.keys();
    }
    return this.#dropMissing(known, this.#known, skip);
  }

  #take(piece: ReadonlyMap<string, Item>, known: Known<Item>, skip: (key: string) => boolean): string[] {
    const keys: string[] = [];
    for (const [key, item] of piece) {
      this.#seen.add(key);
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
      if (this.#seen.has(key) || skip(key)) continue;
      known.delete(key);
      missing.push(key);
    }
    return missing;
  }
}
