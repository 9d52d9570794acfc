// Configuration → options of ipvs mode.
import type { Configuration } from '../config/configuration.js';
import { UsageError } from '../config/flags.js';
import {
  CURES,
  type Cure,
  IPVS_DEFAULTS,
  type IpvsOptions,
  type LocalDetector,
} from '../modes/ipvs/index.js';

/** What the configuration means to ipvs mode; `own` holds what the configuration has no field for. */
export function ipvsOptions(
  configuration: Configuration,
  own: Pick<IpvsOptions, 'families' | 'kernelRelease'> &
    Partial<Pick<IpvsOptions, 'ownAll' | 'drainBound' | 'cures'>>,
): IpvsOptions {
  const { ipvs, iptables } = configuration;
  return {
    ...IPVS_DEFAULTS,
    scheduler: ipvs.scheduler,
    masqueradeAll: iptables.masqueradeAll,
    masqueradeMark: 2 ** iptables.masqueradeBit,
    localDetector: localDetector(configuration),
    nodePortAddresses: configuration.nodePortAddresses,
    strictARP: ipvs.strictARP,
    timeouts: { tcp: ipvs.tcpTimeout, tcpFin: ipvs.tcpFinTimeout, udp: ipvs.udpTimeout },
    excludeCIDRs: ipvs.excludeCIDRs,
    ...own,
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

/** The cures of these names. Throws UsageError for a name that is none. */
export function curesOf(names: readonly string[]): Set<Cure> {
  const known: ReadonlySet<string> = new Set(CURES);
  for (const name of names) {
    if (!known.has(name)) throw new UsageError(`--cures must be of ${CURES.join(', ')}; found ${name}`);
  }
  return new Set(names as Cure[]);
}
