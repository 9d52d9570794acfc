// The path of a packet after a rule replaced its destination by an endpoint. The order of hooks is that of a packet which
// this node forwards, sends, or receives.

import { isLoopback, joinHostPort } from '../../../kernel/net/address.js';
import { ROUTE_LOCALNET } from '../../../proxy/modes/iptables/plan/planNode.js';
import type { EndpointPath } from '../explanation.js';
import type { Packet } from '../packet/packet.js';
import { FORWARD_HOOKS, INPUT_HOOKS, OUTPUT_HOOKS } from './hooks.js';
import type { PathContext } from './path.js';
import { arrivalOf, type DeliveryResult, type EndpointDelivery, failed, reached } from './reply.js';

/**
 * The path of a packet to an endpoint.
 *
 * @param packet its destination is the endpoint
 * @param share the probability that the rules select the endpoint
 */
export function endpointPath(packet: Packet, share: number, context: PathContext): EndpointPath {
  const { node, trace, client, dialled } = context;
  const server = { address: packet.destination, port: packet.port };
  const endpoint = joinHostPort(server.address, server.port);
  const delivery: EndpointDelivery = {
    ...{ node, trace, client, server, endpoint },
    protocol: dialled.protocol,
    connection: { translated: true },
    withoutNat: '',
  };
  const onThisNode = node.isHere(server.address);
  return { endpoint, share, selectable: true, onThisNode, ...deliver(packet, delivery) };
}

function deliver(packet: Packet, delivery: EndpointDelivery): DeliveryResult {
  const { node, client, server } = delivery;
  if (node.isLocal(server.address))
    return client.place === 'node' ? send(packet, delivery, 'lo') : receive(packet, delivery);
  const output = node.topology.route(server.address)?.link;
  if (output === undefined) {
    return failed('EndpointUnreachable', `no route of this node leads to ${server.address}`);
  }
  delivery.trace.step('route', `the packet leaves on link ${output}`, undefined, delivery.endpoint);
  return client.place === 'node' ? send(packet, delivery, output) : forward(packet, delivery, output);
}

/** A packet of another host to a process of this node. */
function receive(packet: Packet, delivery: EndpointDelivery): DeliveryResult {
  const { trace, endpoint } = delivery;
  const input = trace.pass(INPUT_HOOKS, packet, endpoint);
  if (input.stopped) return { masqueraded: false, ...trace.stop(input.stopped, `the packet to ${endpoint}`) };
  return reached({ source: packet.source, masqueraded: false }, delivery);
}

/** A packet of another host to another host. */
function forward(packet: Packet, delivery: EndpointDelivery, output: string): DeliveryResult {
  const { on, text } = delivery.node.forwarding;
  if (!on)
    return failed('ForwardingOff', `this node does not forward the packet to ${delivery.endpoint}: ${text}`);
  return leave({ ...packet, output }, delivery, FORWARD_HOOKS);
}

/** A packet of this node. */
function send(packet: Packet, delivery: EndpointDelivery, output: string): DeliveryResult {
  const { node, client, endpoint } = delivery;
  const localnet = node.setting(ROUTE_LOCALNET);
  if (output !== 'lo' && isLoopback(client.address) && !localnet.on) {
    const text = `the kernel does not send packets of ${client.address} to ${endpoint} on link ${output}: ${localnet.text}`;
    return failed('LocalnetOff', text);
  }
  return leave({ ...packet, output }, delivery, OUTPUT_HOOKS);
}

/** The packet passes hooks, and then leaves on its link. */
function leave(packet: Packet, delivery: EndpointDelivery, hooks: readonly string[]): DeliveryResult {
  const { trace, endpoint } = delivery;
  const sent = trace.pass(hooks, packet, endpoint);
  if (sent.stopped) return { masqueraded: false, ...trace.stop(sent.stopped, `the packet to ${endpoint}`) };
  const arrival = arrivalOf(sent, delivery);
  if (packet.output !== 'lo') return reached(arrival, delivery);
  const { output: _, ...received } = sent.packet;
  const input = trace.pass(INPUT_HOOKS, { ...received, source: arrival.source, input: 'lo' }, endpoint);
  if (input.stopped) return { ...arrival, ...trace.stop(input.stopped, `the packet to ${endpoint}`) };
  return reached(arrival, delivery);
}
