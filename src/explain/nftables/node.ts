// The node as nftables mode programs it. Pure.
import { type LocalDetector, localMatch } from '../../modes/shared/plan/localDetector.js';
import type { PathFacts } from '../shared/facts.js';
import { NodeNetwork } from '../shared/nodeNetwork.js';
import { frontendsIn } from './inventory.js';
import { frontendsOf, programmedMatch } from './selecting.js';
import type { ProgrammedTable } from './table.js';

/** @param detector of the configuration; used if no rule shows the programmed one */
export function nodeOf(facts: PathFacts, table: ProgrammedTable, detector: LocalDetector): NodeNetwork {
  const { family } = facts;
  const all = new Set<string>();
  const local = new Set<string>();
  for (const { address, chain } of frontendsIn(family, table).flatMap(({ endpoints }) => endpoints)) {
    all.add(address);
    if (chain.startsWith('local-')) local.add(address);
  }
  return new NodeNetwork(facts, {
    local: programmedMatch(table) ?? localMatch(detector, family, undefined),
    localEndpoints: local,
    localEndpointsIn: 'a chain local-',
    endpoints: all,
    // A port that no Service has is asked like those that Services have.
    kindOf: (address, port) => {
      const found = frontendsOf(table, address);
      return (found.find((rule) => rule.port === port) ?? found[0])?.kind;
    },
  });
}
