// The host's addresses as nftables mode uses them: those within the networks of `nodePortAddresses`, which serve node ports. Without
// networks, one rule matches all addresses of the host.
import { familyOf, isLoopback } from '../../../../kernel/net/address.js';
import { networkContains } from '../../../../kernel/net/network.js';
import type { HostAddress, HostLink, NodeFacts } from '../../../services/types.js';
import type { HostRules } from '../../mode.js';
import { nodePortNetworks } from '../../shared/plan/nodePortAddresses.js';
import { takesLink } from './flowTable.js';
import type { NftablesOptions } from './options.js';

type NodeIPs = NodeFacts['nodeIPs'];

/** kube-proxy's rules: addresses of every link count, except loopback ones, on which this mode never serves node ports. */
export function nodePortHosts({
  nodePortAddresses,
  localDetector,
  flowTable,
}: Pick<NftablesOptions, 'nodePortAddresses' | 'localDetector' | 'flowTable'>): HostRules {
  const serves = ({ address }: HostAddress, nodeIPs: NodeIPs) => {
    if (isLoopback(address)) return false;
    const networks = nodePortNetworks(nodePortAddresses, nodeIPs)[familyOf(address)];
    return networks?.some((network) => networkContains(network, address)) ?? false;
  };
  return {
    uses: serves,
    ...(flowTable && { usesLink: (link: HostLink) => takesLink(flowTable, link) }),
    facts(addresses, nodeIPs) {
      const serving = addresses.filter((address) => serves(address, nodeIPs)).map(({ address }) => address);
      const networks = nodePortNetworks(nodePortAddresses, nodeIPs);
      const of = (family: 4 | 6) => [...new Set(serving.filter((address) => familyOf(address) === family))];
      return {
        nodePortAddresses: { 4: of(4), 6: of(6) },
        unrestricted: new Set(([4, 6] as const).filter((family) => !networks[family])),
        addresses: new Set(),
      };
    },
    servesOnAll: (address) => !isLoopback(address),
    podNetworks: localDetector.by === 'nodeNetwork',
  };
}
