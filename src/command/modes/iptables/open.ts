// Opens iptables mode: its parts of the kernel, and its options from the configuration and the host.
import type { Logger } from 'pino';
import type { FormerState, Mode } from '../../../proxy/modes/mode.js';
import { openNfacct } from '../../kernel/nfacct/index.js';
import type { Nfacct } from '../../kernel/nfacct/types.js';
import { usableFamilies } from '../iptablesRules/families.js';
import type { FormerSettings, ModeSettings, OpenedMode } from '../shared/definition.js';
import { type HostKernel, logFallback, openHostKernel } from '../shared/hostKernel.js';
import { loadAhead } from '../shared/loadAhead.js';
import { COUNTERS, countingObstacle, createCounters, readCounters } from './counters.js';
import { isProgrammed } from './features.js';
import { formerState, RULES } from './former.js';
import { iptablesOptions } from './fromConfiguration.js';
import { KERNEL_MODULES } from './modules.js';
import { checkFeatures, prepare, probeFeatures } from './prepare.js';
import { createCountedMode } from './ruleCounts.js';

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
  let nfacct: Nfacct | undefined;
  const kernel: HostKernel = {
    ...host,
    close: () => {
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
