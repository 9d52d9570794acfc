// Differences between the programmed state and the state on which every Service depends in ipvs mode.
import type { Cause } from '../../explanation.js';
import type { IpvsOptions } from '../options.js';
import { chains, jumps, nodeDropsOf } from '../rules.js';
import { type SetRole, setOf } from '../sets.js';
import { settingText } from './facts.js';
import type { Surroundings } from './surroundings.js';

/** The differences. */
export function warningsOf(node: Surroundings, options: IpvsOptions): Cause[] {
  return [...missingRules(node, options), ...wrongSettings(node)];
}

/** Jumps that are missing, and chains that have fewer rules than the entries of the sets require. */
function missingRules(node: Surroundings, options: IpvsOptions): Cause[] {
  const { family, tables } = node.facts;
  const missing = (text: string): Cause => ({ code: 'RulesMissing', text });
  const lost = jumps(family)
    .filter(({ table, chain, text }) => !tables.rules.get(`${table}/${chain}`)?.includes(text))
    .map(({ table, chain, text: rule }) => missing(`chain ${table}/${chain} lacks the rule ${rule}`));
  const outFilter = tables.rules.get('filter/KUBE-IPVS-OUT-FILTER') ?? [];
  const facts = {
    has: (role: SetRole) => (node.sets.get(setOf(role, family).name)?.entries.length ?? 0) > 0,
    nodeDrops: nodeDropsOf({ family, table: 'filter', name: 'KUBE-IPVS-OUT-FILTER', rules: outFilter }),
    podNetwork: node.podNetwork,
  };
  const incomplete = chains(family, facts, options).flatMap(({ table, name, rules }) => {
    const found = tables.rules.get(`${table}/${name}`);
    if (!found) return [missing(`chain ${table}/${name} does not exist`)];
    if (found.length >= rules.length) return [];
    return [missing(`chain ${table}/${name} has ${found.length} of ${rules.length} rules`)];
  });
  return [...lost, ...incomplete];
}

function wrongSettings(node: Surroundings): Cause[] {
  const settings = [
    ['conntrack', 'ConntrackOff', 'IPVS masquerades nothing'],
    ['forwarding', 'ForwardingOff', 'this node does not forward replies'],
  ] as const;
  return settings.flatMap(([name, code, effect]) => {
    const setting = node.setting(name);
    return setting.on ? [] : [{ code, text: `${effect}: ${settingText(node.facts, setting.name)}` }];
  });
}
