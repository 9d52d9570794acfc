// Fake notifications of the host's links and addresses, which a test sends to all watches.
import type { HostChange } from '../../../src/proxy/services/types.js';

type Changed = (change: HostChange) => void;

/** A host whose notifications a test sends. */
export class HostNotifications {
  readonly #watches = new Set<Changed>();

  /** Number of open watches. */
  get watches(): number {
    return this.#watches.size;
  }

  /** The same interface as the kernel's. */
  readonly watchHost = async (changed: Changed) => {
    this.#watches.add(changed);
    return { close: () => void this.#watches.delete(changed) };
  };

  send(change: HostChange): void {
    for (const changed of this.#watches) changed(change);
  }
}
