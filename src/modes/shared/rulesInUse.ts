// The chains and rules that a mode has whatever the Services are. Several modes have some of them; those of the running
// mode are hidden from a former one.
import type { ChainRule, Iptables, SavedRules, Table } from '../../kernel/iptables/types.js';
import type { Family } from '../../net/address.js';

/** The chains of a mode, and its rules in built-in chains. */
export interface RulesInUse {
  /** Names of its chains, without those of single Services and endpoints. */
  readonly chains: Readonly<Record<Table, readonly string[]>>;
  /** Its rules in built-in chains. */
  jumps(family: Family): readonly ChainRule[];
}

/** iptables without the chains and rules that the running mode uses: a former mode cannot remove what it does not find. */
export function iptablesWithout(iptables: Iptables, used: RulesInUse): Iptables {
  return {
    save: async (family) => remaining(await iptables.save(family), family, used),
    async saveTables(family) {
      const { rules, policies } = await iptables.saveTables(family);
      return { rules: remaining(rules, family, used), policies };
    },
    async listRules(family, table, chain) {
      const place = `${table}/${chain}`;
      const rules = new Map([[place, await iptables.listRules(family, table, chain)]]);
      return remaining(rules, family, used).get(place) ?? [];
    },
    restore: (family, operations) => iptables.restore(family, operations),
    get onBatch() {
      return iptables.onBatch;
    },
    set onBatch(listener) {
      iptables.onBatch = listener;
    },
  };
}

function remaining(saved: SavedRules, family: Family, { chains, jumps }: RulesInUse): SavedRules {
  const hidden = new Set(
    Object.entries(chains).flatMap(([table, names]) => names.map((name) => `${table}/${name}`)),
  );
  const rules = new Map<string, Set<string>>();
  for (const { table, chain, text } of jumps(family)) {
    const place = `${table}/${chain}`;
    rules.set(place, (rules.get(place) ?? new Set()).add(text));
  }
  const visible = new Map<string, readonly string[]>();
  for (const [place, texts] of saved) {
    if (hidden.has(place)) continue;
    const used = rules.get(place);
    visible.set(place, used ? texts.filter((text) => !used.has(text)) : texts);
  }
  return visible;
}
