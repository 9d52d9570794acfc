// Opens ipvs mode: its parts of the kernel, and its options from the configuration and the command line.
import { release } from 'node:os';
import type { Logger } from 'pino';
import { NetlinkError } from '../../errors.js';
import { openIpset } from '../../kernel/ipset/index.js';
import { type Ipvs, openIpvs } from '../../kernel/ipvs/index.js';
import { loadModule, loadModules } from '../../kernel/modules.js';
import type { ModeDefinition } from '../definition.js';
import { openHostKernel, usableFamilies } from '../shared/hostKernel.js';
import { openParts } from '../shared/openParts.js';
import { curesOf, ipvsOptions, schedulerOf } from './fromConfiguration.js';
import { createIpvsMode } from './index.js';
import { kernelModules } from './modules.js';
import { checkScheduler, prepare, probeScheduler } from './prepare.js';

/** ipvs mode. */
export const IPVS_MODE: ModeDefinition = {
  checkFlags: ({ cures }) => void curesOf(cures),
  needsAllNodes: ({ cures }) => curesOf(cures).has('other-nodes'),
  async open({ configuration, command, loadModules: load, log }) {
    const loading = load ? loadAhead(schedulerOf(configuration), log) : undefined;
    const kernel = await openIpvsKernel(load);
    const [families] = await Promise.all([usableFamilies(kernel.iptables, log), loading]);
    const options = ipvsOptions(configuration, {
      families,
      kernelRelease: release(),
      ownAll: command.ownAll,
      cures: curesOf(command.cures),
      ...(command.drainBound === undefined ? {} : { drainBound: command.drainBound }),
    });
    return {
      mode: createIpvsMode(kernel, options),
      families: options.families,
      minSyncPeriod: configuration.ipvs.minSyncPeriod,
      kernel,
      parts: { ipvs: kernel.ipvs, ipset: kernel.ipset },
      prepare: () => prepare(kernel, options),
      probe: (changed) => probeScheduler(kernel, schedulerOf(changed)),
      check: () => checkScheduler(kernel, options.scheduler),
    };
  },
};

/** Loads modules before the first pass needs them. A failure is none of the mode: a module may be built in, or not needed. */
async function loadAhead(scheduler: string, log: Logger): Promise<void> {
  const said = await loadModules(kernelModules(scheduler)).catch(String);
  if (said !== undefined) log.debug({ err: said }, 'not all kernel modules were loaded ahead');
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
    ipvs: load ? openIpvsWithModule : openIpvs,
    ipset: openIpset,
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
