// The latest Node objects. Uses no clock, log or kernel.
import type { Node } from '../objects/types.js';

/** All Nodes that the source has reported. */
export class NodeCache {
  readonly #nodes = new Map<string, Node>();
  /** The last result of {@link addressesOfOthers}, until an address changes. */
  #others: { readonly name: string; readonly addresses: ReadonlySet<string> } | undefined;

  get(name: string): Node | undefined {
    return this.#nodes.get(name);
  }

  /** Stores a Node, or removes it. */
  set(node: Node, exists: boolean): void {
    const { name } = node;
    const before = this.#nodes.get(name)?.addresses ?? [];
    const now = exists ? node.addresses : [];
    if (exists) this.#nodes.set(name, node);
    else this.#nodes.delete(name);
    if (this.#others?.name !== name && before.join() !== now.join()) this.#others = undefined;
  }

  /** The addresses of each Node except the named one, by its name. */
  others(name: string): Map<string, readonly string[]> {
    const others = new Map<string, readonly string[]>();
    for (const node of this.#nodes.values()) if (node.name !== name) others.set(node.name, node.addresses);
    return others;
  }

  /** Addresses of all Nodes except the named one. The same set until one of them changes. */
  addressesOfOthers(name: string): ReadonlySet<string> {
    if (this.#others?.name !== name) this.#others = { name, addresses: this.#collect(name) };
    return this.#others.addresses;
  }

  #collect(name: string): Set<string> {
    const addresses = new Set<string>();
    for (const node of this.#nodes.values()) {
      if (node.name === name) continue;
      for (const address of node.addresses) addresses.add(address);
    }
    return addresses;
  }
}
