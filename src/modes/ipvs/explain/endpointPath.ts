// The path from IPVS to one real server, and the path of its reply. Source of the order of hooks: ip_vs_core.c and
// ip_vs_xmit.c of net/netfilter/ipvs. IPVS sends packets through OUTPUT and POSTROUTING, and never through FORWARD.
import type { AddressId, RealServerState, VirtualService } from '../../../kernel/ipvs/types.js';
import { joinHostPort } from '../../../net/address.js';
import type { Cause, CauseCode, EndpointPath, Explanation } from '../../explanation.js';
import { CLIENT_PORT, type Packet } from '../../shared/packet/packet.js';
import { LINK } from '../items.js';
import { settingText } from './facts.js';
import { isSelectable } from './services.js';
import type { Surroundings } from './surroundings.js';
import { stopOf, type Trail } from './trail.js';

/** The parts of an explanation on the way to a real server. */
export interface Way {
  readonly node: Surroundings;
  readonly trail: Trail;
  readonly client: Explanation['client'];
  readonly service: VirtualService;
  readonly dialled: AddressId;
}

type Result = Omit<EndpointPath, 'endpoint' | 'weight' | 'selectable' | 'onThisNode'>;

const cause = (code: CauseCode, text: string): Cause => ({ code, text });

/** The path of a packet to a real server. A server that cannot be selected gets no packet. */
export function endpointPath(server: RealServerState, packet: Packet, way: Way): EndpointPath {
  const { node, trail } = way;
  const endpoint = joinHostPort(server.address, server.port);
  const selectable = isSelectable(server);
  const known = { endpoint, weight: server.weight, selectable, onThisNode: node.isHere(server.address) };
  if (!selectable) {
    const text = server.weight === 0 ? `${endpoint} has weight 0` : `${endpoint} has reached its threshold`;
    return { ...known, masqueraded: false, result: 'refused', cause: cause('NoCapacity', text) };
  }
  if (server.forwarding !== 'masquerade') {
    trail.step('IPVS', `the forwarding method ${server.forwarding} is not understood`, undefined, endpoint);
    return { ...known, masqueraded: false, result: 'unknown' };
  }
  return { ...known, ...deliver(server, packet, way, endpoint) };
}

function deliver(server: RealServerState, packet: Packet, way: Way, endpoint: string): Result {
  const { node, trail, client } = way;
  const local = node.isLocal(server.address);
  const output = local ? 'lo' : node.topology.route(server.address)?.link;
  if (output === undefined) {
    const text = `no route of this node leads to ${server.address}`;
    return { masqueraded: false, result: 'hangs', cause: cause('EndpointUnreachable', text) };
  }
  const sent: Packet = {
    ...packet,
    destination: server.address,
    port: server.port,
    output,
    via: way.dialled,
  };
  trail.step(
    'IPVS',
    `replaces the destination by ${endpoint}, and sends the packet to link ${output}`,
    undefined,
    endpoint,
  );
  // A packet of another host to a process of this node continues to it, without OUTPUT and POSTROUTING.
  if (local && client.place !== 'node')
    return reached({ source: packet.source, masqueraded: false }, server, way, endpoint);
  const out = trail.pass(['raw/OUTPUT', 'mangle/OUTPUT', 'filter/OUTPUT'], sent, endpoint);
  if (out.stopped) return { masqueraded: false, ...stopOf(out.stopped, `the packet to ${endpoint}`) };
  const hooks = ['mangle/POSTROUTING', ...(node.setting('conntrack').on ? ['nat/POSTROUTING'] : [])];
  const post = trail.pass(hooks, out.packet, endpoint);
  if (post.stopped) return { masqueraded: false, ...stopOf(post.stopped, `the packet to ${endpoint}`) };
  const masqueraded = post.source !== undefined;
  const source =
    post.source === 'link'
      ? (node.topology.sourceFor(server.address) ?? packet.source)
      : (post.source ?? packet.source);
  trail.step(
    'source',
    `${endpoint} sees ${source}${masqueraded ? ', masqueraded' : ', the address of the client'}`,
    undefined,
    endpoint,
  );
  return reached({ source, masqueraded }, server, way, endpoint);
}

type Sent = Pick<Result, 'masqueraded'> & { readonly source: string };

/** The endpoint gets the packet: whether its reply reaches the client as a reply of the frontend. */
function reached(sent: Sent, server: RealServerState, way: Way, endpoint: string): Result {
  const { node, client } = way;
  const lost = (code: CauseCode, text: string): Result => ({
    ...sent,
    reply: 'bypasses',
    result: 'hangs',
    cause: cause(code, text),
  });
  if (!sent.masqueraded && client.address === server.address && client.place !== 'node') {
    return lost('Hairpin', withoutNat(node, `${endpoint} gets its own address as the source`));
  }
  if (client.place === 'node') return toNode(sent, server, way, endpoint);
  const route = node.topology.route(client.address);
  if (!route) {
    return {
      ...sent,
      reply: 'returns',
      result: 'hangs',
      cause: cause('NoRoute', `no route leads to ${client.address}`),
    };
  }
  if (sent.masqueraded || node.isLocal(server.address))
    return forwarded(sent, server, way, endpoint, route.link);
  if (!node.isHere(server.address)) {
    if (node.isHere(client.address)) return forwarded(sent, server, way, endpoint, route.link);
    const text = `${endpoint} is on another node and replies to ${client.address} directly`;
    return lost('ReplyBypasses', withoutNat(node, text));
  }
  return besideOnLink(sent, server, way, endpoint, route);
}

/** Client and endpoint on the same link reply to each other on it; only a bridge can pass such frames to the rules. */
function besideOnLink(
  sent: Sent,
  server: RealServerState,
  way: Way,
  endpoint: string,
  route: { link: string; gateway?: string },
): Result {
  const { node, client, trail } = way;
  const isBeside = route.gateway === undefined && node.topology.route(server.address)?.link === route.link;
  if (!isBeside) return forwarded(sent, server, way, endpoint, route.link);
  const { on, name } = node.setting('bridgeFilter');
  const isBridge = node.topology.kindOf(route.link) === 'bridge';
  if (!isBridge || on) {
    if (isBridge) {
      const text = `the reply passes bridge ${route.link}, whose frames pass the rules`;
      trail.step('reply', text, settingText(node.facts, name), endpoint);
    }
    return isBridge
      ? filtered(sent, server, way, endpoint, route.link)
      : forwarded(sent, server, way, endpoint, route.link);
  }
  const text =
    `${endpoint} and ${client.address} are on the same bridge ${route.link}, whose frames do not pass the rules: ` +
    settingText(node.facts, name);
  return { ...sent, reply: 'bypasses', result: 'hangs', cause: cause('BridgeFilterOff', text) };
}

/** The reply passes this node to another host. */
function forwarded(sent: Sent, server: RealServerState, way: Way, endpoint: string, output: string): Result {
  const { node, trail } = way;
  const { on, name } = node.setting('forwarding');
  const fact = settingText(node.facts, name);
  if (!on && !node.isLocal(server.address)) {
    return {
      ...sent,
      reply: 'returns',
      result: 'hangs',
      cause: cause('ForwardingOff', `this node does not forward the reply of ${endpoint}: ${fact}`),
    };
  }
  trail.step(
    'reply',
    `the reply of ${endpoint} returns to this node, which sends it to the client`,
    fact,
    endpoint,
  );
  return filtered(sent, server, way, endpoint, output);
}

/** The rules of chain FORWARD for a reply; those of OUTPUT if the endpoint is a process of this node. */
function filtered(sent: Sent, server: RealServerState, way: Way, endpoint: string, output: string): Result {
  const { node, trail, client } = way;
  const local = node.isLocal(server.address);
  const hook = local ? 'OUTPUT' : 'FORWARD';
  const reply = replyPacket(server, client.address, way, { output });
  const passed = trail.pass([`mangle/${hook}`, `filter/${hook}`], reply, endpoint, true);
  if (passed.stopped)
    return { ...sent, reply: 'returns', ...stopOf(passed.stopped, `the reply of ${endpoint}`) };
  return { ...sent, reply: 'returns', result: 'connects' };
}

/** The reply to a client on this node. */
function toNode(sent: Sent, server: RealServerState, way: Way, endpoint: string): Result {
  const { node, trail, client } = way;
  const reply = replyPacket(server, client.address, way, {});
  const hooks = node.isLocal(server.address) ? [] : ['mangle/INPUT', 'filter/INPUT'];
  const passed = trail.pass(hooks, reply, endpoint, true);
  if (passed.stopped)
    return { ...sent, reply: 'returns', ...stopOf(passed.stopped, `the reply of ${endpoint}`) };
  const isVirtual = node.topology.assigned(sent.source)?.link === LINK;
  const away = !node.isHere(server.address);
  if (sent.masqueraded || !isVirtual || !away) return { ...sent, reply: 'returns', result: 'connects' };
  const text = `the reply of ${endpoint} to ${sent.source} returns only if the network routes this virtual IP to this node`;
  trail.step('reply', text, undefined, endpoint);
  return { ...sent, reply: 'depends', result: 'connects' };
}

function replyPacket(
  server: RealServerState,
  to: string,
  { node, dialled }: Way,
  { output }: { output?: string },
): Packet {
  const local = node.isLocal(server.address);
  const input = local ? undefined : node.topology.route(server.address)?.link;
  return {
    family: node.facts.family,
    protocol: dialled.protocol,
    source: server.address,
    sourcePort: server.port,
    destination: to,
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
