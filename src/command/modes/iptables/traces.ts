// Finds the state of iptables mode without the code of the mode.
import type { Iptables } from '../../../kernel/iptables/types.js';
import type { Family } from '../../../kernel/net/address.js';
import { isOwnChain } from '../../../proxy/modes/iptables/plan/fixedChains.js';
import type { KernelSigns } from '../shared/definition.js';

/** Whether iptables mode left a chain other than KUBE-FIREWALL, which is also kubelet's. */
export async function hasTraces(
  iptables: Pick<Iptables, 'chains'>,
  families: readonly Family[],
): Promise<boolean> {
  for (const family of families) {
    for await (const piece of iptables.chains(family))
      if (piece.some(({ table, name }) => isOwnChain(table, name))) return true;
  }
  return false;
}

/** Chains that only iptables mode has, and has without a Service. kubelet has neither. */
const OWN_CHAINS = ['nat/KUBE-NODEPORTS', 'filter/KUBE-EXTERNAL-SERVICES', 'filter/KUBE-NODEPORTS'];

/** Whether iptables mode has programmed the kernel. */
export async function isProgrammed({ chains }: KernelSigns): Promise<boolean> {
  return OWN_CHAINS.some((id) => chains.has(id));
}
