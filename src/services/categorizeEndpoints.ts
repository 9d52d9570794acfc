// Which endpoints may get traffic: readiness, termination, topology, and what is local (Kubernetes: KEP-1669 for
// terminating endpoints, KEP-2433 for hints, KEP-3015 for PreferSameNode).
import type { Endpoint } from './types.js';

/** Which of the two lists anything of a Service port needs. */
export interface Uses {
  /** The internal policy is Cluster, or the port can be reached from outside. */
  readonly cluster: boolean;
  /** A Local policy applies to something of the port. */
  readonly local: boolean;
}

/** Where this node is, for topology hints. */
export interface Whereabouts {
  readonly name: string;
  /** Empty when unknown: then zone hints are not followed. */
  readonly zone: string;
}

/** The endpoints for policy Cluster and for policy Local. A list that nothing uses is empty. */
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

/** The ready ones; while there is none, those that still serve although they are terminating. */
function preferReady(all: readonly Endpoint[], ready: readonly Endpoint[]): readonly Endpoint[] {
  return ready.length > 0 ? ready : all.filter((endpoint) => endpoint.serving && endpoint.terminating);
}

function isReady(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  return endpoints.filter((endpoint) => endpoint.ready);
}

/**
 * Hints count only when every ready endpoint has them and one of them points here: a half-written slice must not leave
 * this node without endpoints. Node hints go before zone hints.
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
