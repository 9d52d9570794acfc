// Slices of a Service → the endpoints of a port.
import type { Family } from '../net/address.js';
import type { AddressPorts } from '../net/addressPorts.js';
import type { Protocol } from '../net/protocol.js';
import { type SliceEndpoints, SliceEndpointsBuilder } from '../objects/sliceEndpoints.js';
import type { EndpointSlice } from '../objects/types.js';
import { EndpointList } from './endpointList.js';

/** Endpoints of a slice, at one of its ports. */
interface Part {
  readonly endpoints: SliceEndpoints;
  readonly addressPorts: AddressPorts;
}

/**
 * The endpoints of one Service port: those of all slices of the family whose port has the same name and protocol.
 * targetPort is ignored. Each `address:port` is included once.
 */
export function endpointsOfPort(
  slices: Iterable<EndpointSlice>,
  port: { readonly family: Family; readonly name: string; readonly protocol: Protocol },
  nodeName: string,
): EndpointList {
  const parts: Part[] = [];
  for (const { family, ports, endpoints } of slices) {
    if (family !== port.family) continue;
    for (const { name, protocol, port: number } of ports) {
      if (name === port.name && protocol === port.protocol)
        parts.push({ endpoints, addressPorts: endpoints.addressPorts.atPort(number) });
    }
  }
  const { endpoints, addressPorts } =
    parts.length === 1 ? (parts[0] as Part) : joined(parts, port.family, nodeName);
  return new EndpointList(addressPorts, endpoints, nodeName);
}

function joined(parts: readonly Part[], family: Family, nodeName: string): Part {
  const builder = new SliceEndpointsBuilder(family);
  for (const { endpoints, addressPorts } of parts) builder.addAll(endpoints, addressPorts);
  const endpoints = builder.build(nodeName);
  return { endpoints, addressPorts: endpoints.addressPorts };
}
