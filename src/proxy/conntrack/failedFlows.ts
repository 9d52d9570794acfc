// Selects the TCP flows through Services to endpoints that failed. Once such a flow is deleted, the next packet of its client is
// translated as that of a new connection, to an endpoint that does not know the connection and resets it. Pure.
import type { Flow, FlowSelection } from '../../kernel/conntrack/types.js';
import { type Family, joinHostPort } from '../../kernel/net/address.js';
import { type EndpointsByFamily, joinEndpoints, withoutEndpoints } from '../services/leftEndpoints.js';
import type { Frontend, ServicePlanInput, ServicePort } from '../services/types.js';
import { MOST_SELECTIONS } from './flowChecks.js';
import type { FrontendLookup } from './frontendLookup.js';

/** The TCP ports of a Service. */
export type TcpPort = Pick<ServicePort, 'family' | 'frontends'>;

/** The endpoints of a Service that failed, and the TCP ports whose flows to them are deleted. */
export interface FailedEndpoints {
  readonly ports: readonly TcpPort[];
  readonly endpoints: EndpointsByFamily;
}

const FAMILIES = [4, 6] as const;

/**
 * The endpoints of a Service that fail with this plan: those that left the slices and, with `not-serving`, those that did not serve in
 * this plan and did in the last one.
 *
 * @param notServing those of the last plan; undefined: none
 */
export function newlyFailed(
  input: ServicePlanInput,
  notServing: EndpointsByFamily | undefined,
): EndpointsByFamily | undefined {
  const now = notServingOf(input);
  return joinEndpoints(input.failed, now && withoutEndpoints(now, notServing));
}

/** The endpoints of a Service's TCP ports that do not serve, if their connections are to be reset; undefined if there are none. */
export function notServingOf({ settings, ports }: ServicePlanInput): EndpointsByFamily | undefined {
  if (settings?.failFast !== 'not-serving') return undefined;
  let found: EndpointsByFamily | undefined;
  for (const { family, protocol, endpoints } of ports) {
    const { notServing } = endpoints;
    if (protocol === 'tcp' && notServing.size > 0) found = joinEndpoints(found, { [family]: notServing });
  }
  return found;
}

/** Those of the failed endpoints that a Service still does not have as serving ones; undefined if there are none. */
export function stillFailed(
  failed: EndpointsByFamily,
  { ports }: ServicePlanInput,
): EndpointsByFamily | undefined {
  let left: EndpointsByFamily | undefined = failed;
  for (const { family, protocol, endpoints } of ports) {
    if (protocol !== 'tcp' || !left) continue;
    const { addressPorts, notServing } = endpoints;
    left = withoutEndpoints(left, { [family]: addressPorts.without(notServing) });
  }
  return left;
}

/** The flows to list: one selection for each failed endpoint, or one for each family if they are many. */
export function selectFailed(failed: Iterable<FailedEndpoints>): FlowSelection[] {
  const selections = new Map<string, FlowSelection>();
  for (const { endpoints } of failed)
    for (const family of FAMILIES) {
      const list = endpoints[family];
      for (let index = 0; index < (list?.size ?? 0); index++) {
        if (!list) continue;
        const reply = { source: list.addressAt(index), sourcePort: list.portAt(index) };
        selections.set(list.textAt(index), { family, protocol: 'tcp', reply });
      }
    }
  if (selections.size <= MOST_SELECTIONS) return [...selections.values()];
  return FAMILIES.filter((family) =>
    [...selections.values()].some((selection) => selection.family === family),
  ).map((family) => ({ family, protocol: 'tcp' }));
}

/**
 * The listed flows to delete: their replies come from an endpoint that failed, and they were sent to a frontend of its Service. Flows to
 * the endpoint's own address stay, and so do those through other Services.
 */
export function failedFlows(
  flows: Iterable<Flow>,
  failed: Iterable<FailedEndpoints>,
  { isFrontend, servesNodePorts }: Pick<FrontendLookup, 'isFrontend' | 'servesNodePorts'>,
): Flow[] {
  const frontends = frontendsByEndpoint(failed);
  const found: Flow[] = [];
  for (const flow of flows) {
    if (flow.protocol !== 'tcp') continue;
    const { original, reply, family } = flow;
    const names = frontends.get(joinHostPort(reply.source, reply.sourcePort));
    if (!names) continue;
    const { destination, destinationPort } = original;
    const own = names.some((each) => each.has(joinHostPort(destination, destinationPort)));
    const toNodePort = names.some((each) => each.has(nodePortName(family, destinationPort)));
    const isNodePort = () => servesNodePorts(destination) && !isFrontend(destination, destinationPort, 'tcp');
    if (own || (toNodePort && destination !== reply.source && isNodePort())) found.push(flow);
  }
  return found;
}

/** Failed endpoint → the names of the frontends of each Service in which it failed. */
function frontendsByEndpoint(failed: Iterable<FailedEndpoints>): Map<string, ReadonlySet<string>[]> {
  const found = new Map<string, ReadonlySet<string>[]>();
  for (const { ports, endpoints } of failed) {
    const names = new Set(
      ports.flatMap(({ family, frontends }) => frontends.map((frontend) => nameOf(family, frontend))),
    );
    for (const list of [endpoints[4], endpoints[6]])
      for (const endpoint of list ?? []) {
        const known = found.get(endpoint);
        if (known) known.push(names);
        else found.set(endpoint, [names]);
      }
  }
  return found;
}

function nameOf(family: Family, { kind, address, port }: Frontend): string {
  return kind === 'nodePort' ? nodePortName(family, port) : joinHostPort(address, port);
}

function nodePortName(family: Family, port: number): string {
  return `IPv${family} node port ${port}`;
}
