// The node as nftables mode programs it. Pure.
import { type LocalDetector, localMatch } from '../../../proxy/modes/shared/plan/localDetector.js';
import type { Dialled } from '../explanation.js';
import type { PathFacts } from '../shared/facts.js';
import { NodeNetwork } from '../shared/nodeNetwork.js';
import { frontendsIn } from './inventory.js';
import { frontendsOf, programmedMatch } from './selecting.js';
import type { ProgrammedTable } from './table.js';

/**
 * The endpoints are those of the frontend that the packet is sent to: others are not read.
 *
 * @param detector of the configuration; used if no rule shows the programmed one
 */
export function nodeOf(
  facts: PathFacts,
  table: ProgrammedTable,
  { address: dialled, protocol, port }: Dialled,
  detector: LocalDetector,
): NodeNetwork {
  const { family } = facts;
  const keys = [
    { family, address: dialled, protocol, port },
    { family, protocol, port },
  ];
  const all = new Set<string>();
  const local = new Set<string>();
  for (const { address, chain } of frontendsIn(family, table, { keys }).flatMap(
    ({ endpoints }) => endpoints,
  )) {
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
