// Checks and sets the prerequisites of iptables mode at the start: one error that names the missing module is better than a
// failure of every Service.
import { NetlinkError } from '../../../kernel/errors.js';
import type { Iptables } from '../../../kernel/iptables/types.js';
import type { Family } from '../../../kernel/net/address.js';
import { HOST, type Machine, moduleHint, stateOfModule } from '../../../kernel/shared/hints.js';
import type { Sysctl } from '../../../kernel/sysctl/index.js';
import { loopbackServesNodePorts } from '../../../proxy/modes/iptables/plan/loopback.js';
import type { IptablesOptions } from '../../../proxy/modes/iptables/plan/options.js';
import { ROUTE_LOCALNET } from '../../../proxy/modes/iptables/plan/planNode.js';
import { isNftables } from '../iptablesRules/backend.js';
import { FEATURES, type Feature, titleOf } from './features.js';

/**
 * The chain of the probe, to which nothing jumps. Its name is that of an endpoint's chain: if the process ends before the chain is
 * deleted, the first pass of the next start finds a chain without an endpoint and deletes it, and so does a clean-up.
 */
export const PROBE_CHAIN = 'KUBE-SEP-PROBEOFTHEKERNEL';

/** Changes the kernel settings that differ. Rejects with the first NetlinkError. */
export async function prepare(
  { sysctl }: { readonly sysctl: Sysctl },
  options: IptablesOptions,
): Promise<void> {
  if (!options.families.includes(4) || !loopbackServesNodePorts(options, 4)) return;
  if ((await sysctl.read(ROUTE_LOCALNET)) !== '1') await sysctl.write(ROUTE_LOCALNET, '1');
}

/**
 * Adds a chain with a rule for each feature and deletes it, in two restores for each family: with iptables-legacy, the kernel does
 * not see a rule that the same restore deletes. Rejects with one NetlinkError, which names the family and all features that it
 * lacks; the hint names the kernel module.
 */
export async function probeFeatures(
  iptables: Pick<Iptables, 'restore'>,
  families: readonly Family[],
  machine: Machine = HOST,
): Promise<void> {
  const probes = families.map((family) => probeFamily(iptables, family, machine));
  for (const error of await Promise.all(probes)) if (error) throw error;
}

async function probeFamily(
  iptables: Pick<Iptables, 'restore'>,
  family: Family,
  machine: Machine,
): Promise<NetlinkError | undefined> {
  const chain = { family, table: 'nat', name: PROBE_CHAIN } as const;
  const add = async (added: readonly Feature[]) => {
    const rules = added.map((feature) => feature.rule(family));
    return refusalOf(await iptables.restore(family, [{ do: 'setChain', chain: { ...chain, rules } }]));
  };
  const refusal = await add(FEATURES);
  const refusals = new Map<Feature, NetlinkError>();
  if (refusal?.code === 'ERR_PROCESS') {
    // iptables-legacy does not name the rule that the kernel refuses.
    for (const feature of FEATURES) {
      const refused = await add([feature]);
      if (refused) refusals.set(feature, refused);
    }
  }
  const left = refusalOf(await iptables.restore(family, [{ do: 'deleteChain', chain }]));
  const [reason] = refusals.values();
  return reason ? lack(family, [...refusals.keys()], reason, machine) : (refusal ?? left);
}

/** The error of a restore. Without an outcome, another program holds the lock of iptables: the first pass waits for it again. */
function refusalOf([error]: readonly (NetlinkError | undefined)[]): NetlinkError | undefined {
  return error?.code === 'ERR_UNKNOWN_OUTCOME' ? undefined : error;
}

/**
 * Looks for the features in the kernel, and changes nothing: those that it has in use, and the modules of the others. Throws a
 * NetlinkError `ENOENT` if a module does not exist that every backend of iptables needs.
 *
 * @returns a warning if the result cannot be determined on this host, otherwise undefined
 */
export function checkFeatures(families: readonly Family[], machine: Machine = HOST): string | undefined {
  const unknown = new Set<string>();
  for (const family of families) {
    const missing: Feature[] = [];
    for (const feature of FEATURES.filter((each) => !isRegistered(family, each, machine))) {
      const state = stateOfModule(feature.module, machine);
      if (state === 'missing' && !feature.mayBeNative) missing.push(feature);
      else if (state === 'missing' || state === 'unknown') unknown.add(titleOf(feature));
    }
    if (missing.length > 0) throw lack(family, missing, { code: 'ENOENT' }, machine);
  }
  if (unknown.size === 0) return undefined;
  return `it is unknown whether the kernel has these extensions of iptables: ${[...unknown].join(', ')}`;
}

/** The kernel lists the extensions in use by both backends where it has the tables of iptables-legacy. */
function isRegistered(family: Family, { kind, name }: Feature, machine: Machine): boolean {
  const list = machine.read(
    `/proc/net/${family === 4 ? 'ip' : 'ip6'}_tables_${kind === 'match' ? 'matches' : 'targets'}`,
  );
  return list?.split('\n').includes(name) ?? false;
}

function lack(
  family: Family,
  features: readonly Feature[],
  { code, kernelMessage }: Pick<NetlinkError, 'code'> & Partial<Pick<NetlinkError, 'kernelMessage'>>,
  machine: Machine,
): NetlinkError {
  const modules = isNftables(kernelMessage) && lacksCompat(machine) ? [COMPAT] : modulesOf(features);
  const hints = modules.map((module) => moduleHint(module, machine));
  return new NetlinkError({
    code,
    operation: 'iptables.probe',
    target: `IPv${family}: ${features.map(titleOf).join(', ')}`,
    kernelMessage,
    hint: `the rules of Services need ${features.length === 1 ? 'it' : 'them'}: ${hints.join('; ')}`,
  });
}

/** The module through which nf_tables uses the extensions of iptables. Once one is used, it is loaded. */
const COMPAT = 'nft_compat';

function lacksCompat(machine: Machine): boolean {
  return ['loadable', 'missing'].includes(stateOfModule(COMPAT, machine));
}

function modulesOf(features: readonly Feature[]): string[] {
  return [...new Set(features.map(({ module }) => module))];
}
