// The node as ipvs mode programs it.

import type { Protocol } from '../../../kernel/net/protocol.js';
import { LINK } from '../../../proxy/modes/ipvs/plan/items.js';
import { type SetRole, setOf } from '../../../proxy/modes/ipvs/plan/sets.js';
import {
  type LocalDetector,
  type LocalMatch,
  localMatch,
} from '../../../proxy/modes/shared/plan/localDetector.js';
import type { Dialled } from '../explanation.js';
import { readRule } from '../packet/ruleText.js';
import { localMatchIn } from '../shared/localMatchIn.js';
import { NodeNetwork, type VirtualIPKind } from '../shared/nodeNetwork.js';
import type { ExplainFacts } from './facts.js';

/** @param detector of the configuration; used if no rule shows the programmed one */
export function nodeOf(facts: ExplainFacts, detector: LocalDetector): NodeNetwork {
  const { family, sets, realServers } = facts;
  const loopBack = sets.get(setOf('KUBE-LOOP-BACK', family).name);
  return new NodeNetwork(facts, {
    local: programmedMatch(facts) ?? localMatch(detector, family, undefined),
    localEndpoints: new Set((loopBack?.entries ?? []).flatMap(({ address }) => address ?? [])),
    localEndpointsIn: 'KUBE-LOOP-BACK',
    endpoints: new Set([...realServers.values()].flat().map((server) => server.address)),
    ownLink: LINK,
    kindOf: (address, port) => kindOf(facts, address, port),
  });
}

const EXTERNAL: readonly SetRole[] = ['KUBE-EXTERNAL-IP', 'KUBE-EXTERNAL-IP-LOCAL', 'KUBE-LOAD-BALANCER'];

/** By the entry of the port, otherwise by that of any port. An address of {@link LINK} in no set is a cluster IP too. */
function kindOf(facts: ExplainFacts, address: string, port: number): VirtualIPKind | undefined {
  for (const wanted of [port, undefined]) {
    if (hasEntry(facts, 'KUBE-CLUSTER-IP', address, wanted)) return 'cluster IP';
    if (EXTERNAL.some((role) => hasEntry(facts, role, address, wanted))) return 'external';
  }
  const isVirtual = facts.addresses.some((each) => each.link === LINK && each.address === address);
  return isVirtual ? 'cluster IP' : undefined;
}

/** Whether a set of the mode has an entry with the address, and with the port if there is one. */
function hasEntry(
  { family, sets }: ExplainFacts,
  role: SetRole,
  address: string,
  port: number | undefined,
  protocol?: Protocol,
): boolean {
  const entries = sets.get(setOf(role, family).name)?.entries ?? [];
  return entries.some(
    (entry) =>
      entry.address === address &&
      (port === undefined || entry.port === port) &&
      (protocol === undefined || entry.protocol === protocol),
  );
}

/** The set that shows that the traffic policy of an external address or node port is Local; undefined if none does. */
export function localSetOf(facts: ExplainFacts, { address, port, protocol }: Dialled): string | undefined {
  const { family, sets } = facts;
  const byAddress = LOCAL.find((role) => hasEntry(facts, role, address, port, protocol));
  if (byAddress) return setOf(byAddress, family).name;
  if (kindOf(facts, address, port) !== undefined) return undefined;
  const role = `KUBE-NODE-PORT-LOCAL-${NODE_PORT_SETS[protocol]}` as SetRole;
  const { name } = setOf(role, family);
  return sets.get(name)?.entries.some((entry) => entry.port === port) ? name : undefined;
}

const LOCAL: readonly SetRole[] = ['KUBE-EXTERNAL-IP-LOCAL', 'KUBE-LOAD-BALANCER-LOCAL'];
const NODE_PORT_SETS = { tcp: 'TCP', udp: 'UDP', sctp: 'SCTP-HASH' } as const;

/** From the rule that masquerades traffic to cluster IPs: `! -s NETWORK` or `! -i LINK`. */
function programmedMatch({ family, tables }: ExplainFacts): LocalMatch | undefined {
  const set = setOf('KUBE-CLUSTER-IP', family).name;
  for (const text of tables.rules.get('nat/KUBE-SERVICES') ?? []) {
    const rule = readRule(text);
    if (rule.target !== 'KUBE-MARK-MASQ' || !rule.conditions.some(({ values }) => values[0] === set))
      continue;
    const match = localMatchIn(rule, true);
    if (match) return match;
  }
  return undefined;
}
