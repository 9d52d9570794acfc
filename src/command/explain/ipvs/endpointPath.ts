// The path from IPVS to one real server. Source of the order of hooks: ip_vs_core.c and ip_vs_xmit.c of
// net/netfilter/ipvs. IPVS sends packets through OUTPUT and POSTROUTING, and never through FORWARD.

import { thresholdsText } from '../../../kernel/ipvs/values/settingsText.js';
import { joinHostPort } from '../../../kernel/net/address.js';
import type { EndpointPath } from '../explanation.js';
import type { Packet } from '../packet/packet.js';
import { deliveryOf } from '../shared/delivery.js';
import type { PathContext } from '../shared/path.js';
import { arrivalOf, type DeliveryResult, type EndpointDelivery, failed, reached } from '../shared/reply.js';
import { CONNTRACK, type ExplainedServer } from './facts.js';
import { isSelectable } from './services.js';

/** The path of a packet to a real server. A server that cannot be selected gets no packet. */
export function endpointPath(server: ExplainedServer, packet: Packet, context: PathContext): EndpointPath {
  const { node, trace, client, dialled } = context;
  const { address, weight, forwarding } = server;
  const endpoint = joinHostPort(address, server.port);
  const selectable = isSelectable(server);
  const thresholds = thresholdsText(server);
  if (thresholds) trace.step('IPVS', `thresholds of connections: ${thresholds}`, undefined, endpoint);
  const known = { endpoint, weight, selectable, onThisNode: node.isHere(address), masqueraded: false };
  if (!selectable) {
    const text = weight === 0 ? `${endpoint} has weight 0` : `${endpoint} has reached its threshold`;
    return { ...known, result: 'refused', cause: { code: 'NoCapacity', text } };
  }
  if (forwarding === 'tunnel') return { ...known, ...throughTunnel(server, packet, context) };
  if (forwarding !== 'masquerade') {
    trace.step('IPVS', `the forwarding method ${forwarding} is not understood`, undefined, endpoint);
    return { ...known, result: 'unknown' };
  }
  const conntrack = node.setting(CONNTRACK);
  const delivery: EndpointDelivery = {
    ...{ node, trace, client, server, endpoint },
    protocol: dialled.protocol,
    connection: { via: dialled },
    withoutNat: conntrack.on ? '' : `; IPVS masquerades nothing: ${conntrack.text}`,
  };
  return { ...known, ...deliver(packet, delivery, conntrack.on) };
}

/**
 * The packet goes to the node of the endpoint unchanged, and that node sends the replies directly to the client. Rules for the packet around it are
 * not followed.
 */
function throughTunnel(
  server: ExplainedServer,
  packet: Packet,
  { node, trace, client, dialled }: PathContext,
): DeliveryResult {
  const endpoint = joinHostPort(server.address, server.port);
  const output = node.topology.route(server.address)?.link;
  if (output === undefined)
    return failed('EndpointUnreachable', `no route of this node leads to ${server.address}`);
  const { type = 'ipip' } = server.encapsulation ?? {};
  const text = `sends the unchanged packet to link ${output} in a tunnel (${type}), which the node of ${endpoint} ends`;
  trace.step('IPVS', text, undefined, endpoint);
  const arrival = { masqueraded: false, source: packet.source, reply: 'bypasses' } as const;
  if (node.isHere(client.address)) {
    const lost = `the reply of ${endpoint} has the source ${dialled.address}, which is an address of this node`;
    return { ...arrival, result: 'hangs', cause: { code: 'ReplyBypasses', text: lost } };
  }
  trace.step('reply', `the node of ${endpoint} replies directly to the client`, undefined, endpoint);
  return { ...arrival, ...deliveryOf({ node, server, endpoint, protocol: dialled.protocol }) };
}

function deliver(packet: Packet, delivery: EndpointDelivery, conntrack: boolean): DeliveryResult {
  const { node, trace, client, server, endpoint, connection } = delivery;
  const local = node.isLocal(server.address);
  const output = local ? 'lo' : node.topology.route(server.address)?.link;
  if (output === undefined) {
    return failed('EndpointUnreachable', `no route of this node leads to ${server.address}`);
  }
  const text = `replaces the destination by ${endpoint}, and sends the packet to link ${output}`;
  trace.step('IPVS', text, undefined, endpoint);
  // A packet of another host to a process of this node continues to it, without OUTPUT and POSTROUTING.
  if (local && client.place !== 'node')
    return reached({ source: packet.source, masqueraded: false }, delivery);
  const sent: Packet = {
    ...packet,
    destination: server.address,
    port: server.port,
    output,
    ...connection,
  };
  const out = trace.pass(['raw/OUTPUT', 'mangle/OUTPUT', 'filter/OUTPUT'], sent, endpoint);
  if (out.stopped) return { masqueraded: false, ...trace.stop(out.stopped, `the packet to ${endpoint}`) };
  // Packets of IPVS without conntrack are not tracked, and table nat sees only packets that are.
  const hooks = ['mangle/POSTROUTING', ...(conntrack ? ['nat/POSTROUTING'] : [])];
  const post = trace.pass(hooks, out.packet, endpoint);
  if (post.stopped) return { masqueraded: false, ...trace.stop(post.stopped, `the packet to ${endpoint}`) };
  return reached(arrivalOf(post, delivery), delivery);
}
