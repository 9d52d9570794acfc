// What the programmed rules of Services show, besides the path of one packet.
import type { SavedTables } from '../../../kernel/iptables/types.js';
import { canonicalAddress } from '../../../kernel/net/address.js';
import { isInNetwork } from '../../../kernel/net/network.js';
import type { LocalMatch } from '../../../proxy/modes/shared/plan/localDetector.js';
import type { Cause, Dialled } from '../explanation.js';
import { commentIn, optionValue, readRule } from '../packet/ruleText.js';
import { localMatchIn } from '../shared/localMatchIn.js';
import type { FrontendRule, SelectingRules } from '../shared/rulesPath.js';

/** Chains that select an endpoint: of all endpoints (SVC), or of those on this node (SVL). */
export const POLICY_CHAIN = /^KUBE-SV[CL]-/;
/** Chains of one endpoint. */
export const ENDPOINT_CHAIN = /^KUBE-SEP-/;
/** Every chain of a Service port or an endpoint. */
export const SERVICE_CHAIN = /^nat\/KUBE-(SVC|SVL|EXT|FW|SEP)-/;

const MASQUERADES = ' -j KUBE-MARK-MASQ';

/** What the rules show besides the path of one packet. */
export function selectingRules(tables: SavedTables): SelectingRules {
  return {
    table: 'nat',
    selects: ({ target }) => ENDPOINT_CHAIN.test(target) || target === 'DNAT',
    chainOf: (matched) => matched.map(({ target }) => target).findLast((target) => POLICY_CHAIN.test(target)),
    persistenceOf: (chain) => affinityOf(tables, chain),
    frontends: (address) => frontendRules(tables, address),
    nodePortExclusion: (dialled) => nodePortExclusion(tables, dialled),
    areRangesOf: (frontends, client) => areRangesOf(tables, frontends, client),
  };
}

/**
 * The cause that a rule for a Service without endpoints shows.
 *
 * @param comment of the rule
 */
export function withoutEndpoints(comment: string): Cause {
  const code = comment.endsWith(' has no local endpoints') ? 'NoLocalEndpoint' : 'NoRealServer';
  return { code, text: comment };
}

/**
 * How the rules detect local traffic: from the rule of a policy chain that masquerades all other traffic, or from the rule
 * for traffic of pods to external addresses. Undefined if no rule shows it.
 */
export function programmedMatch({ rules }: SavedTables): LocalMatch | undefined {
  for (const [at, texts] of rules) {
    const masquerades = at.startsWith('nat/KUBE-SV');
    if (!masquerades && !at.startsWith('nat/KUBE-EXT-')) continue;
    const [first] = texts;
    if (first === undefined || (masquerades && !first.endsWith(MASQUERADES))) continue;
    const match = localMatchIn(readRule(first), masquerades);
    if (match) return match;
  }
  return undefined;
}

/** The addresses of endpoints: of all, and of those that chains of policy `Local` select. */
export function programmedEndpoints({ rules }: SavedTables): {
  readonly all: ReadonlySet<string>;
  readonly local: ReadonlySet<string>;
} {
  const all = new Set<string>();
  const local = new Set<string>();
  for (const [at, texts] of rules) {
    if (at.startsWith('nat/KUBE-SEP-')) for (const address of destinationsIn(texts)) all.add(address);
    if (!at.startsWith('nat/KUBE-SVL-')) continue;
    for (const text of texts) {
      const chain = / -j (KUBE-SEP-\S+)$/.exec(text)?.[1];
      for (const address of destinationsIn(rules.get(`nat/${chain}`) ?? [])) local.add(address);
    }
  }
  return { all, local };
}

/** The addresses by which rules replace the destination. */
function destinationsIn(texts: readonly string[]): string[] {
  return texts.flatMap((text) => {
    const [, written] = / --to-destination (\S+)/.exec(text) ?? [];
    return written === undefined ? [] : (destinationOf(written) ?? []);
  });
}

function destinationOf(written: string): string | undefined {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\]|([\d.]+)):\d+$/.exec(written) ?? [];
  return canonicalAddress(bracketed ?? plain ?? written);
}

/** Chains with the rules of frontends. */
const FRONTEND_CHAINS = [
  'nat/KUBE-SERVICES',
  'filter/KUBE-SERVICES',
  'filter/KUBE-EXTERNAL-SERVICES',
] as const;

/** The rules that name an address of a Service. */
export function frontendRules({ rules }: SavedTables, address: string): FrontendRule[] {
  const part = `-d ${address}/${address.includes(':') ? 128 : 32} `;
  return FRONTEND_CHAINS.flatMap((at) =>
    (rules.get(at) ?? []).flatMap((text): FrontendRule[] => {
      const { conditions, target = '' } = text.includes(part) ? readRule(text) : { conditions: [] };
      const port = Number(optionValue(conditions, '--dport'));
      if (!port) return [];
      const external = at.endsWith('-EXTERNAL-SERVICES') || /^KUBE-(EXT|FW)-/.test(target);
      const protocol = optionValue(conditions, '-p') ?? '';
      const without = at.startsWith('filter/') ? { without: withoutEndpoints(commentIn(text)) } : {};
      return [{ kind: external ? 'external' : 'cluster IP', port, protocol, target, ...without }];
    }),
  );
}

/** Whether the source ranges of a load-balancer IP contain a client; false without ranges. */
function areRangesOf(tables: SavedTables, frontends: readonly FrontendRule[], client: string): boolean {
  return frontends
    .filter(({ target }) => target.startsWith('KUBE-FW-'))
    .flatMap(({ target }) => tables.rules.get(`nat/${target}`) ?? [])
    .some((text) => isInNetwork(optionValue(readRule(text).conditions, '-s') ?? '', client));
}

/** See {@link SelectingRules.nodePortExclusion}. */
function nodePortExclusion({ rules }: SavedTables, dialled: Dialled): string | undefined {
  const { address, port, protocol } = dialled;
  const served = (rules.get('nat/KUBE-NODEPORTS') ?? []).some((text) => {
    const { conditions } = readRule(text);
    return optionValue(conditions, '--dport') === String(port) && optionValue(conditions, '-p') === protocol;
  });
  if (!served) return undefined;
  const destinations = (rules.get('nat/KUBE-SERVICES') ?? [])
    .filter((text) => text.endsWith(' -j KUBE-NODEPORTS'))
    .map((text) => readRule(text).conditions.find(({ option }) => option === '-d'));
  const [first] = destinations;
  if (!first) return undefined;
  const networks = destinations.flatMap((destination) => destination?.values ?? []);
  if (!first.negated) return `is served on ${networks.map(withoutPrefix).join(', ')}, not on ${address}`;
  const excluded = networks.some((network) => isInNetwork(network, address));
  return excluded ? `is not served on ${address}` : undefined;
}

const withoutPrefix = (network: string) => network.replace(/\/\d+$/, '');

/** Timeout of the session affinity of a policy chain, in s; 0 without it. */
function affinityOf({ rules }: SavedTables, chain: string): number {
  for (const text of rules.get(`nat/${chain}`) ?? []) {
    const [, seconds] = / --rcheck --seconds (\d+)/.exec(text) ?? [];
    if (seconds !== undefined) return Number(seconds);
  }
  return 0;
}
