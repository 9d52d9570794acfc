// The addresses of the hosts and pods in examples/, and of their clients.

/** A host or pod of the network, in its own network namespace. */
export interface Place {
  readonly name: string;
  readonly ipv4: string;
  readonly ipv6: string;
}

/** A node, with its pods' networks; its address in them is the pods' gateway. */
export interface NodePlace extends Place {
  readonly podGateway: Omit<Place, 'name'>;
  readonly podNetworks: readonly [ipv4: string, ipv6: string];
}

/** A pod. */
export interface Pod extends Place {
  readonly node: NodePlace;
}

/** The node where the proxy runs. */
export const NODE_A: NodePlace = {
  name: 'node-a',
  ipv4: '192.168.50.10',
  ipv6: 'fd00:192:168:50::10',
  podGateway: { ipv4: '10.244.1.1', ipv6: 'fd00:10:244:1::1' },
  podNetworks: ['10.244.1.0/24', 'fd00:10:244:1::/64'],
};

/** A node without a proxy, which only routes to its pods. */
export const NODE_B: NodePlace = {
  name: 'node-b',
  ipv4: '192.168.50.11',
  ipv6: 'fd00:192:168:50::11',
  podGateway: { ipv4: '10.244.2.1', ipv6: 'fd00:10:244:2::1' },
  podNetworks: ['10.244.2.0/24', 'fd00:10:244:2::/64'],
};

/** A third node, which only a laboratory has that asks for it. */
export const NODE_C: NodePlace = {
  name: 'node-c',
  ipv4: '192.168.50.12',
  ipv6: 'fd00:192:168:50::12',
  podGateway: { ipv4: '10.244.3.1', ipv6: 'fd00:10:244:3::1' },
  podNetworks: ['10.244.3.0/24', 'fd00:10:244:3::/64'],
};

/** A machine outside the cluster, on the nodes' network. */
export const CLIENT: Place = { name: 'client', ipv4: '192.168.50.100', ipv6: 'fd00:192:168:50::100' };

/** A second address of the client, outside the source ranges of examples/public.yaml. */
export const STRANGER = '198.51.100.7';

/** A pod that is only a client. */
export const SHELL: Pod = { name: 'shell', node: NODE_A, ipv4: '10.244.1.100', ipv6: 'fd00:10:244:1::100' };

/** The endpoints of the web Services. */
export const WEB: readonly Pod[] = [
  { name: 'web-0', node: NODE_A, ipv4: '10.244.1.11', ipv6: 'fd00:10:244:1::11' },
  { name: 'web-1', node: NODE_A, ipv4: '10.244.1.12', ipv6: 'fd00:10:244:1::12' },
  { name: 'web-2', node: NODE_B, ipv4: '10.244.2.11', ipv6: 'fd00:10:244:2::11' },
];

/** The port that the web pods listen on. */
export const WEB_PORT = 8080;

/** `--cluster-cidr`: the networks of all pods. */
export const CLUSTER_CIDR = '10.244.0.0/16,fd00:10:244::/48';

/** Networks of external and load-balancer IPs, which the outside routes to node-a. */
export const EXTERNAL_NETWORK = '203.0.113.0/24';
