// Layout `scalable`: the chains that frontends with equal numbers of endpoints share, if these are in the same map.
import type { Family } from '../../../../kernel/net/address.js';
import type { Register } from '../../../../kernel/nftables/types.js';
import {
  loadAddress,
  type Part,
  protocolAndPort,
  type Rule,
  rule,
  setMark,
  to,
  toLoaded,
} from '../../nftablesRules/plan/expressions.js';
import { ADDRESS_TYPE } from '../../nftablesRules/plan/families.js';
import { SLOT_MAPS, type SlotMap } from './containers.js';
import { type ChainItem, chainKey, placeOfKey, type SetItem } from './items.js';

/**
 * What a shared chain is for. `balance`: cluster IPs. `external`: external IPs and load-balancer IPs, whose packets are marked, with policy
 * Cluster. `nodeport`: node ports, with policy Cluster.
 */
type SharedRole = 'balance' | 'external' | 'nodeport';

/** A chain of the frontends of a kind with so many endpoints in one map. */
export interface SharedChain {
  readonly role: SharedRole;
  readonly family: Family;
  /** Number of endpoints; at least 1. */
  readonly endpoints: number;
  /** The number of the map, see `shardOf`. Node ports have one map, of number 0. */
  readonly shard: number;
  /** `balance-3-7`, with the number of endpoints and that of the map; `nodeport-3` */
  readonly name: string;
  /** The key of its item; also the name of the group of the elements that lead to it. */
  readonly key: string;
}

const NAME = /^(?:(balance|external)-([1-9][0-9]{0,8})-(0|[1-9][0-9]?)|(nodeport)-([1-9][0-9]{0,8}))$/;

/** The chains that were asked for, by number of endpoints and map: of each there is one object. */
const CHAINS: Readonly<Record<Family, Readonly<Record<SharedRole, Map<number, SharedChain>>>>> = {
  4: { balance: new Map(), external: new Map(), nodeport: new Map() },
  6: { balance: new Map(), external: new Map(), nodeport: new Map() },
};

/** The shared chain for so many endpoints in a map. @param shard number of the map; 0 for node ports */
export function sharedChain(family: Family, role: SharedRole, endpoints: number, shard: number): SharedChain {
  const chains = CHAINS[family][role];
  const place = endpoints * SLOT_MAPS[family].addresses.length + shard;
  const known = chains.get(place);
  if (known) return known;
  const name = role === 'nodeport' ? `${role}-${endpoints}` : `${role}-${endpoints}-${shard}`;
  const chain = { role, family, endpoints, shard, name, key: chainKey(family, name) };
  chains.set(place, chain);
  return chain;
}

/** The shared chain with a name; undefined for other names. */
export function sharedChainNamed(family: Family, name: string): SharedChain | undefined {
  const [, role, endpoints, shard, nodePort, nodePortEndpoints] = NAME.exec(name) ?? [];
  if (nodePort !== undefined) return sharedChain(family, 'nodeport', Number(nodePortEndpoints), 0);
  if (role === undefined || Number(shard) >= SLOT_MAPS[family].addresses.length) return undefined;
  return sharedChain(family, role as SharedRole, Number(endpoints), Number(shard));
}

/** Whether a chain has the name of a shared one. */
export function isSharedChain(name: string): boolean {
  return NAME.test(name);
}

/** The items of the chains to which elements lead, of those to which these chains lead, and of their maps. */
export function sharedChainItems(groups: Iterable<string>, mark: number): (ChainItem | SetItem)[] {
  const chains = new Set<SharedChain>();
  for (const key of groups) {
    const place = placeOfKey(key);
    const chain = place?.kind === 'chain' ? sharedChainNamed(place.family, place.name) : undefined;
    if (!chain) continue;
    chains.add(chain);
    if (chain.role === 'external') chains.add(balanceOf(chain));
  }
  return [...chains].flatMap((chain): (ChainItem | SetItem)[] => {
    const { family, name } = chain;
    return [
      { kind: 'set', family, name: mapOf(chain).name },
      { kind: 'chain', family, name, rules: rulesOf(chain, mark) },
    ];
  });
}

/** The map with the endpoints that a chain, or the one behind it, selects. */
function mapOf({ role, family, shard }: SharedChain): SlotMap {
  const { addresses, nodePorts } = SLOT_MAPS[family];
  return role === 'nodeport' ? nodePorts : (addresses[shard] as SlotMap);
}

/** The chain that selects an endpoint for an `external` one. */
function balanceOf({ family, endpoints, shard }: SharedChain): SharedChain {
  return sharedChain(family, 'balance', endpoints, shard);
}

function rulesOf(chain: SharedChain, mark: number): readonly Rule[] {
  const { role, endpoints } = chain;
  const select = rule([toRandomSlot(mapOf(chain), endpoints)]);
  if (role === 'balance') return [select];
  const marked = rule([setMark(mark)], 'masquerade');
  return [marked, role === 'nodeport' ? select : rule([to('goto', balanceOf(chain).name)])];
}

/**
 * `dnat ip to ip daddr . meta l4proto . th dport . numgen random mod 3 map @endpoints-7`: translates the destination to a random endpoint
 * of the frontend to which the packet was sent. The keys of the map begin with the address of the destination, or with the protocol.
 *
 * @param endpoints number of the frontend's endpoints
 */
function toRandomSlot({ family, name, key }: SlotMap, endpoints: number): Part {
  const hasAddress = key[0] === ADDRESS_TYPE[family];
  const byAddress: readonly Register[] = family === 4 ? [9, 10, 11] : [2, 13, 14];
  const [protocol, port, slot] = (hasAddress ? byAddress : [1, 9, 10]) as [Register, Register, Register];
  return [
    ...(hasAddress ? [loadAddress(family, 'daddr')] : []),
    ...protocolAndPort(protocol, port),
    { kind: 'numgen', type: 'random', modulus: endpoints, register: slot },
    { kind: 'lookup', set: name, source: 1, register: 1 },
    toLoaded(family),
  ];
}
