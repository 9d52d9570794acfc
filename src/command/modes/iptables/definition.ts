// The definition of iptables mode. Its code is loaded when it is opened, or has left state.

import type { Iptables } from '../../../kernel/iptables/types.js';
import type { Family } from '../../../kernel/net/address.js';
import { isOwnChain } from '../../../proxy/modes/iptables/plan/fixedChains.js';
import type { ModeConfiguration } from '../../config/modes.js';
import type { KernelSigns, ModeDefinition } from '../shared/definition.js';

// Finds the state of iptables mode without the code of the mode.

/** Whether iptables mode left a chain other than KUBE-FIREWALL, which is also kubelet's. */
export async function hasTraces(
  iptables: Pick<Iptables, 'chains'>,
  families: readonly Family[],
): Promise<boolean> {
  for (const family of families) {
    for await (const piece of iptables.chains(family))
      if (piece.some(({ table, name }) => isOwnChain(table, name))) return true;
  }
  return false;
}

/** Chains that only iptables mode has, and has without a Service. kubelet has neither. */
const OWN_CHAINS = ['nat/KUBE-NODEPORTS', 'filter/KUBE-EXTERNAL-SERVICES', 'filter/KUBE-NODEPORTS'];

/** Whether iptables mode has programmed the kernel. */
async function isProgrammed({ chains }: KernelSigns): Promise<boolean> {
  return OWN_CHAINS.some((id) => chains.has(id));
}

// What iptables mode says about the fields and flags of the configuration.

/** The settings of iptables mode. */
const IPTABLES_SETTINGS: ModeConfiguration = {
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

/** iptables mode. */
export const IPTABLES_MODE: ModeDefinition = {
  ...IPTABLES_SETTINGS,
  checkFlags: () => {},
  needsAllNodes: () => false,
  open: async (settings) => (await loaded()).open(settings),
  isProgrammed,
  formerRules: async () => (await import('./former.js')).RULES,
  openFormer: async (settings) =>
    (await hasTraces(settings.unshared.iptables, settings.families))
      ? (await loaded()).openState(settings)
      : undefined,
};

const loaded = () => import('./open.js');
