// This node as planning sees it: its Node object and the host's addresses, and the Services that a change of them concerns.
import type { Mode } from '../modes/mode.js';
import { NodeDependents, nodeChange } from '../services/nodeDependents.js';
import { nodeFacts } from '../services/nodeFacts.js';
import type { AssignedAddress, HostChange, NodeFacts, ServiceFrontends } from '../services/types.js';

/** The part of a mode that says which facts of the node matter. */
export type NodeRules = Pick<Mode<never, never>, 'isRelevant' | 'hostChange'>;

type Node = Parameters<typeof nodeFacts>[1];

const NO_SERVICES: ReadonlySet<string> = new Set();

/** The facts of this node, kept as its parts change. Methods that change it return the Services to plan again. */
export class NodeState {
  readonly #rules: NodeRules;
  readonly #nodeName: string;
  readonly #bindAddress: string | undefined;
  readonly #dependents = new NodeDependents();
  /** Those that planning depends on, by link, address and prefix. */
  #host = new Map<string, AssignedAddress>();
  #node: Node;
  #others: ReadonlySet<string> = new Set();
  #facts: NodeFacts;

  /** @param bindAddress canonical; where it is a specific address, it is the node's own */
  constructor(rules: NodeRules, nodeName: string, bindAddress?: string) {
    this.#rules = rules;
    this.#nodeName = nodeName;
    this.#bindAddress = bindAddress;
    this.#facts = nodeFacts(nodeName, undefined, [], this.#others, bindAddress);
  }

  /** The same object as long as no fact changed that planning depends on. */
  get facts(): NodeFacts {
    return this.#facts;
  }

  /** Takes in what a Service means now; undefined when it was deleted. */
  planned(service: string, frontends: ServiceFrontends | undefined): void {
    this.#dependents.planned(service, frontends);
  }

  /** Takes in the Node object, undefined when there is none, and the addresses of all other nodes. */
  nodeChanged(node: Node, others: ReadonlySet<string>): ReadonlySet<string> {
    this.#node = node;
    this.#others = others;
    return this.#update();
  }

  /** Takes in every address of the host. */
  hostListed(addresses: readonly AssignedAddress[]): ReadonlySet<string> {
    const relevant = addresses.filter((address) => this.#rules.isRelevant(address, this.#facts));
    this.#host = new Map(relevant.map((address) => [keyOf(address), address]));
    return this.#update();
  }

  /** Takes in changes of the host's addresses, none of which may be lost. */
  hostChanged({ addresses }: HostChange): ReadonlySet<string> {
    let changed = false;
    for (const { link, address, prefix, deleted } of addresses) {
      const hostAddress = { link, address, prefix };
      if (!this.#rules.isRelevant(hostAddress, this.#facts)) continue;
      changed = true;
      if (deleted) this.#host.delete(keyOf(hostAddress));
      else this.#host.set(keyOf(hostAddress), hostAddress);
    }
    return changed ? this.#update() : NO_SERVICES;
  }

  #update(): ReadonlySet<string> {
    const before = this.#facts;
    const host = [...this.#host.values()];
    const after = nodeFacts(this.#nodeName, this.#node, host, this.#others, this.#bindAddress);
    const change = nodeChange(before, after, this.#rules.hostChange(before, after));
    const { zone, nodeIPs, nodePorts, addresses } = change;
    const concerned = zone || nodeIPs || nodePorts || addresses.length > 0;
    if (!concerned && before.podCIDRs.join() === after.podCIDRs.join()) return NO_SERVICES;
    this.#facts = after;
    return this.#dependents.of(change);
  }
}

function keyOf({ link, address, prefix }: AssignedAddress): string {
  return `${link} ${address}/${prefix}`;
}
