// Configuration → options of nftables mode.
import { UsageError } from '../../../config/commandLine.js';
import type { Configuration } from '../../../config/configuration.js';
import { localDetectorOf, nodePortAddressesOf } from '../../shared/open/fromConfiguration.js';
import { LAYOUTS, NFTABLES_DEFAULTS, type NftablesLayout, type NftablesOptions } from '../plan/options.js';

/** The options of nftables mode; `own` has those without a field in the configuration. */
export function nftablesOptions(
  configuration: Configuration,
  own: Pick<NftablesOptions, 'families'> & Partial<Pick<NftablesOptions, 'layout'>>,
): NftablesOptions {
  const { nftables } = configuration;
  const nodePortAddresses = nodePortAddressesOf(configuration);
  return {
    masqueradeAll: nftables.masqueradeAll,
    masqueradeMark: 2 ** nftables.masqueradeBit,
    localDetector: localDetectorOf(configuration),
    // In this mode, no value is `primary`.
    nodePortAddresses: nodePortAddresses.length === 0 ? 'primary' : nodePortAddresses,
    layout: NFTABLES_DEFAULTS.layout,
    directSingleEndpoint: NFTABLES_DEFAULTS.directSingleEndpoint,
    auditPeriod: NFTABLES_DEFAULTS.auditPeriod,
    ...own,
  };
}

/** The layout with this name; undefined: the default. Throws UsageError for another name. */
export function layoutOf(name: string | undefined): NftablesLayout {
  const layout = name === undefined ? NFTABLES_DEFAULTS.layout : LAYOUTS.find((each) => each === name);
  if (layout === undefined)
    throw new UsageError(`--nftables-layout must be ${LAYOUTS.join(' or ')}; found ${name}`);
  return layout;
}
