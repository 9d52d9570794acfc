// Selects the state that stays in the kernel while some objects are unreadable: items without a plan may belong to such an object.
import type { AddressPorts } from '../../../../kernel/net/addressPorts.js';
import type { Keep, Plan } from '../../mode.js';
import { reduced } from '../../shared/plan/weights.js';
import { CONTAINERS, type ContainerName } from './containers.js';
import { chainKey, ElementItem, elementKey, type Item, setKey } from './items.js';
import { isAffinitySet, isOfService } from './names.js';
import { BalancingChain, EndpointChain, endpointNames } from './serviceChains.js';
import { BalancedElement } from './slots.js';

/** Keeps chains, elements and affinity sets of Services, and the endpoints in kept chains. */
export const keep: Keep<Item> = {
  found(known) {
    return new Map([...known].filter(([, item]) => isOfSomeService(item)));
  },
  beyond(found, wanted) {
    if (!balance(found, wanted)) return undefined;
    const endpoints = found.endpoints.without((wanted as Balancing).endpoints);
    return endpoints.size === 0 ? undefined : withEndpoints(found, endpoints);
  },
  join(wanted, part) {
    if (!balance(wanted, part)) return wanted;
    const more = (part as Balancing).endpoints.without(wanted.endpoints);
    return more.size === 0 ? wanted : withEndpoints(wanted, wanted.endpoints.with(more), part);
  },
  inFormOf,
  behind,
  contradicts,
};

function isOfSomeService(item: Item): boolean {
  switch (item.kind) {
    case 'table':
    case 'counter':
    case 'flowtable':
    case 'device':
      return false;
    case 'set':
      return isAffinitySet(item.name);
    case 'chain':
      return isOfService(item.name);
    case 'element':
      return item.container.name !== 'nodeport-ips';
  }
}

/** An item with endpoints. */
type Balancing = BalancingChain | BalancedElement;

/** Whether two items of one key are of the same kind, and have endpoints. */
function balance(one: Item, other: Item): one is Balancing {
  if (one instanceof BalancingChain) return other instanceof BalancingChain;
  return one instanceof BalancedElement && other instanceof BalancedElement;
}

/** @param other has those of the endpoints that the item does not have. Without it, a part of the endpoints keeps its numbers of slots */
function withEndpoints(item: Balancing, endpoints: AddressPorts, other?: Item): Balancing {
  if (item instanceof BalancedElement) return item.with(endpoints);
  const { protocol, affinity, direct } = item;
  const slots: number[] = [];
  for (let index = 0; index < endpoints.size; index++)
    slots.push(slotsIn(item, endpoints, index) ?? slotsIn(other, endpoints, index) ?? 1);
  return new BalancingChain(item, protocol, endpoints, {
    affinity,
    direct,
    slots: other ? reduced(slots) : slots,
  });
}

/** The number of slots of an endpoint in a chain; undefined if the item does not have it, or is another one. */
function slotsIn(item: Item | undefined, list: AddressPorts, index: number): number | undefined {
  if (!(item instanceof BalancingChain)) return undefined;
  const place = item.endpoints.indexOf(list, index);
  return place < 0 ? undefined : (item.slots?.[place] ?? 1);
}

type Items = Pick<ReadonlyMap<string, Item>, 'get' | 'has'>;

/**
 * The endpoints of a frontend are in slots, or in a chain: a change of the layout, and in layout `scalable` one of session affinity or
 * weights, moves them from one to the other.
 */
function* inFormOf(
  plan: Plan<Item>,
  kept: Items,
  former: Plan<Item> | undefined,
): Generator<readonly [string, Item]> {
  for (const [key, wanted] of plan) {
    if (!(wanted instanceof ElementItem)) continue;
    const found = kept.get(key);
    if (wanted instanceof BalancedElement) {
      // A part of a chain is kept while the plan has the element that leads to it.
      const leading = found ?? former?.get(key);
      const isOfChain = leading instanceof ElementItem && !(leading instanceof BalancedElement);
      const chain = isOfChain ? chainBehind(leading, kept) : undefined;
      if (chain) yield [key, wanted.with(chain.endpoints)];
    } else if (found instanceof BalancedElement) {
      const chain = chainBehind(wanted, plan);
      const chainsKey = chain && chainKey(chain.family, chain.name);
      if (chain && !kept.has(chainsKey as string))
        yield [chainsKey as string, withEndpoints(chain, found.endpoints, found)];
    }
  }
}

/** With session affinity, the chain of a Service port leads to a chain and a set of each endpoint. */
function* behind(joined: Item, plan: Plan<Item>): Generator<readonly [string, Item]> {
  if (!(joined instanceof BalancingChain) || joined.affinity === undefined) return;
  const { family, affinity, protocol, endpoints, service } = joined;
  const wanted = plan.get(chainKey(family, joined.name));
  if (!(wanted instanceof BalancingChain)) return;
  const namesAt = (list: AddressPorts, i: number) =>
    endpointNames(affinity, { address: list.addressAt(i), port: list.portAt(i) });
  const other = plan.get(setKey(family, namesAt(wanted.endpoints, 0).set));
  for (let i = 0; i < endpoints.size; i++) {
    if (wanted.endpoints.indexOf(endpoints, i) >= 0) continue;
    const { chain: name, set } = namesAt(endpoints, i);
    if (other?.kind === 'set') yield [setKey(family, set), { ...other, name: set }];
    const place = { family, name, service };
    yield [
      chainKey(family, name),
      new EndpointChain(place, protocol, endpoints.addressAt(i), endpoints.portAt(i)),
    ];
  }
}

/** The chain that selects an endpoint for packets to an element: an element leads to it, or to one of external traffic before. */
function chainBehind({ family, verdict }: ElementItem, items: Items): BalancingChain | undefined {
  const name = verdict.replace(/^external-/, 'service-');
  const chain = items.get(chainKey(family, name));
  return chain instanceof BalancingChain ? chain : undefined;
}

/** Where traffic to a frontend without endpoints is refused, and where it is served. */
const SERVED_IN: Partial<Record<ContainerName, ContainerName>> = {
  'no-endpoint-services': 'service-ips',
  'no-endpoint-nodeports': 'service-nodeports',
};

/** No endpoint of a Service can be read, but the kernel has some. */
function contradicts(wanted: Item, kept: Items): boolean {
  if (wanted.kind !== 'element') return false;
  const served = SERVED_IN[wanted.container.name];
  return served !== undefined && kept.has(elementKey(CONTAINERS[wanted.family][served], wanted.text));
}
