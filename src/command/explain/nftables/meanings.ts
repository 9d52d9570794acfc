// The purpose of the rules of nftables mode, in words. The names of chains have those of the Service ports. Other rules are described by
// their effect.
import { REJECT_CHAIN, RESET_CHAIN } from '../../../proxy/modes/nftables/plan/fixedChains.js';
import { isLocalhostRejectChain } from '../../../proxy/modes/nftables/plan/localhostPorts.js';
import { TABLE } from '../../../proxy/modes/nftables/plan/names.js';
import type { Cause, Dialled } from '../explanation.js';
import type { Decision, MatchedRule } from '../packet/walk.js';
import type { RuleMeanings } from '../shared/trace.js';
import { isClusterIP } from './frontendKeys.js';
import { namesInChain } from './inventory.js';
import { refusalAt } from './selecting.js';
import type { ProgrammedTable } from './table.js';

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
