// Layout `scalable`: the chains that frontends with equal numbers of endpoints share.
import type { Family } from '../../../net/address.js';
import { type ChainItem, chainKey, placeOfKey } from './items.js';
import { type Rule, rule, setMark, to, toRandomSlot } from './rules.js';

/**
 * What a shared chain is for. `balance`: cluster IPs. `external`: external IPs and load-balancer IPs, whose packets are marked, with policy
 * Cluster. `nodeport`: node ports, with policy Cluster.
 */
export type SharedRole = 'balance' | 'external' | 'nodeport';

/** A chain of all frontends of a kind with so many endpoints. */
export interface SharedChain {
  readonly role: SharedRole;
  readonly family: Family;
  /** Number of endpoints; at least 1. */
  readonly endpoints: number;
  /** `balance-3` */
  readonly name: string;
  /** The key of its item; also the name of the group of the elements that lead to it. */
  readonly key: string;
}

const NAME = /^(balance|external|nodeport)-([1-9][0-9]{0,8})$/;

/** The chains that were asked for: of each number of endpoints there is one object. */
const CHAINS: Readonly<Record<Family, Readonly<Record<SharedRole, Map<number, SharedChain>>>>> = {
  4: { balance: new Map(), external: new Map(), nodeport: new Map() },
  6: { balance: new Map(), external: new Map(), nodeport: new Map() },
};

/** The shared chain for so many endpoints. */
export function sharedChain(family: Family, role: SharedRole, endpoints: number): SharedChain {
  const chains = CHAINS[family][role];
  const known = chains.get(endpoints);
  if (known) return known;
  const name = `${role}-${endpoints}`;
  const chain = { role, family, endpoints, name, key: chainKey(family, name) };
  chains.set(endpoints, chain);
  return chain;
}

/** The shared chain with a name; undefined for other names. */
export function sharedChainNamed(family: Family, name: string): SharedChain | undefined {
  const [, role, digits] = NAME.exec(name) ?? [];
  return role === undefined ? undefined : sharedChain(family, role as SharedRole, Number(digits));
}

/** Whether a chain has the name of a shared one. */
export function isSharedChain(name: string): boolean {
  return NAME.test(name);
}

/** The items of the chains to which elements lead, and of those to which these chains lead. */
export function sharedChainItems(groups: Iterable<string>, mark: number): ChainItem[] {
  const chains = new Set<SharedChain>();
  for (const key of groups) {
    const place = placeOfKey(key);
    const chain = place?.kind === 'chain' ? sharedChainNamed(place.family, place.name) : undefined;
    if (!chain) continue;
    chains.add(chain);
    if (chain.role === 'external') chains.add(sharedChain(chain.family, 'balance', chain.endpoints));
  }
  return [...chains].map(
    (chain): ChainItem => ({
      kind: 'chain',
      family: chain.family,
      name: chain.name,
      rules: rulesOf(chain, mark),
    }),
  );
}

function rulesOf({ role, family, endpoints }: SharedChain, mark: number): readonly Rule[] {
  if (role === 'balance') return [rule([toRandomSlot(family, 'endpoints', endpoints)])];
  const marked = rule([setMark(mark)], 'masquerade');
  if (role === 'nodeport') return [marked, rule([toRandomSlot(family, 'nodeport-endpoints', endpoints)])];
  return [marked, rule([to('goto', sharedChain(family, 'balance', endpoints).name)])];
}
