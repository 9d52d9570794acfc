// Tracked UDP flows to an endpoint that no longer serves. UDP has no end of a connection after which a client would begin
// again, so these flows have to be deleted (kube-proxy's rule since 1.32). Pure: decides which flows to list, and which
// of those listed to delete.
import type { Flow, FlowSelection } from '../kernel/conntrack/types.js';
import { joinHostPort } from '../net/address.js';
import type { Frontend, ServicePort } from '../services/types.js';

/** Whether the `address:port` is the cluster, external or load-balancer IP of a UDP port of any Service, changed or not. */
export type IsFrontend = (addressAndPort: string) => boolean;

/**
 * What to ask conntrack for when these Service ports have changed: a selection for each of their UDP frontends. Ports
 * without a serving endpoint clean nothing, and nothing is asked for on their account.
 */
export function selectFlows(ports: Iterable<ServicePort>): FlowSelection[] {
  const selections = new Map<string, FlowSelection>();
  for (const port of ports) {
    if (port.protocol !== 'udp' || servingEndpoints(port).length === 0) continue;
    for (const frontend of port.frontends) {
      const original =
        frontend.kind === 'nodePort'
          ? { destinationPort: frontend.port }
          : { destination: frontend.address, destinationPort: frontend.port };
      selections.set(nameOf(port, frontend), { family: port.family, protocol: 'udp', original });
    }
  }
  return [...selections.values()];
}

/**
 * The flows to delete of those listed: what a client sent to a frontend of these ports and what does not come back from
 * one of that port's serving endpoints, whatever traffic policies, topology and termination say of them.
 *
 * A flow belongs to the port whose address and port it was sent to; failing that, to the one whose node port it was sent
 * to, at whatever address. `isFrontend` keeps flows to frontends of ports that have not changed from being taken for
 * flows to a node port that happens to have the same number.
 */
export function staleFlows(
  flows: Iterable<Flow>,
  ports: Iterable<ServicePort>,
  isFrontend: IsFrontend,
): Flow[] {
  const endpoints = endpointsByFrontend(ports);
  const stale: Flow[] = [];
  for (const flow of flows) {
    if (flow.protocol !== 'udp') continue;
    const { destination, destinationPort } = flow.original;
    const sentTo = joinHostPort(destination, destinationPort);
    const serving =
      endpoints.get(sentTo) ??
      (isFrontend(sentTo) ? undefined : endpoints.get(nodePortName(flow.family, destinationPort)));
    if (serving === undefined || serving.size === 0) continue;
    if (!serving.has(joinHostPort(flow.reply.source, flow.reply.sourcePort))) stale.push(flow);
  }
  return stale;
}

/**
 * Serving endpoints, `address:port`, by name of the frontend. An address and port that two Services claim has the
 * endpoints of both: which of them has it is not decided here, and no flow is deleted that may be right.
 */
function endpointsByFrontend(ports: Iterable<ServicePort>): Map<string, Set<string>> {
  const endpoints = new Map<string, Set<string>>();
  for (const port of ports) {
    if (port.protocol !== 'udp') continue;
    const serving = servingEndpoints(port);
    for (const frontend of port.frontends) {
      const name = nameOf(port, frontend);
      endpoints.set(name, new Set([...(endpoints.get(name) ?? []), ...serving]));
    }
  }
  return endpoints;
}

function servingEndpoints(port: ServicePort): string[] {
  return port.endpoints
    .filter((endpoint) => endpoint.serving)
    .map((endpoint) => joinHostPort(endpoint.address, endpoint.port));
}

function nameOf(port: ServicePort, frontend: Frontend): string {
  return frontend.kind === 'nodePort'
    ? nodePortName(port.family, frontend.port)
    : joinHostPort(frontend.address, frontend.port);
}

function nodePortName(family: number, port: number): string {
  return `IPv${family} node port ${port}`;
}
