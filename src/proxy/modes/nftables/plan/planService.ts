// The plan of one Service in nftables mode.
import type { AddressPorts } from '../../../../kernel/net/addressPorts.js';
import { networkContains, parseNetwork } from '../../../../kernel/net/network.js';
import { STATE } from '../../../services/endpointList.js';
import type { Frontend, NodeFacts, ServicePlanInput, ServicePort } from '../../../services/types.js';
import type { Plan } from '../../mode.js';
import { localMatch } from '../../shared/plan/localDetector.js';
import { weightsOf, withoutWeightZero } from '../../shared/plan/weights.js';
import { CONTAINERS, type Container, type ContainerName, keyText } from './containers.js';
import { podNetwork, REJECT_CHAIN, RESET_CHAIN } from './fixedChains.js';
import { ElementItem, type Item, keyOf } from './items.js';
import { rejectChainName } from './localhostPorts.js';
import { type ChainRole, hashedName, portText, servicePortName } from './names.js';
import type { NftablesOptions } from './options.js';
import {
  BalancingChain,
  EndpointChain,
  ExternalChain,
  endpointNames,
  FirewallChain,
} from './serviceChains.js';
import { BalancedElement } from './slots.js';
import { slotsByWeight } from './weightedSlots.js';

/** The items of one Service. */
export function planService(input: ServicePlanInput, node: NodeFacts, options: NftablesOptions): Plan<Item> {
  const plan = new Map<string, Item>();
  for (const port of input.ports) {
    if (!options.families.includes(port.family)) continue;
    const chosen = withoutWeightZero(port, node);
    new PortPlan(plan, chosen, input, node, options).build();
  }
  return plan;
}

/** The items of one Service port. */
class PortPlan {
  readonly #plan: Map<string, Item>;
  readonly #port: ServicePort;
  readonly #service: string;
  /** Traffic without endpoints is reset, which also ends connections that were open. */
  readonly #resets: boolean;
  readonly #node: NodeFacts;
  readonly #options: NftablesOptions;
  readonly #containers: Readonly<Record<ContainerName, Container>>;
  /** The text in the names of the port's chains. */
  readonly #text: string;
  /** Undefined before the first one: in layout `scalable`, few ports have chains. */
  #names: Map<ChainRole, string> | undefined;
  /** The number of slots of each endpoint that a policy allows; undefined if all have one. */
  readonly #slots: Readonly<Record<'service' | 'local', readonly number[] | undefined>>;

  constructor(
    plan: Map<string, Item>,
    port: ServicePort,
    { service, settings, ports }: ServicePlanInput,
    node: NodeFacts,
    options: NftablesOptions,
  ) {
    this.#plan = plan;
    this.#port = port;
    this.#service = service;
    this.#resets = settings?.failFast !== undefined && port.protocol === 'tcp';
    this.#node = node;
    this.#options = options;
    this.#containers = CONTAINERS[port.family];
    this.#text = portText(service, port.protocol, port.portName);
    const { endpoints, clusterEndpoints, localEndpoints } = port;
    const slots = (list: AddressPorts) => slotsByWeight(weightsOf(list, endpoints), ports.length);
    this.#slots = { service: slots(clusterEndpoints), local: slots(localEndpoints) };
  }

  build(): void {
    const { frontends } = this.#port;
    const external = frontends.filter(({ kind }) => kind !== 'clusterIP');
    const ownExternal = this.#hasEndpoints && external.some((frontend) => !this.#isBalanced(frontend));
    if (this.#hasEndpoints) {
      this.#endpoints(ownExternal || !this.#mayShare);
      if (ownExternal) this.#externalChain(external.some(({ localPolicy }) => localPolicy));
    }
    const balanced = external.filter(({ kind }) => kind === 'loadBalancerIP');
    const ranges = balanced[0]?.sourceRanges ?? [];
    if (ranges.length > 0) this.#firewall(balanced, ranges);
    for (const frontend of frontends) this.#capture(frontend);
  }

  /** Some endpoint can get traffic, here or elsewhere. */
  get #hasEndpoints(): boolean {
    const { endpoints } = this.#port;
    return endpoints.has(STATE.ready) || endpoints.has(STATE.serving | STATE.terminating);
  }

  /** The chain that distributes traffic; undefined if the policy allows no endpoint. */
  #policy(localPolicy: boolean): string | undefined {
    return this.#allows(localPolicy) ? this.#name(localPolicy ? 'local' : 'service') : undefined;
  }

  #allows(localPolicy: boolean): boolean {
    return this.#listOf(localPolicy).size > 0;
  }

  /**
   * Whether the element of a frontend leads to a shared chain: with layout `scalable`, without session affinity and different weights,
   * and if no rule of external traffic depends on where it comes from.
   */
  #isBalanced({ kind, localPolicy }: Frontend): boolean {
    return this.#mayShare && this.#allows(localPolicy) && (kind === 'clusterIP' || !localPolicy);
  }

  get #mayShare(): boolean {
    if (this.#slots.service || this.#slots.local) return false;
    return this.#options.layout === 'scalable' && this.#port.affinitySeconds === 0;
  }

  /** The endpoints that a policy allows. */
  #listOf(localPolicy: boolean): AddressPorts {
    const { localEndpoints, clusterEndpoints } = this.#port;
    return localPolicy ? localEndpoints : clusterEndpoints;
  }

  /**
   * The chains of the policies that have endpoints, and what each endpoint has.
   *
   * @param ownChains some frontend needs them
   */
  #endpoints(ownChains: boolean): void {
    const { clusterEndpoints, localEndpoints, endpoints, protocol, affinitySeconds } = this.#port;
    const affinity = affinitySeconds > 0 ? this.#text : undefined;
    const direct = this.#options.directSingleEndpoint || this.#options.layout === 'scalable';
    for (const [role, list] of [
      ['service', clusterEndpoints],
      ['local', localEndpoints],
    ] as const) {
      if (list.size === 0 || !ownChains) continue;
      const chosen = { affinity, direct, slots: this.#slots[role] };
      this.#add(new BalancingChain(this.#place(role), protocol, list, chosen));
      if (affinity === undefined) continue;
      for (let index = 0; index < list.size; index++)
        this.#sticky(affinity, { address: list.addressAt(index), port: list.portAt(index) });
    }
    const here = endpoints.local;
    for (let index = 0; index < here.size; index++) {
      if (clusterEndpoints.indexOf(here, index) < 0 && localEndpoints.indexOf(here, index) < 0) continue;
      const address = here.addressAt(index);
      this.#element('hairpin-connections', [address, address, protocol, here.portAt(index)]);
    }
  }

  /** The chain of an endpoint, and the set of its clients. */
  #sticky(affinity: string, endpoint: { readonly address: string; readonly port: number }): void {
    const { family, protocol, affinitySeconds: timeout } = this.#port;
    const service = this.#service;
    const { chain, set } = endpointNames(affinity, endpoint);
    this.#add({ kind: 'set', family, name: set, timeout, service });
    this.#add(new EndpointChain({ family, name: chain, service }, protocol, endpoint.address, endpoint.port));
  }

  #externalChain(localPolicy: boolean): void {
    const { family } = this.#port;
    const { localDetector, masqueradeMark: mark } = this.#options;
    const local = localMatch(localDetector, family, podNetwork(family, this.#node));
    const traffic = {
      localPolicy,
      cluster: this.#name('service'),
      policy: this.#policy(localPolicy),
      local,
      mark,
    };
    this.#add(new ExternalChain(this.#place('external'), traffic));
  }

  /**
   * Source ranges apply with endpoints and without. Traffic of the node itself to a load-balancer IP has this IP as its source: it is
   * allowed if a range has the node IP.
   */
  #firewall(frontends: readonly Frontend[], ranges: readonly string[]): void {
    const { family, protocol } = this.#port;
    let ownAllowed = false;
    for (const range of ranges) {
      const network = parseNetwork(range);
      ownAllowed ||= network !== undefined && networkContains(network, this.#node.nodeIPs[family]);
    }
    const bits = family === 4 ? 32 : 128;
    const own = ownAllowed ? frontends.map(({ address }) => `${address}/${bits}`) : [];
    this.#add(new FirewallChain(this.#place('firewall'), own.length > 0 ? [...ranges, ...own] : ranges));
    for (const { address, port } of frontends)
      this.#element('firewall-ips', [address, protocol, port], this.#name('firewall'));
  }

  /** Leads traffic to a frontend into a chain of the port, and refuses what the policy has no endpoint for. */
  #capture(frontend: Frontend): void {
    const { kind, address, port, localPolicy } = frontend;
    const { protocol } = this.#port;
    const byPort = kind === 'nodePort';
    const key = byPort ? [protocol, port] : [address, protocol, port];
    if (kind === 'clusterIP') this.#element('cluster-ips', [address]);
    if (this.#isBalanced(frontend)) this.#balance(frontend, keyText(key));
    else if (kind === 'clusterIP') {
      const policy = this.#policy(localPolicy);
      if (policy !== undefined) this.#element('service-ips', key, policy);
    } else if (this.#hasEndpoints)
      this.#element(byPort ? 'service-nodeports' : 'service-ips', key, this.#name('external'));
    if (byPort && this.#options.localhostRejects[this.#port.family].includes(protocol))
      this.#element('localhost-nodeport-reject-ports', key, rejectChainName(protocol));
    // The flow table takes no other protocols; its rule knows cluster IPs from `cluster-ips`.
    if (this.#options.flowTable && kind !== 'clusterIP' && protocol !== 'sctp')
      this.#element(byPort ? 'flow-table-nodeports' : 'flow-table-ips', key);
    if (!this.#allows(localPolicy))
      this.#refuse(byPort ? 'no-endpoint-nodeports' : 'no-endpoint-services', key);
  }

  /** Leads traffic to a frontend into the shared chain for its number of endpoints. */
  #balance({ kind, localPolicy }: Frontend, key: string): void {
    const container = this.#containers[kind === 'nodePort' ? 'service-nodeports' : 'service-ips'];
    const role = kind === 'clusterIP' ? 'balance' : kind === 'nodePort' ? 'nodeport' : 'external';
    const endpoints = this.#listOf(localPolicy);
    this.#add(new BalancedElement(container, key, { role, endpoints }, this.#service));
  }

  /** Rejects traffic to a frontend without endpoints, and drops it if there are endpoints on other nodes only. */
  #refuse(container: ContainerName, key: readonly (string | number)[]): void {
    const rejection = this.#resets ? RESET_CHAIN : REJECT_CHAIN;
    const verdict = this.#hasEndpoints ? 'drop' : rejection;
    const name = servicePortName(this.#service, this.#port.portName);
    this.#element(container, key, verdict, commentOf(name));
  }

  #name(role: ChainRole): string {
    this.#names ??= new Map();
    const known = this.#names.get(role);
    if (known !== undefined) return known;
    const name = hashedName(role, this.#text);
    this.#names.set(role, name);
    return name;
  }

  /** What a chain of the port is constructed from. */
  #place(role: ChainRole) {
    return { family: this.#port.family, name: this.#name(role), service: this.#service };
  }

  #element(
    container: ContainerName,
    key: readonly (string | number)[],
    verdict = '',
    comment?: string,
  ): void {
    this.#add(new ElementItem(this.#containers[container], keyText(key), verdict, comment, this.#service));
  }

  /** Of equal keys the first one stays: a Service may name an address in several fields. */
  #add(item: Item): void {
    const key = keyOf(item);
    if (!this.#plan.has(key)) this.#plan.set(key, item);
  }
}

/** The longest comment that nft reads, in bytes. */
const LONGEST_COMMENT = 128;

/** A comment of an element, cut as kube-proxy does it. */
function commentOf(text: string): string {
  const bytes = Buffer.from(text);
  return bytes.length <= LONGEST_COMMENT ? text : bytes.toString('utf8', 0, LONGEST_COMMENT);
}
