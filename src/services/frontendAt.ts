// The Service of a frontend, by the address and port that a client connects to.
import { familyOf } from '../net/address.js';
import type { Protocol } from '../net/protocol.js';
import { STATE } from './endpointList.js';
import type { ServiceCache } from './serviceCache.js';
import type { Frontend, NodeFacts, ServicePort } from './types.js';

/** A frontend with its Service port. */
export interface OwnedFrontend {
  /** `namespace/name`. */
  readonly service: string;
  readonly port: ServicePort;
  readonly frontend: Frontend;
}

/** An address and port, with the protocol. */
export interface Dialled {
  /** Canonical. */
  readonly address: string;
  readonly port: number;
  readonly protocol: Protocol;
}

/** The frontend with this address and port; otherwise the node port with this port; undefined if there is none. */
export function frontendAt(
  cache: ServiceCache,
  node: NodeFacts,
  dialled: Dialled,
): OwnedFrontend | undefined {
  let nodePort: OwnedFrontend | undefined;
  for (const service of cache.serviceNames()) {
    for (const port of cache.planInput(service, node)?.ports ?? []) {
      if (port.family !== familyOf(dialled.address) || port.protocol !== dialled.protocol) continue;
      for (const frontend of port.frontends) {
        if (frontend.port !== dialled.port) continue;
        if (frontend.address === dialled.address) return { service, port, frontend };
        if (frontend.kind === 'nodePort') nodePort = { service, port, frontend };
      }
    }
  }
  return nodePort;
}

/** The reason why a frontend has no real server, as a sentence without a period; undefined if it has endpoints. */
export function reasonWithoutEndpoints({ service, port, frontend }: OwnedFrontend): string | undefined {
  const { endpoints, clusterEndpoints, localEndpoints } = port;
  if (endpoints.size === 0) return `Service ${service} has no endpoint in this family`;
  if (clusterEndpoints.size > 0 || localEndpoints.size > 0) return undefined;
  if (frontend.localPolicy && endpoints.has(STATE.ready)) {
    const policy = frontend.kind === 'clusterIP' ? 'internalTrafficPolicy' : 'externalTrafficPolicy';
    return `${policy} of Service ${service} is Local, and none of its endpoints on this node is ready`;
  }
  return `none of the ${endpoints.size} endpoints of Service ${service} is ready`;
}
