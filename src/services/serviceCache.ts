// The objects as last seen, and which Services a change touches. State, but no clock, no log, no kernel.
import {
  type EndpointSlice,
  type Node,
  type ObjectChange,
  type Service,
  serviceKey,
} from '../objects/types.js';
import { Claims } from './claims.js';
import { claimsOf, planInputOf } from './planInput.js';
import type { NodeFacts, ServicePlanInput } from './types.js';

/** What a change concerns: the Service of that name, or a node. */
export type Touched = { readonly service: string } | { readonly node: string };

/** Every object that a source has reported. */
export class ServiceCache {
  readonly #services = new Map<string, Service>();
  /** Service → slice name → slice: a slice may come before its Service, and stay after it. */
  readonly #slices = new Map<string, Map<string, EndpointSlice>>();
  /** `namespace/slice` → the Service it is filed under. */
  readonly #serviceOfSlice = new Map<string, string>();
  readonly #nodes = new Map<string, Node>();
  readonly #claims = new Claims();

  /**
   * Applies a change. It may concern several Services: a slice may change its Service, and a Service may gain or lose an
   * address that another one names too.
   */
  apply(change: ObjectChange): Touched[] {
    const { object, type } = change;
    switch (object.kind) {
      case 'Service':
        return this.#setService(object, type === 'set');
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

  /** The input of a Service's plan on the node; undefined when there is no such Service. */
  planInput(service: string, node: NodeFacts): ServicePlanInput | undefined {
    const object = this.#services.get(service);
    const slices = this.#slices.get(service)?.values() ?? [];
    return object && planInputOf(object, slices, node, (claim) => this.#claims.holder(claim) === service);
  }

  /** The addresses and ports that a Service names and an older Service has, with the name of the older one. */
  lostClaims(service: string): ReadonlyMap<string, string> {
    return this.#claims.lost(service);
  }

  /** Whether an `address:port` is the cluster, external or load-balancer IP of a UDP port of any Service. */
  isUdpFrontend(addressAndPort: string): boolean {
    return this.#claims.holder(`${addressAndPort}/udp`) !== undefined;
  }

  #setService(object: Service, exists: boolean): Touched[] {
    const service = serviceKey(object);
    if (exists) this.#services.set(service, object);
    else this.#services.delete(service);
    const { createdAt } = object;
    const others = this.#claims.replace({ service, createdAt }, exists ? claimsOf(object) : new Set());
    return [service, ...others].map((name) => ({ service: name }));
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
