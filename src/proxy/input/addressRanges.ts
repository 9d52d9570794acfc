// Ranges of the addresses that Services may have, as text.
import { type Network, parseNetwork } from '../../kernel/net/network.js';
import { DNS_LABEL, isName } from './names.js';

/**
 * The ranges of each kind of address, as networks for all namespaces (`203.0.113.0/24`) or for one (`team-a=198.51.100.0/28`). Absent: every
 * address is allowed. Empty: none is.
 */
export interface AddressRanges {
  /** Of `spec.externalIPs`. */
  readonly externalIPs?: readonly string[] | undefined;
  /** Of the IPs in `status.loadBalancer.ingress`. */
  readonly loadBalancerIPs?: readonly string[] | undefined;
}

/** A range that was read. */
export interface AddressRange {
  /** Undefined: all. */
  readonly namespace: string | undefined;
  readonly network: Network;
}

/** The rule for a range. */
export const RANGE_RULE =
  'must be a network in CIDR notation, or a namespace, = and a network: 203.0.113.0/24, team-a=198.51.100.0/28';

/** Reads a range; undefined if the text is none. */
export function rangeOf(text: string): AddressRange | undefined {
  const [, namespace, cidr = ''] = /^(?:([^=]*)=)?(.*)$/s.exec(text) ?? [];
  const network = parseNetwork(cidr);
  if (!network || (namespace !== undefined && !isName(namespace, DNS_LABEL))) return undefined;
  return { namespace, network };
}
