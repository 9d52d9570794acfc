// Differences between the programmed state and the state on which every Service depends in iptables mode.

import { BLOCK_LOCALNET, jumps, nodeChains } from '../../../proxy/modes/iptables/plan/fixedChains.js';
import type { IptablesOptions } from '../../../proxy/modes/iptables/plan/options.js';
import { ROUTE_LOCALNET } from '../../../proxy/modes/iptables/plan/planNode.js';
import type { Cause } from '../explanation.js';
import type { NodeNetwork } from '../shared/nodeNetwork.js';
import { missingRule, rulesMissing } from '../shared/rulesMissing.js';
import { SERVICE_CHAIN } from './programmed.js';

/** More empty chains than this are counted, and not listed. */
const LISTED = 5;

/** The differences. */
export function warningsOf(node: NodeNetwork, options: IptablesOptions): Cause[] {
  const { family } = node.facts;
  return [
    ...rulesMissing(node, jumps(family), nodeChains(family, options)),
    ...emptyChains(node),
    ...wrongSettings(node),
  ];
}

/** Each chain of a Service port or an endpoint has at least one rule, and so has the one that leads to them: that of node ports. */
function emptyChains({ facts: { tables } }: NodeNetwork): Cause[] {
  const empty = [...tables.rules].flatMap(([at, rules]) =>
    rules.length === 0 && (SERVICE_CHAIN.test(at) || at === 'nat/KUBE-SERVICES') ? [at] : [],
  );
  if (empty.length <= LISTED) return empty.map((at) => missingRule(`chain ${at} has no rules`));
  return [missingRule(`${empty.length} chains of Services have no rules, for example ${empty[0]}`)];
}

function wrongSettings(node: NodeNetwork): Cause[] {
  const { family, tables } = node.facts;
  const localnet = node.setting(ROUTE_LOCALNET);
  const { table, chain, text } = BLOCK_LOCALNET;
  const servesLoopback = family === 4 && tables.rules.get(`${table}/${chain}`)?.includes(text);
  const broken: Cause[] = node.forwarding.on
    ? []
    : [{ code: 'ForwardingOff', text: `this node forwards no packets: ${node.forwarding.text}` }];
  if (localnet.on || !servesLoopback) return broken;
  return [
    ...broken,
    { code: 'LocalnetOff', text: `node ports do not work on loopback addresses: ${localnet.text}` },
  ];
}
