// Node ports on loopback addresses.
import type { Family } from '../../../../kernel/net/address.js';
import { networkContains } from '../../../../kernel/net/network.js';
import type { NodeFacts } from '../../../services/types.js';
import { nodePortNetworks } from '../../shared/plan/nodePortAddresses.js';
import type { IptablesOptions } from './options.js';

/** Not loopback. */
const SOME_NODE_IPS = { 4: '0.0.0.0', 6: '::' } as const;

/**
 * Whether node ports are served on loopback addresses: only in IPv4, if `localhostNodePorts` is true and
 * `nodePortAddresses` does not exclude them. `primary` excludes them, unless the node has no IPv4 address.
 *
 * @param nodeIPs by default, the node has addresses of both families
 */
export function loopbackServesNodePorts(
  {
    localhostNodePorts,
    nodePortAddresses,
  }: Pick<IptablesOptions, 'localhostNodePorts' | 'nodePortAddresses'>,
  family: Family,
  nodeIPs: NodeFacts['nodeIPs'] = SOME_NODE_IPS,
): boolean {
  if (family !== 4 || !localhostNodePorts) return false;
  const networks = nodePortNetworks(nodePortAddresses, nodeIPs)[4];
  if (!networks) return true;
  return networks.some((network) => network.bytes[0] === 127 || networkContains(network, '127.0.0.0'));
}
