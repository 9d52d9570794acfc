// Detects that another program deleted the rules of a table. kube-proxy looks for its canary chain in table mangle, which few
// rules have, and so finds only programs that delete all tables. This mode checks each table that has rules.
import type { ChainRule, Iptables } from '../../kernel/iptables/types.js';
import type { Family } from '../../net/address.js';
import { LONGEST_TIMER } from '../../timeSlice.js';
import type { DisturbedListener } from '../mode.js';
import { jumps } from './fixedChains.js';
import { type Item, keyOf } from './items.js';
import type { IptablesOptions } from './options.js';

/**
 * A built-in chain of each table. Its jumps are lost when the table is flushed, and without them no packet reaches the other
 * chains. A chain that is deleted alone is found by audits.
 */
const WATCHED: readonly string[] = ['nat/PREROUTING', 'filter/FORWARD'];

/** Looks for the jumps once in each `auditPeriod`, even if changes never pause, until closed. */
export async function watchTables(
  iptables: Pick<Iptables, 'listRules'>,
  { families, auditPeriod }: Pick<IptablesOptions, 'families' | 'auditPeriod'>,
  listener: DisturbedListener<Item>,
): Promise<{ close(): void }> {
  const timer = setInterval(
    () => {
      for (const family of families) {
        listener.disturbed((known) => lostJumps(iptables, watchedJumps(family, known)));
      }
    },
    Math.min(auditPeriod, LONGEST_TIMER),
  );
  return { close: () => clearInterval(timer) };
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
