// Configuration → options that several modes have.

import { type Family, familyOf } from '../../../kernel/net/address.js';
import { canonicalNetwork } from '../../../kernel/net/network.js';
import type { LocalDetector } from '../../../proxy/modes/shared/plan/localDetector.js';
import type { Configuration } from '../../config/configuration.js';
import { expandNodePortAddresses } from '../../config/nodePortAddresses.js';

/** How rules detect local traffic: `detectLocalMode` with its settings. */
export function localDetectorOf({ detectLocalMode, detectLocal, clusterCIDR }: Configuration): LocalDetector {
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

/** The networks of `nodePortAddresses`, canonical, or `primary`; beside networks, `primary` is one of the list. */
export function nodePortAddressesOf({ nodePortAddresses }: Configuration): readonly string[] | 'primary' {
  if (nodePortAddresses.length > 0 && nodePortAddresses.every((value) => value === 'primary'))
    return 'primary';
  return expandNodePortAddresses(nodePortAddresses).flatMap((value) =>
    value === 'primary' ? value : canonicalNetworks([value]),
  );
}

/** Networks in canonical form. They are valid: the configuration has been validated. */
export function canonicalNetworks(texts: readonly string[]): string[] {
  return texts.flatMap((text) => canonicalNetwork(text) ?? []);
}

/** The first network of each family. */
function byFamily(networks: readonly string[]): { [family in Family]?: string } {
  return Object.fromEntries(networks.toReversed().map((network) => [familyOf(network), network]));
}
