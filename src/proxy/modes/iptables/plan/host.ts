// The host's addresses as iptables mode uses them: only those within the networks of `nodePortAddresses`, which serve
// node ports. Without networks, one rule matches all addresses of the host.
import { familyOf, isLoopback } from '../../../../kernel/net/address.js';
import { networkContains } from '../../../../kernel/net/network.js';
import type { HostAddress, NodeFacts } from '../../../services/types.js';
import type { HostRules } from '../../mode.js';
import { nodePortNetworks } from '../../shared/plan/nodePortAddresses.js';
import { loopbackServesNodePorts } from './loopback.js';
import type { IptablesOptions } from './options.js';

type NodeIPs = NodeFacts['nodeIPs'];

/** kube-proxy's rules: addresses of every link count, those of loopback only where it serves node ports. */
export function nodePortHosts(
  options: Pick<IptablesOptions, 'localhostNodePorts' | 'nodePortAddresses' | 'localDetector'>,
): HostRules {
  const serves = ({ address }: HostAddress, nodeIPs: NodeIPs) => {
    const family = familyOf(address);
    if (isLoopback(address) && !loopbackServesNodePorts(options, family, nodeIPs)) return false;
    const networks = nodePortNetworks(options.nodePortAddresses, nodeIPs)[family];
    return networks?.some((network) => networkContains(network, address)) ?? false;
  };
  return {
    uses: serves,
    facts(addresses, nodeIPs) {
      const serving = addresses.filter((address) => serves(address, nodeIPs)).map(({ address }) => address);
      const networks = nodePortNetworks(options.nodePortAddresses, nodeIPs);
      const of = (family: 4 | 6) => [...new Set(serving.filter((address) => familyOf(address) === family))];
      return {
        nodePortAddresses: { 4: of(4), 6: of(6) },
        unrestricted: new Set(([4, 6] as const).filter((family) => !networks[family])),
        addresses: new Set(),
      };
    },
    servesOnAll: (address, nodeIPs) =>
      !isLoopback(address) || loopbackServesNodePorts(options, familyOf(address), nodeIPs),
    podNetworks: options.localDetector.by === 'nodeNetwork',
  };
}
