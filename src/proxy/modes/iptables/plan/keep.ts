// Selects the state that stays in the kernel while some objects are unreadable: items without a plan may belong to such
// an object.
import type { Keep } from '../../mode.js';
import { equalChances, weightedChances } from './endpointChains.js';
import { SHARED_CHAINS } from './fixedChains.js';
import type { ChainItem, Item } from './items.js';
import { isPerService } from './names.js';

/** Keeps chains of Services and endpoints, rules of Services, and the endpoints in kept chains. */
export const keep: Keep<Item> = {
  found(known) {
    return new Map([...known].filter(([, item]) => isOfService(item)));
  },
  beyond(found, wanted) {
    if (found.kind !== 'chain' || wanted.kind !== 'chain') return undefined;
    const rules = endpointsBeyond(found, wanted);
    return rules.length === 0 ? undefined : withRules(found, rules);
  },
  join(wanted, part) {
    if (wanted.kind !== 'chain' || part.kind !== 'chain') return wanted;
    const more = endpointsBeyond(part, wanted);
    return more.length === 0 ? wanted : withRules(wanted, balanced(wanted.rules, more));
  },
};

function isOfService(item: Item): boolean {
  if (item.kind === 'chain') return isPerService(item.table, item.name) && !item.foreign;
  return item.kind === 'rule' && SHARED_CHAINS[item.table].includes(item.chain);
}

function withRules(
  { family, table, name, service, foreign }: ChainItem,
  rules: readonly string[],
): ChainItem {
  return {
    kind: 'chain',
    family,
    table,
    name,
    rules,
    ...(service !== undefined && { service }),
    ...(foreign && { foreign }),
  };
}

const ENDPOINT = / -j (KUBE-SEP-\S+)$/;

/** The rules of a chain that lead to endpoints to which another chain does not lead. */
function endpointsBeyond(chain: ChainItem, other: ChainItem): string[] {
  const known = new Set(other.rules.map(endpointOf));
  return chain.rules.filter((rule) => {
    const endpoint = endpointOf(rule);
    return endpoint !== undefined && !known.has(endpoint);
  });
}

function endpointOf(rule: string): string | undefined {
  return ENDPOINT.exec(` ${rule}`)?.[1];
}

const CHANCE = /-m statistic --mode random --probability (\S+) /;

/**
 * The rules of a chain with those of more endpoints, and new probabilities: first those without an endpoint, then those of affinity, then the
 * random ones. The weights of more endpoints are not known any more: they are average.
 */
function balanced(rules: readonly string[], more: readonly string[]): string[] {
  const all = [...rules, ...more];
  const affinity = all.filter(isAffinity);
  const chosen = rules.filter(isRandom);
  const random = [...chosen, ...more.filter(isRandom)];
  const shares = sharesOf(chosen);
  const even = shares.every((share) => Math.abs(share * chosen.length - 1) < EVEN);
  const mean = 1 / chosen.length;
  const chances = even
    ? equalChances(random.length)
    : weightedChances(random.map((_, i) => shares[i] ?? mean));
  return [
    ...rules.filter((rule) => endpointOf(rule) === undefined),
    ...affinity,
    ...random.map((rule, i) => rule.replace(CHANCE, '').replace('-j KUBE-SEP-', `${chances[i]}-j KUBE-SEP-`)),
  ];
}

/** Weights differ by more than what probabilities are rounded by. */
const EVEN = 1e-6;

/** The shares of connections of random rules, one after the other. */
function sharesOf(random: readonly string[]): number[] {
  let left = 1;
  return random.map((rule) => {
    const share = left * Number(CHANCE.exec(rule)?.[1] ?? 1);
    left -= share;
    return share;
  });
}

function isAffinity(rule: string): boolean {
  return endpointOf(rule) !== undefined && rule.includes('-m recent ');
}

function isRandom(rule: string): boolean {
  return endpointOf(rule) !== undefined && !rule.includes('-m recent ');
}
