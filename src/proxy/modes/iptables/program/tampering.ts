// Detects that another program deleted the rules of a table. kube-proxy looks for its canary chain in table mangle, which few
// rules have, and so finds only programs that delete all tables. This mode checks each table that has rules.
import type { ChainRule, Iptables } from '../../../../kernel/iptables/types.js';
import type { Family } from '../../../../kernel/net/address.js';
import { LONGEST_TIMER } from '../../../timers.js';
import type { DisturbedListener } from '../../mode.js';
import { jumps } from '../plan/fixedChains.js';
import { type Item, keyOf } from '../plan/items.js';
import type { IptablesOptions } from '../plan/options.js';

/**
 * The built-in chains whose jumps lead packets to the chains of Services: PREROUTING and FORWARD those of other hosts and of pods,
 * OUTPUT those of the node. A flush of the table deletes these jumps. A chain that is deleted alone is found by audits.
 */
const WATCHED: readonly string[] = ['nat/PREROUTING', 'nat/OUTPUT', 'filter/FORWARD', 'filter/OUTPUT'];

/** The looks at the tables of a mode. */
export interface TableWatch {
  /** Looks at once: a change of the family failed, perhaps because its table was flushed. */
  look(family: Family): void;
  close(): void;
}

/**
 * Looks for the jumps once in each `auditPeriod`, even if changes never pause, until closed.
 *
 * @param mark of all rules; undefined if they have none. While it is the same, no look is needed
 */
export async function watchTables(
  iptables: Pick<Iptables, 'listRules'>,
  mark: () => Promise<string | undefined>,
  { families, auditPeriod }: Pick<IptablesOptions, 'families' | 'auditPeriod'>,
  listener: DisturbedListener<Item>,
): Promise<TableWatch> {
  const lost = (family: Family) => (known: ReadonlyMap<string, Item>) =>
    lostJumps(iptables, watchedJumps(family, known));
  // The failed change is reported and retried. An error of this look must not cause a full pass, which may fail in the same way and
  // look again without a pause; the next look of the period rejects with it.
  const look = (family: Family) => listener.disturbed((known) => lost(family)(known).catch(() => false));
  let closed = false;
  let lookedAt: string | undefined;
  const lookAtAll = async () => {
    const now = await mark().catch(() => undefined);
    if (closed || (now !== undefined && now === lookedAt)) return;
    lookedAt = now;
    for (const family of families) listener.disturbed(lost(family));
  };
  const timer = setInterval(() => void lookAtAll(), Math.min(auditPeriod, LONGEST_TIMER));
  const close = () => {
    closed = true;
    clearInterval(timer);
  };
  return { look, close };
}

/** The known jumps of the watched chains of a family. */
function watchedJumps(family: Family, known: ReadonlyMap<string, Item>): ChainRule[] {
  return jumps(family).filter(
    (jump) => WATCHED.includes(`${jump.table}/${jump.chain}`) && known.has(keyOf({ kind: 'rule', ...jump })),
  );
}

/** Whether the kernel lacks one of these rules. */
async function lostJumps(
  iptables: Pick<Iptables, 'listRules'>,
  wanted: readonly ChainRule[],
): Promise<boolean> {
  const listed = new Map<string, readonly string[]>();
  for (const { family, table, chain, text } of wanted) {
    const place = `${table}/${chain}`;
    const rules = listed.get(place) ?? (await iptables.listRules(family, table, chain));
    listed.set(place, rules);
    if (!rules.includes(text)) return true;
  }
  return false;
}
