// Configuration → options of iptables mode.

import type { IptablesOptions } from '../../../proxy/modes/iptables/plan/options.js';
import type { Configuration } from '../../config/configuration.js';
import { localDetectorOf, nodePortAddressesOf } from '../shared/fromConfiguration.js';

/** The options of iptables mode; `own` has those that depend on the host. */
export function iptablesOptions(
  configuration: Configuration,
  own: Pick<IptablesOptions, 'families' | 'nfacct' | 'conntrackLiberal'>,
): IptablesOptions {
  const { iptables } = configuration;
  return {
    masqueradeAll: iptables.masqueradeAll,
    masqueradeMark: 2 ** iptables.masqueradeBit,
    localDetector: localDetectorOf(configuration),
    nodePortAddresses: nodePortAddressesOf(configuration),
    localhostNodePorts: iptables.localhostNodePorts,
    auditPeriod: iptables.syncPeriod,
    ...own,
  };
}
