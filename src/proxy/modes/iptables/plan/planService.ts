// The plan of one Service in iptables mode.
import type { Table } from '../../../../kernel/iptables/types.js';
import { type Family, familyOf } from '../../../../kernel/net/address.js';
import { networkContains, parseNetwork } from '../../../../kernel/net/network.js';
import { STATE } from '../../../services/endpointList.js';
import type { Frontend, NodeFacts, ServicePlanInput, ServicePort } from '../../../services/types.js';
import { RESET, reject } from '../../iptablesRules/plan/fixedRules.js';
import type { Plan } from '../../mode.js';
import { containsAll, type LocalMatch, localMatch } from '../../shared/plan/localDetector.js';
import { weightsOf, withoutWeightZero } from '../../shared/plan/weights.js';
import { type BalancedPort, BalancingChain, type EndpointChain, endpointChains } from './endpointChains.js';
import { type ChainItem, chainKey, type Item, keyOf, type RuleItem, withNext } from './items.js';
import { loopbackServesNodePorts } from './loopback.js';
import { type PortChains, portChains, servicePortName } from './names.js';
import type { IptablesOptions } from './options.js';
import { comment, count, hostNetwork, LOCALHOST_COUNTER, localTraffic, toPort } from './ruleText.js';

/** Above this number of endpoints in a family, their rules have no comments, as in kube-proxy. */
const LARGE_CLUSTER = 1000;

/** Whether the rules of endpoints have comments, in each family. */
export function formOf(totalEndpoints: ServicePlanInput['totalEndpoints']): string {
  return ([4, 6] as const).map((family) => hasComments(totalEndpoints, family)).join();
}

function hasComments(totalEndpoints: ServicePlanInput['totalEndpoints'], family: Family): boolean {
  return totalEndpoints[family] <= LARGE_CLUSTER;
}

/** The items of one Service. */
export function planService(input: ServicePlanInput, node: NodeFacts, options: IptablesOptions): Plan<Item> {
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
  readonly #healthCheckNodePort: number;
  readonly #nodeIPs: NodeFacts['nodeIPs'];
  readonly #options: IptablesOptions;
  readonly #balanced: BalancedPort;
  readonly #chains: PortChains;
  readonly #local: LocalMatch | undefined;
  /** The target for traffic without endpoints. With fail-fast, it also ends connections that were open. */
  readonly #reject: string;
  #cluster: readonly EndpointChain[] = [];
  #here: readonly EndpointChain[] = [];

  constructor(
    plan: Map<string, Item>,
    port: ServicePort,
    { service, healthCheckNodePort, totalEndpoints, settings }: ServicePlanInput,
    node: NodeFacts,
    options: IptablesOptions,
  ) {
    const { family, protocol, affinitySeconds, portName } = port;
    this.#plan = plan;
    this.#port = port;
    this.#service = service;
    this.#healthCheckNodePort = healthCheckNodePort;
    this.#nodeIPs = node.nodeIPs;
    this.#options = options;
    const comments = hasComments(totalEndpoints, family);
    const name = servicePortName(service, portName);
    this.#balanced = { service, family, protocol, affinitySeconds, name, comments };
    this.#chains = portChains(name, protocol);
    this.#reject = settings?.failFast !== undefined && protocol === 'tcp' ? RESET : reject(family);
    const podNetwork = node.podCIDRs.find((network) => familyOf(network) === family);
    this.#local = localMatch(options.localDetector, family, podNetwork);
  }

  build(): void {
    const { frontends, clusterEndpoints, localEndpoints } = this.#port;
    this.#cluster = endpointChains(this.#balanced, clusterEndpoints);
    this.#here = endpointChains(this.#balanced, localEndpoints);
    if (this.#healthCheckNodePort !== 0) {
      const text = `${this.#name} health check node port`;
      this.#rule('filter', 'KUBE-NODEPORTS', `${toPort('tcp', this.#healthCheckNodePort, text)} -j ACCEPT`);
    }
    for (const frontend of frontends) this.#refuse(frontend);
    if (!this.#hasEndpoints) return;
    const clusterIP = frontends.find(({ kind }) => kind === 'clusterIP');
    const external = frontends.filter(({ kind }) => kind !== 'clusterIP');
    this.#endpoints(clusterIP);
    if (external.length > 0) this.#externalChain(external.some(({ localPolicy }) => localPolicy));
    this.#firewall(external.filter(({ kind }) => kind === 'loadBalancerIP'));
    for (const frontend of frontends) this.#capture(frontend);
  }

  get #name(): string {
    return this.#balanced.name;
  }

  /** Some endpoint can get traffic, here or elsewhere. */
  get #hasEndpoints(): boolean {
    const { endpoints } = this.#port;
    return endpoints.has(STATE.ready) || endpoints.has(STATE.serving | STATE.terminating);
  }

  /** The chain that distributes traffic, with its endpoints; undefined if there are none. */
  #policy(localPolicy: boolean): { chain: string; endpoints: readonly EndpointChain[] } | undefined {
    const endpoints = localPolicy ? this.#here : this.#cluster;
    const chain = localPolicy ? this.#chains.local : this.#chains.cluster;
    return endpoints.length > 0 ? { chain, endpoints } : undefined;
  }

  /** The chains of the policies that have endpoints, and the chains of these endpoints. */
  #endpoints(clusterIP: Frontend | undefined): void {
    for (const localPolicy of [false, true]) {
      const policy = this.#policy(localPolicy);
      if (!policy) continue;
      const { chain, endpoints } = policy;
      const masquerade = clusterIP?.localPolicy === localPolicy ? this.#masqueradeClusterIP(clusterIP) : [];
      const weights = this.#weightsOf(localPolicy, endpoints);
      this.#chain(new BalancingChain(this.#balanced, chain, masquerade, endpoints, weights));
      for (const endpoint of endpoints) this.#chain(endpoint);
    }
  }

  /** The weights of the endpoints that a policy allows, in the order of their chains; undefined if all are equal. */
  #weightsOf(localPolicy: boolean, chains: readonly EndpointChain[]): readonly number[] | undefined {
    const { localEndpoints, clusterEndpoints, endpoints } = this.#port;
    const list = localPolicy ? localEndpoints : clusterEndpoints;
    const weights = weightsOf(list, endpoints);
    if (!weights) return undefined;
    const byText = new Map(weights.map((weight, index) => [list.textAt(index), weight]));
    return chains.map(({ text }) => byText.get(text) as number);
  }

  /** Masquerades traffic to the cluster IP: all, or all that is not local. Without a detector, none. */
  #masqueradeClusterIP({ address, port }: Frontend): string[] {
    const { protocol, family } = this.#port;
    const destination = `-d ${hostNetwork(address, family)} `;
    const dialled = toPort(protocol, port, `${this.#name} cluster IP`);
    if (this.#options.masqueradeAll) return [`${destination}${dialled} -j KUBE-MARK-MASQ`];
    if (!this.#local || containsAll(this.#local)) return [];
    return [`${localTraffic(this.#local, '! ', destination)}${dialled} -j KUBE-MARK-MASQ`];
  }

  /** With policy Local, traffic of this node's pods and of the node itself may reach all endpoints. */
  #externalChain(localPolicy: boolean): void {
    const { cluster } = this.#chains;
    const to = `${this.#name} external destinations`;
    const rules: string[] = [];
    if (!localPolicy) {
      rules.push(`${comment(`masquerade traffic for ${to}`)} -j KUBE-MARK-MASQ`);
    } else {
      if (this.#local)
        rules.push(`${localTraffic(this.#local, '')}${comment(`pod traffic for ${to}`)} -j ${cluster}`);
      const fromNode = '-m addrtype --src-type LOCAL';
      rules.push(`${comment(`masquerade LOCAL traffic for ${to}`)} ${fromNode} -j KUBE-MARK-MASQ`);
      rules.push(`${comment(`route LOCAL traffic for ${to}`)} ${fromNode} -j ${cluster}`);
    }
    const policy = this.#policy(localPolicy);
    if (policy) rules.push(`-j ${policy.chain}`);
    this.#rulesOf(this.#chains.external, rules);
  }

  /** Traffic of the node itself to a load-balancer IP has this IP as its source. */
  #firewall(frontends: readonly Frontend[]): void {
    const ranges = frontends[0]?.sourceRanges ?? [];
    if (ranges.length === 0) return;
    const { external, firewall } = this.#chains;
    const allow = (network: string) =>
      `-s ${network} ${comment(`${this.#name} loadbalancer IP`)} -j ${external}`;
    const rules: string[] = [];
    let ownAllowed = false;
    for (const range of ranges) {
      rules.push(allow(range));
      const network = parseNetwork(range);
      ownAllowed ||= network !== undefined && networkContains(network, this.#nodeIPs[this.#port.family]);
    }
    if (ownAllowed)
      for (const { address } of frontends) rules.push(allow(hostNetwork(address, this.#port.family)));
    rules.push(comment(`other traffic to ${this.#name} will be dropped by KUBE-PROXY-FIREWALL`));
    this.#rulesOf(firewall, rules);
    for (const { address, port } of frontends) {
      const text = `${this.#name} traffic not accepted by ${firewall}`;
      this.#rule('filter', 'KUBE-PROXY-FIREWALL', `${this.#to(address, port, text)} -j DROP`);
    }
  }

  /** Leads traffic to a frontend into the chains of the port. */
  #capture(frontend: Frontend): void {
    const { kind, address, port, sourceRanges } = frontend;
    const { external, firewall } = this.#chains;
    if (kind === 'nodePort') {
      this.#captureNodePort(port);
      return;
    }
    if (kind === 'clusterIP') {
      const policy = this.#policy(frontend.localPolicy);
      if (policy) this.#captureAt(address, port, 'cluster IP', policy.chain);
    } else if (kind === 'externalIP') {
      this.#captureAt(address, port, 'external IP', external);
    } else {
      this.#captureAt(address, port, 'loadbalancer IP', sourceRanges.length > 0 ? firewall : external);
    }
  }

  #captureAt(address: string, port: number, kind: string, chain: string): void {
    this.#rule('nat', 'KUBE-SERVICES', `${this.#to(address, port, `${this.#name} ${kind}`)} -j ${chain}`);
  }

  /** The rule that counts precedes the other one: it is inserted at the head of the chain, the other one at its end. */
  #captureNodePort(port: number): void {
    const { family, protocol } = this.#port;
    const match = toPort(protocol, port, this.#name);
    const { external } = this.#chains;
    if (this.#options.nfacct && loopbackServesNodePorts(this.#options, family, this.#nodeIPs)) {
      const counted = `-d 127.0.0.0/8 ${match} ${count(LOCALHOST_COUNTER)} -j ${external}`;
      this.#rule('nat', 'KUBE-NODEPORTS', counted);
    }
    this.#rule('nat', 'KUBE-NODEPORTS', `${match} -j ${external}`, true);
  }

  /** Rejects traffic to a frontend without endpoints, and drops it if there are endpoints on other nodes only. */
  #refuse({ kind, address, port, localPolicy }: Frontend): void {
    if (this.#policy(localPolicy)) return;
    const { protocol } = this.#port;
    const text = `${this.#name} has no ${this.#hasEndpoints ? 'local ' : ''}endpoints`;
    const target = this.#hasEndpoints ? 'DROP' : this.#reject;
    if (kind === 'nodePort') {
      const match = toPort(protocol, port, text, '-m addrtype --dst-type LOCAL ');
      this.#rule('filter', 'KUBE-EXTERNAL-SERVICES', `${match} -j ${target}`);
      return;
    }
    const chain = kind === 'clusterIP' ? 'KUBE-SERVICES' : 'KUBE-EXTERNAL-SERVICES';
    this.#rule('filter', chain, `${this.#to(address, port, text)} -j ${target}`);
  }

  /** Matches traffic to an address and port. */
  #to(address: string, port: number, text: string): string {
    const { family, protocol } = this.#port;
    return `-d ${hostNetwork(address, family)} ${toPort(protocol, port, text)}`;
  }

  #rulesOf(name: string, rules: readonly string[]): void {
    const { family } = this.#port;
    this.#chain({ kind: 'chain', family, table: 'nat', name, rules, service: this.#service });
  }

  #chain(chain: ChainItem): void {
    this.#plan.set(chainKey(chain.family, chain.table, chain.name), chain);
  }

  #rule(table: Table, chain: string, text: string, atEnd = false): void {
    const { family } = this.#port;
    const service = this.#service;
    const rule: RuleItem = { kind: 'rule', family, table, chain, text, service, ...(atEnd && { atEnd }) };
    const key = keyOf(rule);
    const first = this.#plan.get(key);
    this.#plan.set(key, first?.kind === 'rule' ? withNext(first, text) : rule);
  }
}
