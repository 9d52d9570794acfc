// The path of the first packet of a connection in nftables mode. Pure.
import type { Rule } from '../../../kernel/nftables/types.js';
import { FIXED_CHAINS, REJECT_CHAIN } from '../../../proxy/modes/nftables/plan/fixedChains.js';
import { TABLE } from '../../../proxy/modes/nftables/plan/names.js';
import type { NftablesOptions } from '../../../proxy/modes/nftables/plan/options.js';
import type { Cause, Explanation, PacketQuestion } from '../explanation.js';
import type { PathFacts } from '../shared/facts.js';
import type { NodeNetwork } from '../shared/nodeNetwork.js';
import { explainWith } from '../shared/path.js';
import { missingRule } from '../shared/rulesMissing.js';
import { EFFECTS_OF_RULES, followRules } from '../shared/rulesPath.js';
import { nftablesRules } from './hooks.js';
import { meaningsOf } from './meanings.js';
import { nodeOf } from './node.js';
import { selectingRules } from './selecting.js';
import { type ProgrammedTable, tableOf } from './table.js';

/** The state of the kernel on which the path of a packet depends in nftables mode. */
export interface NftablesFacts extends PathFacts {
  /** The table of the mode; undefined if there is none. */
  readonly table: ProgrammedTable | undefined;
}

/** Explains a packet. Throws NoClientError if the place in the question has no address on this node. */
export function explainPacket(
  facts: NftablesFacts,
  question: PacketQuestion,
  options: Pick<NftablesOptions, 'localDetector'>,
): Explanation {
  const { table = tableOf([], [], [], () => '') } = facts;
  const node = nodeOf(facts, table, question, options.localDetector);
  return explainWith(
    {
      mode: 'nftables',
      node,
      meanings: meaningsOf(table, question),
      rules: nftablesRules(table, node),
      follow: (context) => followRules(context, selectingRules(table)),
      warnings: [...missing(facts), ...wrongSettings(node)],
      effectsOfRules: EFFECTS_OF_RULES,
    },
    question,
  );
}

/** What every Service depends on and is not there. */
function missing({ table }: NftablesFacts): Cause[] {
  if (!table) return [missingRule(`table ${TABLE} does not exist`)];
  const hooked = new Set(
    [...table.chains.values()].flatMap(({ base, rules }) => (base && rules.length > 0 ? jumpsOf(rules) : [])),
  );
  return FIXED_CHAINS.flatMap((name) => {
    const rules = table.chains.get(name)?.rules;
    if (!rules) return [missingRule(`chain ${TABLE}/${name} does not exist`)];
    if (rules.length === 0) return [missingRule(`chain ${TABLE}/${name} has no rules`)];
    return hooked.has(name) || name === REJECT_CHAIN
      ? []
      : [missingRule(`no base chain leads to chain ${TABLE}/${name}`)];
  });
}

/** The chains to which rules jump. */
function jumpsOf(rules: readonly Rule[]): string[] {
  return rules
    .flatMap(({ expressions }) => expressions)
    .flatMap((each) => (each.kind === 'verdict' && 'chain' in each.verdict ? each.verdict.chain : []));
}

function wrongSettings(node: NodeNetwork): Cause[] {
  if (node.forwarding.on) return [];
  return [{ code: 'ForwardingOff', text: `this node forwards no packets: ${node.forwarding.text}` }];
}
