// Node ports on loopback addresses.
import type { Family } from '../../net/address.js';
import { networkContains } from '../../net/network.js';
import type { NodeFacts } from '../../services/types.js';
import { nodePortNetworks } from '../shared/nodePortAddresses.js';
import type { IptablesOptions } from './options.js';

/**
 * Whether node ports are served on loopback addresses: only in IPv4, if `localhostNodePorts` is true and
 * `nodePortAddresses` does not exclude them.
 */
export function loopbackServesNodePorts(
  {
    localhostNodePorts,
    nodePortAddresses,
  }: Pick<IptablesOptions, 'localhostNodePorts' | 'nodePortAddresses'>,
  family: Family,
  nodeIPs: NodeFacts['nodeIPs'],
): boolean {
  if (family !== 4 || !localhostNodePorts) return false;
  const networks = nodePortNetworks(nodePortAddresses, nodeIPs)[4];
  if (!networks) return true;
  return networks.some((network) => network.bytes[0] === 127 || networkContains(network, '127.0.0.0'));
}
