// The node as an explanation sees it: addresses and routes, local pods, and the tests of rules.
import type { VirtualService } from '../../../kernel/ipvs/types.js';
import { isLoopback } from '../../../net/address.js';
import { networkContains, parseNetwork } from '../../../net/network.js';
import type { ClientPlace } from '../../explanation.js';
import type { LocalDetector } from '../../shared/localDetector.js';
import type { RuleSurroundings } from '../../shared/packet/packet.js';
import { readRule } from '../../shared/packet/ruleText.js';
import { Topology } from '../../shared/packet/topology.js';
import { type SetRole, setOf } from '../sets.js';
import { type ExplainFacts, settingNames } from './facts.js';

/** Answers questions about the facts of one explanation. Pure. */
export class Surroundings implements RuleSurroundings {
  readonly facts: ExplainFacts;
  readonly topology: Topology;
  /** How the programmed rules detect local traffic: the network of the pods, or their link. */
  readonly #detector: { readonly network?: string; readonly link?: string };
  readonly #localEndpoints: ReadonlySet<string>;

  /** @param detector of the configuration; used if no rule shows the programmed one */
  constructor(facts: ExplainFacts, detector: LocalDetector) {
    this.facts = facts;
    this.topology = new Topology(facts);
    this.#detector = programmedDetector(facts) ?? configuredDetector(facts, detector);
    const loopBack = facts.sets.get(setOf('KUBE-LOOP-BACK', facts.family).name);
    this.#localEndpoints = new Set((loopBack?.entries ?? []).flatMap(({ address }) => address ?? []));
  }

  get sets() {
    return this.facts.sets;
  }

  /** Bound, as rules of it are methods of a record. */
  readonly isLocal = (address: string): boolean => this.topology.isLocal(address);

  /** The network of the cluster's pods, if rules or configuration name one. */
  get podNetwork(): string | undefined {
    return this.#detector.network;
  }

  /** The link of this node's pods, in iptables' notation, if rules or configuration name one. */
  get podLink(): string | undefined {
    return this.#detector.link;
  }

  /** The endpoints on this node, from KUBE-LOOP-BACK. */
  get localEndpoints(): ReadonlySet<string> {
    return this.#localEndpoints;
  }

  /** Whether an address is one of the node or of a pod on it. */
  isHere(address: string): boolean {
    return this.isLocal(address) || this.#isLocalPod(address);
  }

  placeOf(address: string): ClientPlace {
    if (this.isLocal(address) || isLoopback(address)) return 'node';
    if (this.#isLocalPod(address)) return 'pod';
    return this.#isInPodNetwork(address) ? 'other pod' : 'outside';
  }

  /**
   * A pod of this node is an endpoint in KUBE-LOOP-BACK, or is reached without a gateway and is in the pod network. If
   * no pod network is known, its link must not be that of the default route.
   */
  #isLocalPod(address: string): boolean {
    if (this.#localEndpoints.has(address)) return true;
    const route = this.topology.route(address);
    if (!route || route.gateway !== undefined) return false;
    const { network, link } = this.#detector;
    if (link !== undefined) return isLinkOf(link, route.link);
    if (network !== undefined) return this.#isInPodNetwork(address);
    const uplink = this.topology.uplink();
    return uplink !== undefined && route.link !== uplink;
  }

  #isInPodNetwork(address: string): boolean {
    const network = parseNetwork(this.#detector.network ?? '');
    return network !== undefined && networkContains(network, address);
  }

  /** Whether a set of the mode has an entry that contains the address and port. */
  hasEntry(role: SetRole, address: string, port: number): boolean {
    const set = this.facts.sets.get(setOf(role, this.facts.family).name);
    return set?.entries.some((entry) => entry.address === address && entry.port === port) ?? false;
  }

  setting(name: keyof ReturnType<typeof settingNames>): { readonly on: boolean; readonly name: string } {
    const path = settingNames(this.facts.family)[name];
    const value = this.facts.settings.get(path);
    return { on: value !== undefined && value !== '0', name: path };
  }

  /** Frames between the ports of this link pass the rules. */
  filtersBridge(link: string): boolean {
    return this.topology.kindOf(link) === 'bridge' && this.setting('bridgeFilter').on;
  }

  get services(): readonly VirtualService[] {
    return this.facts.services;
  }
}

/** From the rule that masquerades traffic to cluster IPs: `! -s NETWORK` or `! -i LINK`. */
function programmedDetector({ family, tables }: ExplainFacts) {
  const set = setOf('KUBE-CLUSTER-IP', family).name;
  for (const text of tables.rules.get('nat/KUBE-SERVICES') ?? []) {
    const { conditions, target } = readRule(text);
    if (target !== 'KUBE-MARK-MASQ' || !conditions.some(({ values }) => values[0] === set)) continue;
    const value = (option: string) =>
      conditions.find((condition) => condition.option === option && condition.negated)?.values[0];
    const [network, link] = [value('-s'), value('-i')];
    if (network !== undefined) return { network };
    if (link !== undefined) return { link };
  }
  return undefined;
}

function configuredDetector({ family }: ExplainFacts, detector: LocalDetector) {
  if (detector.by === 'interface') return { link: detector.match };
  const network = detector.by === 'network' ? detector.networks[family] : undefined;
  return network === undefined ? {} : { network };
}

function isLinkOf(pattern: string, link: string): boolean {
  return pattern.endsWith('+') ? link.startsWith(pattern.slice(0, -1)) : link === pattern;
}
