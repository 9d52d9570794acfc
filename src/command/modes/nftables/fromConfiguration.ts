// Configuration → options of nftables mode.

import type { Family } from '../../../kernel/net/address.js';
import type { Protocol } from '../../../kernel/net/protocol.js';
import {
  LAYOUTS,
  NFTABLES_DEFAULTS,
  type NftablesLayout,
  type NftablesOptions,
} from '../../../proxy/modes/nftables/plan/options.js';
import { UsageError } from '../../config/commandLine.js';
import type { Configuration } from '../../config/configuration.js';
import { isGateOn, LOCALHOST_NODE_PORTS } from '../../config/featureGates.js';
import { behaviourOf } from '../../config/mirroredVersion.js';
import { explicitLoopback } from '../../config/nodePortAddresses.js';
import { localDetectorOf, nodePortAddressesOf } from '../shared/fromConfiguration.js';

/** The options of nftables mode; `own` has those without a field in the configuration. */
export function nftablesOptions(
  configuration: Configuration,
  own: Pick<NftablesOptions, 'families'> & Partial<Pick<NftablesOptions, 'layout' | 'flowTable'>>,
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
    directSingleEndpoint: behaviourOf(configuration).singleEndpointRule === 'direct',
    localhostRejects: localhostRejectsOf(configuration),
    auditPeriod: NFTABLES_DEFAULTS.auditPeriod,
    ...own,
  };
}

/**
 * The families in which kube-proxy serves TCP node ports on localhost itself: with its gate, those of which `nodePortAddresses` names a
 * loopback network.
 */
export function localhostFamilies(configuration: Configuration): ReadonlySet<Family> {
  const { featureGates, nodePortAddresses } = configuration;
  const isOn = isGateOn(LOCALHOST_NODE_PORTS, featureGates, behaviourOf(configuration));
  return isOn ? explicitLoopback(nodePortAddresses) : new Set();
}

/** With the gate, what is not served on localhost is rejected there. */
function localhostRejectsOf(configuration: Configuration): NftablesOptions['localhostRejects'] {
  const { featureGates } = configuration;
  if (!isGateOn(LOCALHOST_NODE_PORTS, featureGates, behaviourOf(configuration)))
    return NFTABLES_DEFAULTS.localhostRejects;
  const served = localhostFamilies(configuration);
  const of = (family: Family): readonly Protocol[] =>
    served.has(family) ? ['udp', 'sctp'] : ['tcp', 'udp', 'sctp'];
  return { 4: of(4), 6: of(6) };
}

/** The layout with this name; undefined: the default. Throws UsageError for another name. */
export function layoutOf(name: string | undefined): NftablesLayout {
  const layout = name === undefined ? NFTABLES_DEFAULTS.layout : LAYOUTS.find((each) => each === name);
  if (layout === undefined)
    throw new UsageError(`--nftables-layout must be ${LAYOUTS.join(' or ')}; found ${name}`);
  return layout;
}

/** Most bytes of the name of a link (`IFNAMSIZ` less the terminator). */
const LONGEST_LINK_NAME = 15;

/** The links of the flow table; undefined: there is none. Throws UsageError for what is no name of a link, and no beginning of one. */
export function flowTableOf(links: readonly string[] | undefined): readonly string[] | undefined {
  const wrong = links?.find((text) => {
    const name = text.replace(/\*$/, '');
    return text === '' || Buffer.byteLength(name) > LONGEST_LINK_NAME || /[\s/*:]/.test(name);
  });
  if (wrong !== undefined)
    throw new UsageError(
      `--nftables-flow-table must be names of links, or beginnings of names with an asterisk; found "${wrong}"`,
    );
  return links?.length === 0 ? undefined : links;
}
