// Items that were found in the kernel at the start, while not every object can be read: an item that no plan has wanted yet
// stays as it is. Once a plan has wanted it, it follows the plans.
import type { Keep, Known, Plan } from '../modes/mode.js';

/** State that is kept, by key. */
export class Kept<Item> {
  readonly #keep: Keep<Item>;
  /** Items that no plan wants. */
  #items: Map<string, Item> | undefined;
  /** Parts of wanted items that no plan wants. */
  readonly #parts = new Map<string, Item>();
  #changed = false;

  constructor(keep: Keep<Item>) {
    this.#keep = keep;
  }

  /** Items that no plan has wanted; undefined when they are the same as when this was called last. */
  takeChanged(): Plan<Item> | undefined {
    if (!this.#changed) return undefined;
    this.#changed = false;
    return new Map(this.#items);
  }

  /** Records the state of the kernel; only the first counts, since later ones have been programmed from plans. */
  find(known: Known<Item>): void {
    if (this.#items) return;
    this.#items = this.#keep.found(known);
    this.#changed = true;
  }

  /**
   * A plan, with those parts of its items that were found and that it does not have.
   *
   * @param former the plan before it: the parts of an item that is no longer wanted are not kept
   */
  join(plan: Plan<Item>, former: Plan<Item> | undefined): Plan<Item> {
    for (const key of former?.keys() ?? []) if (!plan.has(key)) this.#parts.delete(key);
    return new Map([...plan].map(([key, item]) => [key, this.#joinItem(key, item)]));
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
