// What iptables mode says about the fields and flags of the configuration.
import type { ModeConfiguration } from '../../config/modes.js';

/** The settings of iptables mode. */
export const IPTABLES_SETTINGS: ModeConfiguration = {
  sections: { periods: 'iptables', masqueradeAll: 'iptables' },
  unused: {
    ipvs: 'iptables mode does not use it',
    nftables: 'only nftables mode uses it',
    'featureGates.KubeProxyNFTablesLocalhostNodePorts': 'only nftables mode uses it',
  },
  ownFlags: [],
  serviceSettings: ['persistence-timeout', 'drain-timeout', 'fail-fast', 'zone-weights', 'weight'],
  periods: ({ iptables }) => iptables,
  validate() {},
  refusedValues: () => [],
};
