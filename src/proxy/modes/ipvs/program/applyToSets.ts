// Applies operations on sets. nf_tables frees deleted rules later, and a set cannot be destroyed before that.
import { setTimeout as wait } from 'node:timers/promises';
import type { Ipset, IpsetOperation } from '../../../../kernel/ipset/types.js';
import type { Result } from '../../shared/program/result.js';

/**
 * Delays before a refused removal is repeated, in ms; 2.5 s in all. nf_tables frees the rules of a transaction in a work item,
 * after a grace period of RCU (nf_tables_trans_destroy_work()): usually 3 to 30 ms after iptables-nft-restore has deleted them.
 */
const DELAYS = [5, 10, 20, 40, 80, 160, 320, 640, 1280];

/** Returns one result per operation. Repeats only the removals of sets that the kernel still counts as used. */
export async function applyToSets(
  ipset: Pick<Ipset, 'apply'>,
  batch: readonly IpsetOperation[],
): Promise<Result[]> {
  const results: Result[] = await ipset.apply(batch);
  for (const delay of DELAYS) {
    const again = batch.flatMap((operation, i) =>
      operation.do === 'destroy' && results[i]?.code === 'EBUSY' ? [{ operation, i }] : [],
    );
    if (again.length === 0) break;
    await wait(delay);
    const repeated = await ipset.apply(again.map(({ operation }) => operation));
    for (const [n, { i }] of again.entries()) results[i] = repeated[n];
  }
  return results;
}
