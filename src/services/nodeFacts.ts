// The Node object and the host's addresses → the facts of the node that planning needs.
import type { Node } from '../objects/types.js';
import { nodeIdentity } from './nodeIdentity.js';
import type { HostFacts, NodeFacts } from './types.js';

/** A host of which no address is known. */
export const NO_HOST: HostFacts = {
  nodePortAddresses: { 4: [], 6: [] },
  unrestricted: new Set([4, 6]),
  addresses: new Set(),
};

/** The parts that node facts are made of; each that is left out is unknown. */
export interface NodeParts {
  readonly node?: Node | undefined;
  /** Derives the facts of the host, given the node's own addresses; default {@link NO_HOST}. */
  readonly host?: (nodeIPs: NodeFacts['nodeIPs']) => HostFacts;
  readonly otherNodes?: ReadonlySet<string>;
  /** Canonical; where it is a specific address, it is the node's own. Default `0.0.0.0`. */
  readonly bindAddress?: string | undefined;
}

/** The facts of a node. One whose Node object is unknown has loopback for its own address, as in kube-proxy. */
export function nodeFacts(name: string, parts: NodeParts = {}): NodeFacts {
  const { node, host, otherNodes = new Set(), bindAddress = '0.0.0.0' } = parts;
  const identity = nodeIdentity(node?.addresses ?? [], bindAddress);
  return {
    name,
    zone: node?.zone ?? '',
    ...identity,
    podCIDRs: node?.podCIDRs ?? [],
    otherNodes,
    host: host?.(identity.nodeIPs) ?? NO_HOST,
  };
}
