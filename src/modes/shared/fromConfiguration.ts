// Fields of the configuration that several modes read in the same way.
import type { Configuration } from '../../config/configuration.js';
import { type Family, familyOf } from '../../net/address.js';
import { formatNetwork, parseNetwork } from '../../net/network.js';
import type { LocalDetector } from './localDetector.js';

/** The options that ipvs mode and iptables mode have in common. */
export function commonOptions(configuration: Configuration) {
  const { iptables, nodePortAddresses: nodePorts } = configuration;
  return {
    masqueradeAll: iptables.masqueradeAll,
    masqueradeMark: 2 ** iptables.masqueradeBit,
    localDetector: localDetector(configuration),
    nodePortAddresses: nodePorts[0] === 'primary' ? ('primary' as const) : canonicalNetworks(nodePorts),
  };
}

/** Networks in canonical form. They are valid: the configuration has been validated. */
export function canonicalNetworks(texts: readonly string[]): string[] {
  return texts.flatMap((text) => {
    const network = parseNetwork(text);
    return network ? [formatNetwork(network)] : [];
  });
}

function localDetector({ detectLocalMode, detectLocal, clusterCIDR }: Configuration): LocalDetector {
  switch (detectLocalMode) {
    case 'ClusterCIDR':
      return { by: 'network', networks: byFamily(canonicalNetworks(clusterCIDR.split(','))) };
    case 'NodeCIDR':
      return { by: 'nodeNetwork' };
    case 'BridgeInterface':
      return { by: 'interface', match: detectLocal.bridgeInterface };
    case 'InterfaceNamePrefix':
      return { by: 'interface', match: `${detectLocal.interfaceNamePrefix}+` };
  }
}

/** The first network of each family. */
function byFamily(networks: readonly string[]): { [family in Family]?: string } {
  return Object.fromEntries(networks.toReversed().map((network) => [familyOf(network), network]));
}
