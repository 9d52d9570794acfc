// What ipvs mode writes its rules with on this host.
import type { Logger } from 'pino';
import { NetlinkError } from '../../../kernel/errors.js';
import { openIpset } from '../../../kernel/ipset/index.js';
import type { Ipset } from '../../../kernel/ipset/types.js';
import { openIptables } from '../../../kernel/iptables/index.js';
import { HOST, type Machine, moduleHint, stateOfModule } from '../../../kernel/shared/hints.js';
import type { IpvsOptions } from '../../../proxy/modes/ipvs/plan/options.js';
import { findFamilies } from '../iptablesRules/families.js';
import type { RulesChoice } from './fromConfiguration.js';

/** The parts by which iptables and ipset are looked for. */
interface Parts {
  readonly findFamilies: () => ReturnType<typeof findFamilies>;
  readonly openIpset: () => Promise<Pick<Ipset, 'capabilities' | 'close'>>;
}

/**
 * What writes the rules. Logs what `auto` has found.
 *
 * @param load ipset may load its modules; otherwise, its module is looked for
 */
export async function chooseRules(
  choice: RulesChoice,
  { load, log }: { readonly load: boolean; readonly log: Pick<Logger, 'info'> },
  parts: Parts = HOST_PARTS,
  machine: Machine = HOST,
): Promise<IpvsOptions['rules']> {
  if (choice !== 'auto') return choice;
  const obstacle = (await obstacleOfIptables(parts)) ?? (await obstacleOfIpset(parts, load, machine));
  const rules = obstacle === undefined ? 'iptables' : 'nftables';
  log.info(
    { rules, ...(obstacle !== undefined && { reason: obstacle }) },
    'what writes the rules was chosen',
  );
  return rules;
}

const HOST_PARTS: Parts = {
  openIpset: () => openIpset(),
  async findFamilies() {
    const iptables = openIptables();
    try {
      return await findFamilies(iptables);
    } finally {
      await iptables.close();
    }
  },
};

/** Why this host cannot have rules of iptables; undefined: it can. Its programs must run for IPv4 or IPv6. */
async function obstacleOfIptables(parts: Parts): Promise<string | undefined> {
  const { usable, unusable } = await parts.findFamilies();
  if (usable.size > 0) return undefined;
  return unusable.map(({ family, reason }) => `IPv${family}: ${reason}`).join('; ');
}

/** Why this host cannot have ipsets; undefined: it can. */
async function obstacleOfIpset(parts: Parts, load: boolean, machine: Machine): Promise<string | undefined> {
  if (stateOfModule('ip_set', machine) === 'missing') return moduleHint('ip_set', machine);
  if (!load) return undefined;
  try {
    const ipset = await parts.openIpset();
    try {
      return (await ipset.capabilities()).hint;
    } finally {
      await ipset.close();
    }
  } catch (error) {
    if (!(error instanceof NetlinkError)) throw error;
    return String(error);
  }
}
