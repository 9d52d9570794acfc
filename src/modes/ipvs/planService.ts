// What one Service wants of the kernel in ipvs mode.
import { FLAG_PERSISTENT, FLAG_SCHEDULER_2, type RealServer } from '../../kernel/ipvs/types.js';
import { type Family, joinHostPort } from '../../net/address.js';
import { networkContains, parseNetwork } from '../../net/network.js';
import type { Endpoint, Frontend, NodeFacts, PortFrontends, ServiceFrontends } from '../../services/types.js';
import type { Fragment } from '../mode.js';
import type { HostView } from './hostAddresses.js';
import { type Item, itemMap, type VirtualServer, virtualServerKey } from './items.js';
import type { IpvsOptions } from './options.js';
import { type SetRole, setOf } from './sets.js';

/** The items that one Service wants. */
export function planService(
  service: ServiceFrontends,
  node: NodeFacts,
  host: HostView,
  options: IpvsOptions,
  former?: Fragment<Item>,
): Fragment<Item> {
  const ports = service.ports.filter((port) => options.families.includes(port.family));
  const items = ports.flatMap((port) => planPort(port, service.healthCheckNodePort, node, host, options));
  return itemMap(items.map((item) => (item.kind === 'virtualServer' ? withDeparted(item, former) : item)));
}

/** Endpoints that were terminating while they were still chosen, and are gone now, linger as if they were there. */
function withDeparted(server: VirtualServer, former: Fragment<Item> | undefined): VirtualServer {
  const before = former?.get(virtualServerKey(server.service));
  if (before?.kind !== 'virtualServer' || !before.departing) return server;
  return { ...server, lingering: new Set([...(server.lingering ?? []), ...before.departing]) };
}

function planPort(
  port: PortFrontends,
  healthCheckNodePort: number,
  node: NodeFacts,
  host: HostView,
  options: IpvsOptions,
): Item[] {
  const items = port.endpoints
    .filter((endpoint) => endpoint.local)
    .map((endpoint) => loopBack(port, endpoint));
  const departing = port.endpoints.filter(({ terminating }) => terminating).map(idOf);
  const chosen = realServersOf(port, node, options);
  for (const frontend of port.frontends) {
    const addresses = frontend.kind === 'nodePort' ? host.nodePortAddresses[port.family] : [frontend.address];
    const { realServers, lingering } = chosen(frontend);
    const ends = {
      ...(lingering.size > 0 ? { lingering } : {}),
      ...(departing.length > 0 ? { departing } : {}),
    };
    for (const address of addresses) {
      const service = virtualService(port, address, frontend.port, options.scheduler);
      items.push({ kind: 'virtualServer', service, realServers, ...ends });
      if (isBound(frontend, host, node, options)) items.push(...binding(address, port.family));
    }
    items.push(...entries(port, frontend, addresses, node));
  }
  const unreachable = port.frontends.some(({ kind }) => kind === 'nodePort') && noNodePort(port.family, host);
  if (healthCheckNodePort !== 0 && !unreachable) {
    items.push(entry('KUBE-HEALTH-CHECK-NODE-PORT', port.family, { port: healthCheckNodePort }));
  }
  return items;
}

function idOf({ address, port }: Endpoint): string {
  return joinHostPort(address, port);
}

function noNodePort(family: Family, host: HostView): boolean {
  return host.nodePortAddresses[family].length === 0;
}

/** Marks a pod that reaches itself through a Service, in whatever state it is: its own address must not be the source. */
function loopBack(port: PortFrontends, endpoint: Endpoint): Item {
  return entry('KUBE-LOOP-BACK', port.family, {
    address: endpoint.address,
    protocol: port.protocol,
    port: endpoint.port,
    address2: endpoint.address,
  });
}

/** The real servers of a frontend, and the endpoints that are there and are none of them. */
type Chosen = Required<Pick<VirtualServer, 'realServers' | 'lingering'>>;

/**
 * The real servers of a frontend. This is where ipvs mode chooses between the two lists: with policy Local it takes the
 * local endpoints or, when there are none, the cluster's, as kube-proxy does here and only here.
 */
function realServersOf(
  port: PortFrontends,
  node: NodeFacts,
  { cures }: IpvsOptions,
): (frontend: Frontend) => Chosen {
  const ordered = (endpoints: readonly Endpoint[]): Chosen => {
    const realServers = realServersAt(
      cures.has('endpoint-order') ? inOrderOf(node.name, endpoints) : endpoints,
    );
    return { realServers, lingering: othersThan(realServers, port.endpoints) };
  };
  const cluster = ordered(port.clusterEndpoints);
  const local = ordered(port.localEndpoints);
  return ({ kind, localPolicy }) => {
    if (!localPolicy) return cluster;
    const strict = cures.has(kind === 'clusterIP' ? 'internal-local' : 'external-local');
    return local.realServers.size > 0 || strict ? local : cluster;
  };
}

function othersThan(
  realServers: ReadonlyMap<string, RealServer>,
  endpoints: readonly Endpoint[],
): Set<string> {
  return new Set(endpoints.map(idOf).filter((id) => !realServers.has(id)));
}

/** An order of the node's own, the same at every start: else every node's first connection goes to the same endpoint. */
function inOrderOf(node: string, endpoints: readonly Endpoint[]): Endpoint[] {
  const rank = new Map(
    endpoints.map((endpoint) => [endpoint, hash(`${node} ${endpoint.address}:${endpoint.port}`)]),
  );
  return [...endpoints].sort((a, b) => (rank.get(a) ?? 0) - (rank.get(b) ?? 0));
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return value;
}

function realServersAt(endpoints: readonly Endpoint[]): ReadonlyMap<string, RealServer> {
  return new Map(
    endpoints.map(({ address, port }) => [
      joinHostPort(address, port),
      { address, port, weight: 1, forwarding: 'masquerade', upperThreshold: 0, lowerThreshold: 0 },
    ]),
  );
}

function virtualService(
  { protocol, affinitySeconds, family }: PortFrontends,
  address: string,
  port: number,
  scheduler: string,
): VirtualServer['service'] {
  const persistent = affinitySeconds > 0 ? FLAG_PERSISTENT : 0;
  // kube-proxy makes the Maglev scheduler hash the source port too.
  const flags = persistent | (scheduler === 'mh' ? FLAG_SCHEDULER_2 : 0);
  const netmask = family === 4 ? 32 : 128;
  return { address, port, protocol, scheduler, flags, timeout: affinitySeconds, netmask };
}

/**
 * Whether the frontend's address goes on our device: a cluster IP always, an external or load-balancer IP only while no
 * other device has it, a node port never, since it stands on addresses the host has already.
 */
function isBound(
  { kind, address }: Frontend,
  host: HostView,
  node: NodeFacts,
  { cures }: IpvsOptions,
): boolean {
  if (kind === 'clusterIP') return true;
  if (kind === 'nodePort' || host.elsewhere.has(address)) return false;
  // Bound here, the address of another node would make that node unreachable from this one.
  return !cures.has('other-nodes') || !node.otherNodes.has(address);
}

function binding(address: string, family: Family): Item[] {
  return [{ kind: 'address', address }, entry('KUBE-IPVS-IPS', family, { address })];
}

/** The set entries by which rules recognise traffic to the frontend. */
function entries(
  port: PortFrontends,
  frontend: Frontend,
  addresses: readonly string[],
  node: NodeFacts,
): Item[] {
  const dialled = { address: frontend.address, protocol: port.protocol, port: frontend.port };
  switch (frontend.kind) {
    case 'clusterIP':
      return [entry('KUBE-CLUSTER-IP', port.family, dialled)];
    case 'externalIP':
      return [
        entry(frontend.localPolicy ? 'KUBE-EXTERNAL-IP-LOCAL' : 'KUBE-EXTERNAL-IP', port.family, dialled),
      ];
    case 'loadBalancerIP':
      return [
        entry('KUBE-LOAD-BALANCER', port.family, dialled),
        ...(frontend.localPolicy ? [entry('KUBE-LOAD-BALANCER-LOCAL', port.family, dialled)] : []),
        ...sourceRangeItems(port, frontend, node),
      ];
    case 'nodePort':
      return nodePortEntries(port, frontend, addresses);
  }
}

function nodePortEntries(port: PortFrontends, frontend: Frontend, addresses: readonly string[]): Item[] {
  const { family, protocol } = port;
  if (addresses.length === 0) return [];
  if (protocol === 'sctp') {
    const roles: SetRole[] = ['KUBE-NODE-PORT-SCTP-HASH'];
    if (frontend.localPolicy) roles.push('KUBE-NODE-PORT-LOCAL-SCTP-HASH');
    return roles.flatMap((role) =>
      addresses.map((address) => entry(role, family, { address, protocol, port: frontend.port })),
    );
  }
  const roles: SetRole[] =
    protocol === 'tcp'
      ? ['KUBE-NODE-PORT-TCP', 'KUBE-NODE-PORT-LOCAL-TCP']
      : ['KUBE-NODE-PORT-UDP', 'KUBE-NODE-PORT-LOCAL-UDP'];
  const used = frontend.localPolicy ? roles : roles.slice(0, 1);
  return used.map((role) => entry(role, family, { port: frontend.port }));
}

/** Source ranges let their networks in; the node's own traffic, whose source is the VIP itself, follows the node's IP. */
function sourceRangeItems(port: PortFrontends, frontend: Frontend, node: NodeFacts): Item[] {
  if (frontend.sourceRanges.length === 0) return [];
  const { family, protocol } = port;
  const { address } = frontend;
  const dialled = { address, protocol, port: frontend.port };
  const networks = frontend.sourceRanges.flatMap((range) => parseNetwork(range) ?? []);
  const fullLength = family === 4 ? 32 : 128;
  const items = frontend.sourceRanges.map((range) => {
    const [address2 = '', prefix] = range.split('/');
    const length = Number(prefix) === fullLength ? {} : { prefix2: Number(prefix) };
    return entry('KUBE-LOAD-BALANCER-SOURCE-CIDR', family, { ...dialled, address2, ...length });
  });
  items.push(entry('KUBE-LOAD-BALANCER-FW', family, dialled));
  const nodeAllowed = networks.some((network) => networkContains(network, node.nodeIPs[family]));
  items.push(
    nodeAllowed
      ? entry('KUBE-LOAD-BALANCER-SOURCE-IP', family, { ...dialled, address2: address })
      : { kind: 'nodeDrop', family, ...dialled },
  );
  return items;
}

function entry(role: SetRole, family: Family, value: Extract<Item, { kind: 'entry' }>['entry']): Item {
  return { kind: 'entry', set: setOf(role, family), entry: value };
}
