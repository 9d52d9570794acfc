// The chains to which rules of other programs jump, such as those of kubelet and CNI plugins.
import type { SavedRules } from '../../../kernel/iptables/types.js';

/** The names of a chain: `nat/KUBE-SERVICES` has the table nat. */
export function splitChainId(id: string): [table: string, name: string] {
  const [table = '', name = ''] = id.split('/');
  return [table, name];
}

/**
 * The chains, as `table/chain`, to which rules jump that are not the mode's own.
 *
 * @param isOwnChain whether all rules of a chain are the mode's own
 * @param ownRules texts of its own rules in other chains
 */
export function targetsOfOthers(
  saved: SavedRules,
  isOwnChain: (table: string, name: string) => boolean,
  ownRules: ReadonlySet<string>,
): Set<string> {
  const targets = new Set<string>();
  for (const id of saved.keys()) {
    const [table, name] = splitChainId(id);
    if (isOwnChain(table, name)) continue;
    for (const rule of saved.get(id) ?? []) {
      const target = ownRules.has(rule) ? undefined : /-[jg] (\S+)/.exec(rule)?.[1];
      if (target !== undefined) targets.add(`${table}/${target}`);
    }
  }
  return targets;
}
