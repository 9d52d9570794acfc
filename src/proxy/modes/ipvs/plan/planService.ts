// The plan of one Service in ipvs mode.
import type { Family } from '../../../../kernel/net/address.js';
import { type AddressPorts, AddressPortsBuilder } from '../../../../kernel/net/addressPorts.js';
import {
  type Network,
  networkContains,
  networkContainsBytes,
  parseNetwork,
} from '../../../../kernel/net/network.js';
import type { Protocol } from '../../../../kernel/net/protocol.js';
import type { ServiceSettings } from '../../../services/settings/types.js';
import type { Frontend, NodeFacts, ServicePlanInput, ServicePort } from '../../../services/types.js';
import type { Plan } from '../../mode.js';
import { withoutWeightZero } from '../../shared/plan/weights.js';
import { type Item, keyOf, type VirtualServiceItem } from './items.js';
import { isMaglev } from './maglev.js';
import type { IpvsOptions } from './options.js';
import { failedAt, realServersAt, virtualServiceOf } from './serviceSettings.js';
import { type SetRole, setOf } from './sets.js';
import { allowsTunnels, clusterFrontend, isTunnelled, throughTunnels } from './tunnels.js';

/** The items of one Service. The connections of the endpoints that left may still drain. */
export function planService(service: ServicePlanInput, node: NodeFacts, options: IpvsOptions): Plan<Item> {
  const plan = new Map<string, Item>();
  const { left = {} } = service;
  const draining = { 4: new Draining(left[4]), 6: new Draining(left[6]) };
  for (const port of service.ports) {
    const { family } = port;
    if (!options.families.includes(family)) continue;
    const left = { terminated: draining[family].of(port), failed: failedAt(port, service) };
    for (const item of itemsOfPort(port, service, node, options, left)) plan.set(keyOf(item), item);
  }
  return plan;
}

/**
 * Number of terminated endpoints above which each port has only those with a port number of its own endpoints: a Service with
 * thousands of ports would have thousands of lists of all.
 */
const MOST_FOR_ALL = 100;

/** The terminated endpoints of a family. */
class Draining {
  readonly #all: AddressPorts | undefined;
  #byNumber: ReadonlyMap<number, AddressPorts> | undefined;

  constructor(all: AddressPorts | undefined) {
    this.#all = all;
  }

  /** Those that may have been real servers of a port. */
  of({ endpoints: { addressPorts } }: ServicePort): AddressPorts | undefined {
    const all = this.#all;
    if (!all || all.size <= MOST_FOR_ALL || addressPorts.size === 0) return all;
    this.#byNumber ??= byNumber(all);
    const numbers = new Set<number>();
    for (let index = 0; index < addressPorts.size; index++) numbers.add(addressPorts.portAt(index));
    let found: AddressPorts | undefined;
    for (const number of numbers) {
      const list = this.#byNumber.get(number);
      if (list) found = found?.with(list) ?? list;
    }
    return found;
  }
}

/** The entries of a list by their port number. */
function byNumber(all: AddressPorts): Map<number, AddressPorts> {
  const builders = new Map<number, AddressPortsBuilder>();
  for (let index = 0; index < all.size; index++) {
    const number = all.portAt(index);
    const builder = builders.get(number) ?? new AddressPortsBuilder(all.family);
    builder.addFrom(all, index);
    builders.set(number, builder);
  }
  return new Map([...builders].map(([number, builder]) => [number, builder.build()]));
}

/** The endpoints of a port that are not to get new connections any more. */
interface LeftOfPort {
  /** Their connections may end by themselves. */
  readonly terminated: AddressPorts | undefined;
  /** Their connections are reset. */
  readonly failed: AddressPorts | undefined;
}

function* itemsOfPort(
  port: ServicePort,
  { healthCheckNodePort, settings }: ServicePlanInput,
  node: NodeFacts,
  options: IpvsOptions,
  left: LeftOfPort,
): Generator<Item, void> {
  const { host } = node;
  const { local } = port.endpoints;
  for (let index = 0; index < local.size; index++) yield loopBack(port, local, index);
  const tunnels = settings !== undefined && allowsTunnels(port, settings, node, options);
  const hasTunnel = (frontend: Frontend) =>
    tunnels && isTunnelled(frontend) && isBound(frontend, node, options);
  if (port.frontends.some(hasTunnel)) yield* routesTo(local);
  const choice = new Choice(port, settings, node, options, left);
  let hasNodePort = false;
  for (const frontend of port.frontends) {
    hasNodePort ||= frontend.kind === 'nodePort';
    const addresses = frontend.kind === 'nodePort' ? host.nodePortAddresses[port.family] : [frontend.address];
    const tunnelled = hasTunnel(frontend);
    const servers = choice.of(frontend, tunnelled);
    const bound = isBound(frontend, node, options);
    for (const address of addresses) {
      const service = virtualServiceOf(port, address, frontend.port, options.scheduler, settings);
      const inOrder = options.cures.has('node-failover') && isMaglev(service);
      yield { kind: 'virtualService', service, ...servers, ...(inOrder && { inOrder }) };
      if (!bound) continue;
      yield { kind: 'address', address };
      yield entry('KUBE-IPVS-IPS', port.family, { address });
    }
    if (tunnelled) yield shortcut(port, frontend);
    yield* entriesOf(
      port,
      tunnelled ? { ...frontend, localPolicy: true } : frontend,
      addresses,
      node,
      options,
    );
  }
  const unreachable = hasNodePort && host.nodePortAddresses[port.family].length === 0;
  if (healthCheckNodePort !== 0 && !unreachable)
    yield entry('KUBE-HEALTH-CHECK-NODE-PORT', port.family, { port: healthCheckNodePort });
}

/**
 * Masquerades the traffic of a pod to itself through a Service, in any state: its source must not be its own address.
 */
function loopBack({ family, protocol }: ServicePort, local: AddressPorts, index: number): Item {
  const address = local.addressAt(index);
  return entry('KUBE-LOOP-BACK', family, { address, protocol, port: local.portAt(index), address2: address });
}

/** The node receives the tunnels to its endpoints, in any state: their connections go on. */
function* routesTo(local: AddressPorts): Generator<Item, void> {
  for (let index = 0; index < local.size; index++)
    yield { kind: 'tunnelRoute', address: local.addressAt(index) };
}

function shortcut({ family, protocol, frontends }: ServicePort, { address, port }: Frontend): Item {
  const { address: clusterIP, port: clusterPort } = clusterFrontend(frontends) as Frontend;
  return { kind: 'shortcut', family, protocol, address, port, clusterIP, clusterPort };
}

/** The real servers of a frontend, and the other endpoints of the port. */
type Servers = Pick<
  VirtualServiceItem,
  'realServers' | 'others' | 'drainable' | 'failed' | 'drainBound' | 'slowStart' | 'orderedFor'
>;

/** Chooses the real servers of the frontends of one port, which share them. */
class Choice {
  readonly #port: ServicePort;
  readonly #settings: ServiceSettings | undefined;
  readonly #node: NodeFacts;
  readonly #cures: IpvsOptions['cures'];
  readonly #left: LeftOfPort;
  /** The port without the endpoints of weight 0. */
  readonly #weighted: ServicePort;
  #cluster: Servers | undefined;
  #local: Servers | undefined;
  #tunnelled: Servers | undefined;

  constructor(
    port: ServicePort,
    settings: ServiceSettings | undefined,
    node: NodeFacts,
    { cures }: IpvsOptions,
    left: LeftOfPort,
  ) {
    this.#port = port;
    this.#weighted = withoutWeightZero(port, node);
    this.#settings = settings;
    this.#node = node;
    this.#cures = cures;
    this.#left = left;
  }

  /**
   * With policy Local, these are the local endpoints or, if there are none, those for policy Cluster: kube-proxy has
   * this fallback only in ipvs mode.
   */
  of({ kind, localPolicy }: Frontend, tunnelled: boolean): Servers {
    if (tunnelled) {
      this.#tunnelled ??= this.#throughTunnels();
      return this.#tunnelled;
    }
    if (localPolicy) {
      const strict = this.#cures.has(kind === 'clusterIP' ? 'internal-local' : 'external-local');
      const { localEndpoints, clusterEndpoints } = this.#weighted;
      if (strict || localEndpoints.size > 0 || clusterEndpoints.size === 0) {
        this.#local ??= this.#serversAt(this.#chosen('localEndpoints'));
        return this.#local;
      }
    }
    this.#cluster ??= this.#serversAt(this.#chosen('clusterEndpoints'));
    return this.#cluster;
  }

  /** The endpoints that policies and hints choose among those that get new connections, and those of weight 0 that they choose among all. */
  #chosen(list: 'clusterEndpoints' | 'localEndpoints'): AddressPorts {
    if (this.#weighted === this.#port) return this.#port[list];
    const { addressPorts } = this.#port.endpoints;
    const all = this.#port[list];
    const withoutWeight = all.filter(
      (index) => this.#port.endpoints.weightAt(addressPorts.indexOf(all, index)) === 0,
    );
    return this.#weighted[list].with(withoutWeight);
  }

  #throughTunnels(): Servers {
    const { endpoints } = this.#port;
    const { realServers, others, ...rest } = this.#serversAt(this.#chosen('clusterEndpoints'));
    return { ...rest, ...throughTunnels({ realServers, ...(others && { others }) }, endpoints.local) };
  }

  #serversAt(list: AddressPorts): Servers {
    const all = this.#port.endpoints.addressPorts;
    const rest = list.size < all.size ? all.without(list) : undefined;
    const { drainTimeout, slowStart } = this.#settings ?? {};
    const { terminated, failed } = this.#left;
    const drainable = terminated ? (rest?.with(terminated) ?? terminated) : rest;
    return {
      ...realServersAt(list, this.#port, this.#settings),
      ...(drainable && { drainable }),
      ...(failed && { failed }),
      ...(slowStart !== undefined && { slowStart: slowStart * 1000 }),
      ...(drainTimeout !== undefined && { drainBound: drainTimeout * 1000 }),
      ...(this.#cures.has('endpoint-order') && { orderedFor: this.#node.name }),
    };
  }
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

/** The set entries with which rules match traffic to the frontend. */
function* entriesOf(
  port: ServicePort,
  frontend: Frontend,
  addresses: readonly string[],
  node: NodeFacts,
  options: IpvsOptions,
): Generator<Item, void> {
  const { family, protocol } = port;
  const { kind, localPolicy } = frontend;
  const dialled = { address: frontend.address, protocol, port: frontend.port };
  switch (kind) {
    case 'nodePort':
      yield* nodePortEntries(port, frontend, addresses);
      break;
    case 'clusterIP':
      yield entry('KUBE-CLUSTER-IP', family, dialled);
      break;
    case 'externalIP':
      yield entry(localPolicy ? 'KUBE-EXTERNAL-IP-LOCAL' : 'KUBE-EXTERNAL-IP', family, dialled);
      break;
    case 'loadBalancerIP':
      yield entry('KUBE-LOAD-BALANCER', family, dialled);
      if (localPolicy) yield entry('KUBE-LOAD-BALANCER-LOCAL', family, dialled);
      yield* sourceRangeItems(port, frontend, node, options);
  }
}

function* nodePortEntries(
  { family, protocol }: ServicePort,
  { port, localPolicy }: Frontend,
  addresses: readonly string[],
): Generator<Item, void> {
  if (addresses.length === 0) return;
  const [role, localRole] = NODE_PORT_SETS[protocol];
  const values = protocol === 'sctp' ? addresses.map((address) => ({ address, protocol, port })) : [{ port }];
  for (const value of values) yield entry(role, family, value);
  if (localPolicy) for (const value of values) yield entry(localRole, family, value);
}

/** The sets of node ports: of all, and of those with policy Local. */
const NODE_PORT_SETS: Readonly<Record<Protocol, readonly [SetRole, SetRole]>> = {
  tcp: ['KUBE-NODE-PORT-TCP', 'KUBE-NODE-PORT-LOCAL-TCP'],
  udp: ['KUBE-NODE-PORT-UDP', 'KUBE-NODE-PORT-LOCAL-UDP'],
  sctp: ['KUBE-NODE-PORT-SCTP-HASH', 'KUBE-NODE-PORT-LOCAL-SCTP-HASH'],
};

/**
 * Source ranges allow their networks. Traffic of the node itself, whose source is the VIP, is allowed with the node IP.
 */
function* sourceRangeItems(
  port: ServicePort,
  frontend: Frontend,
  node: NodeFacts,
  { rules }: IpvsOptions,
): Generator<Item, void> {
  if (frontend.sourceRanges.length === 0) return;
  const { family, protocol } = port;
  const { address } = frontend;
  const dialled = { address, protocol, port: frontend.port };
  const fullLength = family === 4 ? 32 : 128;
  let nodeAllowed = false;
  // A set of nf_tables has no ranges that overlap.
  const ranges = rules === 'nftables' ? outermost(frontend.sourceRanges) : frontend.sourceRanges;
  for (const range of ranges) {
    const [address2 = '', prefix] = range.split('/');
    const length = Number(prefix) === fullLength ? {} : { prefix2: Number(prefix) };
    yield entry('KUBE-LOAD-BALANCER-SOURCE-CIDR', family, { ...dialled, address2, ...length });
    const network = parseNetwork(range);
    nodeAllowed ||= network !== undefined && networkContains(network, node.nodeIPs[family]);
  }
  yield entry('KUBE-LOAD-BALANCER-FW', family, dialled);
  yield nodeAllowed
    ? entry('KUBE-LOAD-BALANCER-SOURCE-IP', family, { ...dialled, address2: address })
    : { kind: 'nodeDrop', family, ...dialled };
}

/** The networks that are in no other of them. */
function outermost(ranges: readonly string[]): string[] {
  const networks = [...new Set(ranges)].flatMap((text) => {
    const network = parseNetwork(text);
    return network ? [{ text, network }] : [];
  });
  const isWithin = (inner: Network, outer: Network) =>
    outer.prefix < inner.prefix && networkContainsBytes(outer, inner.bytes);
  return networks
    .filter(({ network }) => !networks.some((other) => isWithin(network, other.network)))
    .map(({ text }) => text);
}

function entry(role: SetRole, family: Family, value: Extract<Item, { kind: 'entry' }>['entry']): Item {
  return { kind: 'entry', set: setOf(role, family), entry: value };
}
