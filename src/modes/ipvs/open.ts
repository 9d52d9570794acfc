// Opens ipvs mode: its parts of the kernel, and its options from the configuration and the command line.
import { existsSync } from 'node:fs';
import { release } from 'node:os';
import { NetlinkError } from '../../errors.js';
import { openIpset } from '../../kernel/ipset/index.js';
import { type Ipvs, openIpvs } from '../../kernel/ipvs/index.js';
import { loadModule } from '../../kernel/modules.js';
import type { Family } from '../../net/address.js';
import type { ModeDefinition, ModeSettings } from '../definition.js';
import { usableFamilies } from '../shared/families.js';
import { logFallback, openHostKernel } from '../shared/hostKernel.js';
import { loadAhead } from '../shared/loadAhead.js';
import { openParts } from '../shared/openParts.js';
import { NO_IPSET, NO_IPVS } from './absent.js';
import { formerState, hasTraces, RULES } from './former.js';
import { curesOf, ipvsOptions, schedulerOf } from './fromConfiguration.js';
import { createIpvsMode } from './index.js';
import { kernelModules } from './modules.js';
import { checkScheduler, prepare, probeScheduler } from './prepare.js';

/** The kernel has loaded ipset, or has it built in. */
const IPSET_LOADED = '/sys/module/ip_set';
/** The kernel has loaded IPVS, or has it built in. */
const IPVS_LOADED = '/proc/net/ip_vs';

/** ipvs mode. */
export const IPVS_MODE: ModeDefinition = {
  virtualServices: true,
  checkFlags: ({ cures }) => void curesOf(cures),
  needsAllNodes: ({ cures }) => curesOf(cures).has('other-nodes'),
  async open({ log, ...settings }) {
    const load = settings.loadModules;
    const loading = load ? loadAhead(kernelModules(schedulerOf(settings.configuration)), log) : undefined;
    const kernel = await openIpvsKernel(load);
    logFallback(kernel.iptables, log);
    const usable = usableFamilies(kernel.iptables, { log, mayChange: load });
    const [families] = await Promise.all([usable, loading]);
    const options = optionsOf(settings, [...families.keys()]);
    return {
      mode: createIpvsMode(kernel, options),
      rules: RULES,
      families: options.families,
      minSyncPeriod: settings.configuration.ipvs.minSyncPeriod,
      kernel,
      parts: { ipvs: kernel.ipvs, ipset: kernel.ipset },
      prepare: () => prepare(kernel, options),
      probe: (changed) => probeScheduler(kernel, schedulerOf(changed)),
      check: () => checkScheduler(kernel, options.scheduler),
    };
  },
  async openFormer({ kernel: host, families, ...settings }) {
    const hasIpvs = existsSync(IPVS_LOADED);
    const hasIpset = existsSync(IPSET_LOADED);
    const traces = { ...host, openIpset: hasIpset ? openIpset : undefined };
    const mayHaveServices = settings.command.ownAll && hasIpvs;
    if (!mayHaveServices && !(await hasTraces(traces, families))) return undefined;
    const own = await openParts({
      ipvs: async () => (hasIpvs ? openIpvs() : NO_IPVS),
      ipset: async () => (hasIpset ? openIpset() : NO_IPSET),
    });
    return {
      ...formerState({ ...host, ...own }, optionsOf(settings, families)),
      close: () => {
        for (const part of Object.values(own)) part.close();
      },
    };
  },
};

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
async function openIpvsWithModule(): Promise<Ipvs> {
  try {
    return await openIpvs();
  } catch (error) {
    if (!(error instanceof NetlinkError) || error.code !== 'ENOENT') throw error;
    const said = await loadModule('ip_vs');
    if (said === undefined) return openIpvs();
    throw new NetlinkError({ ...error, kernelMessage: said, hint: 'IPVS needs the kernel module ip_vs' });
  }
}
