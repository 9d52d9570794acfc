// Configuration → options of ipvs mode.

import {
  CURES,
  type Cure,
  IPVS_DEFAULTS,
  type IpvsOptions,
  RULES,
} from '../../../proxy/modes/ipvs/plan/options.js';
import { UsageError } from '../../config/commandLine.js';
import type { Configuration } from '../../config/configuration.js';
import { canonicalNetworks, localDetectorOf, nodePortAddressesOf } from '../shared/fromConfiguration.js';

/** The options of ipvs mode; `own` has those without a field in the configuration. */
export function ipvsOptions(
  configuration: Configuration,
  own: Pick<IpvsOptions, 'families' | 'kernelRelease'> &
    Partial<Pick<IpvsOptions, 'rules' | 'ownAll' | 'drainBound' | 'cures'>>,
): IpvsOptions {
  const { ipvs, iptables } = configuration;
  return {
    ...IPVS_DEFAULTS,
    scheduler: schedulerOf(configuration),
    masqueradeAll: iptables.masqueradeAll,
    masqueradeMark: 2 ** iptables.masqueradeBit,
    localDetector: localDetectorOf(configuration),
    nodePortAddresses: nodePortAddressesOf(configuration),
    strictARP: ipvs.strictARP,
    auditPeriod: ipvs.syncPeriod,
    timeouts: {
      tcp: seconds(ipvs.tcpTimeout),
      tcpFin: seconds(ipvs.tcpFinTimeout),
      udp: seconds(ipvs.udpTimeout),
    },
    excludeCIDRs: canonicalNetworks(ipvs.excludeCIDRs),
    ...own,
  };
}

/** The scheduler of every virtual service; an empty field means the default. */
export function schedulerOf({ ipvs }: Configuration): string {
  return ipvs.scheduler || IPVS_DEFAULTS.scheduler;
}

/** The kernel's timeouts are in whole seconds. */
function seconds(milliseconds: number): number {
  return Math.trunc(milliseconds / 1000);
}

/** The corrections with these names. Throws UsageError for an unknown name. */
export function curesOf(names: readonly string[]): Set<Cure> {
  const known: ReadonlySet<string> = new Set(CURES);
  for (const name of names) {
    if (!known.has(name)) throw new UsageError(`--cures must be of ${CURES.join(', ')}; found ${name}`);
  }
  return new Set(names as Cure[]);
}

/** What writes the rules, by the value of `--ipvs-rules`. `auto`: nf_tables where iptables or ipset cannot be had. */
export type RulesChoice = IpvsOptions['rules'] | 'auto';

/** The choice with this name; undefined: the default. Throws UsageError for another name. */
export function rulesOf(name: string | undefined): RulesChoice {
  if (name === undefined) return IPVS_DEFAULTS.rules;
  const choices: readonly RulesChoice[] = [...RULES, 'auto'];
  const choice = choices.find((each) => each === name);
  if (choice === undefined)
    throw new UsageError(`--ipvs-rules must be of ${choices.join(', ')}; found ${name}`);
  return choice;
}
