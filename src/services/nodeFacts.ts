// The Node object and the host's addresses → what planning needs to know of the node.
import type { Node } from '../objects/types.js';
import { nodeIdentity } from './nodeIdentity.js';
import type { HostAddress, NodeFacts } from './types.js';

/**
 * The facts of a node. One whose Node object is unknown has loopback for its own address, as in kube-proxy.
 *
 * @param bindAddress canonical; where it is a specific address, it is the node's own
 */
export function nodeFacts(
  name: string,
  node: Node | undefined,
  hostAddresses: readonly HostAddress[],
  otherNodes: ReadonlySet<string> = new Set(),
  bindAddress = '0.0.0.0',
): NodeFacts {
  return {
    name,
    zone: node?.zone ?? '',
    ...nodeIdentity(node?.addresses ?? [], bindAddress),
    podCIDRs: node?.podCIDRs ?? [],
    otherNodes,
    hostAddresses,
  };
}
