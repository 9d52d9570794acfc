// Counters of packets (nfacct) that rules of iptables mode increase, where the kernel has them.

import type { Nfacct } from '../../../kernel/nfacct/types.js';
import { findModule } from '../../../kernel/shared/modules.js';
import { INVALID_COUNTER, LOCALHOST_COUNTER } from '../plan/ruleText.js';

const COUNTERS = [INVALID_COUNTER, LOCALHOST_COUNTER];

/**
 * Why the kernel cannot count packets; undefined if it can. Creates no counter.
 *
 * @param find finds a kernel module
 */
export async function countingObstacle(
  nfacct: Pick<Nfacct, 'get'>,
  find: typeof findModule = findModule,
): Promise<string | undefined> {
  try {
    for (const name of COUNTERS) await nfacct.get(name);
  } catch (error) {
    return String(error);
  }
  // iptables' match is a module of its own. Without it, no rule that has it could be added.
  return (await find('xt_nfacct')) === 'missing' ? 'the kernel has no module xt_nfacct' : undefined;
}

/** Creates the missing counters. Rules that have them need them. Rejects with the NetlinkError of a counter. */
export async function createCounters(nfacct: Pick<Nfacct, 'add'>): Promise<void> {
  for (const name of COUNTERS) {
    const error = await nfacct.add(name);
    if (error) throw error;
  }
}

/** The packets of each counter that exists, by its name. Rejects with a NetlinkError. */
export async function readCounters(nfacct: Pick<Nfacct, 'get'>): Promise<Map<string, number>> {
  const packets = new Map<string, number>();
  for (const name of COUNTERS) {
    const counter = await nfacct.get(name);
    if (counter) packets.set(name, Number(counter.packets));
  }
  return packets;
}
