// Which addresses and which family a node goes by.
import { type Family, familyOf } from '../net/address.js';
import type { NodeFacts } from './types.js';

/** The part of NodeFacts that tells who the node is. */
export type NodeIdentity = Pick<NodeFacts, 'nodeIPs' | 'primaryFamily'>;

/**
 * The identity of a node, by kube-proxy's rules: the first of its addresses decides the primary family, and so does
 * bindAddress, above it, unless it is unspecified. A family without an address has loopback.
 *
 * @param addresses the Node object's, internal ones first; none when it is unknown
 * @param bindAddress canonical; `0.0.0.0` and `::` say nothing
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
