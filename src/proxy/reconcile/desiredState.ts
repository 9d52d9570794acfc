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

/** A group, and how it changed. */
interface Group {
  readonly name: string;
  /** Number of its keys. */
  readonly size: number;
  /** Number of its keys before its last change was taken. */
  readonly before: number;
}

/** A group while its keys are added and removed. */
interface GroupState {
  readonly name: string;
  size: number;
  before: number;
  /** It is in the list of changed groups. */
  changed: boolean;
  /** Undefined until the keys are first asked for: most groups are only counted. */
  keys: Set<string> | undefined;
}

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
  /** Number of keys that several plans have. */
  #shared = 0;
  /** Groups that have or had keys. Their number does not grow with the number of Services. */
  readonly #groups = new Map<string, GroupState>();
  /** Groups that have changed since the last call of `takeGroupChanges`. */
  #changedGroups: GroupState[] = [];

  constructor(groupOf: (item: Item) => string | undefined) {
    this.#groupOf = groupOf;
  }

  get(key: string): Item | undefined {
    const plans = this.#plansOf.get(key);
    return (isList(plans) ? plans[0] : plans)?.plan.get(key);
  }

  has(key: string): boolean {
    return this.#plansOf.has(key);
  }

  keys(): IterableIterator<string> {
    return this.#plansOf.keys();
  }

  groupSize(name: string): number {
    return this.#groups.get(name)?.size ?? 0;
  }

  /** The first call for a group that has keys visits all desired items. */
  group(name: string): ReadonlySet<string> {
    const group = this.#groupNamed(name);
    group.keys ??= new Set(group.size === 0 ? [] : this.#keysIn(name));
    return group.keys;
  }

  *groups(): Generator<string> {
    for (const { name, size } of this.#groups.values()) if (size > 0) yield name;
  }

  /** Whether groups have changed since the last call of {@link takeGroupChanges}. */
  get groupsChanged(): boolean {
    return this.#changedGroups.length > 0;
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
    // Usually there is none, and a look-up in a large map takes long.
    return this.#shared > 0 && isList(this.#plansOf.get(key));
  }

  /** Groups to which keys were added, or from which keys were removed, since the last call. */
  takeGroupChanges(take: (group: Group) => void): void {
    const groups = this.#changedGroups;
    this.#changedGroups = [];
    for (const group of groups) {
      take(group);
      group.before = group.size;
      group.changed = false;
    }
  }

  /**
   * Replaces the plan of an owner.
   *
   * @returns the keys whose desired item may have changed, each once
   */
  replace(owner: Owner, plan: Plan<Item>): string[] {
    const former = this.#plans.get(owner.name);
    const touched = [...plan.keys()];
    if (former) {
      for (const [key, item] of former.plan) {
        if (plan.has(key)) continue;
        this.#release(key, item, former);
        touched.push(key);
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
    if (plans === undefined || plans === former) {
      this.#plansOf.set(key, owned);
      this.#move(key, former?.plan.get(key), item);
      return;
    }
    const before = this.get(key);
    const others = (isList(plans) ? plans : [plans]).filter((other) => other !== former);
    if (others.length > 0 && !isList(plans)) this.#shared++;
    this.#plansOf.set(key, others.length === 0 ? owned : [...others, owned].sort(byRank));
    this.#move(key, before, this.get(key));
  }

  #release(key: string, item: Item, former: OwnedPlan<Item>): void {
    const plans = this.#plansOf.get(key);
    if (isList(plans)) {
      const before = this.get(key);
      const others = plans.filter((other) => other !== former);
      const [next] = others;
      if (others.length === 1) this.#shared--;
      if (next) this.#plansOf.set(key, others.length === 1 ? next : others);
      this.#move(key, before, this.get(key));
      return;
    }
    this.#plansOf.delete(key);
    this.#move(key, item, undefined);
  }

  /** Counts the desired item of a key in its group, and no longer the one before it. */
  #move(key: string, before: Item | undefined, now: Item | undefined): void {
    const from = before === undefined ? undefined : this.#groupOf(before);
    const to = now === undefined ? undefined : this.#groupOf(now);
    if (from === to) return;
    if (from !== undefined) {
      const group = this.#changing(from);
      group.size--;
      group.keys?.delete(key);
    }
    if (to === undefined) return;
    const group = this.#changing(to);
    group.size++;
    group.keys?.add(key);
  }

  /** A group whose keys are being added or removed. */
  #changing(name: string): GroupState {
    const group = this.#groupNamed(name);
    if (!group.changed) {
      group.changed = true;
      this.#changedGroups.push(group);
    }
    return group;
  }

  #groupNamed(name: string): GroupState {
    const known = this.#groups.get(name);
    if (known) return known;
    const group = { name, size: 0, before: 0, changed: false, keys: undefined };
    this.#groups.set(name, group);
    return group;
  }

  *#keysIn(name: string): Iterable<string> {
    for (const key of this.#plansOf.keys()) {
      const item = this.get(key);
      if (item !== undefined && this.#groupOf(item) === name) yield key;
    }
  }
}

function isList<Value>(value: Value | readonly Value[] | undefined): value is readonly Value[] {
  return Array.isArray(value);
}

function byRank<Item>(a: OwnedPlan<Item>, b: OwnedPlan<Item>): number {
  return a.owner.rank - b.owner.rank || (a.owner.name < b.owner.name ? -1 : 1);
}
