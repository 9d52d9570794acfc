// Opens iptables mode: its parts of the kernel, and its options from the configuration and the host.
import type { Logger } from 'pino';
import { HOST, type Machine, stateOfModule } from '../../../kernel/shared/hints.js';
import type { IptablesOptions } from '../../../proxy/modes/iptables/plan/options.js';
import { INVALID_COUNTER, LOCALHOST_COUNTER } from '../../../proxy/modes/iptables/plan/ruleText.js';
import type { IptablesKernel } from '../../../proxy/modes/iptables/program/kernel.js';
import type { FormerState, Mode } from '../../../proxy/modes/mode.js';
import type { Configuration } from '../../config/configuration.js';
import { openNfacct } from '../../kernel/nfacct/index.js';
import type { Nfacct } from '../../kernel/nfacct/types.js';
import { usableFamilies } from '../iptablesRules/families.js';
import { RULE_MODULES } from '../iptablesRules/ruleModules.js';
import type { FormerSettings, ModeSettings, OpenedMode } from '../shared/definition.js';
import { localDetectorOf, nodePortAddressesOf } from '../shared/fromConfiguration.js';
import { type HostKernel, logFallback, openHostKernel } from '../shared/hostKernel.js';
import { loadAhead } from '../shared/loadAhead.js';
import { isProgrammed } from './features.js';
import { formerState, RULES } from './former.js';
import { checkFeatures, prepare, probeFeatures } from './prepare.js';
import { createCountedMode } from './ruleCounts.js';
import { RulesMark } from './rulesMark.js';

/** conntrack accepts TCP packets outside the window as valid. */
const BE_LIBERAL = 'net/netfilter/nf_conntrack_tcp_be_liberal';

/** Opens iptables mode, as `open` of its definition. */
export async function open(settings: ModeSettings): Promise<OpenedMode> {
  const { kernel, nfacct, options, ...opened } = await openWithOptions(settings);
  let { untested } = opened;
  const { mode, take } = createCountedMode(kernel, options);
  return {
    // Another program may have deleted a counter that no rule uses yet.
    mode: nfacct && settings.loadModules ? withCounters(mode, nfacct) : mode,
    rules: RULES,
    families: options.families,
    minSyncPeriod: settings.configuration.iptables.minSyncPeriod,
    kernel,
    metrics: {
      countsPorts: true,
      ruleCounts: take,
      ...(nfacct && { packets: { counters: COUNTERS, read: () => readCounters(nfacct) } }),
    },
    prepare: () => prepare(kernel, options),
    // No feature depends on the configuration: a family is tested once.
    probe: async () => {
      await probeFeatures(kernel.iptables, untested);
      untested = [];
    },
    check: async () => checkFeatures(untested),
  };
}

/** The state that iptables mode left. */
export function openState({ kernel, families, configuration }: FormerSettings): FormerState {
  const own = { families, nfacct: false, conntrackLiberal: false };
  return formerState(kernel, iptablesOptions(configuration, own));
}

/**
 * Opens the parts of the kernel, with the options of the mode on this host, and the families without rules of ours, whose
 * features are untested. Rejects with the NetlinkError of the part that cannot be opened.
 */
export async function openWithOptions({ configuration, command, loadModules, log }: ModeSettings) {
  const loading = loadModules ? loadAhead(KERNEL_MODULES, log) : undefined;
  const host = await openHostKernel();
  const rulesMark = new RulesMark();
  let nfacct: Nfacct | undefined;
  const kernel: HostKernel & IptablesKernel = {
    ...host,
    mark: () => rulesMark.read(),
    close: () => {
      rulesMark.close();
      nfacct?.close();
      host.close();
    },
  };
  try {
    nfacct = await openCounters(loadModules, log);
    // With manifests, the settings of conntrack are not written.
    const willBeLiberal = configuration.conntrack.tcpBeLiberal && command.manifests === '';
    logFallback(kernel.iptables, log);
    const usable = await usableFamilies(kernel.iptables, { log, mayChange: loadModules });
    const untested = [...usable].filter(([, chains]) => !isProgrammed(chains)).map(([family]) => family);
    const options = iptablesOptions(configuration, {
      families: [...usable.keys()],
      nfacct: nfacct !== undefined,
      conntrackLiberal: willBeLiberal || ((await kernel.sysctl.read(BE_LIBERAL)) ?? '0') !== '0',
    });
    await loading;
    return { kernel, nfacct, options, untested };
  } catch (error) {
    kernel.close();
    throw error;
  }
}

/** nfacct, if the kernel can count packets. With `create`, its counters exist. */
async function openCounters(create: boolean, log: Logger): Promise<Nfacct | undefined> {
  let nfacct: Nfacct | undefined;
  let obstacle: string | undefined;
  try {
    nfacct = await openNfacct();
    obstacle = await countingObstacle(nfacct);
    if (obstacle === undefined && create) await createCounters(nfacct);
  } catch (error) {
    obstacle = String(error);
  }
  if (obstacle === undefined) return nfacct;
  nfacct?.close();
  log.info({ err: obstacle }, 'dropped and accepted packets are not counted: this kernel has no nfacct');
  return undefined;
}

/** Creates the counters before each full reading: rules with a counter that does not exist cannot be added. */
function withCounters<Counted extends Pick<Mode<unknown, never>, 'observe'>>(
  mode: Counted,
  nfacct: Nfacct,
): Counted {
  return {
    ...mode,
    async *observe() {
      await createCounters(nfacct);
      yield* mode.observe();
    },
  };
}

// Counters of packets (nfacct) that rules of iptables mode increase, where the kernel has them.

/** The counters, with kube-proxy's metrics of them. */
export const COUNTERS = [
  {
    counter: INVALID_COUNTER,
    name: 'iptables_ct_state_invalid_dropped_packets_total',
    help: 'packets dropped by iptables to work around conntrack problems',
  },
  {
    counter: LOCALHOST_COUNTER,
    name: 'iptables_localhost_nodeports_accepted_packets_total',
    help: 'Number of packets accepted on nodeports of loopback interface',
  },
] as const;

/** Why the kernel cannot count packets; undefined if it can. Creates no counter. */
export async function countingObstacle(
  nfacct: Pick<Nfacct, 'get'>,
  machine: Machine = HOST,
): Promise<string | undefined> {
  try {
    for (const { counter } of COUNTERS) await nfacct.get(counter);
  } catch (error) {
    return String(error);
  }
  // iptables' match is a module of its own. Without it, no rule that has it could be added.
  return stateOfModule('xt_nfacct', machine) === 'missing' ? 'the kernel has no module xt_nfacct' : undefined;
}

/** Creates the missing counters. Rules that have them need them. Rejects with the NetlinkError of a counter. */
export async function createCounters(nfacct: Pick<Nfacct, 'add'>): Promise<void> {
  for (const { counter } of COUNTERS) {
    const error = await nfacct.add(counter);
    if (error) throw error;
  }
}

/** The packets of each counter that exists, by its name. Rejects with a NetlinkError. */
export async function readCounters(nfacct: Pick<Nfacct, 'get'>): Promise<Map<string, number>> {
  const packets = new Map<string, number>();
  for (const { counter } of COUNTERS) {
    const found = await nfacct.get(counter);
    if (found) packets.set(counter, Number(found.packets));
  }
  return packets;
}

// Configuration → options of iptables mode.

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

// The kernel modules that iptables mode needs on every node.

/** Names of modules, without those that few rules need: xt_recent for session affinity, and xt_sctp. */
export const KERNEL_MODULES: readonly string[] = [
  ...RULE_MODULES,
  'xt_tcpudp',
  'xt_nat',
  'xt_statistic',
  'xt_nfacct',
];
