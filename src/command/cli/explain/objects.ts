// The Service of a frontend: from manifests or the API server, if a flag names one, otherwise from the running agent.

import { describeProblem } from '../../../kernel/errors.js';
import { familyOf } from '../../../kernel/net/address.js';
import type { Protocol } from '../../../kernel/net/protocol.js';
import type { EndpointSlice } from '../../../proxy/objects/types.js';
import { STATE } from '../../../proxy/services/endpointList.js';
import type { NamedFrontend } from '../../../proxy/services/namedFrontends.js';
import { nodeFacts } from '../../../proxy/services/nodeFacts.js';
import type { ServiceCache } from '../../../proxy/services/serviceCache.js';
import { settingsOfAgent } from '../../../proxy/services/settings/describe.js';
import type { Frontend, NodeFacts, ServicePort } from '../../../proxy/services/types.js';
import type { KernelCommand } from '../../config/commandLine.js';
import type { Loaded } from '../../config/load.js';
import type { Dialled } from '../../explain/explanation.js';
import { NoAnswer } from '../agentClient.js';
import { agentFrontends } from '../agentFrontends.js';
import type { AnswerLimit } from '../answerLimit.js';
import { readObjects } from '../readObjects.js';
import type { ServiceOfFrontend } from './text.js';

/** What the objects say of a frontend. */
export interface FoundFrontend {
  /** Undefined if no Service has it. */
  readonly service?: ServiceOfFrontend;
  readonly isClusterIP: boolean;
  /** The Services that ask for the address and may not have it, with the reason of each. Absent: none. */
  readonly refused?: readonly string[];
}

/**
 * Finds a frontend and its Service. Undefined if no Service has or asks for it, or if no flag names objects and no agent answers. Rejects
 * with an Error if the objects that a flag names cannot be read.
 *
 * @param limit of the API server
 */
export async function findFrontend(
  flags: KernelCommand,
  loaded: Loaded,
  dialled: Dialled,
  limit: AnswerLimit,
): Promise<FoundFrontend | undefined> {
  const objects = await readObjects(flags, loaded, limit);
  if (!objects) return fromAgent(loaded.configuration.metricsBindAddress, dialled);
  const { cache } = objects;
  const { nodeName, configuration } = loaded;
  const node = nodeFacts(nodeName, { node: cache.node(nodeName), bindAddress: configuration.bindAddress });
  const owner = frontendAt(cache, node, dialled);
  if (!owner) {
    const refused = refusedAt(cache, dialled);
    return refused.length > 0 ? { isClusterIP: false, refused } : undefined;
  }
  const reason = reasonWithoutEndpoints(owner, cache.slices(owner.service));
  const { service, port, frontend, settings } = owner;
  return {
    service: {
      ...{ service, portName: port.portName },
      ...(settings.length > 0 ? { settings } : {}),
      ...(reason === undefined ? {} : { reason }),
    },
    isClusterIP: frontend.kind === 'clusterIP',
  };
}

/** Why Services may not have an address that they ask for. */
function refusedAt(cache: ServiceCache, { address }: Dialled): string[] {
  return [...cache.serviceNames()]
    .flatMap((service) => cache.refusedAddresses(service))
    .filter(({ value }) => value === address)
    .map(describeProblem);
}

/** The agent knows names only: why a Service has no endpoint, it does not say. */
async function fromAgent(metricsBindAddress: string, dialled: Dialled): Promise<FoundFrontend | undefined> {
  try {
    const found = namedFrontendAt(await agentFrontends(metricsBindAddress), dialled);
    if (!found) return undefined;
    const { service, portName, kind, settings } = found;
    return {
      service: { service, portName, ...(settings && { settings }) },
      isClusterIP: kind === 'clusterIP',
    };
  } catch (error) {
    // Names add to the explanation, which needs no agent.
    if (error instanceof NoAnswer) return undefined;
    throw error;
  }
}

/** The frontend with this address and port; otherwise the node port with this port; undefined if there is none. */
function namedFrontendAt(
  frontends: readonly NamedFrontend[],
  { address, port, protocol }: Dialled,
): NamedFrontend | undefined {
  const own = frontends.filter((each) => each.port === port && each.protocol === protocol);
  const family = familyOf(address);
  return (
    own.find((each) => each.address === address) ??
    own.find((each) => each.kind === 'nodePort' && each.family === family)
  );
}

// The Service of a frontend, by the address and port that a client connects to.

/** A frontend with its Service port. */
interface OwnedFrontend {
  /** `namespace/name`. */
  readonly service: string;
  readonly port: ServicePort;
  readonly frontend: Frontend;
  /** Settings that no object in the kernel shows: `fail-fast removed`. */
  readonly settings: readonly string[];
}

/** The frontend with this address and port; otherwise the node port with this port; undefined if there is none. */
export function frontendAt(
  cache: ServiceCache,
  node: NodeFacts,
  dialled: Dialled,
): OwnedFrontend | undefined {
  let nodePort: OwnedFrontend | undefined;
  for (const service of cache.serviceNames()) {
    const input = cache.planInput(service, node);
    for (const port of input?.ports ?? []) {
      if (port.family !== familyOf(dialled.address) || port.protocol !== dialled.protocol) continue;
      for (const frontend of port.frontends) {
        if (frontend.port !== dialled.port) continue;
        const owned = {
          service,
          port,
          frontend,
          settings: settingsOfAgent(input?.settings ?? {}, port.protocol),
        };
        if (frontend.address === dialled.address) return owned;
        if (frontend.kind === 'nodePort') nodePort = owned;
      }
    }
  }
  return nodePort;
}

/**
 * The reason why a frontend has no real server, as a sentence without a period; undefined if it has endpoints.
 *
 * @param slices all EndpointSlices of the Service
 */
export function reasonWithoutEndpoints(
  { service, port, frontend }: OwnedFrontend,
  slices: readonly EndpointSlice[],
): string | undefined {
  const { endpoints, clusterEndpoints, localEndpoints } = port;
  if (endpoints.size === 0) return reasonWithoutPort(service, port, slices);
  if (clusterEndpoints.size > 0 || localEndpoints.size > 0) return undefined;
  if (frontend.localPolicy && endpoints.has(STATE.ready)) {
    const policy = frontend.kind === 'clusterIP' ? 'internalTrafficPolicy' : 'externalTrafficPolicy';
    return `${policy} of Service ${service} is Local, and none of its endpoints on this node is ready`;
  }
  return `none of the ${endpoints.size} endpoints of Service ${service} is ready`;
}

/** Number of ports of slices that a reason names. */
const NAMED_PORTS = 3;

/**
 * Why no slice has endpoints for a port. The EndpointSlice controller leaves a port out of the slice of pods that have no
 * container port with the name of `targetPort` (`getEndpointPorts` of pkg/controller/endpointslice).
 */
function reasonWithoutPort(
  service: string,
  { family, portName, protocol }: ServicePort,
  slices: readonly EndpointSlice[],
): string {
  const own = slices.filter((slice) => slice.family === family && slice.endpoints.size > 0);
  if (own.length === 0) return `Service ${service} has no endpoint in this family`;
  const endpoints = own.reduce((sum, slice) => sum + slice.endpoints.size, 0);
  const known = [
    ...new Set(own.flatMap(({ ports }) => ports.map((port) => nameOfPort(port.name, port.protocol)))),
  ];
  const more = known.length > NAMED_PORTS ? [`${known.length - NAMED_PORTS} more`] : [];
  const others = known.length === 0 ? 'no port' : [...known.slice(0, NAMED_PORTS), ...more].join(', ');
  return (
    `no EndpointSlice of Service ${service} has its port ${nameOfPort(portName, protocol)}: the slices have ` +
    `${endpoints} endpoint${endpoints === 1 ? '' : 's'} and ${others}; a targetPort that is a name must be the name of a ` +
    'container port of the pods'
  );
}

function nameOfPort(name: string, protocol: Protocol): string {
  return `${name === '' ? 'without a name' : name}/${protocol}`;
}
