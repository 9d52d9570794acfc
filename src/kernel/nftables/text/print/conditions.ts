// The conditions of a rule that is printed: which of them a later statement implies.
import type { Element, TableFamily } from '../../types.js';
import { isMet, type Known, knownOf, layerOf, learned, learnedOfSet, type Need, NOTHING } from '../known.js';

/** Follows the statements of a rule. */
export class Conditions {
  readonly #family: TableFamily;
  #known: Known;
  /** Indexes of the statements that a need of their layer would add again. */
  readonly #open = new Map<Need['layer'], number>();

  constructor(family: TableFamily) {
    this.#family = family;
    this.#known = knownOf(family);
  }

  /** What the statements say of the packet. */
  get known(): Known {
    return this.#known;
  }

  /** Whether the packet is known to be so: a reader would add conditions to any other. */
  has(needs: readonly Need[]): boolean {
    return needs.every((need) => isMet(need, this.#known));
  }

  /** Notes a comparison of a value, by its text, which is the statement of this index. */
  learn(text: string, data: Uint8Array, index: number): void {
    const before = this.#known;
    this.#known = learned(before, this.#family, text, data);
    // Of two conditions of a layer, a reader would add none: it knows of the other one.
    const said = learned(NOTHING, this.#family, text, data);
    for (const layer of this.#open.keys()) if (said[layer] !== undefined) this.#open.delete(layer);
    const layer = layerOf(text, data, this.#family);
    if (layer && before[layer] === undefined) this.#open.set(layer, index);
  }

  /** Notes that a set of the rule has a value. */
  learnOfSet(text: string, elements: readonly Element[]): void {
    this.#known = learnedOfSet(this.#known, text, elements);
  }

  /** The indexes of the statements that these needs imply, each once. */
  implied(needs: readonly Need[]): number[] {
    return needs.flatMap(({ layer }) => {
      const index = this.#open.get(layer);
      this.#open.delete(layer);
      return index ?? [];
    });
  }

  /** Keeps all conditions so far: a statement that does something is between them and later needs, or has a text that depends on them. */
  keep(): void {
    this.#open.clear();
  }
}
