// Slices of a Service → the endpoints of a port.
import { type Family, joinHostPort } from '../net/address.js';
import type { Protocol } from '../net/protocol.js';
import type { EndpointSlice, SliceEndpoint } from '../objects/types.js';
import type { Endpoint } from './types.js';

/**
 * The endpoints of one Service port: those of all slices of the family whose port has the same name and protocol.
 * targetPort is ignored. Each `address:port` is included once, sorted by this text.
 */
export function endpointsOfPort(
  slices: Iterable<EndpointSlice>,
  port: { readonly family: Family; readonly name: string; readonly protocol: Protocol },
  nodeName: string,
): Endpoint[] {
  const byKey = new Map<string, Endpoint>();
  for (const slice of slices) {
    if (slice.family !== port.family) continue;
    for (const slicePort of slice.ports) {
      if (slicePort.name !== port.name || slicePort.protocol !== port.protocol) continue;
      for (const endpoint of slice.endpoints) {
        const candidate = atPort(endpoint, slicePort.port, nodeName);
        const key = joinHostPort(candidate.address, candidate.port);
        const known = byKey.get(key);
        if (!known || prefer(candidate, known)) byKey.set(key, candidate);
      }
    }
  }
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, endpoint]) => endpoint);
}

/** Copies single fields: this runs for every endpoint of a cluster, and a spread is several times slower. */
function atPort(endpoint: SliceEndpoint, port: number, nodeName: string): Endpoint {
  const { address, ready, serving, terminating, zoneHints, nodeHints, nodeName: where } = endpoint;
  const local = where !== '' && where === nodeName;
  return { address, port, ready, serving, terminating, local, zoneHints, nodeHints };
}

/**
 * Whether `candidate` replaces `known` for the same `address:port`: while a pod moves between slices, it is in both.
 * The entry that is not terminating wins (kube-proxy since 1.36), then the local one, then the ready one.
 */
function prefer(candidate: Endpoint, known: Endpoint): boolean {
  if (candidate.terminating !== known.terminating) return known.terminating;
  if (candidate.local !== known.local) return candidate.local;
  return candidate.ready && !known.ready;
}
