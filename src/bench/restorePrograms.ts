// The processes of iptables: one iptables-restore for each family makes all changes of a client.
import type { Iptables } from '../kernel/iptables/types.js';
import type { Family } from '../net/address.js';

const running = new WeakMap<object, Set<Family>>();

/** The number of processes that the next restore of a client starts: 1 for the first of its family, then 0. */
export function processesOfRestore(iptables: Pick<Iptables, 'restore'>, family: Family): number {
  const families = running.get(iptables) ?? new Set();
  running.set(iptables, families);
  if (families.has(family)) return 0;
  families.add(family);
  return 1;
}
