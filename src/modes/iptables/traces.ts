// Finds the state of iptables mode without the code of the mode.
import type { Iptables, SavedRules, Table } from '../../kernel/iptables/types.js';
import type { Family } from '../../net/address.js';
import { splitChainId } from '../shared/iptables/targets.js';
import { NODE_CHAINS, SHARED_CHAINS } from './fixedChains.js';
import { isPerService } from './names.js';

/** Whether iptables mode left a chain other than KUBE-FIREWALL, which is also kubelet's. */
export async function hasTraces(
  iptables: Pick<Iptables, 'save'>,
  families: readonly Family[],
): Promise<boolean> {
  for (const family of families) if (hasChain(await iptables.save(family))) return true;
  return false;
}

function hasChain(saved: SavedRules): boolean {
  for (const id of saved.keys()) {
    const [table, name] = splitChainId(id) as [Table, string];
    if (
      isPerService(table, name) ||
      NODE_CHAINS[table]?.includes(name) ||
      SHARED_CHAINS[table]?.includes(name)
    )
      return true;
  }
  return false;
}
