// The endpoints that left the slices of a Service between two plans: those whose connections may go on, because they were terminating
// or not ready, as a plan that had seen them would have left them; and with fail-fast those that failed. Pure.
import type { Family } from '../../kernel/net/address.js';
import { AddressPorts, AddressPortsBuilder } from '../../kernel/net/addressPorts.js';
import { CONDITIONS } from '../objects/sliceEndpoints.js';
import type { EndpointSlice } from '../objects/types.js';
import type { FailFast } from './settings/types.js';
import type { ServicePlanInput } from './types.js';

/** Endpoints in each family; absent if there are none. */
export type EndpointsByFamily = NonNullable<ServicePlanInput['left']>;

/** Addresses in each family, with port 0: a slice may have thousands of ports. */
type Addresses = { [family in Family]?: AddressPorts };

/** Collects them for one Service. Only endpoints of the last plan count, so that their number is bounded by what is stored. */
export class LeftEndpoints {
  readonly #planned: readonly EndpointSlice[];
  readonly #failFast: FailFast | undefined;
  readonly #ended: Addresses = {};
  readonly #failed: Addresses = {};

  /**
   * @param planned the slices of the last plan
   * @param failFast that of the Service; undefined: no endpoint fails
   */
  constructor(planned: readonly EndpointSlice[], failFast?: FailFast) {
    this.#planned = planned;
    this.#failFast = failFast;
  }

  /** Records the endpoints that a slice loses. Its cost is that of the slice, and of those that it loses in each planned slice. */
  note(former: EndpointSlice, now: EndpointSlice | undefined): void {
    const { family, endpoints } = former;
    const addresses = addressesOf(former);
    const still = now?.family === family ? addressesOf(now) : AddressPorts.none(family);
    const isLost = (index: number) => still.indexOf(addresses, index) < 0;
    const ends = (index: number) => this.#ends(endpoints.conditions.charCodeAt(index));
    this.#add(
      this.#ended,
      addresses.filter((index) => ends(index) && isLost(index)),
    );
    if (this.#failFast === undefined) return;
    this.#add(
      this.#failed,
      addresses.filter((index) => !ends(index) && isLost(index)),
    );
  }

  /** The endpoints that ended, at the ports of the planned slices; undefined if there are none. */
  endpoints(): EndpointsByFamily | undefined {
    return this.#atPorts(this.#ended);
  }

  /** Those that failed, and are in none of these slices; undefined if there are none. */
  failed(slices: readonly EndpointSlice[]): EndpointsByFamily | undefined {
    const found: Addresses = {};
    for (const family of [4, 6] as const) {
      const failed = this.#failed[family]?.without(this.#ended[family] ?? AddressPorts.none(family));
      if (failed && failed.size > 0) found[family] = failed.without(addressesIn(slices, family));
    }
    return this.#atPorts(found);
  }

  /** Whether connections with an endpoint of these conditions may go on after it has left. */
  #ends(conditions: number): boolean {
    if ((conditions & CONDITIONS.terminating) !== 0) return true;
    return (conditions & CONDITIONS.ready) === 0 && this.#failFast !== 'not-serving';
  }

  /** Adds those of the addresses that the last plan had. */
  #add(to: Addresses, left: AddressPorts): void {
    if (left.size === 0) return;
    const { family } = left;
    // With the port of each planned slice, so that its entries compare as they are. Nearly always, all have one port.
    const atPorts = new Map<number, AddressPorts>();
    const leftAt = (port: number) => {
      const list = atPorts.get(port) ?? left.atPort(port);
      atPorts.set(port, list);
      return list;
    };
    const planned = this.#planned
      .filter((slice) => slice.family === family && slice.endpoints.addressPorts.size > 0)
      .map(({ endpoints: { addressPorts } }) => ({
        addressPorts,
        sought: leftAt(addressPorts.portAt(0)),
      }));
    const known = left.filter((index) =>
      planned.some(({ addressPorts, sought }) => addressPorts.indexOf(sought, index) >= 0),
    );
    to[family] = to[family]?.with(known) ?? known;
  }

  #atPorts(addressesByFamily: Addresses): EndpointsByFamily | undefined {
    const found = new EndpointsBuilder();
    for (const slice of this.#planned) {
      const { family, ports, endpoints } = slice;
      const addresses = addressesByFamily[family];
      if (!addresses || addresses.size === 0) continue;
      const own = addressesOf(slice);
      const left = endpoints.addressPorts.filter((index) => addresses.indexOf(own, index) >= 0);
      // Entry by entry: those of one slice are then in order, and need not be sorted.
      const numbers = ports.map(({ port }) => port).sort((a, b) => a - b);
      const lists = left.size > 0 ? numbers.map((port) => left.atPort(port)) : [];
      for (let index = 0; index < left.size; index++) for (const list of lists) found.add(list, index);
    }
    return found.build();
  }
}

/** Collects endpoints of both families. */
class EndpointsBuilder {
  readonly #builders: { [family in Family]?: AddressPortsBuilder } = {};

  /** Adds an entry of a list. */
  add(list: AddressPorts, index: number): void {
    this.#builders[list.family] ??= new AddressPortsBuilder(list.family);
    this.#builders[list.family]?.addFrom(list, index);
  }

  /** The endpoints; undefined if there are none. The builder must not be used afterwards. */
  build(): EndpointsByFamily | undefined {
    const { 4: ipv4, 6: ipv6 } = this.#builders;
    if (!ipv4 && !ipv6) return undefined;
    return { ...(ipv4 && { 4: ipv4.build() }), ...(ipv6 && { 6: ipv6.build() }) };
  }
}

/** The addresses of a slice, with port 0. */
function addressesOf({ endpoints }: EndpointSlice): AddressPorts {
  return endpoints.addressPorts.atPort(0);
}

/** The addresses of all slices of a family, with port 0. */
function addressesIn(slices: readonly EndpointSlice[], family: Family): AddressPorts {
  const builder = new AddressPortsBuilder(family);
  for (const slice of slices) {
    if (slice.family !== family) continue;
    const addresses = addressesOf(slice);
    for (let index = 0; index < addresses.size; index++) builder.addFrom(addresses, index);
  }
  return builder.build();
}

/** The endpoints of both. */
export function joinEndpoints(
  a: EndpointsByFamily | undefined,
  b: EndpointsByFamily | undefined,
): EndpointsByFamily | undefined {
  if (!a || !b) return a ?? b;
  const joined: { [family in Family]?: AddressPorts } = { ...a };
  for (const family of [4, 6] as const) {
    const other = b[family];
    if (other) joined[family] = joined[family]?.with(other) ?? other;
  }
  return joined;
}

/** Those of the first endpoints that are not among the second; undefined if there are none. */
export function withoutEndpoints(
  a: EndpointsByFamily,
  b: EndpointsByFamily | undefined,
): EndpointsByFamily | undefined {
  const found: { [family in Family]?: AddressPorts } = {};
  for (const family of [4, 6] as const) {
    const list = a[family]?.without(b?.[family] ?? AddressPorts.none(family));
    if (list && list.size > 0) found[family] = list;
  }
  return found[4] || found[6] ? found : undefined;
}

/** The terminating endpoints of a Service; undefined if there are none. */
export function terminatingOf({ ports }: ServicePlanInput): EndpointsByFamily | undefined {
  const found = new EndpointsBuilder();
  for (const { endpoints } of ports) {
    const { terminating } = endpoints;
    for (let index = 0; index < terminating.size; index++) found.add(terminating, index);
  }
  return found.build();
}
