// Differences between the programmed state and the state on which every Service depends in ipvs mode.

import type { IpvsOptions } from '../../../proxy/modes/ipvs/plan/options.js';
import {
  chains,
  dropsFromTunnels,
  jumps,
  nodeDropsOf,
  shortcutsOf,
} from '../../../proxy/modes/ipvs/plan/rules.js';
import { type SetRole, setOf } from '../../../proxy/modes/ipvs/plan/sets.js';
import type { Cause } from '../explanation.js';
import type { NodeNetwork } from '../shared/nodeNetwork.js';
import { rulesMissing } from '../shared/rulesMissing.js';
import { CONNTRACK } from './facts.js';

/** The differences. */
export function warningsOf(node: NodeNetwork, options: IpvsOptions): Cause[] {
  return [...missingRules(node, options), ...wrongSettings(node)];
}

/** Jumps that are missing, and chains that have fewer rules than the entries of the sets require. */
function missingRules(node: NodeNetwork, options: IpvsOptions): Cause[] {
  const { family, tables } = node.facts;
  const rulesOf = (table: 'filter' | 'nat', name: string) => {
    return { family, table, name, rules: tables.rules.get(`${table}/${name}`) ?? [] };
  };
  const facts = {
    has: (role: SetRole) => (node.sets.get(setOf(role, family).name)?.entries.length ?? 0) > 0,
    nodeDrops: nodeDropsOf(rulesOf('filter', 'KUBE-IPVS-OUT-FILTER')),
    shortcuts: shortcutsOf(rulesOf('nat', 'KUBE-SERVICES')),
    receivesTunnels: dropsFromTunnels(rulesOf('filter', 'KUBE-IPVS-FILTER')),
    podNetwork: node.podNetwork,
  };
  return rulesMissing(node, jumps(family), chains(family, facts, options));
}

function wrongSettings(node: NodeNetwork): Cause[] {
  const settings = [
    [node.setting(CONNTRACK), 'ConntrackOff', 'IPVS masquerades nothing'],
    [node.forwarding, 'ForwardingOff', 'this node does not forward replies'],
  ] as const;
  return settings.flatMap(([{ on, text }, code, effect]) =>
    on ? [] : [{ code, text: `${effect}: ${text}` }],
  );
}
