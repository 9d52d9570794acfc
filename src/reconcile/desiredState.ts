// The items of all plans. An item that several owners have stays until the last of them no longer has it. If its
// settings differ, those of the owner with the lowest rank win, in any order of planning.
import type { Desired, Plan } from '../modes/mode.js';

/** A Service, or the node. The lowest rank wins; with equal ranks, the name that sorts first. */
export interface Owner {
  readonly name: string;
  readonly rank: number;
}

/** The plan of one owner. */
interface OwnedPlan<Item> {
  readonly owner: Owner;
  readonly plan: Plan<Item>;
}

/** A change of a group, see {@link DesiredState.takeGroupChanges}. */
export interface GroupChange {
  /** Number of keys before. */
  readonly before: number;
  /** Number of keys now. */
  readonly now: number;
}

const NOTHING: ReadonlySet<string> = new Set();

/** The plans of all owners, merged by key. */
export class DesiredState<Item> implements Desired<Item> {
  readonly #groupOf: (item: Item) => string | undefined;
  /** Name of the owner → its plan, if it is not empty. */
  readonly #plans = new Map<string, OwnedPlan<Item>>();
  /**
   * Key → the plans that have it, in order of rank. To save memory, a single plan, the usual case, is not in a list: a
   * key costs one entry.
   */
  readonly #plansOf = new Map<string, OwnedPlan<Item> | readonly OwnedPlan<Item>[]>();
  readonly #groups = new Map<string, Set<string>>();
  /** Group → its number of keys at the last call of `takeGroupChanges`; only groups that have changed since. */
  readonly #changedGroups = new Map<string, number>();

  constructor(groupOf: (item: Item) => string | undefined) {
    this.#groupOf = groupOf;
  }

  get(key: string): Item | undefined {
    const plans = this.#plansOf.get(key);
    return (isList(plans) ? plans[0] : plans)?.plan.get(key);
  }

  keys(): IterableIterator<string> {
    return this.#plansOf.keys();
  }

  group(name: string): ReadonlySet<string> {
    return this.#groups.get(name) ?? NOTHING;
  }

  /** Whether groups have changed since the last call of {@link takeGroupChanges}. */
  get groupsChanged(): boolean {
    return this.#changedGroups.size > 0;
  }

  /** Number of owners whose plans are not empty. */
  get plans(): number {
    return this.#plans.size;
  }

  /** The plan of an owner; undefined if it is empty. */
  planOf(owner: string): Plan<Item> | undefined {
    return this.#plans.get(owner)?.plan;
  }

  /** Names of the owners whose plans are not empty. */
  owners(): IterableIterator<string> {
    return this.#plans.keys();
  }

  /** Names of the owners of a key; the first wins. */
  ownersOf(key: string): string[] {
    const plans = this.#plansOf.get(key);
    if (plans === undefined) return [];
    return (isList(plans) ? plans : [plans]).map(({ owner }) => owner.name);
  }

  /** Whether several owners have the key. */
  isShared(key: string): boolean {
    return isList(this.#plansOf.get(key));
  }

  /** Groups to which keys were added, or from which keys were removed, since the last call. */
  takeGroupChanges(): Map<string, GroupChange> {
    const changes = new Map<string, GroupChange>();
    for (const [name, before] of this.#changedGroups)
      changes.set(name, { before, now: this.group(name).size });
    this.#changedGroups.clear();
    return changes;
  }

  /**
   * Replaces the plan of an owner.
   *
   * @returns the keys whose desired item may have changed
   */
  replace(owner: Owner, plan: Plan<Item>): Set<string> {
    const former = this.#plans.get(owner.name);
    const touched = new Set(plan.keys());
    if (former) {
      for (const [key, item] of former.plan) {
        if (plan.has(key)) continue;
        this.#release(key, item, former);
        touched.add(key);
      }
    }
    const owned = { owner, plan };
    for (const [key, item] of plan) this.#own(key, item, owned, former);
    if (plan.size > 0) this.#plans.set(owner.name, owned);
    else this.#plans.delete(owner.name);
    return touched;
  }

  /** @param former the plan that this one replaces */
  #own(key: string, item: Item, owned: OwnedPlan<Item>, former: OwnedPlan<Item> | undefined): void {
    const plans = this.#plansOf.get(key);
    if (plans === undefined || plans === former) this.#plansOf.set(key, owned);
    else {
      const others = (isList(plans) ? plans : [plans]).filter((other) => other !== former);
      this.#plansOf.set(key, others.length === 0 ? owned : [...others, owned].sort(byRank));
    }
    if (plans !== undefined) return;
    const name = this.#groupOf(item);
    if (name === undefined) return;
    const group = this.#groups.get(name) ?? new Set();
    this.#noteChange(name, group);
    this.#groups.set(name, group.add(key));
  }

  #release(key: string, item: Item, former: OwnedPlan<Item>): void {
    const plans = this.#plansOf.get(key);
    if (isList(plans)) {
      const others = plans.filter((other) => other !== former);
      const [heir] = others;
      if (heir) this.#plansOf.set(key, others.length === 1 ? heir : others);
      return;
    }
    this.#plansOf.delete(key);
    const name = this.#groupOf(item);
    const group = name === undefined ? undefined : this.#groups.get(name);
    if (name === undefined || !group?.has(key)) return;
    this.#noteChange(name, group);
    group.delete(key);
    if (group.size === 0) this.#groups.delete(name);
  }

  #noteChange(name: string, group: ReadonlySet<string>): void {
    if (!this.#changedGroups.has(name)) this.#changedGroups.set(name, group.size);
  }
}

function isList<Value>(value: Value | readonly Value[] | undefined): value is readonly Value[] {
  return Array.isArray(value);
}

function byRank<Item>(a: OwnedPlan<Item>, b: OwnedPlan<Item>): number {
  return a.owner.rank - b.owner.rank || (a.owner.name < b.owner.name ? -1 : 1);
}
