// The node as iptables mode programs it.

import { type LocalDetector, localMatch } from '../../../proxy/modes/shared/plan/localDetector.js';
import type { PathFacts } from '../shared/facts.js';
import { NodeNetwork } from '../shared/nodeNetwork.js';
import { ENDPOINT_CHAIN, frontendRules, programmedEndpoints, programmedMatch } from './programmed.js';

/** @param detector of the configuration; used if no rule shows the programmed one */
export function nodeOf(facts: PathFacts, detector: LocalDetector): NodeNetwork {
  const { family, tables } = facts;
  const { all, local } = programmedEndpoints(tables);
  return new NodeNetwork(facts, {
    local: programmedMatch(tables) ?? localMatch(detector, family, undefined),
    localEndpoints: local,
    localEndpointsIn: 'a chain KUBE-SVL-',
    endpoints: all,
    // A port that no Service has is asked like those that Services have.
    kindOf: (address, port) => {
      const found = frontendRules(tables, address);
      return (found.find((rule) => rule.port === port) ?? found[0])?.kind;
    },
    // The first packet of a client is explained: no list of session affinity has its address.
    isRecent: (list) => (ENDPOINT_CHAIN.test(list) ? false : undefined),
  });
}
