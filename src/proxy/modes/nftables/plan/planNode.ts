// The node's own plan in nftables mode. It has the chains that Services share: one that resets connections, and those of layout `scalable`.
import type { NodeFacts } from '../../../services/types.js';
import type { Desired, Plan } from '../../mode.js';
import { CONTAINERS, type ContainerName, slotMapNames } from './containers.js';
import { nodeChains, RESET_CHAIN, resetChain } from './fixedChains.js';
import { flowTableItems } from './flowTable.js';
import { chainKey, ElementItem, type Item, itemMap } from './items.js';
import { localhostRejects } from './localhostPorts.js';
import type { NftablesOptions } from './options.js';
import { sharedChainItems } from './sharedChains.js';
import { hasSlots } from './slots.js';

/** The keys of {@link RESET_CHAIN}. */
const RESET_KEYS = { 4: chainKey(4, RESET_CHAIN), 6: chainKey(6, RESET_CHAIN) } as const;

/**
 * The group of an element that leads to a chain of several Services: the key of this chain. It is in the node's plan while its group has items,
 * so that no change of a Service costs a walk over others, and the chain precedes the elements in a pass of many pieces.
 */
export function groupOf(item: Item): string | undefined {
  if (hasSlots(item)) return item.chain?.key;
  return item.kind === 'element' && item.verdict === RESET_CHAIN ? RESET_KEYS[item.family] : undefined;
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
  const groups = new Set(desired.groups());
  for (const family of options.families) {
    const limited = !node.host.unrestricted.has(family);
    const containers = CONTAINERS[family];
    items.push({ kind: 'table', family });
    const rejected = options.localhostRejects[family];
    const isWanted = (name: ContainerName) => {
      if (name === 'nodeport-ips') return limited;
      if (name.startsWith('flow-table-')) return options.flowTable !== undefined;
      return name !== 'localhost-nodeport-reject-ports' || rejected.length > 0;
    };
    for (const name of (Object.keys(containers) as ContainerName[]).filter(isWanted))
      items.push({ kind: 'set', family, name });
    if (options.layout === 'scalable')
      for (const name of slotMapNames(family)) items.push({ kind: 'set', family, name });
    items.push(...nodeChains(family, node, options), ...localhostRejects(family, rejected));
    if (options.flowTable) items.push(...flowTableItems(family, node.host));
    if (groups.has(RESET_KEYS[family])) items.push(resetChain(family));
    if (!limited) continue;
    for (const address of node.host.nodePortAddresses[family])
      items.push(new ElementItem(containers['nodeport-ips'], address));
  }
  items.push(...sharedChainItems(groups, options.masqueradeMark));
  return itemMap(items);
}
