// Selects the node IPs and the primary family of a node.
import { type Family, familyOf } from '../../kernel/net/address.js';
import type { NodeFacts } from './types.js';

/** The node IPs and the primary family. */
type NodeIdentity = Pick<NodeFacts, 'nodeIPs' | 'primaryFamily'>;

/**
 * The identity of a node, by kube-proxy's rules. bindAddress has priority over the Node's addresses, unless it is
 * unspecified. The first address determines the primary family. The node IP of a family without an address is loopback.
 *
 * @param addresses addresses of the Node object, internal ones first; empty if it is unknown
 * @param bindAddress canonical; `0.0.0.0` and `::` are ignored
 */
export function nodeIdentity(addresses: readonly string[], bindAddress: string): NodeIdentity {
  const bound = bindAddress === '0.0.0.0' || bindAddress === '::' ? [] : [bindAddress];
  const all = [...bound, ...addresses];
  const first = (family: Family) => all.find((address) => familyOf(address) === family);
  return {
    nodeIPs: { 4: first(4) ?? '127.0.0.1', 6: first(6) ?? '::1' },
    primaryFamily: all[0] === undefined ? 4 : familyOf(all[0]),
  };
}
