// Makes changes as transactions. If the kernel refuses a change, only its owner's changes are left out: they refer to each other.
import { ROLLED_BACK } from '../../../../kernel/errors.js';
import type { Result } from './result.js';

/** Changes, and how they are made. */
interface Transaction<Change> {
  readonly changes: readonly Change[];
  /** Makes changes, all or none. Returns one result for each: its error, or `ERR_ROLLED_BACK` for those that are not to blame. */
  send(changes: readonly Change[]): Promise<Result[]>;
  /** Changes with the same owner are made, or left out, together. Undefined: the change is on its own. */
  ownerOf(change: Change): string | undefined;
  /** Whether it removes something: all that refers to it is changed before. Asked for changes without an owner. */
  removes(change: Change): boolean;
}

/** Maximum attempts of one call. If they do not suffice, the rest fails, and the reconciler retries it later. */
const MOST_IN_ALL = 64;
/** Maximum attempts for one group, each without the culprits of the one before. The group is then divided. */
const MOST_ATTEMPTS = 4;

/** Changes that are made, or left out, together: the places of those of one owner, or one of the others. */
type Unit = readonly number[];

/** Returns one result for each change, undefined if it was made. */
export async function leaveOut<Change>(transaction: Transaction<Change>): Promise<Result[]> {
  const first = await transaction.send(transaction.changes);
  if (first.every((result) => result === undefined)) return first;
  const run = new Run(transaction);
  const units = unitsOf(transaction);
  const rest = await run.attempt([...units.alone, ...units.owned, ...units.removals], first);
  if (rest.length > 0) {
    // What has no owner precedes what refers to it; nothing must refer to what is removed.
    for (const group of [units.alone, units.owned, units.removals]) await run.divide(group);
  }
  return run.results;
}

/** The attempts of one call, and their results so far. */
class Run<Change> {
  readonly results: Result[];
  readonly #transaction: Transaction<Change>;
  /** Places of the changes that were not made yet, and do not have their error. */
  readonly #open: Set<number>;
  #attempts = 0;
  /** The last error of an attempt. */
  #last: Result;

  constructor(transaction: Transaction<Change>) {
    const { changes } = transaction;
    this.#transaction = transaction;
    this.results = new Array<Result>(changes.length).fill(undefined);
    this.#open = new Set(changes.keys());
  }

  /**
   * Makes units, again without the culprits if there are any. Returns the units that are still open.
   *
   * @param first the results of the first attempt, of all changes, if it was made
   */
  async attempt(units: readonly Unit[], first?: readonly Result[]): Promise<Unit[]> {
    let rest = this.#stillOpen(units);
    for (let attempt = 0; attempt < MOST_ATTEMPTS && rest.length > 0; attempt++) {
      if (this.#attempts >= MOST_IN_ALL) {
        this.#close(rest);
        return [];
      }
      const results = attempt === 0 ? first : undefined;
      const culprits = await this.#send(rest, results);
      if (culprits === 'unknown') return this.#stillOpen(rest);
      this.#close(culprits);
      rest = this.#stillOpen(rest);
    }
    return rest;
  }

  /** Makes units in groups that are halved until they have no unknown culprit. */
  async divide(units: readonly Unit[]): Promise<void> {
    const groups = [this.#stillOpen(units)];
    for (let group = groups.shift(); group; group = groups.shift()) {
      const rest = await this.attempt(group);
      if (rest.length === 0) continue;
      const half = Math.ceil(rest.length / 2);
      groups.push(rest.slice(0, half), rest.slice(half));
    }
  }

  /**
   * Makes the open changes of the units. Returns the units that have the failure.
   *
   * @param made the results, if they were sent
   */
  async #send(units: readonly Unit[], made?: readonly Result[]): Promise<readonly Unit[] | 'unknown'> {
    this.#attempts++;
    const places = units
      .flatMap((unit) => unit.filter((place) => this.#open.has(place)))
      .sort((a, b) => a - b);
    const { changes } = this.#transaction;
    const results = made ?? (await this.#transaction.send(places.map((place) => changes[place] as Change)));
    const errors = new Set<Result>();
    for (const [i, place] of places.entries()) {
      const result = results[i];
      this.results[place] = result;
      if (result === undefined) this.#open.delete(place);
      else if (result.code !== ROLLED_BACK) errors.add(result);
    }
    const culprits = units.filter((unit) => unit.some((place) => errors.has(this.results[place])));
    const [error] = errors;
    this.#last = error ?? this.#last;
    // One error for several units: the kernel's program did not name the culprit, or there is none.
    const unnamed = errors.size === 1 && culprits.length > 1;
    if (unnamed && error?.code === 'ERR_PROCESS') return 'unknown';
    // The socket did not take the transaction, because of its length: none is to blame, and a part of it may be short enough.
    if (culprits.length > 1 && error?.code === 'EMSGSIZE') return 'unknown';
    return culprits;
  }

  #stillOpen(units: readonly Unit[]): Unit[] {
    return units.filter((unit) => unit.some((place) => this.#open.has(place)));
  }

  /** Leaves units out. All their open changes have the first error of the unit. */
  #close(units: readonly Unit[]): void {
    for (const unit of units) {
      const open = unit.filter((place) => this.#open.has(place));
      const errors = open.map((place) => this.results[place]);
      const error = errors.find((each) => each?.code !== ROLLED_BACK) ?? this.#last;
      for (const place of open) {
        this.results[place] = error;
        this.#open.delete(place);
      }
    }
  }
}

function unitsOf<Change>({
  changes,
  ownerOf,
  removes,
}: Transaction<Change>): Record<'alone' | 'owned' | 'removals', Unit[]> {
  const alone: Unit[] = [];
  const removals: Unit[] = [];
  const owned = new Map<string, number[]>();
  for (const [place, change] of changes.entries()) {
    const owner = ownerOf(change);
    if (owner === undefined) (removes(change) ? removals : alone).push([place]);
    else {
      const unit = owned.get(owner);
      if (unit) unit.push(place);
      else owned.set(owner, [place]);
    }
  }
  return { alone, owned: [...owned.values()], removals };
}
