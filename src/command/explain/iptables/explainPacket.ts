// The path of the first packet of a connection in iptables mode. Pure.

import { BLOCK_LOCALNET, jumps, nodeChains } from '../../../proxy/modes/iptables/plan/fixedChains.js';
import type { IptablesOptions } from '../../../proxy/modes/iptables/plan/options.js';
import { ROUTE_LOCALNET } from '../../../proxy/modes/iptables/plan/planNode.js';
import { type LocalDetector, localMatch } from '../../../proxy/modes/shared/plan/localDetector.js';
import type { Cause, Explanation, PacketQuestion } from '../explanation.js';
import { commentIn } from '../packet/ruleText.js';
import type { Decision, MatchedRule } from '../packet/walk.js';
import type { PathFacts } from '../shared/facts.js';
import { NodeNetwork } from '../shared/nodeNetwork.js';
import { explainWith } from '../shared/path.js';
import { missingRule, rulesMissing } from '../shared/rulesMissing.js';
import { EFFECTS_OF_RULES, followRules } from '../shared/rulesPath.js';
import type { RuleMeanings } from '../shared/trace.js';
import {
  ENDPOINT_CHAIN,
  frontendRules,
  POLICY_CHAIN,
  programmedEndpoints,
  programmedMatch,
  SERVICE_CHAIN,
  selectingRules,
  withoutEndpoints,
} from './programmed.js';

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

// The purpose of the rules of iptables mode, in words. Comments of the rules have the names of the Service ports. Other rules
// are described by their effect.

/** By chain and target. */
const MEANINGS: Readonly<Record<string, string>> = {
  'nat/KUBE-POSTROUTING RETURN': 'the packet keeps its source',
  'nat/KUBE-SERVICES KUBE-NODEPORTS': 'the port may be a node port',
  'filter/KUBE-PROXY-FIREWALL DROP': 'no source range contains the client, the packet is dropped',
  'filter/KUBE-NODEPORTS ACCEPT': 'the port is a health check node port, the packet is accepted',
  'filter/KUBE-FORWARD ACCEPT': 'the packet is forwarded',
};

/** By the beginning of the comment of a rule in a chain of external traffic. */
const EXTERNAL: readonly (readonly [comment: string, meaning: string])[] = [
  ['pod traffic ', 'the client is a pod of the cluster, for which all endpoints may be selected'],
  ['route LOCAL traffic ', 'the client is this node, for which all endpoints may be selected'],
];

/** Chains that reject or drop packets to Services without endpoints. */
const WITHOUT_ENDPOINTS = /^filter\/KUBE-(EXTERNAL-)?SERVICES$/;

/** The purpose of the rules. */
const IPTABLES_MEANINGS: RuleMeanings = { meaningOf, causeOf };

function meaningOf({ at, target, rule }: MatchedRule): string | undefined {
  const known = MEANINGS[`${at} ${target}`];
  if (known !== undefined) return known;
  if (target === 'KUBE-MARK-MASQ') return 'the packet must be masqueraded';
  const comment = commentIn(rule);
  const onward = `continues in chain ${target}`;
  if (at === 'nat/KUBE-SERVICES') {
    const [, port, kind] = /^(\S+) (cluster|external|loadbalancer) IP$/.exec(comment) ?? [];
    const written = kind === 'loadbalancer' ? 'load-balancer' : kind;
    return port === undefined ? undefined : `${written} IP of ${port}, ${onward}`;
  }
  if (at === 'nat/KUBE-NODEPORTS') return `node port of ${comment}, ${onward}`;
  if (at.startsWith('nat/KUBE-FW-')) return `a source range contains the client, ${onward}`;
  if (at.startsWith('nat/KUBE-EXT-')) {
    const found = EXTERNAL.find(([start]) => comment.startsWith(start));
    if (found) return `${found[1]}, ${onward}`;
    if (target.startsWith('KUBE-SVL-')) return `externalTrafficPolicy is Local, ${onward}`;
    return POLICY_CHAIN.test(target) ? onward : undefined;
  }
  if (!WITHOUT_ENDPOINTS.test(at)) return undefined;
  return `${comment}, the packet is ${target === 'REJECT' ? 'rejected' : 'dropped'}`;
}

function causeOf({ verdict, at, rule = '' }: Decision, of: string): Cause | undefined {
  if (at === 'filter/KUBE-PROXY-FIREWALL') {
    return { code: 'SourceRanges', text: `${at} drops ${of}: no source range contains its source` };
  }
  if (at === 'filter/KUBE-FIREWALL') {
    return { code: 'Loopback', text: `${at} drops ${of}: it connects to a loopback address from elsewhere` };
  }
  const comment = commentIn(rule);
  if (!WITHOUT_ENDPOINTS.test(at) || comment === '') return undefined;
  const { code, text } = withoutEndpoints(comment);
  return { code, text: `${text}: ${at} ${verdict === 'reject' ? 'rejects' : 'drops'} ${of}` };
}

// The node as iptables mode programs it.

/** @param detector of the configuration; used if no rule shows the programmed one */
function nodeOf(facts: PathFacts, detector: LocalDetector): NodeNetwork {
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

// Differences between the programmed state and the state on which every Service depends in iptables mode.

/** More empty chains than this are counted, and not listed. */
const LISTED = 5;

/** The differences. */
function warningsOf(node: NodeNetwork, options: IptablesOptions): Cause[] {
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
