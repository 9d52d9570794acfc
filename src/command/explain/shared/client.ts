// The client of an explanation: its address and its place.
import { formatAddress, isLoopback } from '../../../kernel/net/address.js';
import { networkContains, parseNetwork } from '../../../kernel/net/network.js';
import type { ClientPlace, Explanation, PacketQuestion } from '../explanation.js';
import type { NodeNetwork } from './nodeNetwork.js';

/** Networks of documentation (RFC 5737, RFC 3849): an address of them represents any host outside the cluster. */
const ANY_NETWORK = { 4: '192.0.2.0/24', 6: '2001:db8::/120' } as const;

/** Why a place has no address here; the message is for the user. */
class NoClientError extends Error {}

/** The client of a question. Throws NoClientError if a place has no address on this node. */
export function clientOf(question: PacketQuestion, node: NodeNetwork): Explanation['client'] {
  const { from = defaultPlace(question, node) } = question;
  const by = question.from === undefined ? 'by default, ' : '';
  switch (from) {
    case 'node': {
      const address = sourceOfNode(question.address, node);
      return {
        address,
        place: 'node',
        reason: `${by}the node itself, with the source that its kernel selects`,
      };
    }
    case 'pod':
      return { ...podOf(question.address, node, by), place: 'pod' };
    case 'outside':
      return { ...hostOutside(node, by), place: 'outside' };
    default: {
      const place = node.placeOf(from);
      return { address: from, place, reason: PLACES[place] };
    }
  }
}

const PLACES: Readonly<Record<ClientPlace, string>> = {
  node: 'an address of this node',
  pod: 'a pod on this node',
  'other pod': 'a pod on another node',
  outside: 'a host outside the cluster',
};

/** See {@link PacketQuestion}. */
function defaultPlace(question: PacketQuestion, node: NodeNetwork): 'pod' | 'node' | 'outside' {
  const { address, port, clusterIP } = question;
  if (isLoopback(address)) return 'node';
  const kind =
    clusterIP === undefined ? node.mode.kindOf(address, port) : clusterIP ? 'cluster IP' : 'external';
  if (kind === 'cluster IP') return 'pod';
  if (kind === 'external' || node.isLocal(address)) return 'outside';
  return podAddress(address, node) ? 'pod' : 'node';
}

/** The source of a packet of the node itself: a local destination is its own source. */
function sourceOfNode(destination: string, { isLocal, topology }: NodeNetwork): string {
  if (isLoopback(destination)) return destination === '::1' ? '::1' : '127.0.0.1';
  return isLocal(destination) ? destination : (topology.sourceFor(destination) ?? destination);
}

function podOf(destination: string, node: NodeNetwork, by: string) {
  const found = podAddress(destination, node);
  if (found) return { ...found, reason: `${by}${found.reason}` };
  throw new NoClientError('no network of pods on this node is known: give the address of a pod with --from');
}

/** An unused address in the network of this node's pods; undefined if no such network is known. */
function podAddress(destination: string, node: NodeNetwork) {
  const { facts, topology, mode } = node;
  const [endpoint] = mode.localEndpoints;
  const network = facts.routes.find(({ network, gateway, link }) => {
    if (gateway !== undefined || link === mode.ownLink || link === 'lo') return false;
    const candidate = lastAddressOf(network, () => true);
    return candidate !== undefined && node.placeOf(candidate) === 'pod';
  });
  if (network) {
    const isFree = (address: string) => !mode.localEndpoints.has(address) && !topology.isLocal(address);
    const address = lastAddressOf(network.network, isFree);
    const reason = `an unused address of the pods on this node, ${network.network} dev ${network.link}`;
    if (address !== undefined) return { address, reason };
  }
  if (endpoint !== undefined && endpoint !== destination) {
    return {
      address: endpoint,
      reason: `an endpoint on this node, which ${mode.localEndpointsIn} contains`,
    };
  }
  return undefined;
}

/** A host outside the cluster: any one if there is a default route, otherwise one on the network of a link. */
function hostOutside(node: NodeNetwork, by: string) {
  const { facts, topology, mode } = node;
  const isFree = (address: string) => !mode.endpoints.has(address) && !topology.isLocal(address);
  const any = lastAddressOf(ANY_NETWORK[facts.family], isFree);
  if (any !== undefined && topology.route(any))
    return { address: any, reason: `${by}an address that represents any host outside the cluster` };
  for (const { network, gateway, link } of facts.routes) {
    if (gateway !== undefined || link === mode.ownLink || link === 'lo' || network.startsWith('fe80:'))
      continue;
    const address = lastAddressOf(network, isFree);
    if (address !== undefined && node.placeOf(address) === 'outside') {
      return { address, reason: `${by}a host on ${network} dev ${link}; there is no default route` };
    }
  }
  throw new NoClientError('no route leads outside the cluster: give the address of a client with --from');
}

/** The last usable address of a network that fulfils a condition, of the last 256. */
function lastAddressOf(text: string, fits: (address: string) => boolean): string | undefined {
  const network = parseNetwork(text);
  if (!network || network.bytes[0] === 0xff) return undefined;
  const bits = network.bytes.length * 8 - network.prefix;
  for (let back = 1; back < Math.min(2 ** bits - 1, 256); back++) {
    const bytes = network.bytes.map((byte, i) => byte | hostMask(network.prefix - 8 * i));
    bytes[bytes.length - 1] = (bytes[bytes.length - 1] as number) - back;
    const address = formatAddress(bytes);
    if (networkContains(network, address) && fits(address)) return address;
  }
  return undefined;
}

/** The bits of a byte that belong to the host, if the prefix has `prefix` bits from its first bit on. */
function hostMask(prefix: number): number {
  return prefix >= 8 ? 0 : 0xff >> Math.max(0, prefix);
}
