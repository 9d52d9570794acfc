// The items whose last operation failed: they are unknown until they have been read again.
import type { NetlinkError } from '../../kernel/errors.js';
import type { Planner } from './planner.js';
import { Retries } from './retries.js';

/** The owners of an item when its operation failed. */
type Owners = ReturnType<Planner<never, never>['ownersOf']>;

/** Knows the owners of items, and counts their Services. */
type OwnersOfItems = Pick<Planner<never, never>, 'ownersOf' | 'share'>;

/** The unknown items, the times of their retries, and the Services that have them. */
export class UnknownItems<Item> {
  readonly #planner: OwnersOfItems;
  readonly #now: () => number;
  readonly #items = new Map<string, Item | undefined>();
  /** Why their last operations failed. */
  readonly #errors = new Map<string, NetlinkError>();
  readonly #retries = new Retries();
  /** The owners change only with the plans that have the key, and then the item is tried again. */
  readonly #owners = new Map<string, Owners>();
  /** Service → number of its unknown items. */
  readonly #services = new Map<string, number>();
  /** Keys of the unknown items in the node's own plan. They are few: the plan does not grow with the number of Services. */
  readonly #vital = new Set<string>();

  /** @param now monotonic time, in ms */
  constructor(planner: OwnersOfItems, now: () => number) {
    this.#planner = planner;
    this.#now = now;
  }

  /** By key: the items, as the failed operations have them. */
  get items(): ReadonlyMap<string, Item | undefined> {
    return this.#items;
  }

  /** The Services whose plans have an unknown item, `namespace/name`. */
  get services(): Pick<ReadonlySet<string>, 'has' | 'size'> {
    return this.#services;
  }

  /** Why the last operations failed of those unknown items that are in the node's own plan. */
  get vital(): NetlinkError[] {
    return [...this.#vital].flatMap((key) => this.#errors.get(key) ?? []);
  }

  /** Time until the next retry, in whole ms, because timers cut fractions; undefined if no item is unknown. */
  get retryIn(): number | undefined {
    const { next } = this.#retries;
    return next === undefined ? undefined : Math.max(0, Math.ceil(next - this.#now()));
  }

  /** Keys whose retry is due. */
  due(): string[] {
    return this.#retries.due(this.#now());
  }

  /** Records that an operation on the item failed, or that it could not be read. */
  add(key: string, item: Item | undefined, error: NetlinkError): void {
    this.#forget(key);
    this.#items.set(key, item);
    this.#errors.set(key, error);
    this.#own(key);
    this.#retries.failed(key, this.#now());
  }

  /** The item has been read: the current pass tries it again if it is not as desired. */
  read(key: string): void {
    this.#forget(key);
    this.#retries.tries(key);
  }

  /** All items have been read. */
  readAll(): void {
    for (const key of this.#items.keys()) this.#retries.tries(key);
    this.#items.clear();
    this.#errors.clear();
    this.#forgetOwners();
  }

  /**
   * Items of these keys may be planned otherwise: those that are unknown are due, unless they are more than `most`. A full pass for
   * each change of a Service would cost more than the wait for their retry. Returns whether any are due.
   */
  planned(keys: Iterable<string>, most: number): boolean {
    if (this.#items.size === 0) return false;
    const found: string[] = [];
    for (const key of keys) if (this.#items.has(key)) found.push(key);
    if (found.length > most) return false;
    const now = this.#now();
    for (const key of found) this.#retries.changed(key, now);
    return found.length > 0;
  }

  /** Plans were made after operations had failed: the owners of the unknown items are looked up again. */
  ownAgain(): void {
    this.#forgetOwners();
    for (const key of this.#items.keys()) this.#own(key);
  }

  /** The pass has ended. */
  settle(): void {
    this.#retries.settle();
  }

  #own(key: string): void {
    const owners = this.#planner.ownersOf(key);
    this.#owners.set(key, owners);
    for (const service of owners.services) {
      const others = this.#services.get(service) ?? 0;
      if (others === 0) this.#planner.share.refused(service, 1);
      this.#services.set(service, others + 1);
    }
    if (owners.node) this.#vital.add(key);
  }

  #forgetOwners(): void {
    for (const service of this.#services.keys()) this.#planner.share.refused(service, -1);
    this.#owners.clear();
    this.#services.clear();
    this.#vital.clear();
  }

  #forget(key: string): void {
    const owners = this.#owners.get(key);
    if (!owners) return;
    this.#items.delete(key);
    this.#errors.delete(key);
    this.#owners.delete(key);
    this.#vital.delete(key);
    for (const service of owners.services) {
      const others = (this.#services.get(service) ?? 0) - 1;
      if (others > 0) this.#services.set(service, others);
      else {
        this.#services.delete(service);
        this.#planner.share.refused(service, -1);
      }
    }
  }
}
