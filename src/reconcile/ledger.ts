// What every owner wants, and what they want together. An item that several owners want stays until the last of them
// lets it go; where they want it with different settings, the first in rank has its way, whatever came first in time.
import type { Desired, Fragment } from '../modes/mode.js';

/** Who wants something. Lower rank goes first; equal ranks are told apart by name. */
export interface Owner {
  readonly name: string;
  readonly rank: number;
}

interface Claim<Item> {
  readonly owner: Owner;
  readonly item: Item;
}

const NOTHING: ReadonlySet<string> = new Set();

/** The fragments of all owners, merged by key. */
export class Ledger<Item> implements Desired<Item> {
  readonly #groupOf: (item: Item) => string | undefined;
  readonly #fragments = new Map<string, Fragment<Item>>();
  /** Key → claims in order of rank. Nearly every key has one claim, which is then not wrapped in a list. */
  readonly #claims = new Map<string, Claim<Item> | Claim<Item>[]>();
  readonly #groups = new Map<string, Set<string>>();

  constructor(groupOf: (item: Item) => string | undefined) {
    this.#groupOf = groupOf;
  }

  get(key: string): Item | undefined {
    const claims = this.#claims.get(key);
    return Array.isArray(claims) ? claims[0]?.item : claims?.item;
  }

  keys(): IterableIterator<string> {
    return this.#claims.keys();
  }

  group(name: string): ReadonlySet<string> {
    return this.#groups.get(name) ?? NOTHING;
  }

  /** What an owner wants; undefined when it wants nothing. */
  fragment(owner: string): Fragment<Item> | undefined {
    return this.#fragments.get(owner);
  }

  /** Names of the owners that want anything. */
  owners(): IterableIterator<string> {
    return this.#fragments.keys();
  }

  /** Names of the owners that want a key; the first has its way. */
  ownersOf(key: string): string[] {
    const claims = this.#claims.get(key);
    if (claims === undefined) return [];
    return (Array.isArray(claims) ? claims : [claims]).map((claim) => claim.owner.name);
  }

  /** Several owners that want a key with different items, and the one that has its way: worth telling an operator. */
  contenders(key: string): readonly string[] {
    const claims = this.#claims.get(key);
    return Array.isArray(claims) ? claims.map((claim) => claim.owner.name) : [];
  }

  /**
   * Replaces what an owner wants.
   *
   * @returns the keys whose desired item may have changed
   */
  replace(owner: Owner, fragment: Fragment<Item>): Set<string> {
    const former = this.#fragments.get(owner.name);
    const touched = new Set(fragment.keys());
    for (const key of former?.keys() ?? []) {
      if (!fragment.has(key)) this.#release(key, owner.name);
      touched.add(key);
    }
    for (const [key, item] of fragment) this.#claim(key, { owner, item });
    if (fragment.size > 0) this.#fragments.set(owner.name, fragment);
    else this.#fragments.delete(owner.name);
    return touched;
  }

  #claim(key: string, claim: Claim<Item>): void {
    const others = this.#othersOf(key, claim.owner.name);
    this.#claims.set(key, others.length === 0 ? claim : [...others, claim].sort(byRank));
    const group = this.#groupOf(claim.item);
    if (group === undefined) return;
    const members = this.#groups.get(group);
    if (members) members.add(key);
    else this.#groups.set(group, new Set([key]));
  }

  #release(key: string, owner: string): void {
    const item = this.get(key);
    const [heir, ...others] = this.#othersOf(key, owner);
    if (heir) {
      this.#claims.set(key, others.length === 0 ? heir : [heir, ...others]);
      return;
    }
    this.#claims.delete(key);
    const group = item === undefined ? undefined : this.#groupOf(item);
    if (group === undefined) return;
    const members = this.#groups.get(group);
    members?.delete(key);
    if (members?.size === 0) this.#groups.delete(group);
  }

  #othersOf(key: string, owner: string): Claim<Item>[] {
    const claims = this.#claims.get(key);
    if (claims === undefined) return [];
    return (Array.isArray(claims) ? claims : [claims]).filter((claim) => claim.owner.name !== owner);
  }
}

function byRank<Item>(a: Claim<Item>, b: Claim<Item>): number {
  return a.owner.rank - b.owner.rank || (a.owner.name < b.owner.name ? -1 : 1);
}
