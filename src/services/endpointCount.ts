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
  #total: Readonly<Record<Family, number>> = { 4: 0, 6: 0 };

  /** The total in each family. The same object until it changes. */
  get total(): Readonly<Record<Family, number>> {
    return this.#total;
  }

  /** Changes the object or the slices of a Service. */
  change(service: Counted, make: () => void): void {
    const before = count(service);
    make();
    const after = count(service);
    if (before[4] === after[4] && before[6] === after[6]) return;
    this.#total = {
      4: this.#total[4] - before[4] + after[4],
      6: this.#total[6] - before[6] + after[6],
    };
  }
}

function count({ object, slices }: Counted): Record<Family, number> {
  const counts = { 4: 0, 6: 0 };
  if (!object || slices === undefined || !isProxied(object)) return counts;
  for (const { family, ports, endpoints } of listOf(slices)) {
    if (object.clusterIPs[family] === undefined) continue;
    for (const { name, protocol } of ports) {
      const serves = object.ports.some((port) => port.name === name && port.protocol === protocol);
      if (serves) counts[family] += endpoints.addressPorts.size;
    }
  }
  return counts;
}
