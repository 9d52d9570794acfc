// The objects of a history in the store of its API server, which can go back to an earlier time.
import { isDeepStrictEqual } from 'node:util';
import type { RawObject, Snapshot, Store } from '../../../bench/apiServer/store.js';
import type { JudgedObject } from '../core/objects.js';
import { monotonic } from './clock.js';

/** A state of the store, and the time from which it was there. */
interface Past {
  readonly at: number;
  readonly snapshot: Snapshot;
}

/** Stores the objects of a history. */
export class StoredObjects {
  readonly #store: Store;
  #wanted: ReadonlyMap<string, JudgedObject> = new Map();
  /** The objects that the current state of the store has, by kind and name. */
  #stored: ReadonlyMap<string, JudgedObject> = new Map();
  #past: Past[] = [];
  /** The current state while the store has an earlier one. */
  #current: Snapshot | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Whether the store has the objects of an earlier time. */
  get isOlder(): boolean {
    return this.#current !== undefined;
  }

  /** Stores these objects and deletes all others: at once, or when the store is current again. */
  hold(wanted: ReadonlyMap<string, JudgedObject>): void {
    this.#wanted = wanted;
    if (this.#current) return;
    for (const [key, object] of this.#stored) if (!wanted.has(key)) this.#store.delete(rawOf(object));
    for (const [key, object] of wanted) {
      if (!isDeepStrictEqual(this.#stored.get(key), object)) this.#store.set(rawOf(object));
    }
    this.#stored = wanted;
    this.#past.push({ at: monotonic(), snapshot: this.#store.snapshot() });
  }

  /** Forgets all earlier states: {@link goBack} goes back to the present one at most. */
  forgetPast(): void {
    this.#past = this.#past.slice(-1);
  }

  /** Restores the state of some time ago; returns the time for which that state has been stored, in ms. */
  goBack(time: number): number {
    const now = monotonic();
    const earlier = this.#past.findLast(({ at }) => at <= now - time) ?? this.#past[0];
    if (!earlier) return 0;
    this.#current = this.#store.snapshot();
    this.#store.restore(earlier.snapshot);
    return now - earlier.at;
  }

  /** Restores the state before {@link goBack}, and stores what came since. */
  goForward(): void {
    if (!this.#current) return;
    this.#store.restore(this.#current);
    this.#current = undefined;
    this.hold(this.#wanted);
  }
}

function rawOf(object: JudgedObject): RawObject {
  return object as RawObject;
}
