// One look at everything that the kernel holds, in slices: passes for changes are made between two of them.
import type { Known } from '../modes/mode.js';

/** Keys in a slice, at most. */
const SLICE = 256;

/** An audit under way. */
export class Audit<Item> {
  readonly #reading: AsyncIterator<ReadonlyMap<string, Item>>;
  readonly #seen = new Set<string>();
  /** Keys on which operations were tried since the audit began: what was read of them may be older. */
  readonly #changed = new Set<string>();
  /** Once everything has been read: goes over the known keys, to find those that were not. */
  #known: Iterator<string> | undefined;

  /** @param observed the kernel's items, read only as far as the audit asks for them */
  constructor(observed: AsyncIterable<ReadonlyMap<string, Item>>) {
    this.#reading = observed[Symbol.asyncIterator]();
  }

  /** An operation was tried on the item of this key. */
  changed(key: string): void {
    this.#changed.add(key);
  }

  /**
   * Reads on, and takes it into what is known.
   *
   * @param isUnknown keys that are left alone
   * @returns the keys to compare; undefined when the audit is over
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
