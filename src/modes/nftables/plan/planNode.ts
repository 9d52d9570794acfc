// The node's own plan in nftables mode. In layout `scalable`, it has the shared chains to which elements of Services lead.
import type { NodeFacts } from '../../../services/types.js';
import type { Desired, Plan } from '../../mode.js';
import { CONTAINERS, type ContainerName, slotMapNames } from './containers.js';
import { nodeChains } from './fixedChains.js';
import { ElementItem, type Item, itemMap } from './items.js';
import { localhostRejects } from './localhostPorts.js';
import type { NftablesOptions } from './options.js';
import { sharedChainItems } from './sharedChains.js';
import { hasSlots } from './slots.js';

/**
 * The group of an element that leads to a shared chain: the key of this chain. It is in the node's plan while its group has items, so
 * that no change of a Service costs a walk over others.
 */
export function groupOf(item: Item): string | undefined {
  return hasSlots(item) ? item.chain?.key : undefined;
}

/** Whether a shared chain is needed, or is no longer. */
export function affectsNode(_group: string, before: number, now: number): boolean {
  return (before === 0) !== (now === 0);
}

/** The items of the node. */
export function planNode(
  desired: Pick<Desired<Item>, 'groups'>,
  node: NodeFacts,
  options: NftablesOptions,
): Plan<Item> {
  const items: Item[] = [];
  for (const family of options.families) {
    const limited = !node.host.unrestricted.has(family);
    const containers = CONTAINERS[family];
    items.push({ kind: 'table', family });
    const rejected = options.localhostRejects[family];
    const isWanted = (name: ContainerName) => {
      if (name === 'nodeport-ips') return limited;
      return name !== 'localhost-nodeport-reject-ports' || rejected.length > 0;
    };
    for (const name of (Object.keys(containers) as ContainerName[]).filter(isWanted))
      items.push({ kind: 'set', family, name });
    if (options.layout === 'scalable')
      for (const name of slotMapNames(family)) items.push({ kind: 'set', family, name });
    items.push(...nodeChains(family, node, options), ...localhostRejects(family, rejected));
    if (!limited) continue;
    for (const address of node.host.nodePortAddresses[family])
      items.push(new ElementItem(containers['nodeport-ips'], address));
  }
  items.push(...sharedChainItems(desired.groups(), options.masqueradeMark));
  return itemMap(items);
}
