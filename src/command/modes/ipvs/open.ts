// Opens ipvs mode: its parts of the kernel, and its options from the configuration and the command line.
import { release } from 'node:os';
import { NetlinkError } from '../../../kernel/errors.js';
import { openIpset } from '../../../kernel/ipset/index.js';
import { openIpvs } from '../../../kernel/ipvs/index.js';
import type { Family } from '../../../kernel/net/address.js';
import { createIpvsMode } from '../../../proxy/modes/ipvs/index.js';
import { checkScheduler, prepare, probeScheduler } from '../../../proxy/modes/ipvs/program/prepare.js';
import type { FormerState } from '../../../proxy/modes/mode.js';
import { usableFamilies } from '../iptablesRules/families.js';
import type { FormerSettings, ModeSettings, OpenedMode } from '../shared/definition.js';
import { logFallback, openHostKernel } from '../shared/hostKernel.js';
import { loadAhead } from '../shared/loadAhead.js';
import { loadModule } from '../shared/loadModules.js';
import { openParts } from '../shared/openParts.js';
import { NO_IPSET, NO_IPVS } from './absent.js';
import { formerState, RULES } from './former.js';
import { curesOf, ipvsOptions, schedulerOf } from './fromConfiguration.js';
import { hasIpset, hasIpvs } from './loaded.js';
import { kernelModules } from './modules.js';
import { obstacleOfTunnels } from './tunnels.js';

/** Opens ipvs mode, as `open` of its definition. */
export async function open(settings: ModeSettings): Promise<OpenedMode> {
  const { kernel, options } = await openWithOptions(settings);
  const allowed = settings.configuration.serviceSettings.includes('forwarding');
  const obstacle = allowed ? await obstacleOfTunnels(kernel, options, settings.loadModules) : undefined;
  return {
    mode: createIpvsMode(kernel, options),
    rules: RULES,
    families: options.families,
    minSyncPeriod: settings.configuration.ipvs.minSyncPeriod,
    kernel,
    metrics: { parts: { ipvs: kernel.ipvs, ipset: kernel.ipset } },
    ...(obstacle !== undefined && { refusedSettings: new Map([['forwarding', obstacle]]) }),
    prepare: () => prepare(kernel, options),
    probe: (changed) => probeScheduler(kernel, schedulerOf(changed)),
    check: () => checkScheduler(kernel, options.scheduler),
  };
}

/** Opens the parts of the kernel, with the options of the mode on this host. Rejects as {@link openIpvsKernel}. */
export async function openWithOptions({ log, ...settings }: ModeSettings) {
  const load = settings.loadModules;
  const loading = load ? loadAhead(kernelModules(schedulerOf(settings.configuration)), log) : undefined;
  const kernel = await openIpvsKernel(load);
  logFallback(kernel.iptables, log);
  const usable = usableFamilies(kernel.iptables, { log, mayChange: load });
  const [families] = await Promise.all([usable, loading]);
  return { kernel, options: optionsOf(settings, [...families.keys()]) };
}

/**
 * The state that ipvs mode left, with the parts of the kernel that only this mode needs. A part whose module is not loaded has
 * no state.
 */
export async function openState({
  kernel: host,
  families,
  ...settings
}: FormerSettings): Promise<FormerState> {
  const own = await openParts({
    ipvs: async () => (hasIpvs() ? openIpvs() : NO_IPVS),
    ipset: async () => (hasIpset() ? openIpset() : NO_IPSET),
  });
  return {
    ...formerState({ ...host, ...own }, optionsOf(settings, families)),
    close: () => {
      for (const part of Object.values(own)) part.close();
    },
  };
}

function optionsOf(
  { configuration, command }: Pick<ModeSettings, 'configuration' | 'command'>,
  families: readonly Family[],
) {
  return ipvsOptions(configuration, {
    families,
    kernelRelease: release(),
    ownAll: command.ownAll,
    cures: curesOf(command.cures),
    ...(command.drainBound === undefined ? {} : { drainBound: command.drainBound }),
  });
}

/** The parts of the kernel that ipvs mode needs. */
export type OpenIpvsKernel = Awaited<ReturnType<typeof openIpvsKernel>>;

/**
 * Opens all parts. If one cannot be opened, closes the others and rejects with its NetlinkError.
 *
 * @param load load the module ip_vs if it is missing
 */
export async function openIpvsKernel(load: boolean) {
  const parts = await openParts({
    ipvs: load ? openIpvsWithModule : () => openIpvs(),
    ipset: () => openIpset(),
    host: openHostKernel,
  });
  const { ipvs, ipset, host } = parts;
  return {
    ...host,
    ipvs,
    ipset,
    close: () => {
      for (const part of Object.values(parts)) part.close();
    },
  };
}

/** The netlink family of IPVS exists only while ip_vs is loaded; the kernel does not load it on demand. */
async function openIpvsWithModule(): ReturnType<typeof openIpvs> {
  try {
    return await openIpvs();
  } catch (error) {
    if (!(error instanceof NetlinkError) || error.code !== 'ENOENT') throw error;
    const said = await loadModule('ip_vs');
    if (said === undefined) return openIpvs();
    throw new NetlinkError({ ...error, kernelMessage: said, hint: 'IPVS needs the kernel module ip_vs' });
  }
}
