// The latest objects, and the Services that a change affects. Uses no clock, log or kernel.
import {
  type EndpointSlice,
  type Node,
  type ObjectChange,
  type Service,
  serviceKey,
} from '../objects/types.js';
import { Claims } from './claims.js';
import { NodeCache } from './nodeCache.js';
import { type OrderOfService, orderOfService } from './orderOfService.js';
import { claimsOf, planInputOf } from './planInput.js';
import type { NodeFacts, ServicePlanInput } from './types.js';

/** The name of a Service or of a node that a change affects. */
export type Touched = { readonly service: string } | { readonly node: string };

/** All objects that the source has reported. */
export class ServiceCache {
  readonly #services = new Map<string, Service>();
  /** Service → slice name → slice. A slice may exist before its Service and after it. */
  readonly #slices = new Map<string, Map<string, EndpointSlice>>();
  /** `namespace/slice` → the Service that the slice is stored for. */
  readonly #serviceOfSlice = new Map<string, string>();
  readonly #nodes = new NodeCache();
  readonly #claims = new Claims();

  /**
   * Applies a change. It may affect several Services: a slice may change its Service, and a Service may claim an
   * address of another one.
   */
  apply(change: ObjectChange): Touched[] {
    const { object, type } = change;
    switch (object.kind) {
      case 'Service':
        return this.#setService(object, type === 'set');
      case 'EndpointSlice':
        return this.#fileSlice(object, type === 'set' ? serviceKey(object) : undefined);
      case 'Node':
        this.#nodes.set(object, type === 'set');
        return [{ node: object.name }];
    }
  }

  /** Names of all Services, as `namespace/name`. */
  serviceNames(): IterableIterator<string> {
    return this.#services.keys();
  }

  /** The order in which these Services are programmed. Names of deleted Services are last. */
  order(names: Iterable<string>): OrderOfService {
    const existing: Service[] = [];
    const deleted: string[] = [];
    for (const name of names) {
      const service = this.#services.get(name);
      if (service) existing.push(service);
      else deleted.push(name);
    }
    const { vital, others } = orderOfService(existing);
    return { vital, others: [...others, ...deleted] };
  }

  node(name: string): Node | undefined {
    return this.#nodes.get(name);
  }

  /** Addresses of all nodes except the named one. The same set until one of them changes. */
  addressesOfOthers(name: string): ReadonlySet<string> {
    return this.#nodes.addressesOfOthers(name);
  }

  /** The input of a Service's plan on the node; undefined if there is no such Service. */
  planInput(service: string, node: NodeFacts): ServicePlanInput | undefined {
    const object = this.#services.get(service);
    const slices = this.#slices.get(service)?.values() ?? [];
    return object && planInputOf(object, slices, node, (claim) => this.#claims.holder(claim) === service);
  }

  /** Claims of a Service that an older Service wins → the name of the older Service. */
  lostClaims(service: string): ReadonlyMap<string, string> {
    const object = this.#services.get(service);
    return object ? this.#claims.lost(service, claimsOf(object)) : NO_CLAIMS;
  }

  /** Whether an `address:port` is a cluster, external or load-balancer IP with a UDP port of any Service. */
  isUdpFrontend(addressAndPort: string): boolean {
    return this.#claims.holder(`${addressAndPort}/udp`) !== undefined;
  }

  #setService(object: Service, exists: boolean): Touched[] {
    const service = serviceKey(object);
    const former = this.#services.get(service);
    if (exists) this.#services.set(service, object);
    else this.#services.delete(service);
    const claimant = { service, createdAt: object.createdAt };
    const others = this.#claims.replace(
      claimant,
      former ? claimsOf(former) : [],
      exists ? claimsOf(object) : [],
    );
    return [service, ...others].map((name) => ({ service: name }));
  }

  /**
   * Stores a slice for a Service, or removes it if undefined. The label may have changed: removes the old entry first.
   */
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

const NO_CLAIMS: ReadonlyMap<string, string> = new Map();
