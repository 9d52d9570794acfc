// Opens ipvs mode: its parts of the kernel, and its options from the configuration and the command line.
import { release } from 'node:os';
import { NetlinkError } from '../../../kernel/errors.js';
import { openIpset } from '../../../kernel/ipset/index.js';
import { openIpvs } from '../../../kernel/ipvs/index.js';
import { operationsOf, realServersOf } from '../../../kernel/ipvs/values/serverLists.js';
import { type Family, familyOf } from '../../../kernel/net/address.js';
import { moduleHint, stateOfModule } from '../../../kernel/shared/hints.js';
import { createIpvsMode } from '../../../proxy/modes/ipvs/index.js';
import type { IpvsOptions } from '../../../proxy/modes/ipvs/plan/options.js';
import { SET_ROLES, setOf } from '../../../proxy/modes/ipvs/plan/sets.js';
import { TUNNEL_LINKS } from '../../../proxy/modes/ipvs/plan/tunnels.js';
import type { IpvsKernel } from '../../../proxy/modes/ipvs/program/kernel.js';
import { checkScheduler, prepare, probeScheduler } from '../../../proxy/modes/ipvs/program/prepare.js';
import type { FormerState } from '../../../proxy/modes/mode.js';
import { usableFamilies } from '../iptablesRules/families.js';
import { RULE_MODULES } from '../iptablesRules/ruleModules.js';
import type { FormerSettings, ModeSettings, OpenedMode } from '../shared/definition.js';
import { logFallback, openHostKernel } from '../shared/hostKernel.js';
import { loadAhead } from '../shared/loadAhead.js';
import { loadModule, loadModules } from '../shared/loadModules.js';
import { openParts } from '../shared/openParts.js';
import { formerState, RULES } from './former.js';
import { curesOf, ipvsOptions, schedulerOf } from './fromConfiguration.js';
import { hasIpset, hasIpvs } from './loaded.js';

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

// The parts of a kernel that has not loaded IPVS or ipset, as they are read for the removal of former state: empty.

const absent = (operation: string) =>
  new NetlinkError({ code: 'ENOENT', operation, hint: 'the kernel module is not loaded' });

/** IPVS of a kernel that has not loaded it: there are no virtual services. Changes fail with `ENOENT`. */
const NO_IPVS: IpvsKernel['ipvs'] & { close(): void } = {
  listServices: async () => [],
  listServers: async (ids) => ids.map(({ address }) => realServersOf(familyOf(address), [])),
  applyChanges: async (parts) => parts.flatMap(operationsOf).map(() => absent('ipvs.apply')),
  get: async () => undefined,
  apply: async (operations) => operations.map(() => absent('ipvs.apply')),
  timeouts: async () => ({ tcp: 0, tcpFin: 0, udp: 0 }),
  setTimeouts: async () => {
    throw absent('ipvs.setTimeouts');
  },
  close() {},
};

/** ipset of a kernel that has not loaded it: there are no sets. Changes fail with `ENOENT`. */
const NO_IPSET: IpvsKernel['ipset'] & { close(): void } = {
  list: async () => [],
  get: async () => undefined,
  apply: async (operations) => operations.map(() => absent('ipset.apply')),
  close() {},
};

// The kernel modules that ipvs mode needs on every node.

/**
 * Names of modules, without those that few rules need: xt_physdev and xt_ipvs. ip_vs, on which the scheduler depends, is not loaded on
 * demand.
 */
export function kernelModules(scheduler: string): string[] {
  // hash:ip,port → ip_set_hash_ipport
  const setTypes = new Set(SET_ROLES.map((role) => setOf(role, 4).type));
  const setModules = [...setTypes].map((type) => `ip_set_${type.replace(':', '_').replaceAll(',', '')}`);
  return [`ip_vs_${scheduler}`, 'dummy', ...setModules, 'xt_set', ...RULE_MODULES];
}

// Whether Services may have tunnels on this node (`forwarding: tunnel`).

/** The modules that add the devices. */
const MODULES: Readonly<Record<Family, string>> = { 4: 'ip_gre', 6: 'ip6_gre' };

/**
 * Why Services cannot have tunnels on this node; undefined: they can.
 *
 * @param load load the modules that are missing
 */
export async function obstacleOfTunnels(
  { rtnetlink }: Pick<IpvsKernel, 'rtnetlink'>,
  { families, cures, localDetector }: Pick<IpvsOptions, 'families' | 'cures' | 'localDetector'>,
  load: boolean,
): Promise<string | undefined> {
  if (!cures.has('node-failover')) return 'has an effect only with --cures=node-failover';
  const isDetected = (family: Family) => localDetector.by !== 'network' || localDetector.networks[family];
  if (!families.every(isDetected)) {
    return 'has an effect only if the pods of the node are known in all families: --cluster-cidr, or another --detect-local-mode';
  }
  if (stateOfModule('ip_vs_mh') === 'missing') return `has no effect: ${moduleHint('ip_vs_mh')}`;
  if (load) await loadModules(families.map((family) => MODULES[family]));
  for (const family of families) {
    const name = TUNNEL_LINKS[family];
    if (!(await rtnetlink.getLink(name)))
      return `has no effect: there is no link ${name}; ${moduleHint(MODULES[family])}`;
  }
  return undefined;
}
