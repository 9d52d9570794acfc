// The path from IPVS to one real server, and the path of its reply. Source of the order of hooks: ip_vs_core.c and
// ip_vs_xmit.c of net/netfilter/ipvs. IPVS sends packets through OUTPUT and POSTROUTING, and never through FORWARD.
import type { AddressId } from '../../../kernel/ipvs/types.js';
import type { NetworkRoute } from '../../../kernel/procNet/types.js';
import { joinHostPort } from '../../../net/address.js';
import type { Cause, CauseCode, EndpointPath, Explanation } from '../../explanation.js';
import { CLIENT_PORT, type Packet } from '../../shared/packet/packet.js';
import { LINK } from '../items.js';
import { type ExplainedServer, settingText } from './facts.js';
import { isSelectable } from './services.js';
import type { Surroundings } from './surroundings.js';
import { stopOf, type Trail } from './trail.js';

/** The parts of an explanation that all real servers share. */
export interface Way {
  readonly node: Surroundings;
  readonly trail: Trail;
  readonly client: Explanation['client'];
  readonly dialled: AddressId;
}

/** The same, with one real server. */
interface Hop extends Way {
  readonly server: ExplainedServer;
  /** Its `address:port`. */
  readonly endpoint: string;
}

type Result = Omit<EndpointPath, 'endpoint' | 'weight' | 'selectable' | 'onThisNode'>;

/** A packet that reached the endpoint. */
type Arrival = Pick<Result, 'masqueraded'> & { readonly source: string };

/** The path of a packet to a real server. A server that cannot be selected gets no packet. */
export function endpointPath(server: ExplainedServer, packet: Packet, way: Way): EndpointPath {
  const { node, trail } = way;
  const { address, weight, forwarding } = server;
  const endpoint = joinHostPort(address, server.port);
  const selectable = isSelectable(server);
  const known = { endpoint, weight, selectable, onThisNode: node.isHere(address), masqueraded: false };
  if (!selectable) {
    const text = weight === 0 ? `${endpoint} has weight 0` : `${endpoint} has reached its threshold`;
    return { ...known, result: 'refused', cause: { code: 'NoCapacity', text } };
  }
  if (forwarding !== 'masquerade') {
    trail.step('IPVS', `the forwarding method ${forwarding} is not understood`, undefined, endpoint);
    return { ...known, result: 'unknown' };
  }
  return { ...known, ...deliver(packet, { ...way, server, endpoint }) };
}

function deliver(packet: Packet, hop: Hop): Result {
  const { node, trail, client, server, endpoint, dialled } = hop;
  const local = node.isLocal(server.address);
  const output = local ? 'lo' : node.topology.route(server.address)?.link;
  if (output === undefined) {
    return failed('EndpointUnreachable', `no route of this node leads to ${server.address}`);
  }
  const text = `replaces the destination by ${endpoint}, and sends the packet to link ${output}`;
  trail.step('IPVS', text, undefined, endpoint);
  // A packet of another host to a process of this node continues to it, without OUTPUT and POSTROUTING.
  if (local && client.place !== 'node') return reached({ source: packet.source, masqueraded: false }, hop);
  const sent: Packet = {
    ...packet,
    destination: server.address,
    port: server.port,
    output,
    via: dialled,
  };
  const out = trail.pass(['raw/OUTPUT', 'mangle/OUTPUT', 'filter/OUTPUT'], sent, endpoint);
  if (out.stopped) return { masqueraded: false, ...stopOf(out.stopped, `the packet to ${endpoint}`) };
  // Packets of IPVS without conntrack are not tracked, and table nat sees only packets that are.
  const hooks = ['mangle/POSTROUTING', ...(node.setting('conntrack').on ? ['nat/POSTROUTING'] : [])];
  const post = trail.pass(hooks, out.packet, endpoint);
  if (post.stopped) return { masqueraded: false, ...stopOf(post.stopped, `the packet to ${endpoint}`) };
  const translated = post.source === 'link' ? node.topology.sourceFor(server.address) : post.source;
  const arrival = { source: translated ?? packet.source, masqueraded: post.source !== undefined };
  const reason = arrival.masqueraded ? 'masqueraded' : 'the address of the client';
  trail.step('source', `${endpoint} sees ${arrival.source}, ${reason}`, undefined, endpoint);
  return reached(arrival, hop);
}

function failed(code: CauseCode, text: string): Result {
  return { masqueraded: false, result: 'hangs', cause: { code, text } };
}

/** The endpoint replies, but the reply does not reach the client as one of the frontend. */
function lost(arrival: Arrival, reply: 'returns' | 'bypasses', cause: Cause): Result {
  return { ...arrival, reply, result: 'hangs', cause };
}

/** The endpoint gets the packet: whether its reply reaches the client as a reply of the frontend. */
function reached(arrival: Arrival, hop: Hop): Result {
  const { node, client, server, endpoint } = hop;
  if (client.place === 'node') return toNode(arrival, hop);
  if (!arrival.masqueraded && client.address === server.address) {
    const text = withoutNat(node, `${endpoint} gets its own address as the source`);
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
    const text = `${endpoint} is on another node and replies to ${client.address} directly`;
    return lost(arrival, 'bypasses', { code: 'ReplyBypasses', text: withoutNat(node, text) });
  }
  return isBridged(arrival, hop, route) ? overBridge(arrival, hop, route) : forwarded(arrival, hop, route);
}

/** Whether the client gets the reply over a bridge to which both are connected, without IP forwarding. */
function isBridged(
  { masqueraded }: Arrival,
  { node, server }: Hop,
  { gateway, link }: NetworkRoute,
): boolean {
  if (masqueraded || gateway !== undefined || node.isLocal(server.address)) return false;
  const back = node.topology.route(server.address);
  return back?.link === link && back.gateway === undefined && node.topology.kindOf(link) === 'bridge';
}

/** Only if its frames pass the rules, IPVS can translate the reply. */
function overBridge(arrival: Arrival, hop: Hop, { link }: NetworkRoute): Result {
  const { node, trail, client, endpoint } = hop;
  const { on, name } = node.setting('bridgeFilter');
  const fact = settingText(node.facts, name);
  if (!on) {
    const text = `${endpoint} and ${client.address} are on the same bridge ${link}, whose frames do not pass the rules: ${fact}`;
    return lost(arrival, 'bypasses', { code: 'BridgeFilterOff', text });
  }
  trail.step('reply', `the reply passes bridge ${link}, whose frames pass the rules`, fact, endpoint);
  return filtered(arrival, hop, link);
}

/** The reply passes this node to another host. */
function forwarded(arrival: Arrival, hop: Hop, { link }: NetworkRoute): Result {
  const { node, trail, server, endpoint } = hop;
  const { on, name } = node.setting('forwarding');
  const fact = settingText(node.facts, name);
  if (node.isLocal(server.address)) return filtered(arrival, hop, link);
  if (!on) {
    const text = `this node does not forward the reply of ${endpoint}: ${fact}`;
    return lost(arrival, 'returns', { code: 'ForwardingOff', text });
  }
  trail.step(
    'reply',
    `the reply of ${endpoint} returns to this node, which sends it to the client`,
    fact,
    endpoint,
  );
  return filtered(arrival, hop, link);
}

/** The rules of chain FORWARD for a reply; those of OUTPUT if the endpoint is a process of this node. */
function filtered(arrival: Arrival, hop: Hop, output: string): Result {
  const chain = hop.node.isLocal(hop.server.address) ? 'OUTPUT' : 'FORWARD';
  return replied(arrival, hop, [`mangle/${chain}`, `filter/${chain}`], output);
}

/** The reply to a client on this node. */
function toNode(arrival: Arrival, hop: Hop): Result {
  const { node, trail, server, endpoint } = hop;
  const hooks = node.isLocal(server.address) ? [] : ['mangle/INPUT', 'filter/INPUT'];
  const result = replied(arrival, hop, hooks);
  const isVirtual = node.topology.assigned(arrival.source)?.link === LINK;
  if (result.cause || arrival.masqueraded || !isVirtual || node.isHere(server.address)) return result;
  const text = `the reply of ${endpoint} returns only if the network routes the virtual IP ${arrival.source} to this node`;
  trail.step('reply', text, undefined, endpoint);
  return { ...result, reply: 'depends' };
}

/** The reply passes chains of this node. */
function replied(arrival: Arrival, hop: Hop, hooks: readonly string[], output?: string): Result {
  const { trail, endpoint } = hop;
  const { stopped } = trail.pass(hooks, replyPacket(hop, output), endpoint, true);
  const stop = stopped && stopOf(stopped, `the reply of ${endpoint}`);
  return { ...arrival, reply: 'returns', ...(stop ?? { result: 'connects' }) };
}

function replyPacket({ node, server, client, dialled }: Hop, output: string | undefined): Packet {
  const local = node.isLocal(server.address);
  const input = local ? undefined : node.topology.route(server.address)?.link;
  return {
    family: node.facts.family,
    protocol: dialled.protocol,
    source: server.address,
    sourcePort: server.port,
    destination: client.address,
    port: CLIENT_PORT,
    mark: 0,
    state: 'ESTABLISHED',
    fromBridgePort: input !== undefined && node.filtersBridge(input),
    via: dialled,
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
  };
}

/** Adds that nothing is masqueraded because IPVS does not use conntrack. */
function withoutNat(node: Surroundings, text: string): string {
  const { on, name } = node.setting('conntrack');
  return on ? text : `${text}; IPVS masquerades nothing: ${settingText(node.facts, name)}`;
}
