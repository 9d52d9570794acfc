// Counts the kernel operations, and measures their time, for the metrics.
import { performance } from 'node:perf_hooks';
import type { Conntrack, FlowChange } from '../../kernel/conntrack/types.js';
import type { NetlinkError } from '../../kernel/errors.js';
import type { IptablesRestore } from '../../kernel/iptables/types.js';
import { type Family, familyOf } from '../../kernel/net/address.js';
import type { Batch, BatchSource } from '../../kernel/shared/types.js';
import type { ModeMetrics } from '../modes/shared/definition.js';
import { failureMetrics, ofFamily } from '../servers/kubeProxyMetrics.js';
import type { Metrics } from '../servers/metrics.js';

/** The parts of the kernel that report batches in every mode. */
interface CommonParts {
  readonly conntrack: BatchSource<FlowChange>;
  readonly iptables: BatchSource<IptablesRestore>;
  readonly rtnetlink: BatchSource<never>;
  readonly sysctl: BatchSource<never>;
}

/** The mode's parts, by their label `family`, and its counters of failures. */
interface MeasuredMode {
  readonly families: readonly Family[];
  readonly metrics: Pick<ModeMetrics, 'parts' | 'failures'>;
}

/** The measurements that others take. */
interface Measured {
  /** The number of restores of iptables that failed since the last call, by family. */
  failedRestores(): ReadonlyMap<Family, number>;
}

/** Counts the operations of all further batches by kind and result. */
export function measure(
  { conntrack, iptables, rtnetlink, sysctl }: CommonParts,
  { families, metrics: { parts, failures } }: MeasuredMode,
  metrics: Pick<Metrics, 'kubeProxy' | 'own' | 'registry'>,
): Measured {
  const { kubeProxy, own, registry } = metrics;
  let failed = new Map<Family, number>();
  for (const [family, part] of Object.entries({ rtnetlink, sysctl })) {
    part.onBatch = (batch) => count(own, family, batch);
  }
  const countFailure = failures && failureCounter(failures, families, registry);
  for (const [family, part] of Object.entries(parts ?? {})) {
    part.onBatch = (batch) => {
      count(own, family, batch);
      if (family === failures?.part) countFailure?.(batch);
    };
  }
  iptables.onBatch = (batch) => {
    count(own, 'iptables', batch);
    for (const [i, { family }] of batch.operations.entries()) {
      if (!batch.results[i]) continue;
      kubeProxy.restoreFailures.inc(ofFamily(family));
      failed.set(family, (failed.get(family) ?? 0) + 1);
    }
  };
  conntrack.onBatch = (batch) => {
    count(own, 'conntrack', batch);
    for (const [i, change] of batch.operations.entries()) {
      const isDeleted = change.do === 'deleteFlow' && !batch.results[i];
      if (isDeleted) kubeProxy.conntrackDeleted.inc(ofFamily(familyOf(change.flow.original.destination)));
    }
  };
  return {
    failedRestores() {
      const counts = failed;
      failed = new Map();
      return counts;
    },
  };
}

/** Measures the time to list flows, for which kube-proxy has a metric. */
export function withTimedListing(
  conntrack: Pick<Conntrack, 'list' | 'deleteFlows'>,
  { kubeProxy }: Pick<Metrics, 'kubeProxy'>,
): Pick<Conntrack, 'list' | 'deleteFlows'> {
  return {
    list(selections, options) {
      const listing = conntrack.list(selections, options);
      const toArray = async () => {
        const started = performance.now();
        const flows = await listing.toArray();
        for (const family of familiesOf([selections ?? []].flat())) {
          kubeProxy.conntrackDuration.observe(ofFamily(family), (performance.now() - started) / 1000);
        }
        return flows;
      };
      return { toArray, [Symbol.asyncIterator]: () => listing[Symbol.asyncIterator]() };
    },
    deleteFlows: (flows) => conntrack.deleteFlows(flows),
  };
}

/** Counts the batches with a failed operation. */
function failureCounter(
  { counters, of }: NonNullable<ModeMetrics['failures']>,
  families: readonly Family[],
  registry: Metrics['registry'],
): (batch: Batch<unknown>) => void {
  const failed = failureMetrics(registry, counters, families);
  return (batch) => {
    if (!batch.results.some(Boolean)) return;
    const { counter, family } = of(batch);
    failed.get(counter)?.inc(ofFamily(family));
  };
}

function count(own: Metrics['own'], family: string, { names, results, duration }: Batch<unknown>): void {
  const counts = new Map<string, Map<string, number>>();
  for (const [i, name] of names.entries()) {
    const ofName = counts.get(name) ?? new Map<string, number>();
    const result = codeOf(results[i]);
    counts.set(name, ofName.set(result, (ofName.get(result) ?? 0) + 1));
  }
  for (const [name, ofName] of counts) {
    for (const [result, operations] of ofName) own.operations.inc({ family, kind: name, result }, operations);
  }
  own.batches.observe({ family }, names.length);
  own.kernelDuration.observe({ family }, duration / 1000);
}

function codeOf(result: Partial<NetlinkError> | undefined): string {
  return result === undefined ? 'ok' : (result.code ?? 'ERR_UNKNOWN');
}

/** A selection without a family is one of both. */
function familiesOf(selections: readonly { readonly family?: Family }[]): Set<Family> {
  return new Set(selections.flatMap(({ family }) => family ?? ([4, 6] as const)));
}
