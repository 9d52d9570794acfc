// Tens of thousands of endpoints name a few thousand nodes, a few zones and a few hundred lists of ports: each is kept
// once.
import type { KubernetesObject } from '../objects/types.js';

/** Values remembered at most; then it starts over, and what comes is shared among itself. */
const MOST = 20_000;

/** Replaces values by equal ones that were seen before. Values are never changed, so nobody can tell. */
export class Shared {
  readonly #values = new Map<string, unknown>();

  /** The object, made of shared parts where it has many. */
  object(object: KubernetesObject): KubernetesObject {
    if (object.kind !== 'EndpointSlice') return object;
    return {
      ...object,
      namespace: this.#share(object.namespace, object.namespace),
      ports: this.#list(object.ports),
      endpoints: object.endpoints.map((endpoint) => ({
        ...endpoint,
        nodeName: this.#share(endpoint.nodeName, endpoint.nodeName),
        zoneHints: this.#list(endpoint.zoneHints),
        nodeHints: this.#list(endpoint.nodeHints),
      })),
    };
  }

  #list<T>(list: readonly T[]): readonly T[] {
    return list.length === 0 ? NONE : this.#share(JSON.stringify(list), list);
  }

  #share<T>(key: string, value: T): T {
    const known = this.#values.get(key);
    if (known !== undefined) return known as T;
    if (this.#values.size >= MOST) this.#values.clear();
    this.#values.set(key, value);
    return value;
  }
}

const NONE: readonly never[] = Object.freeze([]);
