// Configuration → options of ipvs mode.
import type { Configuration } from '../config/configuration.js';
import { IPVS_DEFAULTS, type IpvsOptions, type LocalDetector } from '../modes/ipvs/index.js';
import type { Family } from '../net/address.js';

/** What the configuration means to ipvs mode on a host with these families and this kernel. */
export function ipvsOptions(
  configuration: Configuration,
  families: readonly Family[],
  kernelRelease: string,
): IpvsOptions {
  return {
    families,
    scheduler: configuration.ipvs.scheduler,
    masqueradeAll: configuration.iptables.masqueradeAll,
    masqueradeMark: 2 ** configuration.iptables.masqueradeBit,
    localDetector: localDetector(configuration),
    nodePortAddresses: configuration.nodePortAddresses,
    strictARP: configuration.ipvs.strictARP,
    drainBound: IPVS_DEFAULTS.drainBound,
    kernelRelease,
  };
}

function localDetector({ detectLocalMode, detectLocal, clusterCIDR }: Configuration): LocalDetector {
  switch (detectLocalMode) {
    case 'ClusterCIDR':
      return { by: 'network', networks: clusterCIDR };
    case 'NodeCIDR':
      return { by: 'nodeNetwork' };
    case 'BridgeInterface':
      return { by: 'interface', match: detectLocal.bridgeInterface };
    case 'InterfaceNamePrefix':
      return { by: 'interface', match: `${detectLocal.interfaceNamePrefix}+` };
  }
}
