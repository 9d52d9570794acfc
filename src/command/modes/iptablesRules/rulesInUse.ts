// The chains and rules that a mode has whatever the Services are. Several modes have some of them; those of the running
// mode are hidden from a former one.
import type { Iptables, SavedChain, SavedRules } from '../../../kernel/iptables/types.js';
import type { Family } from '../../../kernel/net/address.js';
import { splitChainId } from '../../../proxy/modes/iptablesRules/plan/targets.js';
import type { RulesInUse } from '../shared/definition.js';

/** iptables without the chains and rules that the running mode uses: a former mode cannot remove what it does not find. */
export function iptablesWithout(iptables: Iptables, used: RulesInUse): Iptables {
  return {
    async *chains(family) {
      const visible = visibleIn(family, used);
      for await (const piece of iptables.chains(family)) yield piece.flatMap((chain) => visible(chain) ?? []);
    },
    async save(family) {
      return remaining(await iptables.save(family), visibleIn(family, used));
    },
    async saveTables(family) {
      const { rules, policies } = await iptables.saveTables(family);
      return { rules: remaining(rules, visibleIn(family, used)), policies };
    },
    async listRules(family, table, name) {
      const rules = await iptables.listRules(family, table, name);
      return visibleIn(family, used)({ table, name, rules })?.rules ?? [];
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

/** The part of a chain that is not in use; undefined if the chain is. */
type Visible = (chain: SavedChain) => SavedChain | undefined;

function visibleIn(family: Family, { chains, jumps }: RulesInUse): Visible {
  const hidden = new Set(
    Object.entries(chains).flatMap(([table, names]) => names.map((name) => `${table}/${name}`)),
  );
  const rules = new Map<string, Set<string>>();
  for (const { table, chain, text } of jumps(family)) {
    const place = `${table}/${chain}`;
    rules.set(place, (rules.get(place) ?? new Set()).add(text));
  }
  return (chain) => {
    const place = `${chain.table}/${chain.name}`;
    if (hidden.has(place)) return undefined;
    const used = rules.get(place);
    return used ? { ...chain, rules: chain.rules.filter((text) => !used.has(text)) } : chain;
  };
}

function remaining(saved: SavedRules, visible: Visible): SavedRules {
  const rest = new Map<string, readonly string[]>();
  for (const [place, rules] of saved) {
    const [table, name] = splitChainId(place);
    const chain = visible({ table, name, rules });
    if (chain) rest.set(place, chain.rules);
  }
  return rest;
}
