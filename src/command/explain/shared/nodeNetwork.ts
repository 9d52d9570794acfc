// The node as an explanation sees it: addresses and routes, local pods, and the tests of rules.

import { isLoopback } from '../../../kernel/net/address.js';
import { isInNetwork } from '../../../kernel/net/network.js';
import type { LocalMatch } from '../../../proxy/modes/shared/plan/localDetector.js';
import type { ClientPlace } from '../explanation.js';
import type { Packet, RuleContext, Tested } from '../packet/packet.js';
import { Topology } from '../packet/topology.js';
import { type PathFacts, pathSettings, type Setting, settingIn } from './facts.js';

/** A kind of virtual IPs. */
export type VirtualIPKind = 'cluster IP' | 'external';

/** The state of the node as one mode programs it. */
interface ModeView {
  /** How the programmed rules detect local traffic; undefined if neither rules nor configuration show it. */
  readonly local: LocalMatch | undefined;
  /** Addresses of endpoints on this node, if the mode programs which ones they are. */
  readonly localEndpoints: ReadonlySet<string>;
  /** The programmed state that shows them: `KUBE-LOOP-BACK`. */
  readonly localEndpointsIn: string;
  /** Addresses that a client outside the cluster must not have: those of endpoints. */
  readonly endpoints: ReadonlySet<string>;
  /** The link of virtual IPs, if the mode has one. */
  readonly ownLink?: string;
  /**
   * The kind of a virtual IP: pods are the clients of a cluster IP, hosts outside the cluster those of an external or
   * load-balancer IP. The port decides if several Services have the address. Undefined if no Service has it.
   */
  kindOf(address: string, port: number): VirtualIPKind | undefined;
  /** See {@link RuleContext}. */
  isRecent?(list: string, packet: Packet): Tested;
}

/** Answers questions about the facts of one explanation. Pure. */
export class NodeNetwork implements RuleContext {
  readonly facts: PathFacts;
  readonly mode: ModeView;
  readonly topology: Topology;

  constructor(facts: PathFacts, mode: ModeView) {
    this.facts = facts;
    this.mode = mode;
    this.topology = new Topology(facts);
  }

  get sets() {
    return this.facts.sets;
  }

  /** Bound, as rules of it are methods of a record. */
  readonly isLocal = (address: string): boolean => this.topology.isLocal(address);

  isRecent(list: string, packet: Packet): Tested {
    return this.mode.isRecent?.(list, packet);
  }

  /** The network of the cluster's pods, if rules or configuration name one. */
  get podNetwork(): string | undefined {
    const { local } = this.mode;
    return local && 'network' in local ? local.network : undefined;
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
   * A pod of this node is an endpoint that the mode knows as local, or is reached without a gateway and is in the pod
   * network. If no pod network is known, its link must not be that of the default route.
   */
  #isLocalPod(address: string): boolean {
    const { local, localEndpoints } = this.mode;
    if (localEndpoints.has(address)) return true;
    const route = this.topology.route(address);
    if (!route || route.gateway !== undefined) return false;
    if (local && 'interface' in local) return isLinkOf(local.interface, route.link);
    if (local) return this.#isInPodNetwork(address);
    const uplink = this.topology.uplink();
    return uplink !== undefined && route.link !== uplink;
  }

  #isInPodNetwork(address: string): boolean {
    return isInNetwork(this.podNetwork ?? '', address);
  }

  /** A setting, by its path below /proc/sys. */
  setting(path: string): Setting {
    return settingIn(this.facts, path);
  }

  /** IP forwarding. */
  get forwarding(): Setting {
    return this.setting(pathSettings(this.facts.family).forwarding);
  }

  /** Frames between the ports of bridges pass the rules. */
  get bridgeFilter(): Setting {
    return this.setting(pathSettings(this.facts.family).bridgeFilter);
  }

  /** Frames between the ports of this link pass the rules. */
  filtersBridge(link: string): boolean {
    return this.topology.kindOf(link) === 'bridge' && this.bridgeFilter.on;
  }
}

function isLinkOf(pattern: string, link: string): boolean {
  return pattern.endsWith('+') ? link.startsWith(pattern.slice(0, -1)) : link === pattern;
}
