// Finds the state of iptables mode without the code of the mode.
import type { Iptables, SavedRules } from '../../kernel/iptables/types.js';
import type { Family } from '../../net/address.js';
import { splitChainId } from '../shared/iptables/targets.js';
import { isOwnChain } from './fixedChains.js';

/** Whether iptables mode left a chain other than KUBE-FIREWALL, which is also kubelet's. */
export async function hasTraces(
  iptables: Pick<Iptables, 'save'>,
  families: readonly Family[],
): Promise<boolean> {
  for (const family of families) if (hasChain(await iptables.save(family))) return true;
  return false;
}

function hasChain(saved: SavedRules): boolean {
  for (const id of saved.keys()) if (isOwnChain(...splitChainId(id))) return true;
  return false;
}
