// Node ports on loopback addresses.
import type { Family } from '../../net/address.js';
import { networkContains, parseNetwork } from '../../net/network.js';
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
): boolean {
  if (family !== 4 || !localhostNodePorts || nodePortAddresses === 'primary') return false;
  const networks = nodePortAddresses
    .flatMap((text) => parseNetwork(text) ?? [])
    .filter((network) => network.family === 4);
  const hasLoopback = networks.some(
    (network) => network.bytes[0] === 127 || networkContains(network, '127.0.0.0'),
  );
  return networks.length === 0 || hasLoopback;
}
