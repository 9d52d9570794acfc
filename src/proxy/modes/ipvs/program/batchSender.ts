// Sends operations to one part of the kernel in batches.
import { asNetlinkError, type Result } from '../../shared/program/result.js';

/**
 * Maximum operations in one batch. A batch costs a turn of the event loop and a trip to another thread. Short batches let
 * other work, and the end of the process, run in between.
 */
const MOST = 1024;

/** Errors that mean that the change has already been made. These are successes. */
const NOTHING_TO_DO: Readonly<Record<string, readonly string[]>> = {
  addAddress: ['EEXIST'],
  deleteAddress: ['EADDRNOTAVAIL', 'ENODEV'],
  deleteLink: ['ENODEV'],
  addRule: ['EEXIST'],
  deleteRule: ['ENOENT'],
  addRoute: ['EEXIST'],
  deleteRoute: ['ESRCH'],
  deleteService: ['ESRCH'],
  deleteRealServer: ['ENOENT', 'ESRCH'],
};

/** A part of the kernel that takes batches of units: each is one or several operations. */
export interface Target<Unit> {
  /** Its name, for errors of its own. */
  readonly family: string;
  /** Sends a batch. Resolves to one result for each operation. */
  apply(units: readonly Unit[]): Promise<Result[]>;
  /** The name of an operation of a unit, by its number from 0. */
  nameOf(unit: Unit, number: number): string;
}

/** A part whose units are single operations. */
export function single<Unit extends { readonly do: string }>(
  family: string,
  apply: Target<Unit>['apply'],
): Target<Unit> {
  return { family, apply, nameOf: (unit) => unit.do };
}

/** A unit with the number of its operations, and the place of its result. */
interface Sent<Unit> {
  readonly units: Unit[];
  readonly sizes: number[];
  readonly places: number[];
}

/** Collects and sends operations in order. While the kernel works on one batch, the next one is collected and sent. */
export class BatchSender<Unit> {
  readonly #target: Target<Unit>;
  readonly #results: Result[];
  #batch: Sent<Unit> = { units: [], sizes: [], places: [] };
  /** Number of operations in the batch. */
  #size = 0;
  /** Ends with the batch that was sent last. */
  #last: Promise<void> | undefined;

  /** @param results takes the first error of the operations of each place */
  constructor(target: Target<Unit>, results: Result[]) {
    this.#target = target;
    this.#results = results;
  }

  /** Number of operations for which the batch has room; at least 1. */
  get room(): number {
    return MOST - this.#size;
  }

  /** Adds a unit for which there is room. The next one may be added after the returned promise, if there is one. */
  add(unit: Unit, size: number, place: number): Promise<void> | undefined {
    const { units, sizes, places } = this.#batch;
    units.push(unit);
    sizes.push(size);
    places.push(place);
    this.#size += size;
    return this.#size < MOST ? undefined : this.send();
  }

  /** Sends the rest. Resolves when all results are there. */
  async end(): Promise<void> {
    if (this.#size > 0) await this.send();
    await this.#last;
  }

  /** Sends the batch. Returns the promise of the one before it, so that two are under way at most. */
  send(): Promise<void> | undefined {
    const before = this.#last;
    this.#last = this.#finish(this.#batch, this.#size);
    this.#batch = { units: [], sizes: [], places: [] };
    this.#size = 0;
    return before;
  }

  /** If the batch itself fails, each of its operations has the error. */
  async #finish({ units, sizes, places }: Sent<Unit>, size: number): Promise<void> {
    let errors: readonly Result[];
    try {
      errors = await this.#target.apply(units);
    } catch (error) {
      errors = new Array<Result>(size).fill(asNetlinkError(error, this.#target.family));
    }
    let next = 0;
    for (let i = 0; i < units.length; i++) {
      for (let number = 0; number < (sizes[i] as number); number++) {
        const error = errors[next++];
        if (error === undefined) continue;
        const name = this.#target.nameOf(units[i] as Unit, number);
        if (!NOTHING_TO_DO[name]?.includes(error.code)) this.#results[places[i] as number] ??= error;
      }
    }
  }
}
