// The definition of ipvs mode. Its code is loaded when it is opened, or has left state.

import { NetlinkError } from '../../../kernel/errors.js';
import type { Ipset } from '../../../kernel/ipset/types.js';
import type { Iptables } from '../../../kernel/iptables/types.js';
import { SCHEDULERS } from '../../../kernel/ipvs/types.js';
import type { Family } from '../../../kernel/net/address.js';
import { parseNetwork } from '../../../kernel/net/network.js';
import type { Rtnetlink } from '../../../kernel/rtnetlink/types.js';
import type { Machine } from '../../../kernel/shared/hints.js';
import { LINK, REBUILD, TABLE } from '../../../proxy/modes/ipvs/plan/items.js';
import { SET_ROLES, setOf } from '../../../proxy/modes/ipvs/plan/sets.js';
import type { ModeConfiguration } from '../../config/modes.js';
import { SETTING_NAMES } from '../../config/serviceSettings.js';
import { closestTo } from '../../config/suggestion.js';
import type { FormerSettings, KernelSigns, ModeDefinition } from '../shared/definition.js';
import { curesOf, rulesOf } from './fromConfiguration.js';
import { hasIpset, hasIpvs } from './loaded.js';

// Finds the state of ipvs mode without IPVS, and without the code of the mode.

/** Chains that only ipvs mode has. */
const OWN_CHAINS = [
  'nat/KUBE-NODE-PORT',
  'nat/KUBE-LOAD-BALANCER',
  'filter/KUBE-NODE-PORT',
  'filter/KUBE-SOURCE-RANGES-FIREWALL',
  'filter/KUBE-IPVS-FILTER',
  'filter/KUBE-IPVS-OUT-FILTER',
];

/** The parts of the kernel in which the state is found without IPVS. */
interface TracesKernel {
  readonly rtnetlink: Pick<Rtnetlink, 'getLink'>;
  readonly iptables: Pick<Iptables, 'chains'>;
  /** Undefined if the kernel has not loaded ipset. */
  readonly openIpset: (() => Promise<Pick<Ipset, 'list' | 'close'>>) | undefined;
}

/** Whether ipvs mode left kube-ipvs0, a chain or a set. Loads no kernel module. */
export async function hasTraces(kernel: TracesKernel, families: readonly Family[]): Promise<boolean> {
  if (await kernel.rtnetlink.getLink(LINK)) return true;
  for (const family of families) {
    for await (const piece of kernel.iptables.chains(family))
      if (piece.some(({ table, name }) => OWN_CHAINS.includes(`${table}/${name}`))) return true;
  }
  return hasSets(kernel.openIpset);
}

/** Whether ipvs mode has programmed the kernel. Sets alone are what a removal has left. */
async function isProgrammed({ chains, hasLink, openNftables, machine }: KernelSigns): Promise<boolean> {
  if (OWN_CHAINS.some((id) => chains.has(id)) || (await hasLink(LINK))) return true;
  return hasOwnTable(openNftables, machine);
}

async function hasOwnTable(open: KernelSigns['openNftables'], machine?: Machine): Promise<boolean> {
  return (await import('../nftablesRules/traces.js')).hasTable(TABLE, open, machine);
}

async function hasSets(open: TracesKernel['openIpset']): Promise<boolean> {
  if (!open) return false;
  let ipset: Awaited<ReturnType<typeof open>>;
  try {
    ipset = await open();
  } catch (error) {
    // Without libipset, no proxy on this host made sets.
    if (error instanceof NetlinkError && error.code === 'ERR_LIBRARY') return false;
    throw error;
  }
  try {
    const names = new Set<string>(SET_ROLES.flatMap((role) => [setOf(role, 4).name, setOf(role, 6).name]));
    return (await ipset.list()).some(({ name }) => names.has(name) || name === REBUILD);
  } finally {
    ipset.close();
  }
}

// What ipvs mode says about the fields and flags of the configuration.

/** The settings of ipvs mode. */
const IPVS_SETTINGS: ModeConfiguration = {
  gate: 'KubeProxyIPVS',
  sections: { periods: 'ipvs', masqueradeAll: 'iptables' },
  unused: {
    'iptables.localhostNodePorts': 'ipvs mode serves no node ports on loopback addresses',
    'iptables.minSyncPeriod': 'ipvs mode does not use it',
    'iptables.syncPeriod': 'ipvs mode does not use it',
    nftables: 'only nftables mode uses it',
    'featureGates.KubeProxyNFTablesLocalhostNodePorts': 'only nftables mode uses it',
  },
  ownFlags: ['cures', 'ipvs-own-all', 'ipvs-rules'],
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

/** ipvs mode. */
export const IPVS_MODE: ModeDefinition = {
  ...IPVS_SETTINGS,
  checkFlags: ({ cures, ipvsRules }) => {
    curesOf(cures);
    rulesOf(ipvsRules);
  },
  needsAllNodes: ({ cures }) => curesOf(cures).has('other-nodes'),
  open: async (settings) => (await loaded()).open(settings),
  isProgrammed,
  formerRules: async () => (await import('./former.js')).RULES,
  openFormer: async (settings) => {
    const hasTable = await hasOwnTable(openTables);
    const isThere = hasTable || (await mayHaveState(settings));
    return isThere ? (await loaded()).openState(settings, hasTable ? 'nftables' : 'iptables') : undefined;
  },
  async openFormerRules(settings, remaining) {
    const hasTable = await hasOwnTable(openTables);
    const hasOthers = hasTable && settings.layout === 'iptables';
    if (hasOthers) return (await loaded()).openRules(settings, 'nftables');
    if (settings.layout === 'iptables') return undefined;
    // The whole former mode has one kind of rules, with which it is removed. An interrupted change of the rules has left the other.
    if (settings.layout === undefined && (hasTable || remaining.includes('ipvs'))) return 'later';
    return (await hasRules(settings)) ? (await loaded()).openRules(settings, 'iptables') : undefined;
  },
};

const loaded = () => import('./open.js');

async function openTables() {
  return (await import('../../../kernel/nftables/open.js')).openNftables();
}

const openSets = () =>
  hasIpset() ? async () => (await import('../../../kernel/ipset/open.js')).openIpset() : undefined;

async function mayHaveState({ kernel, families, command }: FormerSettings): Promise<boolean> {
  if (command.ownAll && hasIpvs()) return true;
  return hasTraces({ ...kernel, openIpset: openSets() }, families);
}

/** Whether the mode left a chain of iptables or a set. */
async function hasRules({ unshared, families }: FormerSettings): Promise<boolean> {
  const rtnetlink = { getLink: async () => undefined };
  return hasTraces({ rtnetlink, iptables: unshared.iptables, openIpset: openSets() }, families);
}
