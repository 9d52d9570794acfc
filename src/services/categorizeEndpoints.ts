// Selects the endpoints that get traffic, by readiness, termination, topology and node (Kubernetes: KEP-1669 for
// terminating endpoints, KEP-2433 for hints, KEP-3015 for PreferSameNode).
import type { Endpoint } from './types.js';

/** The endpoint lists that a Service port needs. */
export interface Uses {
  /** The internal policy is Cluster, or the port has external frontends. */
  readonly cluster: boolean;
  /** Policy Local applies to a frontend of the port. */
  readonly local: boolean;
}

/** The node's name and zone, for topology hints. */
export interface Whereabouts {
  readonly name: string;
  /** Empty if unknown: then zone hints are ignored. */
  readonly zone: string;
}

/** The endpoints for policy Cluster and for policy Local. An unused list is empty. */
export function categorizeEndpoints(
  endpoints: readonly Endpoint[],
  uses: Uses,
  node: Whereabouts,
): { clusterEndpoints: readonly Endpoint[]; localEndpoints: readonly Endpoint[] } {
  const local = endpoints.filter((endpoint) => endpoint.local);
  return {
    clusterEndpoints: uses.cluster ? chooseCluster(endpoints, node) : [],
    localEndpoints: uses.local ? preferReady(local, isReady(local)) : [],
  };
}

function chooseCluster(endpoints: readonly Endpoint[], node: Whereabouts): readonly Endpoint[] {
  return preferReady(endpoints, followHints(isReady(endpoints), node));
}

/** The ready endpoints; if there are none, those that are serving and terminating. */
function preferReady(all: readonly Endpoint[], ready: readonly Endpoint[]): readonly Endpoint[] {
  return ready.length > 0 ? ready : all.filter((endpoint) => endpoint.serving && endpoint.terminating);
}

function isReady(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  return endpoints.filter((endpoint) => endpoint.ready);
}

/**
 * Hints are followed only if every ready endpoint has them and at least one selects this node or zone: an incomplete
 * slice must not leave this node without endpoints. Node hints have priority over zone hints.
 */
function followHints(ready: readonly Endpoint[], node: Whereabouts): readonly Endpoint[] {
  const hintedFor = (where: string, hints: (endpoint: Endpoint) => readonly string[]) => {
    if (where === '' || ready.some((endpoint) => hints(endpoint).length === 0)) return [];
    return ready.filter((endpoint) => hints(endpoint).includes(where));
  };
  const here = hintedFor(node.name, (endpoint) => endpoint.nodeHints);
  if (here.length > 0) return here;
  const nearby = hintedFor(node.zone, (endpoint) => endpoint.zoneHints);
  return nearby.length > 0 ? nearby : ready;
}
