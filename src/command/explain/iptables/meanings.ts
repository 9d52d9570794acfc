// The purpose of the rules of iptables mode, in words. Comments of the rules have the names of the Service ports. Other rules
// are described by their effect.
import type { Cause } from '../explanation.js';
import { commentIn } from '../packet/ruleText.js';
import type { Decision, MatchedRule } from '../packet/walk.js';
import type { RuleMeanings } from '../shared/trace.js';
import { POLICY_CHAIN, withoutEndpoints } from './programmed.js';

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
export const IPTABLES_MEANINGS: RuleMeanings = { meaningOf, causeOf };

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
