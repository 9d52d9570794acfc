// The lab of the packet tests: Services of every kind with both families and protocols, an endpoint on each node, and
// clients in all places.
import { execFileSync } from 'node:child_process';
import type { Lab } from '../../laboratory/lab.js';
import {
  CLIENT,
  NODE_A,
  NODE_B,
  type Place,
  type Pod,
  SHELL,
  STRANGER,
  WEB,
} from '../../laboratory/places.js';
import type { Client, Kind, Seen, ServiceName } from './packetTable.js';

/** IP families. */
export const FAMILIES = [4, 6] as const;
export type Family = (typeof FAMILIES)[number];

/** The endpoint on the proxy's node. */
export const HERE = WEB[0] as Pod;
/** The endpoint on the other node. */
export const THERE = WEB[2] as Pod;
/** A pod on the other node that is only a client. */
export const ELSEWHERE: Pod = {
  name: 'elsewhere',
  node: NODE_B,
  ipv4: '10.244.2.100',
  ipv6: 'fd00:10:244:2::100',
};
/** The stranger's address in IPv6. */
const STRANGER_IPV6 = '2001:db8:51::7';
/** The port of every Service, at all addresses except the node's. */
const PORT = 80;
/** The port of every endpoint. */
export const ENDPOINT_PORT = 8080;

/** The place of each client. */
export const PLACES: Readonly<Record<Client, Place>> = {
  'pod here': SHELL,
  itself: HERE,
  'pod elsewhere': ELSEWHERE,
  node: NODE_A,
  outside: CLIENT,
  stranger: CLIENT,
};

interface ServiceFacts {
  /** Last part of its addresses, and last digits of its node port. */
  readonly number: number;
  readonly kinds?: readonly Kind[];
  readonly port?: number;
  readonly policy?: 'Local';
  readonly endpoints: readonly Pod[];
  readonly ranges?: readonly string[];
  readonly sticky?: true;
  /** The slices have no port, as those of pods that have no port with the name of the targetPort. */
  readonly withoutPorts?: true;
}

const nodePort = (number: number) => 30_000 + number;

const SERVICES: Readonly<Record<ServiceName, ServiceFacts>> = {
  open: { number: 1, endpoints: [HERE, THERE] },
  local: { number: 2, policy: 'Local', endpoints: [HERE, THERE] },
  away: { number: 3, policy: 'Local', endpoints: [THERE] },
  inner: { number: 4, kinds: ['ClusterIP'], policy: 'Local', endpoints: [THERE] },
  alike: { number: 5, kinds: ['ClusterIP'], port: nodePort(1), endpoints: [HERE, THERE] },
  empty: { number: 6, endpoints: [] },
  lan: { number: 7, endpoints: [HERE, THERE], ranges: ['192.168.50.0/24', 'fd00:192:168:50::/64'] },
  strangers: { number: 8, endpoints: [HERE, THERE], ranges: ['198.51.100.0/24', '2001:db8:51::/48'] },
  sticky: { number: 9, endpoints: [HERE, THERE], sticky: true },
  portless: { number: 10, kinds: ['ClusterIP'], endpoints: [HERE, THERE], withoutPorts: true },
};

/** The health-check port of Service `local`, at every address of the node. */
export const HEALTH_CHECK_NODE_PORT = 32_002;

/** Networks of virtual IPs. */
const NETWORKS: Readonly<Record<Family, readonly string[]>> = {
  4: ['10.96.30.0/24', '203.0.113.0/24'],
  6: ['fd00:10:96::/64', '2001:db8:113::/48'],
};

/** Address and port of a connection. */
export function dialledAt(name: ServiceName, kind: Kind, family: Family): { address: string; port: number } {
  const { number, port = PORT } = SERVICES[name];
  const [four, six] = {
    ClusterIP: [`10.96.30.${number}`, `fd00:10:96::30:${number}`],
    NodePort: [NODE_A.ipv4, NODE_A.ipv6],
    'external IP': [`203.0.113.${30 + number}`, `2001:db8:113::e:${number}`],
    'load-balancer IP': [`203.0.113.${40 + number}`, `2001:db8:113::b:${number}`],
  }[kind] as [string, string];
  return { address: family === 4 ? four : six, port: kind === 'NodePort' ? nodePort(number) : port };
}

/** The client address for the expected result `seen`. */
export function sourceAddress(
  seen: Extract<Seen, 'client' | 'node' | 'dialled'>,
  client: Client,
  endpoint: Pod,
  dialled: string,
  family: Family,
): string {
  if (seen === 'dialled') return dialled;
  const onTheWay = endpoint.node === NODE_A ? NODE_A.podGateway : NODE_A;
  return addressOf(seen === 'client' ? PLACES[client] : onTheWay, family);
}

/** The source address of a client with several addresses; if undefined, the kernel selects one. */
export function dialledFrom(client: Client, family: Family): string | undefined {
  if (client !== 'stranger') return undefined;
  return family === 4 ? STRANGER : STRANGER_IPV6;
}

/** A place's address in a family. */
export function addressOf({ ipv4, ipv6 }: Omit<Place, 'name'>, family: Family): string {
  return family === 4 ? ipv4 : ipv6;
}

/** The Services and their slices, as a manifest; the node is that of examples/. */
export function packetManifest(): string {
  const objects = Object.entries(SERVICES).flatMap(([name, facts]) => serviceObjects(name, facts));
  return objects.map((object) => `${JSON.stringify(object)}\n`).join('---\n');
}

const PROTOCOLS = ['TCP', 'UDP'] as const;

function serviceObjects(name: string, facts: ServiceFacts): object[] {
  const { number, kinds, port = PORT, policy = 'Cluster', endpoints, ranges, sticky, withoutPorts } = facts;
  const at = (kind: Kind) => FAMILIES.map((family) => dialledAt(name as ServiceName, kind, family).address);
  const outside = kinds === undefined;
  const metadata = { namespace: 'packets', name };
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: {
      type: outside ? 'LoadBalancer' : 'ClusterIP',
      clusterIP: at('ClusterIP')[0],
      clusterIPs: at('ClusterIP'),
      ipFamilies: ['IPv4', 'IPv6'],
      ports: PROTOCOLS.map((protocol) => ({
        name: protocol.toLowerCase(),
        protocol,
        port,
        ...(outside ? { nodePort: nodePort(number) } : {}),
      })),
      internalTrafficPolicy: policy,
      ...(outside ? { externalIPs: at('external IP'), externalTrafficPolicy: policy } : {}),
      ...(name === 'local' ? { healthCheckNodePort: HEALTH_CHECK_NODE_PORT } : {}),
      ...(ranges ? { loadBalancerSourceRanges: ranges } : {}),
      ...(sticky ? { sessionAffinity: 'ClientIP' } : {}),
    },
    status: { loadBalancer: { ingress: outside ? at('load-balancer IP').map((ip) => ({ ip })) : [] } },
  };
  const slices = FAMILIES.map((family) => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      namespace: 'packets',
      name: `${name}-${family}`,
      labels: { 'kubernetes.io/service-name': name },
    },
    addressType: `IPv${family}`,
    ports: withoutPorts
      ? []
      : PROTOCOLS.map((protocol) => ({ name: protocol.toLowerCase(), protocol, port: ENDPOINT_PORT })),
    endpoints: endpoints.map((pod) => ({ addresses: [addressOf(pod, family)], nodeName: pod.node.name })),
  }));
  return [service, ...slices];
}

/** Adds routes for virtual IPs to the node in all places, and gives the stranger an address in both families. */
export function routeVirtualIPs(lab: Lab): void {
  const routes = FAMILIES.flatMap((family) =>
    NETWORKS[family].map((network) => `route add ${network} via ${addressOf(NODE_A, family)}`),
  );
  // The client already has a route to 203.0.113.0/24.
  set(lab, CLIENT, [
    ...routes.filter((route) => !route.includes('203.0.113.0/24')),
    `address add ${STRANGER_IPV6}/128 dev lo nodad`,
  ]);
  set(lab, NODE_B, routes);
  set(lab, NODE_A, [`route add ${STRANGER_IPV6} via ${CLIENT.ipv6}`]);
  // Rejections are ICMP messages. After the first few, a host sends each peer at most one per second.
  const unlimited = 'echo 0 >/proc/sys/net/ipv4/icmp_ratelimit; echo 0 >/proc/sys/net/ipv6/icmp/ratelimit';
  execFileSync('ip', ['netns', 'exec', lab.namespace(NODE_A), 'sh', '-ec', unlimited]);
}

/**
 * Makes the proxy's node a router, with default routes by way of a host that forwards nothing. iptables mode does not
 * enable IP forwarding, and the kernel rejects a packet to a virtual IP before the rules of table filter if no route leads
 * to it.
 */
export function makeRouter(lab: Lab): void {
  set(
    lab,
    NODE_A,
    FAMILIES.map(
      (family) => `route add ${family === 4 ? '0.0.0.0/0' : '::/0'} via ${addressOf(CLIENT, family)}`,
    ),
  );
  const forward = 'echo 1 >/proc/sys/net/ipv4/ip_forward';
  execFileSync('ip', ['netns', 'exec', lab.namespace(NODE_A), 'sh', '-ec', forward]);
}

function set(lab: Lab, place: Place, commands: readonly string[]): void {
  const input = commands.map((command) => `${command}\n`).join('');
  execFileSync('ip', ['-n', lab.namespace(place), '-batch', '-'], {
    input,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}
