// Selects the state that stays in the kernel while some objects are unreadable: items without a plan may belong to such an object.
import type { AddressPorts } from '../../../net/addressPorts.js';
import type { Keep } from '../../mode.js';
import type { Item } from './items.js';
import { isAffinitySet, isOfService } from './names.js';
import { BalancingChain } from './serviceChains.js';
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
    return more.size === 0 ? wanted : withEndpoints(wanted, wanted.endpoints.with(more));
  },
};

function isOfSomeService(item: Item): boolean {
  switch (item.kind) {
    case 'table':
    case 'counter':
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

function withEndpoints(item: Balancing, endpoints: AddressPorts): Balancing {
  if (item instanceof BalancedElement) return item.with(endpoints);
  return new BalancingChain(item, item.protocol, endpoints, item.affinity, item.direct);
}
