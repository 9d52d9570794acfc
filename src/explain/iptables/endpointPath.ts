// The path of a packet after a rule replaced its destination by an endpoint. The order of hooks is that of a packet which
// this node forwards, sends, or receives.

import { ROUTE_LOCALNET } from '../../modes/iptables/plan/planNode.js';
import { isLoopback, joinHostPort } from '../../net/address.js';
import type { EndpointPath } from '../explanation.js';
import type { Packet } from '../packet/packet.js';
import type { Journey } from '../shared/path.js';
import { arrivalOf, failed, type Hop, type HopResult, reached } from '../shared/reply.js';
import { FORWARD_HOOKS, INPUT_HOOKS, OUTPUT_HOOKS } from './hooks.js';

/**
 * The path of a packet to an endpoint.
 *
 * @param packet its destination is the endpoint
 * @param share the probability that the rules select the endpoint
 */
export function endpointPath(packet: Packet, share: number, journey: Journey): EndpointPath {
  const { node, trail, client, dialled } = journey;
  const server = { address: packet.destination, port: packet.port };
  const endpoint = joinHostPort(server.address, server.port);
  const hop: Hop = {
    ...{ node, trail, client, server, endpoint },
    protocol: dialled.protocol,
    connection: { translated: true },
    withoutNat: '',
  };
  const onThisNode = node.isHere(server.address);
  return { endpoint, share, selectable: true, onThisNode, ...deliver(packet, hop) };
}

function deliver(packet: Packet, hop: Hop): HopResult {
  const { node, client, server } = hop;
  if (node.isLocal(server.address))
    return client.place === 'node' ? send(packet, hop, 'lo') : receive(packet, hop);
  const output = node.topology.route(server.address)?.link;
  if (output === undefined) {
    return failed('EndpointUnreachable', `no route of this node leads to ${server.address}`);
  }
  hop.trail.step('route', `the packet leaves on link ${output}`, undefined, hop.endpoint);
  return client.place === 'node' ? send(packet, hop, output) : forward(packet, hop, output);
}

/** A packet of another host to a process of this node. */
function receive(packet: Packet, hop: Hop): HopResult {
  const { trail, endpoint } = hop;
  const input = trail.pass(INPUT_HOOKS, packet, endpoint);
  if (input.stopped) return { masqueraded: false, ...trail.stop(input.stopped, `the packet to ${endpoint}`) };
  return reached({ source: packet.source, masqueraded: false }, hop);
}

/** A packet of another host to another host. */
function forward(packet: Packet, hop: Hop, output: string): HopResult {
  const { on, text } = hop.node.forwarding;
  if (!on)
    return failed('ForwardingOff', `this node does not forward the packet to ${hop.endpoint}: ${text}`);
  return leave({ ...packet, output }, hop, FORWARD_HOOKS);
}

/** A packet of this node. */
function send(packet: Packet, hop: Hop, output: string): HopResult {
  const { node, client, endpoint } = hop;
  const localnet = node.setting(ROUTE_LOCALNET);
  if (output !== 'lo' && isLoopback(client.address) && !localnet.on) {
    const text = `the kernel does not send packets of ${client.address} to ${endpoint} on link ${output}: ${localnet.text}`;
    return failed('LocalnetOff', text);
  }
  return leave({ ...packet, output }, hop, OUTPUT_HOOKS);
}

/** The packet passes hooks, and then leaves on its link. */
function leave(packet: Packet, hop: Hop, hooks: readonly string[]): HopResult {
  const { trail, endpoint } = hop;
  const sent = trail.pass(hooks, packet, endpoint);
  if (sent.stopped) return { masqueraded: false, ...trail.stop(sent.stopped, `the packet to ${endpoint}`) };
  const arrival = arrivalOf(sent, hop);
  if (packet.output !== 'lo') return reached(arrival, hop);
  const { output: _, ...received } = sent.packet;
  const input = trail.pass(INPUT_HOOKS, { ...received, source: arrival.source, input: 'lo' }, endpoint);
  if (input.stopped) return { ...arrival, ...trail.stop(input.stopped, `the packet to ${endpoint}`) };
  return reached(arrival, hop);
}
