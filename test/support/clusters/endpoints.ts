// Endpoints of Service ports, from objects.
import type { Family } from '../../../src/kernel/net/address.js';
import { AddressPorts } from '../../../src/kernel/net/addressPorts.js';
import { conditionsOf, SliceEndpointsBuilder } from '../../../src/proxy/objects/sliceEndpoints.js';
import type { Endpoint } from '../../../src/proxy/services/endpointList.js';
import { EndpointList } from '../../../src/proxy/services/endpointList.js';

const HERE = 'node-a';

/** The list of these endpoints. */
export function endpointList(family: Family, endpoints: readonly Endpoint[]): EndpointList {
  const builder = new SliceEndpointsBuilder(family);
  for (const { address, port, ready, serving, terminating, local, zoneHints, nodeHints } of endpoints) {
    const conditions = conditionsOf(ready, serving, terminating);
    const nodeName = local ? HERE : '';
    if (!builder.add(address, port, () => ({ conditions, nodeName, zoneHints, nodeHints })))
      throw new Error(`${address} is not IPv${family} address`);
  }
  const columns = builder.build(HERE);
  return new EndpointList(columns.addressPorts, columns, HERE);
}

/** A Service port with these endpoints, all of which get traffic with policy Cluster, and none with policy Local. */
export function endpointLists(family: Family, endpoints: readonly Endpoint[]) {
  const list = endpointList(family, endpoints);
  return {
    endpoints: list,
    clusterEndpoints: list.addressPorts,
    localEndpoints: AddressPorts.none(family),
  };
}
