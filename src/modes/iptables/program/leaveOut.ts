// Restores the changes of one family. If the kernel refuses a rule, only the Service that has it is left out: its chains
// and rules refer to each other.
import { ROLLED_BACK } from '../../../errors.js';
import type { Iptables, IptablesOperation } from '../../../kernel/iptables/types.js';
import type { Family } from '../../../net/address.js';
import { type Result, resultsOf } from '../../shared/program/result.js';
import type { OwnedChange } from '../plan/operations.js';

/** Maximum restores of one call. If they do not suffice, the rest fails, and the reconciler retries it later. */
const MOST_RESTORES = 64;
/** Maximum restores of one group, each without the culprits of the one before. The group is then divided. */
const MOST_ATTEMPTS = 4;

/** Changes that are made, or left out, together: the places of those of one Service, or one of the others. */
type Unit = readonly number[];

/** Returns one result for each change, undefined if it was made. */
export async function restoreAndLeaveOut(
  iptables: Pick<Iptables, 'restore'>,
  family: Family,
  changes: readonly OwnedChange[],
): Promise<Result[]> {
  const operations = changes.map(({ operation }) => operation);
  const first = await restored(iptables, family, operations);
  if (first.every((result) => result === undefined)) return first;
  const run = new Run(iptables, family, changes);
  const units = unitsOf(changes);
  const rest = await run.attempt([...units.node, ...units.services, ...units.removals], first);
  if (rest.length > 0) {
    // The node's chains precede those of Services, which jump to them; nothing must jump to a chain that is deleted.
    for (const group of [units.node, units.services, units.removals]) await run.divide(group);
  }
  return run.results;
}

/** The restores of one call, and their results so far. */
class Run {
  readonly results: Result[];
  readonly #iptables: Pick<Iptables, 'restore'>;
  readonly #family: Family;
  readonly #changes: readonly OwnedChange[];
  /** Places of the changes that were not made yet, and do not have their error. */
  readonly #open: Set<number>;
  #restores = 0;
  /** The last error of a restore. */
  #last: Result;

  constructor(iptables: Pick<Iptables, 'restore'>, family: Family, changes: readonly OwnedChange[]) {
    this.#iptables = iptables;
    this.#family = family;
    this.#changes = changes;
    this.results = new Array<Result>(changes.length).fill(undefined);
    this.#open = new Set(changes.keys());
  }

  /**
   * Restores units, again without the culprits if there are any. Returns the units that are still open.
   *
   * @param first the results of the first restore, of all changes, if it was made
   */
  async attempt(units: readonly Unit[], first?: readonly Result[]): Promise<Unit[]> {
    let rest = this.#stillOpen(units);
    for (let attempt = 0; attempt < MOST_ATTEMPTS && rest.length > 0; attempt++) {
      if (this.#restores >= MOST_RESTORES) {
        this.#close(rest);
        return [];
      }
      const results = attempt === 0 ? first : undefined;
      const culprits = await this.#restore(rest, results);
      if (culprits === 'unknown') return this.#stillOpen(rest);
      this.#close(culprits);
      rest = this.#stillOpen(rest);
    }
    return rest;
  }

  /** Restores units in groups that are halved until they have no unknown culprit. */
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
   * @param made the results, if the restore was made
   */
  async #restore(units: readonly Unit[], made?: readonly Result[]): Promise<readonly Unit[] | 'unknown'> {
    this.#restores++;
    const places = units
      .flatMap((unit) => unit.filter((place) => this.#open.has(place)))
      .sort((a, b) => a - b);
    const operations = places.map((place) => (this.#changes[place] as OwnedChange).operation);
    const results = made ?? (await restored(this.#iptables, this.#family, operations));
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
    // One error for several units: the program did not name the culprit, or there is none.
    const unnamed = errors.size === 1 && culprits.length > 1;
    if (unnamed && error?.code === 'ERR_PROCESS') return 'unknown';
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

/** The results of one restore. */
function restored(
  iptables: Pick<Iptables, 'restore'>,
  family: Family,
  operations: readonly IptablesOperation[],
): Promise<Result[]> {
  return resultsOf('iptables.restore', operations.length, () => iptables.restore(family, operations));
}

function unitsOf(changes: readonly OwnedChange[]): Record<'node' | 'services' | 'removals', Unit[]> {
  const node: Unit[] = [];
  const removals: Unit[] = [];
  const services = new Map<string, number[]>();
  for (const [place, { operation, service }] of changes.entries()) {
    if (service === undefined) (isRemoval(operation) ? removals : node).push([place]);
    else {
      const unit = services.get(service);
      if (unit) unit.push(place);
      else services.set(service, [place]);
    }
  }
  return { node, services: [...services.values()], removals };
}

function isRemoval({ do: verb }: IptablesOperation): boolean {
  return verb === 'deleteRule' || verb === 'deleteChain';
}
