// kube-proxy's metrics, with the names, labels, buckets and help texts of kube-proxy 1.36.
import { Counter, exponentialBuckets, Gauge, Histogram, linearBuckets, type Registry } from 'prom-client';
import type { Family } from '../../kernel/net/address.js';

/** The prefix of metrics of passes. */
const RULES = 'sync_proxy_rules';
const DURATIONS = exponentialBuckets(0.001, 2, 15);

/** 0, 0.25 and 0.5, then every second to 60, every 5 to 115, and every 30 to 300; in seconds. */
const PROGRAMMING_DURATIONS = [
  0,
  ...linearBuckets(0.25, 0.25, 2),
  ...linearBuckets(1, 1, 59),
  ...linearBuckets(60, 5, 12),
  ...linearBuckets(120, 30, 7),
];

/** kube-proxy's metrics. */
export type KubeProxyMetrics = ReturnType<typeof kubeProxyMetrics>;

/** Registers the metrics. A metric with labels has no series before its first use. */
export function kubeProxyMetrics(registry: Registry) {
  const make = makers(registry);
  return {
    ...syncMetrics(make),
    ...changeMetrics(make),
    ...ruleMetrics(make),
    ...conntrackMetrics(make),
  };
}

/** The label of a family. */
export function ofFamily(family: Family): { readonly ip_family: string } {
  return { ip_family: `IPv${family}` };
}

/** Shows 0 for these families: a rate needs the 0 before the first event. */
export function startAtZero(
  families: readonly Family[],
  ...metrics: readonly (Counter<'ip_family'> | Gauge<'ip_family'>)[]
): void {
  for (const metric of metrics) for (const family of families) metric.inc(ofFamily(family), 0);
}

type Makers = ReturnType<typeof makers>;

/** Functions that register a metric; without other labels, it has the label of the IP family. */
function makers(registry: Registry) {
  const alpha = (name: string, help: string) => ({
    name: `kubeproxy_${name}`,
    help: `[ALPHA] ${help}`,
    registers: [registry],
  });
  const labelNames = ['ip_family'] as const;
  return {
    alpha,
    counter: (name: string, help: string) => new Counter({ ...alpha(name, help), labelNames }),
    gauge: (name: string, help: string) => new Gauge({ ...alpha(name, help), labelNames }),
    duration: (name: string, help: string, buckets = DURATIONS) =>
      new Histogram({ ...alpha(name, help), labelNames, buckets }),
  };
}

function syncMetrics({ gauge, duration }: Makers) {
  return {
    syncDuration: duration(`${RULES}_duration_seconds`, 'SyncProxyRules latency in seconds'),
    fullSyncDuration: duration(
      'sync_full_proxy_rules_duration_seconds',
      'SyncProxyRules latency in seconds for full resyncs',
    ),
    partialSyncDuration: duration(
      'sync_partial_proxy_rules_duration_seconds',
      'SyncProxyRules latency in seconds for partial resyncs',
    ),
    lastSynced: gauge(
      `${RULES}_last_timestamp_seconds`,
      'The last time proxy rules were successfully synced',
    ),
    lastQueued: gauge(
      `${RULES}_last_queued_timestamp_seconds`,
      'The last time a sync of proxy rules was queued',
    ),
    programmingDuration: duration(
      'network_programming_duration_seconds',
      'In Cluster Network Programming Latency in seconds',
      PROGRAMMING_DURATIONS,
    ),
  };
}

function changeMetrics({ alpha }: Makers) {
  return {
    endpointChangesPending: new Gauge(
      alpha(`${RULES}_endpoint_changes_pending`, 'Pending proxy rules Endpoint changes'),
    ),
    endpointChanges: new Counter(
      alpha(`${RULES}_endpoint_changes_total`, 'Cumulative proxy rules Endpoint changes'),
    ),
    serviceChangesPending: new Gauge(
      alpha(`${RULES}_service_changes_pending`, 'Pending proxy rules Service changes'),
    ),
    serviceChanges: new Counter(
      alpha(`${RULES}_service_changes_total`, 'Cumulative proxy rules Service changes'),
    ),
    noLocalEndpoints: new Gauge({
      ...alpha(
        `${RULES}_no_local_endpoints_total`,
        'Number of services with a Local traffic policy and no endpoints',
      ),
      labelNames: ['ip_family', 'traffic_policy'] as const,
    }),
  };
}

function ruleMetrics({ alpha, counter }: Makers) {
  const rules = (name: string, help: string) =>
    new Gauge({ ...alpha(name, help), labelNames: ['ip_family', 'table'] as const });
  return {
    rulesTotal: rules(`${RULES}_iptables_total`, 'Total number of iptables rules owned by kube-proxy'),
    rulesLast: rules(`${RULES}_iptables_last`, 'Number of iptables rules written by kube-proxy in last sync'),
    restoreFailures: counter(
      `${RULES}_iptables_restore_failures_total`,
      'Cumulative proxy iptables restore failures',
    ),
    partialRestoreFailures: counter(
      `${RULES}_iptables_partial_restore_failures_total`,
      'Cumulative proxy iptables partial restore failures',
    ),
  };
}

function conntrackMetrics({ counter, duration }: Makers) {
  return {
    conntrackDuration: duration(
      'conntrack_reconciler_sync_duration_seconds',
      'ReconcileConntrackFlowsLatency latency in seconds',
    ),
    conntrackDeleted: counter(
      'conntrack_reconciler_deleted_entries_total',
      'Cumulative conntrack flows deleted by conntrack reconciler',
    ),
  };
}

/**
 * Registers the counters of responses to probes.
 *
 * @param read their number since the start
 */
export function probeMetrics(
  registry: Registry,
  read: (probe: 'healthz' | 'livez', status: 200 | 503) => number,
): void {
  const { alpha } = makers(registry);
  for (const probe of ['healthz', 'livez'] as const)
    new Counter({
      ...alpha(`proxy_${probe}_total`, `Cumulative proxy ${probe} HTTP status`),
      labelNames: ['code'] as const,
      collect() {
        this.reset();
        for (const status of [200, 503] as const) this.inc({ code: `${status}` }, read(probe, status));
      },
    });
}

/** A counter of a mode, with its metric. */
export interface ModeCounter {
  readonly counter: string;
  /** Name of the metric, without the prefix `kubeproxy_`. */
  readonly name: string;
  readonly help: string;
}

/** Registers counters of failures, with 0 for these families. Returns them by the name of the counter. */
export function failureMetrics(
  registry: Registry,
  counters: readonly ModeCounter[],
  families: readonly Family[],
): Map<string, Counter<'ip_family'>> {
  const { counter: make } = makers(registry);
  const made = new Map(counters.map(({ counter, name, help }) => [counter, make(name, help)]));
  startAtZero(families, ...made.values());
  return made;
}

/**
 * Registers the counters of packets, which the kernel has.
 *
 * @param read packets by name of the counter
 */
export function packetMetrics(
  registry: Registry,
  counters: readonly ModeCounter[],
  read: () => Promise<ReadonlyMap<string, number>>,
): void {
  const { alpha } = makers(registry);
  for (const { counter, name, help } of counters) {
    new Counter({
      ...alpha(name, help),
      async collect() {
        // The kernel has the number: it continues after a restart of this process.
        const packets = (await read()).get(counter);
        this.reset();
        if (packets === undefined) this.remove();
        else this.inc(packets);
      },
    });
  }
}

/** The metrics of node ports on localhost, which kube-proxy has in nftables mode from 1.37 on. Failures are 0 for these families. */
export function localhostMetrics(registry: Registry, families: readonly Family[]) {
  const { gauge, counter } = makers(registry);
  const prefix = 'nftables_localhost_nodeport_listener';
  const failures = counter(
    `${prefix}_creation_failures_total`,
    'Number of localhost NodePort userspace proxy listener creation failures.',
  );
  startAtZero(families, failures);
  return {
    listeners: gauge(`${prefix}s`, 'Number of active localhost NodePort userspace proxy listeners.'),
    failures,
  };
}

/** Packets that the kernel rejected on localhost. */
export interface RejectedPackets {
  readonly family: Family;
  /** `TCP`, `UDP`, `SCTP`. */
  readonly protocol: string;
  readonly packets: number;
}

/**
 * Registers the metric of packets that are rejected on localhost.
 *
 * @param read is called for each scrape; a counter that does not exist has no sample
 */
export function rejectedMetric(registry: Registry, read: () => Promise<readonly RejectedPackets[]>): void {
  const { alpha } = makers(registry);
  const help =
    'Number of packets rejected on localhost NodePorts. UDP and SCTP are always rejected;' +
    ' TCP is rejected when the localhost NodePort proxy is not running';
  new Counter({
    ...alpha('nftables_localhost_nodeport_rejected_packets_total', help),
    labelNames: ['ip_family', 'protocol'],
    async collect() {
      // The kernel has the number: it continues after a restart of this process.
      const found = await read();
      this.reset();
      for (const { family, protocol, packets } of found) this.inc({ ...ofFamily(family), protocol }, packets);
    },
  });
}
