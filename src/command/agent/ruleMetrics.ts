// kube-proxy's metrics of the rules of iptables, in the modes whose rules depend on the number of Services.

import type { Family } from '../../kernel/net/address.js';
import type { RuleCount } from '../../proxy/modes/mode.js';
import { ofFamily } from '../servers/kubeProxyMetrics.js';
import type { Metrics } from '../servers/metrics.js';
import type { ProxyListener } from './listeners.js';

/** The sources of the metrics. */
interface RuleSources {
  /** The counts of rules; those of the written rules begin again at 0. */
  readonly ruleCounts: () => readonly RuleCount[];
  /** The number of restores that failed since the last call, by family. */
  readonly failedRestores: () => ReadonlyMap<Family, number>;
}

/** A listener that updates the metrics after each pass. As in kube-proxy, only a full pass restores all rules. */
export function ruleMetrics(
  { ruleCounts, failedRestores }: RuleSources,
  { kubeProxy }: Pick<Metrics, 'kubeProxy'>,
): ProxyListener {
  return {
    synced(summary) {
      for (const { family, table, total, written } of ruleCounts()) {
        kubeProxy.rulesTotal.set({ ...ofFamily(family), table }, total);
        kubeProxy.rulesLast.set({ ...ofFamily(family), table }, written);
      }
      const failed = failedRestores();
      if (summary.full) return;
      for (const [family, count] of failed) kubeProxy.partialRestoreFailures.inc(ofFamily(family), count);
    },
  };
}
