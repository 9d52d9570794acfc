// Rules of a mode that are missing in the programmed state.
import type { Chain, ChainRule } from '../../../kernel/iptables/types.js';
import type { Cause } from '../explanation.js';
import type { NodeNetwork } from './nodeNetwork.js';

/** A cause with code `RulesMissing`. */
export function missingRule(text: string): Cause {
  return { code: 'RulesMissing', text };
}

/**
 * The missing rules.
 *
 * @param jumps rules in built-in chains
 * @param chains chains that have at least as many rules as these
 */
export function rulesMissing(
  { facts: { tables } }: NodeNetwork,
  jumps: readonly ChainRule[],
  chains: readonly Chain[],
): Cause[] {
  // Those that lead to endpoints first.
  const ordered = [...jumps].sort(
    (one, other) => Number(other.table === 'nat') - Number(one.table === 'nat'),
  );
  const lost = ordered
    .filter(({ table, chain, text }) => !tables.rules.get(`${table}/${chain}`)?.includes(text))
    .map(({ table, chain, text }) => missingRule(`chain ${table}/${chain} lacks the rule ${text}`));
  const incomplete = chains.flatMap(({ table, name, rules }) => {
    const found = tables.rules.get(`${table}/${name}`);
    if (!found) return [missingRule(`chain ${table}/${name} does not exist`)];
    if (found.length >= rules.length) return [];
    return [missingRule(`chain ${table}/${name} has ${found.length} of ${rules.length} rules`)];
  });
  return [...lost, ...incomplete];
}
