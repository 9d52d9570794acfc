// The number of endpoints of all Service ports. The cost of a change is that of the slice, or of all slices of the Service that
// changed.
import type { Family } from '../../kernel/net/address.js';
import type { Protocol } from '../../kernel/net/protocol.js';
import { isProxied } from '../objects/frontendCount.js';
import type { EndpointSlice, Service, SlicePort } from '../objects/types.js';

/** A running total. An endpoint that is in several slices of a Service counts several times. */
export class EndpointCount {
  #four = 0;
  #six = 0;
  /** Undefined after a change: an object for each change of a large cluster takes time. */
  #total: Readonly<Record<Family, number>> | undefined;

  /** The total in each family. The same object until it changes. */
  get total(): Readonly<Record<Family, number>> {
    this.#total ??= { 4: this.#four, 6: this.#six };
    return this.#total;
  }

  /** Adds the endpoints of slices that their Service uses; none if there is no such Service. */
  add(object: Service | undefined, slices: Iterable<EndpointSlice>): void {
    this.#count(object, slices, 1);
  }

  /** Removes them again. */
  remove(object: Service | undefined, slices: Iterable<EndpointSlice>): void {
    this.#count(object, slices, -1);
  }

  #count(object: Service | undefined, slices: Iterable<EndpointSlice>, sign: 1 | -1): void {
    if (!object || !isProxied(object)) return;
    let serves: ReturnType<typeof portsOf> | undefined;
    for (const { family, ports, endpoints } of slices) {
      const { size } = endpoints.addressPorts;
      if (size === 0 || object.clusterIPs[family] === undefined) continue;
      serves ??= portsOf(object);
      let served = 0;
      for (const port of ports) if (serves(port)) served += size;
      if (served === 0) continue;
      if (family === 4) this.#four += sign * served;
      else this.#six += sign * served;
      this.#total = undefined;
    }
  }
}

/** Number of ports from which on a set is quicker than a search. */
const MANY = 8;

/** Whether a port of a slice is one of the Service. */
function portsOf({ ports }: Service): (port: SlicePort) => boolean {
  if (ports.length < MANY)
    return ({ name, protocol }) => ports.some((port) => port.name === name && port.protocol === protocol);
  const names: Record<Protocol, Set<string>> = { tcp: new Set(), udp: new Set(), sctp: new Set() };
  for (const { name, protocol } of ports) names[protocol].add(name);
  return ({ name, protocol }) => names[protocol].has(name);
}
