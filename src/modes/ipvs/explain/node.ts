// The node as ipvs mode programs it.
import { localMatchIn } from '../../shared/explain/localMatchIn.js';
import { Surroundings } from '../../shared/explain/surroundings.js';
import { type LocalDetector, type LocalMatch, localMatch } from '../../shared/localDetector.js';
import { readRule } from '../../shared/packet/ruleText.js';
import { LINK } from '../items.js';
import { type SetRole, setOf } from '../sets.js';
import type { ExplainFacts } from './facts.js';

/** @param detector of the configuration; used if no rule shows the programmed one */
export function nodeOf(facts: ExplainFacts, detector: LocalDetector): Surroundings {
  const { family, sets, realServers } = facts;
  const loopBack = sets.get(setOf('KUBE-LOOP-BACK', family).name);
  return new Surroundings(facts, {
    local: programmedMatch(facts) ?? localMatch(detector, family, undefined),
    localEndpoints: new Set((loopBack?.entries ?? []).flatMap(({ address }) => address ?? [])),
    localEndpointsIn: 'KUBE-LOOP-BACK',
    endpoints: new Set([...realServers.values()].flat().map((server) => server.address)),
    ownLink: LINK,
    isClusterIP: (address, port) => isClusterIP(facts, address, port),
  });
}

/** An address of {@link LINK} that is in no other set is a cluster IP too: the port may be one that no Service has. */
function isClusterIP(facts: ExplainFacts, address: string, port: number): boolean {
  if (hasEntry(facts, 'KUBE-CLUSTER-IP', address, port)) return true;
  const external = (['KUBE-EXTERNAL-IP', 'KUBE-EXTERNAL-IP-LOCAL', 'KUBE-LOAD-BALANCER'] as const).some(
    (role) => hasEntry(facts, role, address, port),
  );
  return !external && facts.addresses.some((each) => each.link === LINK && each.address === address);
}

/** Whether a set of the mode has an entry with the address and port. */
function hasEntry({ family, sets }: ExplainFacts, role: SetRole, address: string, port: number): boolean {
  const set = sets.get(setOf(role, family).name);
  return set?.entries.some((entry) => entry.address === address && entry.port === port) ?? false;
}

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
