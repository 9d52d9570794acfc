// The path of the first packet of a connection in iptables mode. Pure.
import type { IptablesOptions } from '../../../proxy/modes/iptables/plan/options.js';
import type { Explanation, PacketQuestion } from '../explanation.js';
import type { PathFacts } from '../shared/facts.js';
import { explainWith } from '../shared/path.js';
import { EFFECTS_OF_RULES, followRules } from '../shared/rulesPath.js';
import { IPTABLES_MEANINGS } from './meanings.js';
import { nodeOf } from './node.js';
import { selectingRules } from './programmed.js';
import { warningsOf } from './warnings.js';

/** Explains a packet. Throws NoClientError if the place in the question has no address on this node. */
export function explainPacket(
  facts: PathFacts,
  question: PacketQuestion,
  options: IptablesOptions,
): Explanation {
  const node = nodeOf(facts, options.localDetector);
  return explainWith(
    {
      mode: 'iptables',
      node,
      meanings: IPTABLES_MEANINGS,
      follow: (context) => followRules(context, selectingRules(facts.tables)),
      warnings: warningsOf(node, options),
      effectsOfRules: EFFECTS_OF_RULES,
    },
    question,
  );
}
