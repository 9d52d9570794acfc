// What ipvs mode says about the fields and flags of the configuration.

import { SCHEDULERS } from '../../../kernel/ipvs/types.js';
import { parseNetwork } from '../../../kernel/net/network.js';
import type { ModeConfiguration } from '../../config/modes.js';
import { SETTING_NAMES } from '../../config/serviceSettings.js';
import { closestTo } from '../../config/suggestion.js';

/** The settings of ipvs mode. */
export const IPVS_SETTINGS: ModeConfiguration = {
  gate: 'KubeProxyIPVS',
  sections: { periods: 'ipvs', masqueradeAll: 'iptables' },
  unused: {
    'iptables.localhostNodePorts': 'ipvs mode serves no node ports on loopback addresses',
    'iptables.minSyncPeriod': 'ipvs mode does not use it',
    'iptables.syncPeriod': 'ipvs mode does not use it',
    nftables: 'only nftables mode uses it',
    'featureGates.KubeProxyNFTablesLocalhostNodePorts': 'only nftables mode uses it',
  },
  ownFlags: ['cures', 'ipvs-own-all'],
  serviceSettings: SETTING_NAMES,
  periods: ({ ipvs }) => ipvs,
  validate({ ipvs }, errors, selected) {
    const below = (field: string) => `KubeProxyIPVSConfiguration.${field}`;
    // kube-proxy validates this section only in ipvs mode.
    if (selected) {
      errors.durationAtLeastZero(below('TCPTimeout'), ipvs.tcpTimeout);
      errors.durationAtLeastZero(below('TCPFinTimeout'), ipvs.tcpFinTimeout);
      errors.durationAtLeastZero(below('UDPTimeout'), ipvs.udpTimeout);
      // IP_VS_SCHEDNAME_MAXLEN, 16, minus the terminator. kube-proxy has no such rule: it exits with the kernel's error.
      if (!/^[a-z0-9_-]{0,15}$/.test(ipvs.scheduler)) {
        const rule = 'must be the name of an IPVS scheduler, of at most 15 characters';
        errors.invalid(below('Scheduler'), ipvs.scheduler, rule);
      }
    }
    // In every mode: they protect virtual services when the state of ipvs mode is removed after a change of mode.
    for (const [i, network] of ipvs.excludeCIDRs.entries()) {
      if (!parseNetwork(network))
        errors.invalid(below(`ExcludeCidrs[${i}]`), network, 'must be a valid CIDR');
    }
  },
  refusedValues({ ipvs: { scheduler } }) {
    if (scheduler === '' || SCHEDULERS.some((name) => name === scheduler)) return [];
    const nearest = closestTo(scheduler, SCHEDULERS);
    const suggestion = nearest === undefined ? '' : ` (did you mean ${nearest}?)`;
    const rule = `must be a scheduler of the kernel: ${SCHEDULERS.join(', ')}${suggestion}`;
    return [{ field: 'ipvs.scheduler', value: scheduler, rule }];
  },
};
