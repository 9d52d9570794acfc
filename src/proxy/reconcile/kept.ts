// Items that the kernel had at the start, while some objects are unreadable. An item stays unchanged until a plan
// contains it; from then on only the plans decide.
import type { Keep, Known, Plan } from '../modes/mode.js';

/** The kept state, by key. */
export class Kept<Item> {
  readonly #keep: Keep<Item>;
  /** Items that have been in no plan. */
  #items: Map<string, Item> | undefined;
  /** Parts of planned items that are in no plan. */
  readonly #parts = new Map<string, Item>();
  #changed = false;

  constructor(keep: Keep<Item>) {
    this.#keep = keep;
  }

  /** Items that have been in no plan; undefined if they have not changed since the last call. */
  takeChanged(): Plan<Item> | undefined {
    if (!this.#changed) return undefined;
    this.#changed = false;
    return new Map(this.#items);
  }

  /** Records the state of the kernel. Only the first call has an effect: later state was programmed from plans. */
  find(known: Known<Item>): void {
    if (this.#items) return;
    this.#items = this.#keep.found(known);
    this.#changed = true;
  }

  /**
   * A plan whose items include their kept parts.
   *
   * @param former the previous plan: parts of items that are no longer planned are not kept
   */
  join(plan: Plan<Item>, former: Plan<Item> | undefined): Plan<Item> {
    const items = this.#items ?? new Map<string, Item>();
    const parts = this.#parts;
    const kept = {
      get: (key: string) => items.get(key) ?? parts.get(key),
      has: (key: string) => items.has(key) || parts.has(key),
    };
    const moved = [...(this.#keep.inFormOf?.(plan, kept, former) ?? [])];
    for (const [key, item] of moved) items.set(key, item);
    for (const key of former?.keys() ?? []) if (!plan.has(key)) parts.delete(key);
    const joined = new Map<string, Item>();
    for (const [key, item] of plan) {
      const whole = this.#joinItem(key, item);
      joined.set(key, whole);
      if (whole === item) continue;
      for (const [behind, needed] of this.#keep.behind?.(whole, plan) ?? [])
        if (!plan.has(behind) && !kept.has(behind)) joined.set(behind, needed);
    }
    // Only now `items` has what this plan does not contain.
    for (const [key, item] of joined) if (this.#keep.contradicts?.(item, items)) joined.delete(key);
    return joined;
  }

  #joinItem(key: string, item: Item): Item {
    const found = this.#items?.get(key);
    if (found !== undefined) {
      this.#items?.delete(key);
      this.#changed = true;
      const part = this.#keep.beyond(found, item);
      if (part !== undefined) this.#parts.set(key, part);
    }
    const part = this.#parts.get(key);
    return part === undefined ? item : this.#keep.join(item, part);
  }
}
