// How rules distinguish traffic from this node's pods (`detectLocalMode`).
import type { Family } from '../../../../kernel/net/address.js';

/** How rules detect local traffic (`detectLocalMode`). */
export type LocalDetector =
  /** By source network in each family: mode ClusterCIDR. A family without a network has no detector. */
  | { readonly by: 'network'; readonly networks: { readonly [family in Family]?: string } }
  /** By the network of this node's pods: mode NodeCIDR. */
  | { readonly by: 'nodeNetwork' }
  /** By input interface, in iptables' notation (`cni0`, `veth+`): modes BridgeInterface and InterfaceNamePrefix. */
  | { readonly by: 'interface'; readonly match: string };

/** A match for local traffic of a family: its source network, or its input interface. */
export type LocalMatch = { readonly network: string } | { readonly interface: string };

/**
 * Whether a match contains all traffic: its network is 0.0.0.0/0 or ::/0. iptables-save omits such a network, and iptables-nft
 * refuses a rule for the addresses outside it. kube-proxy writes the rule, so that no Service works with iptables-nft; with
 * iptables-legacy, the rule matches nothing.
 */
export function containsAll(local: LocalMatch): boolean {
  return 'network' in local && local.network.endsWith('/0');
}

/**
 * The match for local traffic in a family; undefined if there is no detector for it.
 *
 * @param podNetwork the network of this node's pods in the family, if known
 */
export function localMatch(
  detector: LocalDetector,
  family: Family,
  podNetwork: string | undefined,
): LocalMatch | undefined {
  if (detector.by === 'interface') return { interface: detector.match };
  const network = detector.by === 'network' ? detector.networks[family] : podNetwork;
  return network === undefined ? undefined : { network };
}
