// The items of all plans. An item that several owners have stays until the last of them no longer has it. If its
// settings differ, those of the owner with the lowest rank win, in any order of planning.
import type { Desired, Plan } from '../modes/mode.js';

/** A Service, or the node. The lowest rank wins; with equal ranks, the name that sorts first. */
export interface Owner {
  readonly name: string;
  readonly rank: number;
}

interface Reference<Item> {
  readonly owner: Owner;
  readonly item: Item;
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
  readonly #plans = new Map<string, Plan<Item>>();
  /** Key → references in order of rank. To save memory, a single reference, the usual case, is not in a list. */
  readonly #references = new Map<string, Reference<Item> | Reference<Item>[]>();
  readonly #groups = new Map<string, Set<string>>();
  /** Group → its number of keys at the last call of `takeGroupChanges`; only groups that have changed since. */
  readonly #changedGroups = new Map<string, number>();

  constructor(groupOf: (item: Item) => string | undefined) {
    this.#groupOf = groupOf;
  }

  get(key: string): Item | undefined {
    const references = this.#references.get(key);
    return Array.isArray(references) ? references[0]?.item : references?.item;
  }

  keys(): IterableIterator<string> {
    return this.#references.keys();
  }

  group(name: string): ReadonlySet<string> {
    return this.#groups.get(name) ?? NOTHING;
  }

  /** The plan of an owner; undefined if it is empty. */
  planOf(owner: string): Plan<Item> | undefined {
    return this.#plans.get(owner);
  }

  /** Number of owners whose plans are not empty. */
  get plans(): number {
    return this.#plans.size;
  }

  /** Names of the owners whose plans are not empty. */
  owners(): IterableIterator<string> {
    return this.#plans.keys();
  }

  /** Names of the owners of a key; the first wins. */
  ownersOf(key: string): string[] {
    const references = this.#references.get(key);
    if (references === undefined) return [];
    return (Array.isArray(references) ? references : [references]).map(({ owner }) => owner.name);
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
    for (const key of former?.keys() ?? []) {
      if (!plan.has(key)) this.#release(key, owner.name);
      touched.add(key);
    }
    for (const [key, item] of plan) this.#refer(key, { owner, item });
    if (plan.size > 0) this.#plans.set(owner.name, plan);
    else this.#plans.delete(owner.name);
    return touched;
  }

  #refer(key: string, reference: Reference<Item>): void {
    const others = this.#othersOf(key, reference.owner.name);
    this.#references.set(key, others.length === 0 ? reference : [...others, reference].sort(byRank));
    const name = this.#groupOf(reference.item);
    if (name === undefined) return;
    const group = this.#groups.get(name) ?? new Set();
    if (group.has(key)) return;
    this.#noteChange(name, group);
    this.#groups.set(name, group.add(key));
  }

  #release(key: string, owner: string): void {
    const item = this.get(key);
    const [heir, ...others] = this.#othersOf(key, owner);
    if (heir) {
      this.#references.set(key, others.length === 0 ? heir : [heir, ...others]);
      return;
    }
    this.#references.delete(key);
    const name = item === undefined ? undefined : this.#groupOf(item);
    const group = name === undefined ? undefined : this.#groups.get(name);
    if (name === undefined || !group?.has(key)) return;
    this.#noteChange(name, group);
    group.delete(key);
    if (group.size === 0) this.#groups.delete(name);
  }

  #noteChange(name: string, group: ReadonlySet<string>): void {
    if (!this.#changedGroups.has(name)) this.#changedGroups.set(name, group.size);
  }

  #othersOf(key: string, owner: string): Reference<Item>[] {
    const references = this.#references.get(key);
    if (references === undefined) return [];
    const all = Array.isArray(references) ? references : [references];
    return all.filter((reference) => reference.owner.name !== owner);
  }
}

function byRank<Item>(a: Reference<Item>, b: Reference<Item>): number {
  return a.owner.rank - b.owner.rank || (a.owner.name < b.owner.name ? -1 : 1);
}
