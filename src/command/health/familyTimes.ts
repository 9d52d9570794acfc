// The times of the families, which change with every change of an object, in memory that the threads share: a message would wake the other thread.
import type { Family } from '../../kernel/net/address.js';
import type { FamilyFacts } from './proxyHealth.js';

const FAMILIES = [4, 6] as const satisfies readonly Family[];
const NAMES = ['waiting', 'restart', 'updated'] as const satisfies readonly (keyof FamilyFacts)[];
/** Stands for a time that there is not. */
const NONE = -1n;

/** What happened in each family. */
export class FamilyTimes {
  /** The shared memory, for the times of another thread. */
  readonly memory: SharedArrayBuffer;
  readonly #times: BigInt64Array;

  /** @param memory that of the times of another thread; default: nothing has happened */
  constructor(memory?: SharedArrayBuffer) {
    const bytes = FAMILIES.length * NAMES.length * BigInt64Array.BYTES_PER_ELEMENT;
    this.memory = memory ?? new SharedArrayBuffer(bytes);
    this.#times = new BigInt64Array(this.memory);
    if (!memory) this.#times.fill(NONE);
  }

  set(families: Readonly<Record<Family, FamilyFacts>>): void {
    for (const [i, family] of FAMILIES.entries())
      for (const [j, name] of NAMES.entries()) {
        const time = families[family][name];
        Atomics.store(this.#times, i * NAMES.length + j, time === undefined ? NONE : BigInt(time));
      }
  }

  get(): Readonly<Record<Family, FamilyFacts>> {
    return { 4: this.#of(0), 6: this.#of(1) };
  }

  #of(place: number): FamilyFacts {
    const time = (name: number) => {
      const value = Atomics.load(this.#times, place * NAMES.length + name);
      return value === NONE ? undefined : Number(value);
    };
    return { waiting: time(0), restart: time(1), updated: time(2) };
  }
}
