// kube-proxy's metrics of failed transactions, in the modes whose rules are those of nf_tables.
import type { NftablesOperation, TableFamily } from '../../../kernel/nftables/types.js';
import type { Batch } from '../../../kernel/shared/types.js';
import { TABLE_FAMILY } from '../../../proxy/modes/nftablesRules/plan/families.js';
import type { ModeMetrics } from '../shared/definition.js';

const SYNC = 'sync';
const CLEANUP = 'cleanup';

/** The counters, with kube-proxy's metrics of them. */
const COUNTERS = [
  {
    counter: SYNC,
    name: 'sync_proxy_rules_nftables_sync_failures_total',
    help: 'Cumulative proxy nftables sync failures',
  },
  {
    counter: CLEANUP,
    name: 'sync_proxy_rules_nftables_cleanup_failures_total',
    help: 'Cumulative proxy nftables cleanup failures',
  },
] as const;

/** A transaction that only deletes chains and sets of rules that are no longer used is a clean-up, as in kube-proxy. */
const CLEANUPS: ReadonlySet<string> = new Set(['flushChain', 'deleteChain', 'deleteSet']);

/** Counts transactions that the kernel refused; one that is sent again without a Service that it refuses counts again if it fails. */
export const FAILURES: NonNullable<ModeMetrics['failures']> = {
  part: 'nftables',
  counters: COUNTERS,
  of({ operations, names }: Batch<unknown>) {
    const counter = names.every((name) => CLEANUPS.has(name)) ? CLEANUP : SYNC;
    return { counter, family: isIpv6(operations[0] as NftablesOperation) ? 6 : 4 };
  },
};

/** Every operation of a transaction of these modes has the table of one family. */
function isIpv6(operation: NftablesOperation): boolean {
  return subjectOf(operation).family === TABLE_FAMILY[6];
}

function subjectOf(operation: NftablesOperation): { readonly family: TableFamily } {
  if ('table' in operation) return operation.table;
  if ('chain' in operation) return operation.chain;
  if ('rule' in operation) return operation.rule;
  if ('set' in operation) return operation.set;
  return 'object' in operation ? operation.object : operation.flowTable;
}
