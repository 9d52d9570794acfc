// Opens ipvs mode: its parts of the kernel, and its options from the configuration and the command line.
import { release } from 'node:os';
import type { Logger } from 'pino';
import { openIpvs } from '../../../kernel/ipvs/index.js';
import type { Family } from '../../../kernel/net/address.js';
import type { Nftables } from '../../../kernel/nftables/types.js';
import { moduleHint, stateOfModule } from '../../../kernel/shared/hints.js';
import { createIpvsMode } from '../../../proxy/modes/ipvs/index.js';
import { TABLE } from '../../../proxy/modes/ipvs/plan/items.js';
import type { IpvsOptions } from '../../../proxy/modes/ipvs/plan/options.js';
import { SET_ROLES, setOf } from '../../../proxy/modes/ipvs/plan/sets.js';
import { TUNNEL_LINKS } from '../../../proxy/modes/ipvs/plan/tunnels.js';
import type { IpvsKernel } from '../../../proxy/modes/ipvs/program/kernel.js';
import { checkScheduler, prepare, probeScheduler } from '../../../proxy/modes/ipvs/program/prepare.js';
import type { FormerState } from '../../../proxy/modes/mode.js';
import { ForeignChains } from '../../../proxy/modes/nftablesRules/program/foreignChains.js';
import { usableFamilies } from '../iptablesRules/families.js';
import { RULE_MODULES } from '../iptablesRules/ruleModules.js';
import { FAILURES } from '../nftablesRules/failures.js';
import { hostFamilies } from '../nftablesRules/families.js';
import {
  checkFeatures,
  checkKernel,
  IPVS_FEATURES,
  modulesOf,
  probeFeatures,
} from '../nftablesRules/prepare.js';
import type { FormerSettings, ModeSettings, OpenedMode } from '../shared/definition.js';
import { logFallback } from '../shared/hostKernel.js';
import { loadAhead } from '../shared/loadAhead.js';
import { loadModules } from '../shared/loadModules.js';
import { NO_IPVS } from './absentParts.js';
import { chooseRules } from './chooseRules.js';
import { formerState, openRulesOn, RULES } from './former.js';
import { curesOf, ipvsOptions, rulesOf, schedulerOf } from './fromConfiguration.js';
import { hasIpvs } from './loaded.js';
import { entriesOfOther } from './otherEntries.js';
import { type OpenIpvsKernel, openIpvsKernel, openOwnParts } from './parts.js';

/** Opens ipvs mode, as `open` of its definition. */
export async function open(settings: ModeSettings): Promise<OpenedMode> {
  const { kernel, options } = await openWithOptions(settings);
  const { families, rules } = options;
  const foreign = rules === 'nftables' ? new ForeignChains(TABLE) : undefined;
  const { nftables } = kernel;
  const allowed = settings.configuration.serviceSettings.includes('forwarding');
  const obstacle = allowed ? await obstacleOfTunnels(kernel, options, settings.loadModules) : undefined;
  return {
    mode: createIpvsMode({ ...kernel, ...(foreign && { foreignChains: foreign }) }, options),
    ...(foreign && { foreignChains: () => foreign.list() }),
    layout: rules,
    ...(rules === 'iptables' && { rules: RULES }),
    families,
    minSyncPeriod: settings.configuration.ipvs.minSyncPeriod,
    kernel,
    metrics: nftables
      ? { parts: { ipvs: kernel.ipvs, nftables }, failures: FAILURES }
      : { parts: { ipvs: kernel.ipvs, ipset: kernel.ipset } },
    ...(obstacle !== undefined && { refusedSettings: new Map([['forwarding', obstacle]]) }),
    prepare: () => prepare(kernel, options),
    probe: async (changed) => {
      if (nftables) await probeFeatures(nftables, families, IPVS_FEATURES);
      await probeScheduler(kernel, schedulerOf(changed));
    },
    check: async () => {
      const scheduler = await checkScheduler(kernel, options.scheduler);
      const tables = nftables && [checkFeatures(families, IPVS_FEATURES), await policyWarning(nftables)];
      const warnings = [scheduler, ...(tables ?? [])].filter((each) => each !== undefined);
      return warnings.length > 0 ? warnings.join('; ') : undefined;
    },
  };
}

/**
 * Warns of base chains of other programs that drop what their rules do not accept: what the table of this mode accepts passes them nevertheless. Those of
 * iptables-legacy are not seen.
 */
async function policyWarning(nftables: Pick<Nftables, 'listChains'>): Promise<string | undefined> {
  const found: string[] = [];
  for await (const { family, table, name, base } of nftables.listChains())
    if (base?.hook === 'input' && base.policy === 'drop')
      found.push(`table ${family} ${table}, chain ${name}`);
  if (found.length === 0) return undefined;
  return `rules of nf_tables do not open health check node ports past a policy drop: ${found.join(', ')}`;
}

/** Opens the parts of the kernel, with the options of the mode on this host. Rejects as {@link openIpvsKernel}. */
export async function openWithOptions({ log, ...settings }: ModeSettings) {
  const load = settings.loadModules;
  const rules = await chooseRules(rulesOf(settings.command.ipvsRules), { load, log });
  if (rules === 'nftables') checkKernel();
  const modules = kernelModules(schedulerOf(settings.configuration), rules);
  const loading = load ? loadAhead(modules, log) : undefined;
  const kernel = await openIpvsKernel(load, rules);
  const [families] = await Promise.all([familiesFor(rules, kernel, { load, log }), loading]);
  const options = optionsOf(settings, families, rules);
  return { kernel: { ...kernel, otherEntries: entriesOfOther(options) }, options };
}

async function familiesFor(
  rules: IpvsOptions['rules'],
  { iptables }: OpenIpvsKernel,
  { load, log }: { readonly load: boolean; readonly log: Logger },
): Promise<readonly Family[]> {
  if (rules === 'iptables') {
    logFallback(iptables, log);
    return [...(await usableFamilies(iptables, { log, mayChange: load })).keys()];
  }
  const { families, unusable } = hostFamilies();
  for (const [family, reason] of unusable) log.warn({ err: reason }, `IPv${family} is left out`);
  return families;
}

/**
 * The state that ipvs mode left, with the parts of the kernel that only this mode needs. A part whose module is not loaded has
 * no state.
 */
export async function openState(
  { kernel: host, families, ...settings }: FormerSettings,
  rules: IpvsOptions['rules'],
): Promise<FormerState> {
  const own = await openOwnParts(rules, async () => (hasIpvs() ? openIpvs() : NO_IPVS));
  const options = optionsOf(settings, familiesOfFormer(families, rules), rules);
  const otherEntries = entriesOfOther(options);
  return { ...formerState({ ...host, ...own, otherEntries }, options), close: own.close };
}

/** The same for the rules alone: virtual services, addresses and settings are not seen. */
export async function openRules(
  { kernel: host, families, ...settings }: FormerSettings,
  rules: IpvsOptions['rules'],
): Promise<FormerState> {
  const own = await openOwnParts(rules, async () => NO_IPVS);
  const options = optionsOf(settings, familiesOfFormer(families, rules), rules);
  return { mode: openRulesOn({ ...host, ...own }, options), close: own.close };
}

/** Tables are read without the programs of iptables, in all families of the host. */
function familiesOfFormer(families: readonly Family[], rules: IpvsOptions['rules']): readonly Family[] {
  return rules === 'iptables' ? families : hostFamilies().families;
}

function optionsOf(
  { configuration, command }: Pick<ModeSettings, 'configuration' | 'command'>,
  families: readonly Family[],
  rules: IpvsOptions['rules'],
) {
  return ipvsOptions(configuration, {
    families,
    rules,
    kernelRelease: release(),
    ownAll: command.ownAll,
    cures: curesOf(command.cures),
    ...(command.drainBound === undefined ? {} : { drainBound: command.drainBound }),
  });
}

// The kernel modules that ipvs mode needs on every node.

/**
 * Names of modules, without those that few rules need: xt_physdev and xt_ipvs. ip_vs, on which the scheduler depends, is not loaded on
 * demand.
 */
export function kernelModules(scheduler: string, rules: IpvsOptions['rules'] = 'iptables'): string[] {
  const own = [`ip_vs_${scheduler}`, 'dummy'];
  // Rules of iptables load br_netfilter with their match physdev: without it, frames between pods of a bridge do not pass the rules.
  if (rules === 'nftables') return [...own, 'br_netfilter', ...modulesOf(IPVS_FEATURES)];
  // hash:ip,port → ip_set_hash_ipport
  const setTypes = new Set(SET_ROLES.map((role) => setOf(role, 4).type));
  const setModules = [...setTypes].map((type) => `ip_set_${type.replace(':', '_').replaceAll(',', '')}`);
  return [...own, ...setModules, 'xt_set', ...RULE_MODULES];
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
