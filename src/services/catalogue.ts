// The objects as last seen, and which Services a change touches. State, but no clock, no log, no kernel.
import {
  type EndpointSlice,
  type Node,
  type ObjectChange,
  type Service,
  serviceKey,
} from '../objects/types.js';
import { frontendsOf } from './frontends.js';
import type { NodeFacts, ServiceFrontends } from './types.js';

/** What a change touches: the Service of that name, or the node and so every Service. */
export type Touched = { readonly service: string } | { readonly node: string };

/** Every object a source has told of. */
export class Catalogue {
  readonly #services = new Map<string, Service>();
  /** Service → slice name → slice: a slice may come before its Service, and stay after it. */
  readonly #slices = new Map<string, Map<string, EndpointSlice>>();
  /** `namespace/slice` → the Service it is filed under. */
  readonly #serviceOfSlice = new Map<string, string>();
  readonly #nodes = new Map<string, Node>();

  /** Takes a change in. A slice that changes its Service touches two, hence the list. */
  apply(change: ObjectChange): Touched[] {
    const { object, type } = change;
    switch (object.kind) {
      case 'Service':
        if (type === 'set') this.#services.set(serviceKey(object), object);
        else this.#services.delete(serviceKey(object));
        return [{ service: serviceKey(object) }];
      case 'EndpointSlice':
        return this.#fileSlice(object, type === 'set' ? serviceKey(object) : undefined);
      case 'Node':
        if (type === 'set') this.#nodes.set(object.name, object);
        else this.#nodes.delete(object.name);
        return [{ node: object.name }];
    }
  }

  /** Names of all Services. */
  serviceNames(): IterableIterator<string> {
    return this.#services.keys();
  }

  node(name: string): Node | undefined {
    return this.#nodes.get(name);
  }

  /** Addresses of all nodes but the named one. */
  addressesOfOthers(name: string): Set<string> {
    const others = [...this.#nodes.values()].filter((node) => node.name !== name);
    return new Set(others.flatMap(({ addresses }) => addresses));
  }

  /** What a Service means to the node; undefined when there is no such Service. */
  frontends(service: string, node: NodeFacts): ServiceFrontends | undefined {
    const object = this.#services.get(service);
    return object && frontendsOf(object, this.#slices.get(service)?.values() ?? [], node);
  }

  /** Files a slice under a Service, or nowhere; its label may have changed, so it leaves where its name was filed before. */
  #fileSlice(slice: EndpointSlice, under: string | undefined): Touched[] {
    const id = `${slice.namespace}/${slice.name}`;
    const former = this.#serviceOfSlice.get(id);
    if (former !== undefined) {
      const slices = this.#slices.get(former);
      slices?.delete(slice.name);
      if (slices?.size === 0) this.#slices.delete(former);
      this.#serviceOfSlice.delete(id);
    }
    if (under !== undefined) {
      const slices = this.#slices.get(under) ?? new Map<string, EndpointSlice>();
      this.#slices.set(under, slices.set(slice.name, slice));
      this.#serviceOfSlice.set(id, under);
    }
    return [...new Set([former, under])].flatMap((service) => (service === undefined ? [] : { service }));
  }
}
