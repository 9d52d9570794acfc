// Selects stale UDP flows: tracked flows to an endpoint that no longer serves. UDP has no end of a connection, so a
// client keeps such a flow until it is deleted (kube-proxy's rule since 1.32; of a port without a serving endpoint, since
// 1.37; of a port that was removed, since 1.38). Pure.
import type { Flow, FlowSelection } from '../../kernel/conntrack/types.js';
import { type Family, joinHostPort } from '../../kernel/net/address.js';
import { type AddressPorts, AddressPortsBuilder } from '../../kernel/net/addressPorts.js';
import { STATE } from '../services/endpointList.js';
import type { Frontend, ServicePort } from '../services/types.js';
import { MOST_SELECTIONS } from './flowChecks.js';
import type { FrontendLookup } from './frontendLookup.js';

/** What the flows of a Service port depend on. */
export type FlowPort = Pick<ServicePort, 'family' | 'protocol' | 'frontends'> & {
  readonly endpoints: Pick<ServicePort['endpoints'], 'has' | 'select'>;
  /** Its Service does not have it any more. Its addresses and ports may be those of another Service, whose endpoints then count. */
  readonly removed?: true;
};

/**
 * The flows to list after changes of these Service ports: one selection for each UDP frontend, or one for each family if they are
 * many. The node port of a port without a serving endpoint has none, because its flows are not deleted.
 */
export function selectFlows(ports: Iterable<FlowPort>): FlowSelection[] {
  const selections = new Map<string, FlowSelection>();
  for (const port of ports) {
    if (port.protocol !== 'udp') continue;
    const serves = port.endpoints.has(STATE.serving);
    for (const frontend of port.frontends) {
      if (!serves && frontend.kind === 'nodePort') continue;
      const original =
        frontend.kind === 'nodePort'
          ? { destinationPort: frontend.port }
          : { destination: frontend.address, destinationPort: frontend.port };
      selections.set(nameOf(port, frontend), { family: port.family, protocol: 'udp', original });
    }
  }
  if (selections.size <= MOST_SELECTIONS) return [...selections.values()];
  return ([4, 6] as const)
    .filter((family) => [...selections.values()].some((selection) => selection.family === family))
    .map((family) => ({ family, protocol: 'udp' }));
}

/**
 * The listed flows to delete: their destination is a frontend of these ports, and their replies come from an address
 * that is not a serving endpoint of that port. Traffic policies, topology and termination are ignored. If no endpoint
 * serves, or the port was removed, those that were translated are deleted, without those of node ports, as in kube-proxy.
 *
 * A flow belongs to the port with its destination address and port, otherwise, if node ports are served on that address, to the port with its
 * destination port as node port. `isFrontend` finds flows to frontends of unchanged ports: they do not belong to a node
 * port with the same number.
 */
export function staleFlows(
  flows: Iterable<Flow>,
  ports: Iterable<FlowPort>,
  { isFrontend, servesNodePorts }: Pick<FrontendLookup, 'isFrontend' | 'servesNodePorts'>,
): Flow[] {
  const endpoints = endpointsByFrontend(ports);
  const stale: Flow[] = [];
  for (const flow of flows) {
    if (flow.protocol !== 'udp') continue;
    const { destination, destinationPort } = flow.original;
    const sentTo = joinHostPort(destination, destinationPort);
    const own = endpoints.get(sentTo);
    const serving = own ?? endpoints.get(nodePortName(flow.family, destinationPort));
    const { source, sourcePort } = flow.reply;
    if (serving === undefined || isOneOf(serving, flow.family, source, sourcePort)) continue;
    const isNodePort = () => servesNodePorts(destination) && !isFrontend(destination, destinationPort, 'udp');
    if (own === undefined && !isNodePort()) continue;
    // Only removed ports had this frontend; a port that has not changed may have it now.
    if (own?.length === 0 && isFrontend(destination, destinationPort, 'udp')) continue;
    const isTranslated = joinHostPort(flow.reply.source, flow.reply.sourcePort) !== sentTo;
    if (serving.some(({ size }) => size > 0) || (own !== undefined && isTranslated)) stale.push(flow);
  }
  return stale;
}

/**
 * Lists of serving endpoints by name of the frontend. The frontends of a port share its list. A frontend of several of these ports has
 * the lists of all, so that no valid flow is deleted. Removed ports have none.
 */
function endpointsByFrontend(ports: Iterable<FlowPort>): Map<string, AddressPorts[]> {
  const endpoints = new Map<string, AddressPorts[]>();
  for (const port of ports) {
    if (port.protocol !== 'udp') continue;
    const serving = port.removed ? [] : [port.endpoints.select(STATE.serving)];
    for (const frontend of port.frontends) {
      const name = nameOf(port, frontend);
      const known = endpoints.get(name);
      if (known) known.push(...serving);
      else endpoints.set(name, [...serving]);
    }
  }
  return endpoints;
}

/** Whether an address and port is one of these endpoints. */
export function isOneOf(
  endpoints: readonly AddressPorts[],
  family: Family,
  address: string,
  port: number,
): boolean {
  const builder = new AddressPortsBuilder(family);
  if (!builder.add(address, port)) return false;
  const one = builder.build();
  return endpoints.some((list) => list.family === family && list.indexOf(one, 0) >= 0);
}

function nameOf(port: Pick<FlowPort, 'family'>, frontend: Frontend): string {
  return frontend.kind === 'nodePort'
    ? nodePortName(port.family, frontend.port)
    : joinHostPort(frontend.address, frontend.port);
}

function nodePortName(family: number, port: number): string {
  return `IPv${family} node port ${port}`;
}
