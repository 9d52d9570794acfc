// The table of nf_tables of ipvs mode, as the rules of iptables and the ipsets that do the same: one explanation follows both. Pure.
import type { ListedEntry, SetHeader, SetState } from '../../../kernel/ipset/types.js';
import type { Family } from '../../../kernel/net/address.js';
import type { Item, NodeDrop, Shortcut, TableChain } from '../../../proxy/modes/ipvs/plan/items.js';
import type { IpvsOptions } from '../../../proxy/modes/ipvs/plan/options.js';
import { JUMPS, policy, type RuleFacts } from '../../../proxy/modes/ipvs/plan/policy.js';
import { jumps, textsOf } from '../../../proxy/modes/ipvs/plan/rules.js';
import { SET_ROLES, setOf } from '../../../proxy/modes/ipvs/plan/sets.js';
import { chainName, jumpTo, rulesOf } from '../../../proxy/modes/ipvs/plan/tableChains.js';
import type { Rule } from '../../../proxy/modes/nftablesRules/plan/expressions.js';
import { sameRule } from '../../../proxy/modes/nftablesRules/plan/sameRules.js';

/** What a table does, in the terms of iptables and ipset. */
export interface RulesOfTable {
  /** By table and chain, as of `SavedTables`. */
  readonly rules: ReadonlyMap<string, readonly string[]>;
  readonly sets: ReadonlyMap<string, SetState>;
}

/**
 * The rules and sets of a family's table. A rule of the policy is there if the table has its expressions.
 *
 * @param items of the table, as the kernel has them
 * @param options with the detector of local traffic of these rules
 */
export function rulesOfTable(
  family: Family,
  items: readonly Item[],
  options: IpvsOptions,
  { podNetwork, receivesTunnels }: Pick<RuleFacts, 'podNetwork' | 'receivesTunnels'>,
): RulesOfTable {
  const sets = setsOf(family, items);
  const facts: RuleFacts = {
    has: (role) => (sets.get(setOf(role, family).name)?.entries.length ?? 0) > 0,
    nodeDrops: items.filter((item): item is NodeDrop => item.kind === 'nodeDrop'),
    shortcuts: items.filter((item): item is Shortcut => item.kind === 'shortcut'),
    podNetwork,
    receivesTunnels,
  };
  const programmed = new Map(
    items.filter((item): item is TableChain => item.kind === 'tableChain').map((each) => [each.name, each]),
  );
  const rules = new Map<string, string[]>();
  for (const { table, name, rules: wanted } of policy(family, facts, options)) {
    const place = chainName(table, name);
    const found = programmed.get(place);
    if (!found) continue;
    const texts = wanted.flatMap((each) => {
      const own = rulesOf(family, table, [each], options);
      // A rule that has no counterpart is there with the others of its chain.
      const isThere = own.length > 0 ? own.every((one) => has(found, one)) : found.rules.length > 0;
      return isThere ? textsOf(family, [each], facts, options) : [];
    });
    rules.set(place, table === 'filter' ? texts.map(passing) : texts);
  }
  const texts = jumps(family);
  for (const [i, { table, from, to }] of JUMPS.entries()) {
    const place = chainName(table, from);
    const found = programmed.get(place);
    const text = texts[i]?.text;
    // The last one is the first in its chain.
    if (text !== undefined && found && has(found, jumpTo(table, to)))
      rules.set(place, [text, ...(rules.get(place) ?? [])]);
  }
  return { rules, sets };
}

/** An accept of nf_tables ends the base chain, and the packet goes on to the chains of other tables. Here, no rule of this table follows it. */
function passing(text: string): string {
  return text.replace(/-j ACCEPT$/, '-j RETURN');
}

function has({ rules }: TableChain, wanted: Rule): boolean {
  return rules.some((rule) => sameRule(rule, wanted));
}

function setsOf(family: Family, items: readonly Item[]): Map<string, SetState> {
  const sets = new Map<string, SetState>();
  if (!items.some(({ kind }) => kind === 'tableChain')) return sets;
  for (const role of SET_ROLES) {
    const set = { ...setOf(role, family), revision: 0, references: 0, extended: false } as SetHeader;
    const entries = items.flatMap((item) =>
      item.kind === 'entry' && item.set.name === set.name ? [item.entry as ListedEntry] : [],
    );
    sets.set(set.name, { set, entries });
  }
  return sets;
}
