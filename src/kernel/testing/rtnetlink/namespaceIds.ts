// The ids of network namespaces in memory.
import { constants } from 'node:os';
import type { NetworkNamespace, NewNamespaceId } from '../../rtnetlink/types.js';
import type { Refusal } from '../client.js';

const { EEXIST } = constants.errno;
const HAS_ONE: Refusal = { errno: EEXIST, message: 'Peer netns already has a nsid assigned' };
const TAKEN: Refusal = { errno: EEXIST, message: 'The specified nsid is already used' };

/** The ids by the path of the namespace, or the process in it. The fake takes each path and process for a namespace of its own. */
export class FakeNamespaceIds {
  readonly #ids = new Map<NetworkNamespace, number>();

  list(): number[] {
    return [...this.#ids.values()].sort((a, b) => a - b);
  }

  get(netns: NetworkNamespace): number | undefined {
    return this.#ids.get(netns);
  }

  set({ netns, id }: NewNamespaceId): Refusal | undefined {
    if (this.#ids.has(netns)) return HAS_ONE;
    const taken = new Set(this.#ids.values());
    let given = id ?? 0;
    if (id === undefined) while (taken.has(given)) given++;
    else if (taken.has(id)) return TAKEN;
    this.#ids.set(netns, given);
    return undefined;
  }
}
