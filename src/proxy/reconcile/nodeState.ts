// The facts of this node for plans, from its Node object and the host's addresses, and the Services that depend on
// them.

import { familyOf, isLoopback } from '../../kernel/net/address.js';
import type { HostRules } from '../modes/mode.js';
import { NodeDependents, nodeChange } from '../services/nodeDependents.js';
import { type NodeParts, nodeFacts } from '../services/nodeFacts.js';
import type {
  AssignedAddress,
  HostChange,
  HostLink,
  NodeFacts,
  ServicePlanInput,
} from '../services/types.js';

const NO_SERVICES: ReadonlySet<string> = new Set();

/** The current facts of this node. Methods that change them return the Services to plan again. */
export class NodeState {
  readonly #rules: HostRules;
  readonly #nodeName: string;
  readonly #bindAddress: string | undefined;
  readonly #dependents = new NodeDependents();
  /** The addresses that the mode uses, by link, address and prefix. */
  #host = new Map<string, AssignedAddress>();
  /** Names of the links that the mode uses. */
  #links = new Set<string>();
  /** All addresses of the host, if the mode serves node ports on all, by link, address and prefix. */
  #all = new Map<string, string>();
  /** The same without links and prefixes; undefined after a change. */
  #distinct: ReadonlySet<string> | undefined;
  #node: NodeParts['node'];
  #others: ReadonlySet<string> = new Set();
  #serviceCIDRs: readonly string[] = [];
  #unreachable: ReadonlySet<string> | undefined;
  #facts: NodeFacts;

  /** @param bindAddress canonical; if it is not unspecified, it is the node IP */
  constructor(rules: HostRules, nodeName: string, bindAddress?: string) {
    this.#rules = rules;
    this.#nodeName = nodeName;
    this.#bindAddress = bindAddress;
    this.#facts = this.#derive();
  }

  /** The same object until a fact changes that plans depend on. */
  get facts(): NodeFacts {
    return this.#facts;
  }

  /** Records the input of a Service's plan; undefined when the Service was deleted. */
  planned(service: string, input: ServicePlanInput | undefined): void {
    this.#dependents.planned(service, input);
  }

  /** Sets the Node object, undefined if there is none, and the addresses of all other nodes. */
  nodeChanged(node: NodeParts['node'], others: ReadonlySet<string>): ReadonlySet<string> {
    this.#node = withFormer(node, this.#node);
    this.#others = others;
    return this.#update();
  }

  /** Sets the networks of all ServiceCIDRs, sorted. No plan of a Service depends on them. */
  serviceCIDRsChanged(networks: readonly string[]): void {
    this.#serviceCIDRs = networks;
    this.#update();
  }

  /** Sets the names of the nodes that do not answer. The caller knows the Services with endpoints on them. */
  unreachableChanged(names: ReadonlySet<string>): void {
    this.#unreachable = names.size > 0 ? names : undefined;
    this.#facts = this.#derive();
  }

  /** Whether the facts depend on links: {@link hostListed} needs them. */
  get usesLinks(): boolean {
    return this.#rules.usesLink !== undefined;
  }

  /** Sets every address and link of the host. */
  hostListed(addresses: readonly AssignedAddress[], links: readonly HostLink[] = []): ReadonlySet<string> {
    this.#links = new Set(links.filter((link) => this.#rules.usesLink?.(link)).map(({ name }) => name));
    const used = addresses.filter((address) => this.#rules.uses(address, this.#facts.nodeIPs));
    this.#host = new Map(used.map((address) => [keyOf(address), address]));
    if (this.#rules.servesOnAll) this.#all = new Map(addresses.map((each) => [keyOf(each), each.address]));
    this.#distinct = undefined;
    return this.#update();
  }

  /** Applies changes of the host's addresses and links. The changes must be complete. */
  hostChanged({ addresses, links }: HostChange): ReadonlySet<string> {
    let changed = this.#linksChanged(links);
    this.#distinct = undefined;
    for (const { link, address, prefix, deleted } of addresses) {
      const hostAddress = { link, address, prefix };
      if (deleted) this.#all.delete(keyOf(hostAddress));
      else if (this.#rules.servesOnAll) this.#all.set(keyOf(hostAddress), address);
      if (!this.#rules.uses(hostAddress, this.#facts.nodeIPs)) continue;
      changed = true;
      if (deleted) this.#host.delete(keyOf(hostAddress));
      else this.#host.set(keyOf(hostAddress), hostAddress);
    }
    return changed ? this.#update() : NO_SERVICES;
  }

  /** Whether an address is one of this node on which node ports are served. */
  servesNodePorts(address: string): boolean {
    const family = familyOf(address);
    const { host, nodeIPs } = this.#facts;
    if (host.nodePortAddresses[family].includes(address)) return true;
    if (!host.unrestricted.has(family) || !this.#rules.servesOnAll?.(address, nodeIPs)) return false;
    // The host has all of 127.0.0.0/8.
    if (isLoopback(address)) return true;
    this.#distinct ??= new Set(this.#all.values());
    return this.#distinct.has(address);
  }

  /** Whether the links that the mode uses changed. */
  #linksChanged(links: HostChange['links']): boolean {
    if (!this.#rules.usesLink) return false;
    let changed = false;
    for (const { deleted, ...link } of links) {
      const isUsed = !deleted && this.#rules.usesLink(link);
      if (this.#links.has(link.name) === isUsed) continue;
      changed = true;
      if (isUsed) this.#links.add(link.name);
      else this.#links.delete(link.name);
    }
    return changed;
  }

  #update(): ReadonlySet<string> {
    const before = this.#facts;
    const after = this.#derive();
    const change = nodeChange(before, after);
    const { zone, nodeIPs, nodePorts, addresses } = change;
    const matters = zone || nodeIPs || nodePorts || addresses.length > 0;
    const ofNode = ({ podCIDRs, serviceCIDRs, host: { links = [] } }: NodeFacts) =>
      [podCIDRs, serviceCIDRs, links].map((texts) => texts.join()).join(' ');
    if (!matters && ofNode(before) === ofNode(after)) return NO_SERVICES;
    this.#facts = after;
    return this.#dependents.of(change);
  }

  #derive(): NodeFacts {
    return nodeFacts(this.#nodeName, {
      node: this.#node,
      host: (nodeIPs) => ({
        ...this.#rules.facts([...this.#host.values()], nodeIPs),
        ...(this.usesLinks && { links: [...this.#links].sort() }),
      }),
      serviceCIDRs: this.#serviceCIDRs,
      otherNodes: this.#others,
      unreachable: this.#unreachable,
      bindAddress: this.#bindAddress,
    });
  }
}

/**
 * A deleted Node keeps its addresses and pod networks, and one that is created again its addresses until it has others: the node
 * still has them, as in kube-proxy. Without them, node ports restricted to `primary` would be open on all addresses.
 */
function withFormer(node: NodeParts['node'], former: NodeParts['node']): NodeParts['node'] {
  if (!former) return node;
  if (!node) return { ...former, zone: '' };
  return node.addresses.length > 0 ? node : { ...node, addresses: former.addresses };
}

function keyOf({ link, address, prefix }: AssignedAddress): string {
  return `${link} ${address}/${prefix}`;
}
