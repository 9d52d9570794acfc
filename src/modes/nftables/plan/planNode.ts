// The node's own plan in nftables mode. It depends on no Service.
import type { NodeFacts } from '../../../services/types.js';
import type { Plan } from '../../mode.js';
import { CONTAINERS, type ContainerName } from './containers.js';
import { nodeChains } from './fixedChains.js';
import { ElementItem, type Item, itemMap } from './items.js';
import type { NftablesOptions } from './options.js';

/** The items of the node. */
export function planNode(node: NodeFacts, options: NftablesOptions): Plan<Item> {
  const items: Item[] = [];
  for (const family of options.families) {
    const limited = !node.host.unrestricted.has(family);
    const containers = CONTAINERS[family];
    items.push({ kind: 'table', family });
    for (const name of Object.keys(containers) as ContainerName[])
      if (limited || name !== 'nodeport-ips') items.push({ kind: 'set', family, name });
    items.push(...nodeChains(family, node, options));
    if (!limited) continue;
    for (const address of node.host.nodePortAddresses[family])
      items.push(new ElementItem(containers['nodeport-ips'], address));
  }
  return itemMap(items);
}
