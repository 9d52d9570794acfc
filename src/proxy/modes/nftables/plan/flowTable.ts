// The flow table of Services: established flows go from link to link, past the rules.
import type { Family } from '../../../../kernel/net/address.js';
import type { NewFlowTable } from '../../../../kernel/nftables/types.js';
import type { HostFacts, HostLink } from '../../../services/types.js';
import {
  firstAddressIn,
  firstDestinationIn,
  firstPortIn,
  rule,
  toFlowTable,
  UNLESS_ASSURED_AND_TRANSLATED,
  UNLESS_ESTABLISHED,
} from '../../nftablesRules/plan/expressions.js';
import type { ChainItem, Item } from './items.js';
import { FLOW_CHAIN, FLOW_TABLE } from './names.js';

/**
 * Where the flow table takes packets, as nft's `filter`: behind chains that protect a link. With `counter`, conntrack counts its
 * packets, as those of other flows.
 */
export const FLOW_TABLE_HOOK = {
  priority: 0,
  flags: ['counter'],
} as const satisfies Pick<NewFlowTable, 'priority' | 'flags'>;

/** Behind the rules of other programs: a flow that they refuse is not added. `NF_IP_PRI_LAST` is the greatest number. */
const BEHIND_ALL = 1000;

/** What a family needs to use the flow table. */
export function flowTableItems(family: Family, { links = [] }: Pick<HostFacts, 'links'>): Item[] {
  return [
    { kind: 'flowtable', family },
    ...links.map((name) => ({ kind: 'device', family, name }) as const),
    flowChain(family),
  ];
}

/** The chain that adds flows. Those of other programs that translate destinations have no address or port of a Service. */
function flowChain(family: Family): ChainItem {
  const add = toFlowTable(FLOW_TABLE);
  return {
    kind: 'chain',
    family,
    name: FLOW_CHAIN,
    base: { type: 'filter', hook: 'forward', priority: BEHIND_ALL },
    rules: [
      rule([UNLESS_ESTABLISHED]),
      rule([UNLESS_ASSURED_AND_TRANSLATED]),
      rule([firstAddressIn(family, 'cluster-ips'), add]),
      rule([firstDestinationIn(family, 'flow-table-ips'), add]),
      rule([firstPortIn('flow-table-nodeports'), add]),
    ],
  };
}

/**
 * Whether the flow table takes packets of a link. Ports of bridges are among them: Linux 7.3 adds no flow through a port that is not in
 * the table, even if its bridge is.
 *
 * @param patterns see {@link NftablesOptions.flowTable}
 */
export function takesLink(patterns: readonly string[], { name, isLoopback }: HostLink): boolean {
  if (isLoopback) return false;
  return patterns.some((pattern) =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  );
}
