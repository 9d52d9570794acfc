// The rules of the hooks in nftables mode: those of iptables, and the base chains of the mode at their priorities. Pure.
import { type Branch, type HookRules, iptablesRules } from '../packet/walk.js';
import type { NodeNetwork } from '../shared/nodeNetwork.js';
import type { ProgrammedTable } from './table.js';
import { walkChain } from './walk.js';

/** The tables of iptables in each hook, in their order, with their priorities (`NF_IP_PRI_`). */
const PRIORITIES: Readonly<Record<string, readonly (readonly [table: string, priority: number])[]>> = {
  prerouting: [
    ['raw', -300],
    ['mangle', -150],
    ['nat', -100],
  ],
  input: [
    ['mangle', -150],
    ['filter', 0],
    ['security', 50],
    ['nat', 100],
  ],
  forward: [
    ['mangle', -150],
    ['filter', 0],
    ['security', 50],
  ],
  output: [
    ['raw', -300],
    ['mangle', -150],
    ['nat', -100],
    ['filter', 0],
    ['security', 50],
  ],
  postrouting: [
    ['mangle', -150],
    ['nat', 100],
  ],
};

/** A hook in which a destination is translated. */
const TRANSLATES = /^nat\/(PREROUTING|OUTPUT)$/;

/** The rules of iptables, each hook followed by the base chains of the table that have its priority. */
export function nftablesRules(table: ProgrammedTable, node: NodeNetwork): HookRules {
  const iptables = iptablesRules(node.facts.tables, node);
  const chains = chainsByHook(table);
  const follow = (hook: string, begun: Branch): Branch[] => {
    let branches = [begun];
    for (const chain of chains.get(hook) ?? []) {
      branches = branches.flatMap((before) =>
        isOver(hook, before)
          ? [before]
          : walkChain(table, chain, before.packet, node).map((after) => joined(before, after)),
      );
    }
    return branches;
  };
  return {
    walk: (hook, packet) => follow(hook, { share: 1, ...iptables.walk(hook, packet) })[0] as Branch,
    branches: (hook, packet) => iptables.branches(hook, packet).flatMap((branch) => follow(hook, branch)),
  };
}

/** The base chains behind each table of iptables: `mangle/PREROUTING`. */
function chainsByHook({ chains }: ProgrammedTable): Map<string, string[]> {
  const based = [...chains].flatMap(([name, { base }]) => (base ? [{ name, ...base }] : []));
  const found = new Map<string, string[]>();
  for (const { name, hook, priority } of based.sort((a, b) => a.priority - b.priority)) {
    const tables = typeof hook === 'string' ? (PRIORITIES[hook] ?? []) : [];
    const [table] = tables.findLast(([, each]) => each <= priority) ?? tables[0] ?? [];
    if (table === undefined) continue;
    const at = `${table}/${String(hook).toUpperCase()}`;
    found.set(at, [...(found.get(at) ?? []), name]);
  }
  return found;
}

/** Whether no later chain of the hook sees the packet: it is decided, or its connection is translated. */
function isOver(hook: string, { decision, source, packet }: Branch): boolean {
  if (decision.verdict !== 'accept' || source !== undefined) return true;
  return TRANSLATES.test(hook) && packet.translated === true;
}

function joined(before: Branch, after: Branch): Branch {
  return {
    ...after,
    share: before.share * after.share,
    matched: [...before.matched, ...after.matched],
    unknown: [...before.unknown, ...after.unknown],
  };
}
