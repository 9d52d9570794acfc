// The path of the first packet of a connection in nftables mode. Pure.
import type { Rule } from '../../../kernel/nftables/types.js';
import { FIXED_CHAINS, REJECT_CHAIN, RESET_CHAIN } from '../../../proxy/modes/nftables/plan/fixedChains.js';
import { isLocalhostRejectChain } from '../../../proxy/modes/nftables/plan/localhostPorts.js';
import { TABLE } from '../../../proxy/modes/nftables/plan/names.js';
import type { NftablesOptions } from '../../../proxy/modes/nftables/plan/options.js';
import { type LocalDetector, localMatch } from '../../../proxy/modes/shared/plan/localDetector.js';
import type { Cause, Dialled, Explanation, PacketQuestion } from '../explanation.js';
import type { Decision, MatchedRule } from '../packet/walk.js';
import type { PathFacts } from '../shared/facts.js';
import { NodeNetwork } from '../shared/nodeNetwork.js';
import { explainWith } from '../shared/path.js';
import { missingRule } from '../shared/rulesMissing.js';
import { EFFECTS_OF_RULES, followRules } from '../shared/rulesPath.js';
import type { RuleMeanings } from '../shared/trace.js';
import { isClusterIP } from './frontendKeys.js';
import { nftablesRules } from './hooks.js';
import { frontendsIn, namesInChain } from './inventory.js';
import { frontendsOf, programmedMatch, refusalAt, selectingRules } from './selecting.js';
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

// The purpose of the rules of nftables mode, in words. The names of chains have those of the Service ports. Other rules are described by
// their effect.

/** By the comment of a rule in a chain of external traffic. */
const EXTERNAL: Readonly<Record<string, string>> = {
  'short-circuit pod traffic': 'the client is a pod of the cluster, for which all endpoints may be selected',
  'short-circuit local traffic': 'the client is this node, for which all endpoints may be selected',
};

/** Chains with the map of Services without endpoints, and the one to which it leads. */
const WITHOUT_ENDPOINTS = new Set(
  ['service-endpoints-check', 'nodeport-endpoints-check', REJECT_CHAIN, RESET_CHAIN].map(
    (chain) => `${TABLE}/${chain}`,
  ),
);

/** The purpose of the rules for a packet to a destination. */
export function meaningsOf(table: ProgrammedTable, dialled: Dialled): RuleMeanings {
  const frontend = isClusterIP(table, dialled.address) ? 'cluster IP' : 'external address';
  return {
    meaningOf: (rule) => meaningOf(rule, frontend),
    causeOf: (decision, of) =>
      rejectedOnLoopback(decision, of, dialled) ?? causeOf(decision, of, () => refusalAt(table, dialled)),
  };
}

function meaningOf({ at, target, rule }: MatchedRule, frontend: string): string | undefined {
  const [, chain = ''] = at.split(/\/(.*)/s);
  if (!at.startsWith(`${TABLE}/`)) return undefined;
  if (target === 'MARK') return 'the packet must be masqueraded';
  const onward = `continues in chain ${target}`;
  if (isLocalhostRejectChain(target)) return `node port on a loopback address, ${onward}`;
  if (chain === 'services') {
    const { service, portName } = namesInChain(target);
    if (service === undefined) return undefined;
    const kind = rule.includes('@service-nodeports') ? 'node port' : frontend;
    return `${kind} of ${service}${portName === undefined ? '' : `:${portName}`}, ${onward}`;
  }
  if (chain.startsWith('firewall-') && target === 'DROP')
    return 'no source range contains the client, the packet is dropped';
  const [, comment = ''] = / comment "([^"]*)"$/.exec(rule) ?? [];
  const known = EXTERNAL[comment];
  if (known !== undefined) return `${known}, ${onward}`;
  if (chain.startsWith('external-') && target.startsWith('local-'))
    return `externalTrafficPolicy is Local, ${onward}`;
  return undefined;
}

/** The cause if the packet was to a node port on a loopback address, which the mode rejects; undefined for other decisions. */
function rejectedOnLoopback(
  { at }: Decision,
  of: string,
  { address, port, protocol }: Dialled,
): Cause | undefined {
  const chain = at.slice(TABLE.length + 1);
  if (!at.startsWith(`${TABLE}/`) || !isLocalhostRejectChain(chain)) return undefined;
  const reason =
    protocol === 'tcp'
      ? 'nodePortAddresses names no loopback network'
      : 'the agent serves only TCP node ports there';
  const text = `node port ${port}/${protocol} is rejected on ${address}, because ${reason}: ${at} rejects ${of}`;
  return { code: 'NodePortAddress', text };
}

function causeOf({ verdict, at }: Decision, of: string, refusal: () => Cause | undefined): Cause | undefined {
  const does = verdict === 'reject' ? 'rejects' : 'drops';
  if (at.startsWith(`${TABLE}/firewall-`))
    return { code: 'SourceRanges', text: `${at} drops ${of}: no source range contains its source` };
  if (at === `${TABLE}/cluster-ips-check`) {
    return verdict === 'reject'
      ? { code: 'PortNotServed', text: `no Service has this port of the cluster IP: ${at} ${does} ${of}` }
      : { code: 'AddressNotBound', text: `no Service has this cluster IP: ${at} ${does} ${of}` };
  }
  const cause = WITHOUT_ENDPOINTS.has(at) ? refusal() : undefined;
  return cause && { code: cause.code, text: `${cause.text}: ${at} ${does} ${of}` };
}

// The node as nftables mode programs it. Pure.

/**
 * The endpoints are those of the frontend that the packet is sent to: others are not read.
 *
 * @param detector of the configuration; used if no rule shows the programmed one
 */
function nodeOf(
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
