// The plan of one Service in ipvs mode.
import type { RealServer, SchedulerFlag } from '../../kernel/ipvs/types.js';
import { type Family, joinHostPort } from '../../net/address.js';
import type { AddressPorts } from '../../net/addressPorts.js';
import { networkContains, parseNetwork } from '../../net/network.js';
import type { Frontend, NodeFacts, ServicePlanInput, ServicePort } from '../../services/types.js';
import type { Plan } from '../mode.js';
import { type Item, itemMap, type VirtualServiceItem } from './items.js';
import type { IpvsOptions } from './options.js';
import { type SetRole, setOf } from './sets.js';

/**
 * The items of one Service.
 *
 * @param terminated endpoints that were terminating in the last plan of the Service, as `address:port`: after their
 *   removal from the slices, their connections may still drain
 */
export function planService(
  service: ServicePlanInput,
  node: NodeFacts,
  options: IpvsOptions,
  terminated: ReadonlySet<string> = NONE,
): Plan<Item> {
  const ports = service.ports.filter((port) => options.families.includes(port.family));
  return itemMap(
    ports.flatMap((port) => planPort(port, service.healthCheckNodePort, node, options, terminated)),
  );
}

/** The terminating endpoints of a Service, as `address:port`. */
export function terminatingOf({ ports }: ServicePlanInput): ReadonlySet<string> {
  const terminating = ports.flatMap(({ endpoints }) => [...endpoints.terminating]);
  return terminating.length === 0 ? NONE : new Set(terminating);
}

const NONE: ReadonlySet<string> = new Set();

function planPort(
  port: ServicePort,
  healthCheckNodePort: number,
  node: NodeFacts,
  options: IpvsOptions,
  terminated: ReadonlySet<string>,
): Item[] {
  const { host } = node;
  const items = placesOf(port.endpoints.local).map((place) => loopBack(port, place));
  const chosen = realServersOf(port, node, options);
  for (const frontend of port.frontends) {
    const addresses = frontend.kind === 'nodePort' ? host.nodePortAddresses[port.family] : [frontend.address];
    const { realServers, drainable } = chosen(frontend);
    const ends = drainable.size + terminated.size > 0 ? { drainable: union(drainable, terminated) } : {};
    for (const address of addresses) {
      const service = settingsOf(port, address, frontend.port, options.scheduler);
      items.push({ kind: 'virtualService', service, realServers, ...ends });
      if (isBound(frontend, node, options)) items.push(...binding(address, port.family));
    }
    items.push(...entries(port, frontend, addresses, node));
  }
  const unreachable =
    port.frontends.some(({ kind }) => kind === 'nodePort') &&
    host.nodePortAddresses[port.family].length === 0;
  if (healthCheckNodePort !== 0 && !unreachable) {
    items.push(entry('KUBE-HEALTH-CHECK-NODE-PORT', port.family, { port: healthCheckNodePort }));
  }
  return items;
}

/** An address and port of a list. */
interface Place {
  readonly address: string;
  readonly port: number;
}

function placesOf(list: AddressPorts): Place[] {
  return Array.from({ length: list.size }, (_, i) => ({ address: list.addressAt(i), port: list.portAt(i) }));
}

/** The union. If the second set is empty, the first set itself, which many frontends share. */
function union(a: ReadonlySet<string>, b: ReadonlySet<string>): ReadonlySet<string> {
  return b.size === 0 ? a : new Set([...a, ...b]);
}

/**
 * Masquerades the traffic of a pod to itself through a Service, in any state: its source must not be its own address.
 */
function loopBack(port: ServicePort, endpoint: Place): Item {
  return entry('KUBE-LOOP-BACK', port.family, {
    address: endpoint.address,
    protocol: port.protocol,
    port: endpoint.port,
    address2: endpoint.address,
  });
}

/** The real servers of a frontend, and the other endpoints of the port. */
type Chosen = Required<Pick<VirtualServiceItem, 'realServers' | 'drainable'>>;

/**
 * The real servers of a frontend. With policy Local, these are the local endpoints or, if there are none, those for
 * policy Cluster: kube-proxy has this fallback only in ipvs mode.
 */
function realServersOf(
  port: ServicePort,
  node: NodeFacts,
  { cures }: IpvsOptions,
): (frontend: Frontend) => Chosen {
  const ordered = (endpoints: AddressPorts): Chosen => {
    const places = placesOf(endpoints);
    const realServers = realServersAt(cures.has('endpoint-order') ? inOrderOf(node.name, places) : places);
    return { realServers, drainable: new Set(port.endpoints.addressPorts.without(endpoints)) };
  };
  const cluster = ordered(port.clusterEndpoints);
  const local = ordered(port.localEndpoints);
  return ({ kind, localPolicy }) => {
    if (!localPolicy) return cluster;
    const strict = cures.has(kind === 'clusterIP' ? 'internal-local' : 'external-local');
    return local.realServers.size > 0 || strict ? local : cluster;
  };
}

/** A fixed order that differs between nodes: otherwise, the first connection of every node uses the same endpoint. */
function inOrderOf(node: string, endpoints: readonly Place[]): Place[] {
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

function realServersAt(endpoints: readonly Place[]): ReadonlyMap<string, RealServer> {
  return new Map(
    endpoints.map(({ address, port }) => [
      joinHostPort(address, port),
      { address, port, weight: 1, forwarding: 'masquerade', upperThreshold: 0, lowerThreshold: 0 },
    ]),
  );
}

/** As in kube-proxy, the Maglev scheduler includes the source port in its hash. */
const MAGLEV_FLAGS: readonly SchedulerFlag[] = Object.freeze(['mh-port'] as const);
const NO_FLAGS: readonly SchedulerFlag[] = Object.freeze([]);

function settingsOf(
  { protocol, affinitySeconds, family }: ServicePort,
  address: string,
  port: number,
  scheduler: string,
): VirtualServiceItem['service'] {
  const schedulerFlags = scheduler === 'mh' ? MAGLEV_FLAGS : NO_FLAGS;
  const settings = { address, port, protocol, scheduler, schedulerFlags, onePacket: false };
  if (affinitySeconds === 0) return settings;
  return { ...settings, persistence: { timeout: affinitySeconds, netmask: family === 4 ? 32 : 128 } };
}

/**
 * Whether the frontend's address is added to kube-ipvs0: a cluster IP always, an external or load-balancer IP only if
 * no other link has it. A node port uses addresses of other links.
 */
function isBound({ kind, address }: Frontend, node: NodeFacts, { cures }: IpvsOptions): boolean {
  if (kind === 'clusterIP') return true;
  if (kind === 'nodePort' || node.host.addresses.has(address)) return false;
  // If an address of another node were added here, this node could not reach the other one.
  return !cures.has('other-nodes') || !node.otherNodes.has(address);
}

function binding(address: string, family: Family): Item[] {
  return [{ kind: 'address', address }, entry('KUBE-IPVS-IPS', family, { address })];
}

/** The set entries with which rules match traffic to the frontend. */
function entries(
  port: ServicePort,
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

function nodePortEntries(port: ServicePort, frontend: Frontend, addresses: readonly string[]): Item[] {
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

/**
 * Source ranges allow their networks. Traffic of the node itself, whose source is the VIP, is allowed with the node IP.
 */
function sourceRangeItems(port: ServicePort, frontend: Frontend, node: NodeFacts): Item[] {
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
