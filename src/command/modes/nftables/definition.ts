// The definition of nftables mode. Its code is loaded when it is opened, or has left state.

import { TABLE } from '../../../proxy/modes/nftables/plan/names.js';
import type { ModeConfiguration } from '../../config/modes.js';
import type { ModeDefinition } from '../shared/definition.js';
import { flowTableOf, layoutOf, localhostFamilies } from './fromConfiguration.js';

// What nftables mode says about the fields and flags of the configuration.

const NO_PERIOD =
  'the kernel reports changes by other programs, and failed changes are repeated with growing delays';

const ON_NODE_IPS =
  'node ports are served on the node IPs only: set nodePortAddresses to 0.0.0.0/0 and ::/0 for all addresses';
const NOT_ON_LOOPBACK =
  'node ports are not served on loopback addresses any more (iptables.localhostNodePorts)';
const AT_RANDOM = 'endpoints are selected at random: there are no schedulers (ipvs.scheduler)';
const NO_ADDRESSES = 'virtual IPs are no addresses of the node any more (kube-ipvs0)';

/** The settings of nftables mode. */
export const NFTABLES_SETTINGS: ModeConfiguration = {
  sections: { periods: 'nftables', masqueradeAll: 'nftables' },
  unused: {
    ipvs: 'nftables mode does not use it',
    'iptables.localhostNodePorts':
      'nftables mode serves none on loopback addresses, but for a gate of later versions: see docs/versions.md',
    'iptables.masqueradeBit': 'nftables mode has nftables.masqueradeBit',
    'iptables.syncPeriod': NO_PERIOD,
    'nftables.syncPeriod': NO_PERIOD,
  },
  ownFlags: ['nftables-layout', 'nftables-flow-table'],
  serviceSettings: ['persistence-timeout', 'drain-timeout', 'fail-fast', 'zone-weights', 'weight'],
  periods: ({ nftables }) => nftables,
  // kube-proxy has no flags of the section nftables: these of iptables mode have effect in this mode too.
  withFlags: ({ iptables, nftables, ...configuration }) => ({
    ...configuration,
    iptables,
    nftables: {
      ...nftables,
      masqueradeAll: iptables.masqueradeAll,
      minSyncPeriod: iptables.minSyncPeriod,
    },
  }),
  validate({ nftables }, errors, selected) {
    // kube-proxy validates this section only in nftables mode.
    if (!selected || (nftables.masqueradeBit >= 0 && nftables.masqueradeBit <= 31)) return;
    const field = 'KubeProxyNFTablesConfiguration.MasqueradeBit';
    errors.invalid(field, nftables.masqueradeBit, 'must be within the range [0, 31]');
  },
  changesAfter(configuration, former) {
    if (former.size === 0) return [];
    const { iptables, nodePortAddresses } = configuration;
    const servesLocalhost = localhostFamilies(configuration).has(4);
    const changes: string[] = [];
    if (nodePortAddresses.length === 0) changes.push(ON_NODE_IPS);
    // The state of ipvs mode has chains of iptables mode too: with both, ipvs mode ran, which serves none there.
    const ranIptables = former.has('iptables') && !former.has('ipvs');
    if (ranIptables && iptables.localhostNodePorts && !servesLocalhost) changes.push(NOT_ON_LOOPBACK);
    if (former.has('ipvs')) changes.push(AT_RANDOM, NO_ADDRESSES);
    return changes;
  },
  refusedValues: () => [],
};

/** nftables mode. */
export const NFTABLES_MODE: ModeDefinition = {
  ...NFTABLES_SETTINGS,
  checkFlags: ({ nftablesLayout, nftablesFlowTable }) => {
    layoutOf(nftablesLayout);
    flowTableOf(nftablesFlowTable);
  },
  needsServiceCIDRs: true,
  needsAllNodes: () => false,
  open: async (settings) => (await loaded()).open(settings),
  isProgrammed: async ({ openNftables, machine }) =>
    (await import('../nftablesRules/traces.js')).hasTable(TABLE, openNftables, machine),
  openFormer: async (settings) => {
    const { openNftables } = await import('../../../kernel/nftables/open.js');
    const { hasTable } = await import('../nftablesRules/traces.js');
    return (await hasTable(TABLE, openNftables)) ? (await loaded()).openState(settings) : undefined;
  },
};

const loaded = () => import('./open.js');
