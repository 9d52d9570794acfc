// What the tables of nftables mode show besides the path of one packet. Pure.

import { isLoopback } from '../../../kernel/net/address.js';
import { rejectChainName } from '../../../proxy/modes/nftables/plan/localhostPorts.js';
import { TABLE } from '../../../proxy/modes/nftables/plan/names.js';
import type { LocalMatch } from '../../../proxy/modes/shared/plan/localDetector.js';
import type { Cause, Dialled } from '../explanation.js';
import type { FrontendRule, SelectingRules } from '../shared/rulesPath.js';
import { frontendElements, isClusterIP, refusalOf } from './frontendKeys.js';
import { persistenceOf } from './inventory.js';
import type { ProgrammedTable } from './table.js';

/** Chains that select among the endpoints of a Service port, or of frontends with as many. */
const POLICY_CHAIN = /^(service|local)-[A-Z2-7]{8}-|^(balance-\d+|nodeport)-\d+$/;
/** Chains of one endpoint, with session affinity. */
const ENDPOINT_CHAIN = /^endpoint-/;

/** What the table shows. */
export function selectingRules(table: ProgrammedTable): SelectingRules {
  return {
    table: TABLE,
    selects: ({ target }) => target === 'DNAT' || ENDPOINT_CHAIN.test(target),
    chainOf: (matched) => matched.map(({ target }) => target).findLast((target) => POLICY_CHAIN.test(target)),
    persistenceOf: (chain) => persistenceOf(table, firstEndpointChain(table, chain)),
    frontends: (address) => frontendsOf(table, address),
    nodePortExclusion: (dialled) => nodePortExclusion(table, dialled),
    // The chain of source ranges drops only what is in none of them.
    areRangesOf: () => false,
  };
}

/** The first chain of an endpoint to which a chain leads; undefined without session affinity. */
function firstEndpointChain({ chains, sets }: ProgrammedTable, chain: string): string | undefined {
  for (const { expressions } of chains.get(chain)?.rules ?? []) {
    for (const expression of expressions) {
      if (expression.kind === 'verdict' && 'chain' in expression.verdict) return expression.verdict.chain;
      if (expression.kind !== 'lookup' || typeof expression.set !== 'string') continue;
      const data = sets.get(expression.set)?.elements[0]?.data;
      if (typeof data === 'object' && 'chain' in data) return data.chain;
    }
  }
  return undefined;
}

/** The elements that have an address. */
export function frontendsOf(table: ProgrammedTable, address: string): FrontendRule[] {
  const kind = isClusterIP(table, address) ? 'cluster IP' : 'external';
  const found: FrontendRule[] = [];
  for (const element of frontendElements(table)) {
    if (element.address !== address) continue;
    const { port, protocol, chain, refused } = element;
    const without = refusalOf(element);
    found.push({ kind, port, protocol, target: chain ?? refused ?? '', ...(without && { without }) });
  }
  return found;
}

/** Why packets to a destination are refused: at its address, or at its node port. */
export function refusalAt(table: ProgrammedTable, dialled: Dialled): Cause | undefined {
  for (const element of frontendElements(table)) {
    const { address = dialled.address, port, protocol } = element;
    if (address !== dialled.address || port !== dialled.port || protocol !== dialled.protocol) continue;
    const refusal = refusalOf(element);
    if (refusal) return refusal;
  }
  return undefined;
}

/** The loopback addresses on which the agent listens on TCP node ports, as kube-proxy does. */
const AGENT_LISTENS: ReadonlySet<string> = new Set(['127.0.0.1', '::1']);

/** Whether the agent serves TCP node ports on localhost: the table rejects those of other protocols there, and not those of TCP. */
function isServedByAgent({ chains }: ProgrammedTable): boolean {
  return chains.has(rejectChainName('udp')) && !chains.has(rejectChainName('tcp'));
}

/** See {@link SelectingRules.nodePortExclusion}. */
function nodePortExclusion(table: ProgrammedTable, { address, port, protocol }: Dialled): string | undefined {
  const served = [...frontendElements(table)].some(
    (element) => element.address === undefined && element.port === port && element.protocol === protocol,
  );
  if (!served) return undefined;
  if (protocol === 'tcp' && AGENT_LISTENS.has(address) && isServedByAgent(table)) {
    const { text } = refusalAt(table, { address, port, protocol }) ?? {};
    return text === undefined
      ? `is served on ${address} by the agent itself, and no process listens there`
      : `is served on ${address} by the agent itself, but only with endpoints: ${text}`;
  }
  const limited = table.chains
    .get('services')
    ?.rules.some(({ expressions }) =>
      expressions.some((each) => each.kind === 'lookup' && each.set === 'nodeport-ips'),
    );
  if (!limited) return isLoopback(address) ? `is not served on ${address}` : undefined;
  // Sorted: the kernel's order varies.
  const addresses = (table.sets.get('nodeport-ips')?.elements ?? []).map(({ key }) => String(key)).sort();
  if (addresses.includes(address)) return undefined;
  return addresses.length === 0
    ? 'is served on no address'
    : `is served on ${addresses.join(', ')}, not on ${address}`;
}

/**
 * How the rules detect local traffic: from the rule that masquerades all other traffic to cluster IPs, or from the rule for traffic of pods
 * to external addresses. Undefined if no rule shows it.
 */
export function programmedMatch(table: ProgrammedTable): LocalMatch | undefined {
  for (const [name, { rules }] of table.chains) {
    if (name !== 'services' && !name.startsWith('external-')) continue;
    for (const rule of rules) {
      const [, network] = / saddr (?:!= )?([0-9a-f.:]+\/\d+) /.exec(` ${table.textOf(rule)} `) ?? [];
      if (network !== undefined) return { network };
      const [, link] = /iifname (?:!= )?"([^"]+)"/.exec(table.textOf(rule)) ?? [];
      if (link !== undefined) return { interface: link.replace(/\*$/, '+') };
    }
  }
  return undefined;
}
