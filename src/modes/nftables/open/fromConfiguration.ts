// Configuration → options of nftables mode.
import type { Configuration } from '../../../config/configuration.js';
import { localDetectorOf, nodePortAddressesOf } from '../../shared/open/fromConfiguration.js';
import { NFTABLES_DEFAULTS, type NftablesOptions } from '../plan/options.js';

/** The options of nftables mode; `own` has those that depend on the host. */
export function nftablesOptions(
  configuration: Configuration,
  own: Pick<NftablesOptions, 'families'>,
): NftablesOptions {
  const { nftables } = configuration;
  const nodePortAddresses = nodePortAddressesOf(configuration);
  return {
    masqueradeAll: nftables.masqueradeAll,
    masqueradeMark: 2 ** nftables.masqueradeBit,
    localDetector: localDetectorOf(configuration),
    // In this mode, no value is `primary`.
    nodePortAddresses: nodePortAddresses.length === 0 ? 'primary' : nodePortAddresses,
    auditPeriod: NFTABLES_DEFAULTS.auditPeriod,
    ...own,
  };
}
