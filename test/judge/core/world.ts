// The places of a history: nodes, pods and clients, with their addresses. The proxy that is judged runs on node-a.

/** IP families. */
export const FAMILIES = [4, 6] as const;
export type Family = (typeof FAMILIES)[number];

/** An address in each family. */
export interface Addresses {
  readonly ipv4: string;
  readonly ipv6: string;
}

/** A node. */
export interface JudgedNode extends Addresses {
  readonly name: string;
  /** Its address in the network of its pods, from which it sends to them. */
  readonly podGateway: Addresses;
}

/** A pod that can be an endpoint. */
export interface EndpointPod extends Addresses {
  readonly name: string;
  readonly node: 'node-a' | 'node-b';
}

/** Where connections come from: a pod on node-a, node-a itself, a host in the source ranges, and one outside them. */
export const CLIENTS = ['pod', 'node', 'outside', 'stranger'] as const;
export type ClientName = (typeof CLIENTS)[number];

/** The node of the judged proxy. */
export const JUDGED_NODE: JudgedNode = {
  name: 'node-a',
  ipv4: '192.168.50.10',
  ipv6: 'fd00:192:168:50::10',
  podGateway: { ipv4: '10.244.1.1', ipv6: 'fd00:10:244:1::1' },
};

/** The pods that can be endpoints: two on each node. */
export const PODS: readonly EndpointPod[] = [
  { name: 'pod-0', node: 'node-a', ipv4: '10.244.1.11', ipv6: 'fd00:10:244:1::11' },
  { name: 'pod-1', node: 'node-a', ipv4: '10.244.1.12', ipv6: 'fd00:10:244:1::12' },
  { name: 'pod-2', node: 'node-b', ipv4: '10.244.2.11', ipv6: 'fd00:10:244:2::11' },
  { name: 'pod-3', node: 'node-b', ipv4: '10.244.2.12', ipv6: 'fd00:10:244:2::12' },
];

/** Addresses of the clients. The node sends from any of its addresses. */
export const CLIENT_ADDRESSES: Readonly<Record<Exclude<ClientName, 'node'>, Addresses>> = {
  pod: { ipv4: '10.244.1.100', ipv6: 'fd00:10:244:1::100' },
  outside: { ipv4: '192.168.50.100', ipv6: 'fd00:192:168:50::100' },
  stranger: { ipv4: '198.51.100.7', ipv6: '2001:db8:51::7' },
};

/** Source ranges of Services that have some: the network of the nodes and of the client `outside`. */
export const SOURCE_RANGES = ['192.168.50.0/24', 'fd00:192:168:50::/64'] as const;

/** The zones of the nodes and of hints. */
export const ZONES = ['zone-1', 'zone-2'] as const;
export type Zone = (typeof ZONES)[number];

/** The port of all Services, at all addresses but the node's. */
export const SERVICE_PORT = 80;
/** The port on which all pods answer. */
export const ENDPOINT_PORT = 8080;

/** An address in a family. */
export function addressIn({ ipv4, ipv6 }: Addresses, family: Family): string {
  return family === 4 ? ipv4 : ipv6;
}

const POD_BY_NAME = new Map(PODS.map((pod) => [pod.name, pod]));

/** The pod with a name, which must exist. */
export function podNamed(name: string): EndpointPod {
  const pod = POD_BY_NAME.get(name);
  if (!pod) throw new Error(`there is no pod ${name}; the pods are ${[...POD_BY_NAME.keys()].join(', ')}`);
  return pod;
}
