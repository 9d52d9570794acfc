// The metrics of the proxy: names, types and values, as documented and as promtool accepts them.
// Needs: promtool
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Counter, type Gauge, Histogram, Registry } from 'prom-client';
import { telemetry } from '../../../../src/command/agent/telemetry.js';
import { COUNTERS } from '../../../../src/command/modes/iptables/open.js';
import {
  failureMetrics,
  localhostMetrics,
  packetMetrics,
  probeMetrics,
  rejectedMetric,
} from '../../../../src/command/servers/kubeProxyMetrics.js';
import { type Metrics, openMetrics } from '../../../../src/command/servers/metrics.js';
import { contactMetrics, measureEventLoop } from '../../../../src/command/servers/ownMetrics.js';
import { closeAfter } from '../../../support/closeAfter.js';
import { TrackedHealth } from '../../../support/fakes/trackedHealth.js';
import { promtool } from '../../../support/processes/promtool.js';

/** A block of the event loop, in ms. */
const STALL = 500;
function open(): Metrics {
  const started = { version: '1.2.3', kubernetesVersion: 'v1.36.2', startedAt: 1795195000_250 };
  return closeAfter(openMetrics(started));
}

/** Gives every metric a value, with each of its labels. */
function use({ kubeProxy, own, registry }: Metrics): void {
  probeMetrics(registry, () => 1);
  contactMetrics(registry, () => [{ resource: 'services', state: 'lost', lastContact: 1795195900_500 }]);
  const all: readonly unknown[] = [...Object.values(kubeProxy), ...Object.values(own)];
  for (const metric of all as (Counter | Gauge | Histogram)[]) {
    const { labelNames } = metric as unknown as { readonly labelNames: readonly string[] };
    const labels = Object.fromEntries(labelNames.filter((name) => name !== 'le').map((name) => [name, 'a']));
    if (metric instanceof Histogram) metric.observe(labels, 0.3);
    else metric.inc(labels, 3);
  }
}

/** A metric: type, help, names of labels (without le), and bounds of buckets. */
interface Shown {
  type: string;
  help: string;
  labels: Set<string>;
  bounds: Set<string>;
}

function read(text: string): Map<string, Shown> {
  const shown = new Map<string, Shown>();
  let current: Shown = { type: '', help: '', labels: new Set(), bounds: new Set() };
  for (const line of text.trimEnd().split('\n')) {
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (keyword === 'HELP') {
      current = { type: '', help: rest, labels: new Set(), bounds: new Set() };
      shown.set(name, current);
    } else if (keyword === 'TYPE') current.type = rest;
    else {
      for (const [, label = '', value = ''] of line.matchAll(/(\w+)="([^"]*)"/g)) {
        if (label === 'le') current.bounds.add(value);
        else current.labels.add(label);
      }
    }
  }
  return shown;
}

const DURATIONS =
  '0.001 0.002 0.004 0.008 0.016 0.032 0.064 0.128 0.256 0.512 1.024 2.048 4.096 8.192 16.384 +Inf';
const PROGRAMMING = [
  0,
  0.25,
  0.5,
  ...Array.from({ length: 59 }, (_, i) => 1 + i),
  ...Array.from({ length: 12 }, (_, i) => 60 + 5 * i),
  ...Array.from({ length: 7 }, (_, i) => 120 + 30 * i),
  '+Inf',
].join(' ');

/** Kubernetes' metrics reference, 1.33 to 1.36: name, type, labels, help; buckets of histograms. */
const DOCUMENTED: [name: string, type: string, labels: string, help: string, bounds?: string][] = [
  [
    'conntrack_reconciler_deleted_entries_total',
    'counter',
    'ip_family',
    'Cumulative conntrack flows deleted by conntrack reconciler',
  ],
  [
    'conntrack_reconciler_sync_duration_seconds',
    'histogram',
    'ip_family',
    'ReconcileConntrackFlowsLatency latency in seconds',
    DURATIONS,
  ],
  [
    'network_programming_duration_seconds',
    'histogram',
    'ip_family',
    'In Cluster Network Programming Latency in seconds',
    PROGRAMMING,
  ],
  ['proxy_healthz_total', 'counter', 'code', 'Cumulative proxy healthz HTTP status'],
  ['proxy_livez_total', 'counter', 'code', 'Cumulative proxy livez HTTP status'],
  [
    'sync_full_proxy_rules_duration_seconds',
    'histogram',
    'ip_family',
    'SyncProxyRules latency in seconds for full resyncs',
    DURATIONS,
  ],
  [
    'sync_partial_proxy_rules_duration_seconds',
    'histogram',
    'ip_family',
    'SyncProxyRules latency in seconds for partial resyncs',
    DURATIONS,
  ],
  [
    'sync_proxy_rules_duration_seconds',
    'histogram',
    'ip_family',
    'SyncProxyRules latency in seconds',
    DURATIONS,
  ],
  ['sync_proxy_rules_endpoint_changes_pending', 'gauge', '', 'Pending proxy rules Endpoint changes'],
  ['sync_proxy_rules_endpoint_changes_total', 'counter', '', 'Cumulative proxy rules Endpoint changes'],
  [
    'sync_proxy_rules_iptables_last',
    'gauge',
    'ip_family table',
    'Number of iptables rules written by kube-proxy in last sync',
  ],
  [
    'sync_proxy_rules_iptables_partial_restore_failures_total',
    'counter',
    'ip_family',
    'Cumulative proxy iptables partial restore failures',
  ],
  [
    'sync_proxy_rules_iptables_restore_failures_total',
    'counter',
    'ip_family',
    'Cumulative proxy iptables restore failures',
  ],
  [
    'sync_proxy_rules_iptables_total',
    'gauge',
    'ip_family table',
    'Total number of iptables rules owned by kube-proxy',
  ],
  [
    'sync_proxy_rules_last_queued_timestamp_seconds',
    'gauge',
    'ip_family',
    'The last time a sync of proxy rules was queued',
  ],
  [
    'sync_proxy_rules_last_timestamp_seconds',
    'gauge',
    'ip_family',
    'The last time proxy rules were successfully synced',
  ],
  [
    'sync_proxy_rules_no_local_endpoints_total',
    'gauge',
    'ip_family traffic_policy',
    'Number of services with a Local traffic policy and no endpoints',
  ],
  ['sync_proxy_rules_service_changes_pending', 'gauge', '', 'Pending proxy rules Service changes'],
  ['sync_proxy_rules_service_changes_total', 'counter', '', 'Cumulative proxy rules Service changes'],
];

/** Our own metrics, and those of every component or process: name, type and labels. */
const OTHERS: [name: string, type: string, labels: string][] = [
  ['kube_netlink_proxy_api_contact_lost', 'gauge', 'resource'],
  ['kube_netlink_proxy_api_failures_total', 'counter', 'resource code'],
  ['kube_netlink_proxy_api_last_contact_timestamp_seconds', 'gauge', 'resource'],
  ['kube_netlink_proxy_audit_repairs_total', 'counter', ''],
  ['kube_netlink_proxy_batch_operations', 'histogram', 'family'],
  ['kube_netlink_proxy_build_info', 'gauge', 'version'],
  ['kube_netlink_proxy_change_duration_seconds', 'histogram', 'stage'],
  ['kube_netlink_proxy_config_info', 'gauge', 'in_force found'],
  ['kube_netlink_proxy_config_waiting_fields', 'gauge', ''],
  ['kube_netlink_proxy_drain_timeouts_total', 'counter', ''],
  ['kube_netlink_proxy_draining_real_servers', 'gauge', ''],
  ['kube_netlink_proxy_event_loop_delay_seconds', 'gauge', 'statistic'],
  ['kube_netlink_proxy_failed_items', 'gauge', ''],
  ['kube_netlink_proxy_judged_nodes', 'gauge', ''],
  ['kube_netlink_proxy_kernel_duration_seconds', 'histogram', 'family'],
  ['kube_netlink_proxy_left_out_objects', 'gauge', 'kind reason'],
  ['kube_netlink_proxy_node_reach_changes_total', 'counter', 'reachable sign'],
  ['kube_netlink_proxy_oldest_unapplied_change_timestamp_seconds', 'gauge', ''],
  ['kube_netlink_proxy_operations_total', 'counter', 'family kind result'],
  ['kube_netlink_proxy_repaired_operations_total', 'counter', 'phase'],
  ['kube_netlink_proxy_repeated_repairs', 'gauge', ''],
  ['kube_netlink_proxy_unreachable_nodes', 'gauge', ''],
  ['kube_netlink_proxy_unread_manifests', 'gauge', ''],
  [
    'kubernetes_build_info',
    'gauge',
    'build_date compiler git_commit git_tree_state git_version go_version major minor platform',
  ],
  ['process_cpu_seconds_total', 'counter', ''],
  ['process_max_fds', 'gauge', ''],
  ['process_open_fds', 'gauge', ''],
  ['process_resident_memory_bytes', 'gauge', ''],
  ['process_start_time_seconds', 'gauge', ''],
  ['process_virtual_memory_bytes', 'gauge', ''],
];

describe('metrics', () => {
  it('have the documented names, types, labels, help texts and buckets', async () => {
    const metrics = open();
    use(metrics);
    const shown = read(await metrics.text());
    const theirs = [...shown].filter(([name]) => name.startsWith('kubeproxy_'));
    assert.deepEqual(
      theirs.map(([name, { type, labels, help, bounds }]) => [
        name,
        type,
        [...labels].join(' '),
        help,
        ...(bounds.size > 0 ? [[...bounds].join(' ')] : []),
      ]),
      DOCUMENTED.map(([name, type, labels, help, ...rest]) => [
        `kubeproxy_${name}`,
        type,
        labels,
        `[ALPHA] ${help}`,
        ...rest,
      ]),
    );
    const others = [...shown].filter(([name]) => !name.startsWith('kubeproxy_'));
    assert.deepEqual(
      others.map(([name, { type, labels }]) => [name, type, [...labels].join(' ')]),
      OTHERS,
    );
  });

  it('with labels have no series before their first use', async () => {
    const shown = [...read(await open().text()).keys()].filter((name) => name.startsWith('kube'));
    assert.deepEqual(shown, [
      'kube_netlink_proxy_audit_repairs_total',
      'kube_netlink_proxy_build_info',
      'kube_netlink_proxy_config_waiting_fields',
      'kube_netlink_proxy_drain_timeouts_total',
      'kube_netlink_proxy_draining_real_servers',
      'kube_netlink_proxy_event_loop_delay_seconds',
      'kube_netlink_proxy_failed_items',
      'kube_netlink_proxy_judged_nodes',
      'kube_netlink_proxy_oldest_unapplied_change_timestamp_seconds',
      'kube_netlink_proxy_repeated_repairs',
      'kube_netlink_proxy_unreachable_nodes',
      'kube_netlink_proxy_unread_manifests',
      'kubeproxy_sync_proxy_rules_endpoint_changes_pending',
      'kubeproxy_sync_proxy_rules_endpoint_changes_total',
      'kubeproxy_sync_proxy_rules_service_changes_pending',
      'kubeproxy_sync_proxy_rules_service_changes_total',
      'kubernetes_build_info',
    ]);
  });

  it('name the builds and the contact with the API server', async () => {
    const metrics = open();
    use(metrics);
    const text = await metrics.text();
    const lines = new Set(text.split('\n'));
    for (const line of [
      'kube_netlink_proxy_build_info{version="1.2.3"} 1',
      'kube_netlink_proxy_api_contact_lost{resource="services"} 1',
      'kube_netlink_proxy_api_last_contact_timestamp_seconds{resource="services"} 1795195900.5',
      'kubeproxy_proxy_healthz_total{code="200"} 1',
      'kubeproxy_proxy_livez_total{code="503"} 1',
      'process_start_time_seconds 1795195000.25',
    ]) {
      assert.ok(lines.has(line), `${line} is not among\n${text}`);
    }
    assert.match(text, /^kubernetes_build_info\{.*git_version="v1\.36\.2".*major="1",minor="36",.*\} 1$/m);
  });

  it('include the process', async () => {
    const text = await open().text();
    const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
    assert.ok(value('process_resident_memory_bytes') > 10e6);
    assert.ok(value('process_virtual_memory_bytes') > value('process_resident_memory_bytes'));
    assert.ok(value('process_cpu_seconds_total') > 0.01);
    assert.ok(value('process_open_fds') > 2 && value('process_open_fds') < value('process_max_fds'));
  });

  it('show a stall of the event loop, once', async () => {
    const registry = new Registry();
    closeAfter({ close: measureEventLoop(registry, 100) });
    const max = async () => Number(/statistic="max"\} (\S+)/.exec(await registry.metrics())?.[1]);
    await max();
    await pause(250);
    const end = performance.now() + STALL;
    while (performance.now() < end);
    await pause(250);
    // A busy machine delays the timer too, but not for so long.
    const long = (0.8 * STALL) / 1000;
    assert.ok((await max()) > long);
    // On a busy machine, others may follow.
    for (let attempt = 1, later = long; later >= long; attempt++) {
      assert.ok(attempt < 20, `${later} s`);
      await pause(250);
      later = await max();
    }
  });

  it('pass promtool, except for kube-proxy’s names', async () => {
    const metrics = open();
    use(metrics);
    assert.deepEqual(await complaints(await metrics.text()), [
      'kubeproxy_sync_proxy_rules_iptables_total non-counter metrics should not have "_total" suffix',
      'kubeproxy_sync_proxy_rules_no_local_endpoints_total non-counter metrics should not have "_total" suffix',
    ]);
  });

  it('would fail promtool with an error', async () => {
    const [complaint] = await complaints('# TYPE wrong counter\nwrong 1\n');
    assert.match(complaint ?? '', /^wrong /);
  });
});

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** The warnings of `promtool check metrics`; rejects if the text is malformed. */
async function complaints(text: string): Promise<string[]> {
  const { status, stderr } = await promtool(['check', 'metrics'], text);
  // 3: there are warnings.
  if (status !== 0 && status !== 3) throw new Error(`promtool: ${status}\n${stderr}`);
  return stderr.split('\n').filter(Boolean);
}

it('counters of packets have the numbers of the kernel at each scrape, and no series without a counter', async () => {
  const metrics = open();
  const packets = new Map([['localhost_nps_accepted_pkts', 3]]);
  const lines = async () =>
    (await metrics.text()).split('\n').filter((line) => /^kubeproxy_iptables_.*packets/.test(line));
  assert.deepEqual(await lines(), []);
  packetMetrics(metrics.registry, COUNTERS, async () => packets);
  assert.deepEqual(await lines(), ['kubeproxy_iptables_localhost_nodeports_accepted_packets_total 3']);
  packets.set('localhost_nps_accepted_pkts', 5).set('ct_state_invalid_dropped_pkts', 0);
  assert.deepEqual(await lines(), [
    'kubeproxy_iptables_ct_state_invalid_dropped_packets_total 0',
    'kubeproxy_iptables_localhost_nodeports_accepted_packets_total 5',
  ]);
});

it("each of kube-proxy's counters has its series from the start, with 0, for the families that are served", async () => {
  const metrics = open();
  const failures = [{ counter: 'sync', name: 'sync_proxy_rules_nftables_sync_failures_total', help: 'h' }];
  telemetry({
    ...{ metrics, families: [6], health: new TrackedHealth(1, { now: () => 0, elapsed: () => 0 }) },
    ...{ serviceHealth: { update() {} }, leftOut: { found() {}, mended() {} } },
  });
  probeMetrics(metrics.registry, () => 0);
  failureMetrics(metrics.registry, failures, [6]);
  localhostMetrics(metrics.registry, [6]);
  rejectedMetric(metrics.registry, async () => []);
  const lines = (await metrics.text()).split('\n');
  const counters = lines.flatMap((line) => /^# TYPE (kubeproxy_\w+) counter$/.exec(line)?.[1] ?? []);
  assert.ok(counters.length >= 9, counters.join());
  for (const name of counters) {
    // The kernel has this one, and the series are those of its counters.
    if (name.endsWith('rejected_packets_total')) continue;
    const series = lines.filter((line) => line.startsWith(name)).map((line) => line.slice(name.length));
    const labels = /proxy_(healthz|livez)_total$/.test(name)
      ? ['{code="200"}', '{code="503"}']
      : [/(endpoint|service)_changes_total$/.test(name) ? '' : '{ip_family="IPv6"}'];
    assert.deepEqual(
      series,
      labels.map((text) => `${text} 0`),
      name,
    );
  }
});
