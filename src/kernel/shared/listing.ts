// Listings: values that are read from the addon's records one at a time, in time slices.
import { TimeSlice } from '../timeSlice.js';
import type { Listing } from './types.js';

/** Reads records one after another. Yields each value, and undefined after a record that completes no value. */
export type Reading<T> = Generator<T | undefined, void>;

/** A listing whose records `start` reads from the kernel. An aborted `signal` ends its iterations. */
export class RecordListing<T> implements Listing<T> {
  readonly #start: () => Promise<Iterable<T | undefined>>;
  readonly #signal: AbortSignal | undefined;

  constructor(start: () => Promise<Iterable<T | undefined>>, signal?: AbortSignal) {
    this.#start = start;
    this.#signal = signal;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    const records = await this.#start();
    const slice = new TimeSlice();
    for (const value of records) {
      if (slice.spend(1)) {
        await slice.yield();
        this.#signal?.throwIfAborted();
      }
      if (value !== undefined) yield value;
    }
  }

  // Not through the iterator, whose promise for each value costs more than the value.
  async toArray(): Promise<T[]> {
    return readAll(await this.#start(), this.#signal);
  }
}

/** All values, read in time slices. */
export async function readAll<T>(records: Iterable<T | undefined>, signal?: AbortSignal): Promise<T[]> {
  const values: T[] = [];
  const slice = new TimeSlice();
  for (const value of records) {
    if (slice.spend(1)) {
      await slice.yield();
      signal?.throwIfAborted();
    }
    if (value !== undefined) values.push(value);
  }
  return values;
}
