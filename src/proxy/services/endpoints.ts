// Slices of a Service → the endpoints of a port.
import type { Family } from '../../kernel/net/address.js';
import type { AddressPorts } from '../../kernel/net/addressPorts.js';
import type { Protocol } from '../../kernel/net/protocol.js';
import { type SliceEndpoints, SliceEndpointsBuilder } from '../objects/sliceEndpoints.js';
import type { EndpointSlice } from '../objects/types.js';
import { DEFAULT_WEIGHT, EndpointList } from './endpointList.js';

/** Endpoints of a slice, at one of its ports. */
interface SliceAtPort {
  readonly endpoints: SliceEndpoints;
  readonly addressPorts: AddressPorts;
  /** The weight of each endpoint, or of all; undefined: the default. */
  readonly weights: number | readonly number[] | undefined;
}

/** A port of a Service in one family. */
interface PortName {
  readonly family: Family;
  readonly name: string;
  readonly protocol: Protocol;
}

/** The endpoints of a slice, and the number of one of its ports. */
interface SlicePart {
  readonly endpoints: SliceEndpoints;
  readonly number: number;
  /** The weight of each of its endpoints, or of all; undefined: the default. */
  readonly weights: number | readonly number[] | undefined;
}

/** The slices of a Service by the names of their ports: both may have thousands of ports. */
export class SlicesByPort {
  readonly #parts = new Map<string, SlicePart[]>();

  constructor(slices: Iterable<EndpointSlice> = []) {
    for (const slice of slices) this.add(slice);
  }

  /** Adds a slice, with the weight of each of its endpoints, or of all, if they have one. */
  add({ family, ports, endpoints }: EndpointSlice, weights?: number | readonly number[]): void {
    for (const { name, protocol, port: number } of ports) {
      const key = keyOf({ family, name, protocol });
      const known = this.#parts.get(key);
      if (known) known.push({ endpoints, number, weights });
      else this.#parts.set(key, [{ endpoints, number, weights }]);
    }
  }

  /** The parts of the port, in the order of slices. */
  at(port: PortName): readonly SlicePart[] {
    return this.#parts.get(keyOf(port)) ?? NO_PARTS;
  }
}

const NO_PARTS: readonly SlicePart[] = Object.freeze([]);

/** The key of a port. */
export function keyOf({ family, name, protocol }: PortName): string {
  return `${family} ${protocol} ${name}`;
}

/**
 * The endpoints of one Service port: those of all slices of the family whose port has the same name and protocol.
 * targetPort is ignored. Each `address:port` is included once.
 */
export function endpointsOfPort(slices: SlicesByPort, port: PortName, nodeName: string): EndpointList {
  const parts = slices.at(port).map(
    ({ endpoints, number, weights }): SliceAtPort => ({
      endpoints,
      addressPorts: endpoints.addressPorts.atPort(number),
      weights,
    }),
  );
  const { endpoints, addressPorts, weights } =
    parts.length === 1 ? (parts[0] as SliceAtPort) : joined(parts, port.family, nodeName);
  return new EndpointList(addressPorts, endpoints, nodeName, weights);
}

function joined(parts: readonly SliceAtPort[], family: Family, nodeName: string): SliceAtPort {
  const builder = new SliceEndpointsBuilder(family);
  const hasWeights = parts.some(({ weights }) => weights !== undefined);
  const column: number[] = [];
  for (const { endpoints, addressPorts, weights } of parts) {
    builder.addAll(endpoints, addressPorts);
    if (!hasWeights) continue;
    for (let index = 0; index < endpoints.size; index++)
      column.push((typeof weights === 'number' ? weights : weights?.[index]) ?? DEFAULT_WEIGHT);
  }
  const { endpoints, order } = builder.buildOrdered(nodeName);
  const weights = hasWeights ? (order?.map((entry) => column[entry] as number) ?? column) : undefined;
  return { endpoints, addressPorts: endpoints.addressPorts, weights };
}
