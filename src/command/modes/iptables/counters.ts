// Counters of packets (nfacct) that rules of iptables mode increase, where the kernel has them.

import { HOST, type Machine, stateOfModule } from '../../../kernel/shared/hints.js';
import { INVALID_COUNTER, LOCALHOST_COUNTER } from '../../../proxy/modes/iptables/plan/ruleText.js';
import type { Nfacct } from '../../kernel/nfacct/types.js';

/** The counters, with kube-proxy's metrics of them. */
export const COUNTERS = [
  {
    counter: INVALID_COUNTER,
    name: 'iptables_ct_state_invalid_dropped_packets_total',
    help: 'packets dropped by iptables to work around conntrack problems',
  },
  {
    counter: LOCALHOST_COUNTER,
    name: 'iptables_localhost_nodeports_accepted_packets_total',
    help: 'Number of packets accepted on nodeports of loopback interface',
  },
] as const;

/** Why the kernel cannot count packets; undefined if it can. Creates no counter. */
export async function countingObstacle(
  nfacct: Pick<Nfacct, 'get'>,
  machine: Machine = HOST,
): Promise<string | undefined> {
  try {
    for (const { counter } of COUNTERS) await nfacct.get(counter);
  } catch (error) {
    return String(error);
  }
  // iptables' match is a module of its own. Without it, no rule that has it could be added.
  return stateOfModule('xt_nfacct', machine) === 'missing' ? 'the kernel has no module xt_nfacct' : undefined;
}

/** Creates the missing counters. Rules that have them need them. Rejects with the NetlinkError of a counter. */
export async function createCounters(nfacct: Pick<Nfacct, 'add'>): Promise<void> {
  for (const { counter } of COUNTERS) {
    const error = await nfacct.add(counter);
    if (error) throw error;
  }
}

/** The packets of each counter that exists, by its name. Rejects with a NetlinkError. */
export async function readCounters(nfacct: Pick<Nfacct, 'get'>): Promise<Map<string, number>> {
  const packets = new Map<string, number>();
  for (const { counter } of COUNTERS) {
    const found = await nfacct.get(counter);
    if (found) packets.set(counter, Number(found.packets));
  }
  return packets;
}
