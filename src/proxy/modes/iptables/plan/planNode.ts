// The node's own plan in iptables mode. It depends on no Service.
import type { NodeFacts } from '../../../services/types.js';
import type { Plan } from '../../mode.js';
import { BLOCK_LOCALNET, jumps, nodeChains, sharedChains } from './fixedChains.js';
import { type Item, itemMap } from './items.js';
import { loopbackServesNodePorts } from './loopback.js';
import type { IptablesOptions } from './options.js';

/** Packets from 127.0.0.0/8 may be translated to addresses of other links. */
export const ROUTE_LOCALNET = 'net/ipv4/conf/all/route_localnet';

/** The items of the node. */
export function planNode(node: NodeFacts, options: IptablesOptions): Plan<Item> {
  const items: Item[] = [];
  for (const family of options.families) {
    const loopback = loopbackServesNodePorts(options, family, node.nodeIPs);
    if (loopback) items.push({ kind: 'sysctl', name: ROUTE_LOCALNET, value: '1' });
    for (const chain of nodeChains(family, options)) items.push({ kind: 'chain', ...chain });
    items.push(...sharedChains(family, node, options));
    if (loopback) items.push({ kind: 'rule', ...BLOCK_LOCALNET });
    for (const rule of jumps(family)) items.push({ kind: 'rule', ...rule });
  }
  return itemMap(items);
}
