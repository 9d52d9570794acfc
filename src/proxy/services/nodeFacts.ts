// The Node object and the host's addresses → the facts of the node for plans.
import type { Node } from '../objects/types.js';
import { nodeIdentity } from './nodeIdentity.js';
import type { HostFacts, HostLink, NodeFacts } from './types.js';

/** A host without known addresses. */
const NO_HOST: HostFacts = {
  nodePortAddresses: { 4: [], 6: [] },
  unrestricted: new Set([4, 6]),
  addresses: new Set(),
};

/** The inputs of node facts. An absent input is unknown. */
export interface NodeParts {
  readonly node?: Node | undefined;
  /** Returns the facts of the host for these node IPs; default {@link NO_HOST}. */
  readonly host?: (nodeIPs: NodeFacts['nodeIPs']) => HostFacts;
  readonly serviceCIDRs?: readonly string[];
  readonly otherNodes?: ReadonlySet<string>;
  /** See {@link NodeFacts.unreachable}. */
  readonly unreachable?: ReadonlySet<string> | undefined;
  /** Canonical. If it is not unspecified, it is the node IP. Default `0.0.0.0`. */
  readonly bindAddress?: string | undefined;
}

/** The facts of a node. If its Node object is unknown, its node IPs are loopback addresses, as in kube-proxy. */
export function nodeFacts(name: string, parts: NodeParts = {}): NodeFacts {
  const { node, host, serviceCIDRs = [], otherNodes = new Set(), unreachable } = parts;
  const { bindAddress = '0.0.0.0' } = parts;
  const identity = nodeIdentity(node?.addresses ?? [], bindAddress);
  return {
    name,
    zone: node?.zone ?? '',
    ...identity,
    podCIDRs: node?.podCIDRs ?? [],
    serviceCIDRs,
    otherNodes,
    ...(unreachable && { unreachable }),
    host: host?.(identity.nodeIPs) ?? NO_HOST,
  };
}

/** A link as rtnetlink lists it or notifies of it. */
export function hostLink(link: { readonly name: string; readonly flags: readonly unknown[] }): HostLink {
  return { name: link.name, isLoopback: link.flags.includes('loopback') };
}
