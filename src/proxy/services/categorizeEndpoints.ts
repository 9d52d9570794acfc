// Selects the endpoints that get traffic, by readiness, termination, topology and node (Kubernetes: KEP-1669 for
// terminating endpoints, KEP-2433 for hints, KEP-3015 for PreferSameNode).
import { AddressPorts } from '../../kernel/net/addressPorts.js';
import { type EndpointList, STATE } from './endpointList.js';

/** The endpoint lists that a Service port needs. */
export interface Uses {
  /** The internal policy is Cluster, or the port has external frontends. */
  readonly cluster: boolean;
  /** Policy Local applies to a frontend of the port. */
  readonly local: boolean;
}

/** The node's name and zone, for topology hints, and the nodes that it cannot reach. */
export interface NodeTopology {
  readonly name: string;
  /** Empty if unknown: then zone hints are ignored. */
  readonly zone: string;
  /** See `NodeFacts.unreachable`. */
  readonly unreachable?: ReadonlySet<string> | undefined;
}

/** Without a ready endpoint, those that are serving and terminating get the traffic. */
const FALLBACK = STATE.serving | STATE.terminating;

/** The endpoints for policy Cluster and for policy Local. An unused list is empty. */
export function categorizeEndpoints(
  endpoints: EndpointList,
  uses: Uses,
  node: NodeTopology,
): { clusterEndpoints: AddressPorts; localEndpoints: AddressPorts } {
  const none = AddressPorts.none(endpoints.addressPorts.family);
  return {
    clusterEndpoints: uses.cluster ? chooseCluster(endpoints, node) : none,
    localEndpoints: uses.local ? chooseLocal(endpoints) : none,
  };
}

function chooseLocal(endpoints: EndpointList): AddressPorts {
  const ready = endpoints.select(STATE.local | STATE.ready);
  return ready.size > 0 ? ready : endpoints.select(STATE.local | FALLBACK);
}

function chooseCluster(endpoints: EndpointList, node: NodeTopology): AddressPorts {
  const ready = endpoints.select(STATE.ready);
  if (ready.size === 0) return endpoints.select(FALLBACK);
  return (
    hintedFor(node.name, endpoints, endpoints.nodeHints) ??
    hintedFor(node.zone, endpoints, endpoints.zoneHints) ??
    ready
  );
}

/**
 * The ready endpoints whose hints select a node or zone. Hints are followed only if every ready endpoint has them and at
 * least one selects this node or zone: an incomplete slice must not leave this node without endpoints. Node hints have
 * priority over zone hints.
 */
function hintedFor(
  where: string,
  endpoints: EndpointList,
  hints: readonly (readonly string[])[] | undefined,
): AddressPorts | undefined {
  if (where === '' || hints === undefined) return undefined;
  const isReady = (index: number) => endpoints.is(STATE.ready, index);
  if (hints.some((names, index) => names.length === 0 && isReady(index))) return undefined;
  const here = endpoints.addressPorts.filter(
    (index) => isReady(index) && hints[index]?.includes(where) === true,
  );
  return here.size > 0 ? here : undefined;
}
