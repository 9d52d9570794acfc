// Whether an endpoint gets the packets that are sent to it, as far as this node knows without asking it: by the table of
// neighbours, and by the sockets of the node.

import type { Protocol } from '../../../kernel/net/protocol.js';
import type { ListeningSocket } from '../../kernel/procNet/types.js';
import type { EndpointPath } from '../explanation.js';
import type { PathFacts } from './facts.js';
import type { NodeNetwork } from './nodeNetwork.js';

/** An endpoint to which a packet is sent. */
export interface Receiver {
  readonly node: NodeNetwork;
  readonly protocol: Protocol;
  readonly server: { readonly address: string; readonly port: number };
  /** The `address:port` of the server. */
  readonly endpoint: string;
}

/** What is known of the endpoint, with the reason if it does not get the packet. */
export function deliveryOf(receiver: Receiver): Pick<EndpointPath, 'result' | 'cause'> {
  const { node, server } = receiver;
  return node.isLocal(server.address) ? toProcess(receiver) : overLink(receiver);
}

/** A process in the network namespace of the node. */
function toProcess({ node, protocol, server, endpoint }: Receiver): Pick<EndpointPath, 'result' | 'cause'> {
  // /proc/net has no list of the sockets of SCTP that this command reads.
  if (protocol === 'sctp') return { result: 'forwarded' };
  if (listenerAt(node.facts, { ...server, protocol })) return { result: 'connects' };
  const text = `${endpoint} is an address of this node, and no process listens there`;
  return { result: 'refused', cause: { code: 'NoProcess', text } };
}

/** Another host: the endpoint itself on a local link, otherwise the gateway to it. */
function overLink({ node, server, endpoint }: Receiver): Pick<EndpointPath, 'result' | 'cause'> {
  const route = node.topology.route(server.address);
  const delivery = route?.gateway ?? server.address;
  const neighbour = node.facts.neighbours.find(
    ({ link, address }) => link === route?.link && address === delivery,
  );
  if (neighbour?.state !== 'failed' && neighbour?.state !== 'incomplete') return { result: 'forwarded' };
  const role = route?.gateway === undefined ? '' : `, the next hop to ${endpoint},`;
  const text = `no host on link ${neighbour.link} answered for ${delivery}${role} when the kernel last asked (neighbour ${neighbour.state.toUpperCase()})`;
  return { result: 'unreachable', cause: { code: 'NoNeighbour', text } };
}

/** The socket of this node that gets packets to an address and port; undefined if none listens. */
export function listenerAt(
  { sockets }: Pick<PathFacts, 'sockets'>,
  { address, port, protocol }: ListeningSocket,
): ListeningSocket | undefined {
  return sockets.find(
    (socket) =>
      socket.port === port &&
      socket.protocol === protocol &&
      (socket.address === address || socket.address === '::' || socket.address === '0.0.0.0'),
  );
}
