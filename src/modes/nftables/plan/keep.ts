// Selects the state that stays in the kernel while some objects are unreadable: items without a plan may belong to such an object.
import type { AddressPorts } from '../../../net/addressPorts.js';
import type { Keep } from '../../mode.js';
import type { Item } from './items.js';
import { isAffinitySet, isOfService } from './names.js';
import { BalancingChain } from './serviceChains.js';

/** Keeps chains, elements and affinity sets of Services, and the endpoints in kept chains. */
export const keep: Keep<Item> = {
  found(known) {
    return new Map([...known].filter(([, item]) => isOfSomeService(item)));
  },
  beyond(found, wanted) {
    if (!(found instanceof BalancingChain && wanted instanceof BalancingChain)) return undefined;
    const endpoints = found.endpoints.without(wanted.endpoints);
    return endpoints.size === 0 ? undefined : withEndpoints(found, endpoints);
  },
  join(wanted, part) {
    if (!(wanted instanceof BalancingChain && part instanceof BalancingChain)) return wanted;
    const more = part.endpoints.without(wanted.endpoints);
    return more.size === 0 ? wanted : withEndpoints(wanted, wanted.endpoints.with(more));
  },
};

function isOfSomeService(item: Item): boolean {
  switch (item.kind) {
    case 'table':
      return false;
    case 'set':
      return isAffinitySet(item.name);
    case 'chain':
      return isOfService(item.name);
    case 'element':
      return item.container.name !== 'nodeport-ips';
  }
}

function withEndpoints(chain: BalancingChain, endpoints: AddressPorts): BalancingChain {
  return new BalancingChain(chain, chain.protocol, endpoints, chain.affinity);
}
