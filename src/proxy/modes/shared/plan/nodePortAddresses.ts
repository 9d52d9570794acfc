// The host's addresses on which node ports are served (`nodePortAddresses`), and its other own addresses.
import { type Family, familyOf, isLinkLocalIPv6, isLoopback } from '../../../../kernel/net/address.js';
import { type Network, networkContains, parseNetwork } from '../../../../kernel/net/network.js';
import type { HostAddress, NodeFacts } from '../../../services/types.js';
import type { HostRules } from '../../mode.js';

type NodeIPs = NodeFacts['nodeIPs'];

/** The settings that select the addresses of node ports. */
interface NodePortRules {
  /** Networks, canonical, and `primary` for the node's own addresses; only `primary` may stand alone. Empty: no restriction. */
  readonly nodePortAddresses: readonly string[] | 'primary';
  /** The mode's own link, whose addresses are virtual IPs. */
  readonly ownLink: string;
  /** Whether addresses of the own link within the networks get node ports too, as in kube-proxy. */
  readonly onOwnLink: boolean;
}

/**
 * kube-proxy's rules. Without networks for a family, node ports are served on every address that is neither loopback
 * nor link-local nor on the mode's own link. With networks, they are served on every non-loopback address in them,
 * including addresses of the own link. A network of length 0 does not restrict. `primary` selects the node IP of each
 * family; a family without a node IP is not restricted.
 */
export function nodePortHost({ nodePortAddresses: given, ownLink, onOwnLink }: NodePortRules): HostRules {
  const isOrdinary = ({ link, address }: HostAddress) =>
    link !== ownLink && !isLoopback(address) && !isLinkLocalIPv6(address);
  return {
    uses(hostAddress, nodeIPs) {
      const { link, address } = hostAddress;
      if (isOrdinary(hostAddress)) return true;
      if (isLoopback(address) || (link === ownLink && !onOwnLink)) return false;
      const within = nodePortNetworks(given, nodeIPs)[familyOf(address)];
      return within?.some((network) => networkContains(network, address)) ?? false;
    },
    facts(hostAddresses, nodeIPs) {
      const within = nodePortNetworks(given, nodeIPs);
      const others = hostAddresses.filter(isOrdinary).map(({ address }) => address);
      const all = hostAddresses.filter(({ link }) => onOwnLink || link !== ownLink);
      return {
        nodePortAddresses: {
          4: addressesOf(4, within[4], others, all),
          6: addressesOf(6, within[6], others, all),
        },
        unrestricted: new Set(([4, 6] as const).filter((family) => !within[family])),
        addresses: new Set(others),
      };
    },
  };
}

/**
 * The networks to which node ports are restricted in each family; undefined if they are not.
 *
 * @param given see {@link NodePortRules.nodePortAddresses}
 */
export function nodePortNetworks(
  given: NodePortRules['nodePortAddresses'],
  nodeIPs: NodeIPs,
): Readonly<Record<Family, readonly Network[] | undefined>> {
  const values = given === 'primary' ? [given] : given;
  const networks = values.includes('primary')
    ? values.flatMap((value) => (value === 'primary' ? ownNetworks(nodeIPs) : value))
    : values;
  return { 4: restriction(4, networks), 6: restriction(6, networks) };
}

/** The loopback addresses of the host within the networks, which kube-proxy leaves out for node ports, but not for health-check ports. */
export function selectedLoopback(
  given: NodePortRules['nodePortAddresses'],
  hostAddresses: readonly HostAddress[],
  nodeIPs: NodeIPs,
): string[] {
  const networks = nodePortNetworks(given, nodeIPs);
  const isSelected = (address: string) =>
    isLoopback(address) &&
    networks[familyOf(address)]?.some((network) => networkContains(network, address)) === true;
  return [...new Set(hostAddresses.map(({ address }) => address).filter(isSelected))];
}

/** The node's own addresses, each as a network. */
function ownNetworks(nodeIPs: NodeIPs): string[] {
  const known = [nodeIPs[4], nodeIPs[6]].filter((address) => !isLoopback(address));
  return known.map((address) => `${address}/${familyOf(address) === 4 ? 32 : 128}`);
}

/** The networks to which a family's node ports are restricted; undefined if they are not. */
function restriction(family: Family, networks: readonly string[]): Network[] | undefined {
  const own = networks
    .flatMap((text) => parseNetwork(text) ?? [])
    .filter((network) => network.family === family);
  return own.length === 0 || own.some((network) => network.prefix === 0) ? undefined : own;
}

function addressesOf(
  family: Family,
  within: readonly Network[] | undefined,
  others: readonly string[],
  all: readonly HostAddress[],
): string[] {
  const candidates = within
    ? all
        .map(({ address }) => address)
        .filter(
          (address) => !isLoopback(address) && within.some((network) => networkContains(network, address)),
        )
    : others;
  return [...new Set(candidates.filter((address) => familyOf(address) === family))];
}
