// The Service demo/web of examples/web.yaml: its virtual IPs, and the routes to them.
import type { AddressId } from '../src/kernel/ipvs/types.js';
import type { LabHost } from '../test/laboratory/labHost.js';
import { NODE_A } from '../test/laboratory/places.js';
import type { Route } from '../test/laboratory/route.js';

/** The manifest of the Service. */
export const WEB_MANIFEST = 'web.yaml';

/** Its frontends. */
export const WEB_ADDRESSES = {
  clusterIP: { address: '10.96.10.10', port: 80, protocol: 'tcp' },
  nodePort: { address: NODE_A.ipv4, port: 30080, protocol: 'tcp' },
  externalIP: { address: '203.0.113.10', port: 80, protocol: 'tcp' },
} as const satisfies Readonly<Record<string, AddressId>>;

/** The clients. */
export interface Diallers {
  /** A machine outside the cluster. */
  readonly client: LabHost;
  /** The proxy's node. */
  readonly node: LabHost;
  /** A pod on it. */
  readonly shell: LabHost;
}

/** Every kind of virtual IP, each with one client. */
export function virtualIPRoutes({ client, shell }: Omit<Diallers, 'node'>): Route[] {
  const { clusterIP, nodePort, externalIP } = WEB_ADDRESSES;
  return [
    { name: 'ClusterIP, dialled by a pod', from: shell, ...at(clusterIP) },
    { name: 'NodePort, dialled from outside', from: client, ...at(nodePort) },
    { name: 'external IP, dialled from outside', from: client, ...at(externalIP) },
  ];
}

/** A route to every kind of virtual IP. */
export function webRoutes({ client, node, shell }: Diallers): Route[] {
  const byNode = { name: 'ClusterIP, dialled by the node', from: node, ...at(WEB_ADDRESSES.clusterIP) };
  return [...virtualIPRoutes({ client, shell }), byNode];
}

function at({ address, port }: AddressId): Pick<Route, 'address' | 'port'> {
  return { address, port };
}
