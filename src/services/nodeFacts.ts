// The Node object and the host's addresses → what planning needs to know of the node.
import { type Family, familyOf } from '../net/address.js';
import type { Node } from '../objects/types.js';
import type { HostAddress, NodeFacts } from './types.js';

/** The facts of a node. One whose Node object is unknown has loopback for its own address, as in kube-proxy. */
export function nodeFacts(
  name: string,
  node: Node | undefined,
  hostAddresses: readonly HostAddress[],
  otherNodes: ReadonlySet<string> = new Set(),
): NodeFacts {
  const first = (family: Family) => node?.addresses.find((address) => familyOf(address) === family);
  return {
    name,
    zone: node?.zone ?? '',
    nodeIPs: { 4: first(4) ?? '127.0.0.1', 6: first(6) ?? '::1' },
    podCIDRs: node?.podCIDRs ?? [],
    otherNodes,
    hostAddresses,
  };
}
