// The number of endpoints of all Service ports. A change costs as much as the slices of its Service are many.
import type { Family } from '../net/address.js';
import type { EndpointSlice, Service } from '../objects/types.js';
import { listOf, type OneOrMore } from './oneOrMore.js';
import { isProxied } from './planInput.js';

/** A Service with its slices. */
interface Counted {
  readonly object: Service | undefined;
  readonly slices: OneOrMore<EndpointSlice>;
}

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

  /** Changes the object or the slices of a Service. */
  change(service: Counted, make: () => void): void {
    const four = count(service, 4);
    const six = count(service, 6);
    make();
    const addedFour = count(service, 4) - four;
    const addedSix = count(service, 6) - six;
    if (addedFour === 0 && addedSix === 0) return;
    this.#four += addedFour;
    this.#six += addedSix;
    this.#total = undefined;
  }
}

function count({ object, slices }: Counted, family: Family): number {
  if (!object || slices === undefined || object.clusterIPs[family] === undefined || !isProxied(object))
    return 0;
  let total = 0;
  for (const slice of listOf(slices)) {
    if (slice.family !== family) continue;
    for (const { name, protocol } of slice.ports) {
      const serves = object.ports.some((port) => port.name === name && port.protocol === protocol);
      if (serves) total += slice.endpoints.addressPorts.size;
    }
  }
  return total;
}
