// Notifications of the host's links and addresses, sent by a test to everything that watches.
import type { HostChange } from '../../src/services/types.js';

type Changed = (change: HostChange) => void;

/** A host that notifies when the test wants it to. */
export class HostNotifications {
  readonly #watches = new Set<Changed>();

  /** How many watches are open. */
  get watches(): number {
    return this.#watches.size;
  }

  /** As the kernel's parts have it. */
  readonly watchHost = async (changed: Changed) => {
    this.#watches.add(changed);
    return { close: () => void this.#watches.delete(changed) };
  };

  send(change: HostChange): void {
    for (const changed of this.#watches) changed(change);
  }
}
