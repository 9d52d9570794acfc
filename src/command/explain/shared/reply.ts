// The path of the reply of an endpoint: whether it reaches the client as a reply of the frontend. Every mode translates
// addresses with a connection of conntrack or IPVS on this node, and therefore the reply must pass this node.
import type { NetworkRoute } from '../../kernel/procNet/types.js';
import type { Cause, CauseCode, EndpointPath, Explanation } from '../explanation.js';
import { CLIENT_PORT, type Packet } from '../packet/packet.js';
import { deliveryOf, type Receiver } from './delivery.js';
import type { HooksResult, PathTrace } from './trace.js';

/** The path to one endpoint. */
export interface EndpointDelivery extends Receiver {
  readonly trace: PathTrace;
  readonly client: Explanation['client'];
  /** The connection as rules see it. */
  readonly connection: Pick<Packet, 'via' | 'translated'>;
  /** A reason why nothing is masqueraded on this node, as the end of a sentence; empty if there is none. */
  readonly withoutNat: string;
}

/** The part of an endpoint's path that follows from the packet. */
export type DeliveryResult = Pick<EndpointPath, 'masqueraded' | 'source' | 'reply' | 'result' | 'cause'>;

/** A packet that reached the endpoint. */
type Arrival = Pick<EndpointPath, 'masqueraded'> & { readonly source: string };

/** The packet does not reach the endpoint. */
export function failed(code: CauseCode, text: string): DeliveryResult {
  return { masqueraded: false, result: 'hangs', cause: { code, text } };
}

/** The packet after chain POSTROUTING, with a step about the source that the endpoint sees. */
export function arrivalOf(
  { packet, source }: HooksResult,
  { node, trace, server, endpoint }: EndpointDelivery,
): Arrival {
  const translated = source === 'link' ? node.topology.sourceFor(server.address) : source;
  const arrival = { source: translated ?? packet.source, masqueraded: source !== undefined };
  const reason = arrival.masqueraded ? 'masqueraded' : 'the address of the client';
  trace.step('source', `${endpoint} sees ${arrival.source}, ${reason}`, undefined, endpoint);
  return arrival;
}

/** The endpoint replies, but the reply does not reach the client as one of the frontend. */
function lost(arrival: Arrival, reply: 'returns' | 'bypasses', cause: Cause): DeliveryResult {
  return { ...arrival, reply, result: 'hangs', cause };
}

/** The packet is sent to the endpoint: whether its reply reaches the client as a reply of the frontend. */
export function reached(arrival: Arrival, delivery: EndpointDelivery): DeliveryResult {
  const { node, client, server, endpoint, withoutNat } = delivery;
  const undelivered = deliveryOf(delivery);
  if (undelivered.cause) return { ...arrival, ...undelivered };
  if (client.place === 'node') return toNode(arrival, delivery);
  if (!arrival.masqueraded && client.address === server.address) {
    const text = `${endpoint} gets its own address as the source${withoutNat}`;
    return lost(arrival, 'bypasses', { code: 'Hairpin', text });
  }
  const route = node.topology.route(client.address);
  if (!route) {
    return lost(arrival, 'returns', {
      code: 'NoRoute',
      text: `no route of this node leads to ${client.address}`,
    });
  }
  if (!arrival.masqueraded && !node.isHere(server.address) && !node.isHere(client.address)) {
    const text = `${endpoint} is on another node and replies to ${client.address} directly${withoutNat}`;
    return lost(arrival, 'bypasses', { code: 'ReplyBypasses', text });
  }
  return isBridged(arrival, delivery, route)
    ? overBridge(arrival, delivery, route)
    : forwarded(arrival, delivery, route);
}

/** Whether the client gets the reply over a bridge to which both are connected, without IP forwarding. */
function isBridged(
  { masqueraded }: Arrival,
  { node, server }: EndpointDelivery,
  { gateway, link }: NetworkRoute,
): boolean {
  if (masqueraded || gateway !== undefined || node.isLocal(server.address)) return false;
  const back = node.topology.route(server.address);
  return back?.link === link && back.gateway === undefined && node.topology.kindOf(link) === 'bridge';
}

/** Only if its frames pass the rules, this node can translate the reply. */
function overBridge(arrival: Arrival, delivery: EndpointDelivery, { link }: NetworkRoute): DeliveryResult {
  const { node, trace, client, endpoint } = delivery;
  const { on, text: fact } = node.bridgeFilter;
  if (!on) {
    const text = `${endpoint} and ${client.address} are on the same bridge ${link}, whose frames do not pass the rules: ${fact}`;
    return lost(arrival, 'bypasses', { code: 'BridgeFilterOff', text });
  }
  trace.step('reply', `the reply passes bridge ${link}, whose frames pass the rules`, fact, endpoint);
  return filtered(arrival, delivery, link);
}

/** The reply passes this node to another host. */
function forwarded(arrival: Arrival, delivery: EndpointDelivery, { link }: NetworkRoute): DeliveryResult {
  const { node, trace, server, endpoint } = delivery;
  const { on, text: fact } = node.forwarding;
  if (node.isLocal(server.address)) return filtered(arrival, delivery, link);
  if (!on) {
    const text = `this node does not forward the reply of ${endpoint}: ${fact}`;
    return lost(arrival, 'returns', { code: 'ForwardingOff', text });
  }
  trace.step(
    'reply',
    `the reply of ${endpoint} returns to this node, which sends it to the client`,
    fact,
    endpoint,
  );
  return filtered(arrival, delivery, link);
}

/** The rules of chain FORWARD for a reply; those of OUTPUT if the endpoint is a process of this node. */
function filtered(arrival: Arrival, delivery: EndpointDelivery, output: string): DeliveryResult {
  const chain = delivery.node.isLocal(delivery.server.address) ? 'OUTPUT' : 'FORWARD';
  return replied(arrival, delivery, [`mangle/${chain}`, `filter/${chain}`], output);
}

/** The reply to a client on this node. */
function toNode(arrival: Arrival, delivery: EndpointDelivery): DeliveryResult {
  const { node, trace, server, endpoint } = delivery;
  const hooks = node.isLocal(server.address) ? [] : ['mangle/INPUT', 'filter/INPUT'];
  const result = replied(arrival, delivery, hooks);
  const link = node.topology.assigned(arrival.source)?.link;
  const isVirtual = link !== undefined && link === node.mode.ownLink;
  if (result.cause || arrival.masqueraded || !isVirtual || node.isHere(server.address)) return result;
  const text = `the reply of ${endpoint} returns only if the network routes the virtual IP ${arrival.source} to this node`;
  trace.step('reply', text, undefined, endpoint);
  return { ...result, reply: 'depends' };
}

/** The reply passes chains of this node. */
function replied(
  arrival: Arrival,
  delivery: EndpointDelivery,
  hooks: readonly string[],
  output?: string,
): DeliveryResult {
  const { trace, endpoint } = delivery;
  const { stopped } = trace.pass(hooks, replyPacket(delivery, output), endpoint, true);
  const stop = stopped && trace.stop(stopped, `the reply of ${endpoint}`);
  return { ...arrival, reply: 'returns', ...(stop ?? deliveryOf(delivery)) };
}

function replyPacket(
  { node, server, client, protocol, connection }: EndpointDelivery,
  output: string | undefined,
): Packet {
  const local = node.isLocal(server.address);
  const input = local ? undefined : node.topology.route(server.address)?.link;
  return {
    family: node.facts.family,
    protocol,
    source: server.address,
    sourcePort: server.port,
    destination: client.address,
    port: CLIENT_PORT,
    mark: 0,
    state: 'ESTABLISHED',
    fromBridgePort: input !== undefined && node.filtersBridge(input),
    ...connection,
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
  };
}
