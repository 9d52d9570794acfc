// A change that arrives during a pass is not reported as programmed by this pass.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inOrder } from '../../../../src/command/agent/listeners.js';
import { telemetry } from '../../../../src/command/agent/telemetry.js';
import { openMetrics } from '../../../../src/command/servers/metrics.js';
import { decodeObject } from '../../../../src/proxy/objects/decode.js';
import type { ObjectChange } from '../../../../src/proxy/objects/types.js';
import type { SyncSummary } from '../../../../src/proxy/reconcile/summary.js';
import { nodeFacts } from '../../../../src/proxy/services/nodeFacts.js';
import { ServiceCache } from '../../../../src/proxy/services/serviceCache.js';
import type { ServicePlanInput } from '../../../../src/proxy/services/types.js';
import { closeAfter } from '../../../support/closeAfter.js';
import { triggeredSlice } from '../../../support/clusters/triggeredSlice.js';
import { TrackedHealth } from '../../../support/fakes/trackedHealth.js';

const PASS: SyncSummary = {
  full: false,
  services: 1,
  operations: 1,
  accepted: 1,
  repaired: 0,
  phases: new Map([['addServers', 1]]),
  failures: [],
  unknown: 0,
  vitalUnknown: [],
  mostRefused: false,
  counts: {},
  again: undefined,
  milliseconds: { plan: 1, kernel: 1 },
};
const TIMEOUT = 1000;
const SERVICES = ['a', 'b'].map((name): ObjectChange => {
  const metadata = { namespace: 'demo', name };
  const spec = { clusterIP: 'fd00:96::1', ports: [{ port: 80 }] };
  const { object } = decodeObject({ apiVersion: 'v1', kind: 'Service', metadata, spec });
  return { type: 'set', object: object ?? assert.fail(name) };
});

function setUp(countsPorts?: true) {
  const clock = { time: 0 };
  const health = new TrackedHealth(TIMEOUT, { now: () => clock.time, elapsed: () => clock.time });
  health.updated(6);
  const metrics = openMetrics({ version: '0', kubernetesVersion: 'v1.36.0', startedAt: 0 });
  closeAfter(metrics);
  const listener = telemetry({
    families: [6],
    countsPorts,
    metrics,
    health,
    serviceHealth: { update() {} },
    leftOut: { found() {}, mended() {} },
  });
  const events = inOrder([listener]);
  const shown = async (name: string) => {
    const line = (await metrics.text()).split('\n').find((text) => text.startsWith(name));
    return Number(line?.split(' ').at(-1));
  };
  return {
    clock,
    health,
    events,
    lines: () => metrics.text(),
    tell: (name: string) => {
      events.changed?.([triggeredSlice(name, new Date(Date.now() + 1000).toISOString())]);
      events.queued?.();
    },
    taken: () => events.taken?.(),
    synced: (failures: SyncSummary['failures'] = [], full = false) =>
      events.synced({ ...PASS, failures, full }, 1),
    ended: (summary: Partial<SyncSummary>) => events.synced({ ...PASS, ...summary }, 1),
    audited: (repeated: number) => events.synced({ ...PASS, full: true, repeated }, 1),
    shown,
    lastSynced: () => shown('kubeproxy_sync_proxy_rules_last_timestamp_seconds{ip_family="IPv6"}'),
    incomplete: (unread: readonly string[]) => events.incomplete?.(unread),
    unread: () => shown('kube_netlink_proxy_unread_manifests'),
    failed: () => events.failed(new Error('blind')),
    planned: (service: string, input: ServicePlanInput | undefined) => events.planned?.(service, input),
    withoutLocal: () =>
      shown(
        'kubeproxy_sync_proxy_rules_no_local_endpoints_total{ip_family="IPv6",traffic_policy="internal"}',
      ),
    pending: () => shown('kubeproxy_sync_proxy_rules_endpoint_changes_pending'),
    programmed: () =>
      shown('kubeproxy_network_programming_duration_seconds_count{ip_family="IPv6"}').then((n) => n || 0),
  };
}

it('requests, passes and their items are counted', async () => {
  const { events, lines } = setUp();
  events.changed?.([triggeredSlice('a', new Date(Date.now() + 1000).toISOString()), ...SERVICES]);
  events.queued?.();
  const before = await lines();
  assert.match(before, /^kubeproxy_sync_proxy_rules_service_changes_pending 2$/m);
  assert.match(before, /^kube_netlink_proxy_oldest_unapplied_change_timestamp_seconds [1-9]/m);
  events.taken?.();
  const counts = { draining: 6, drainTimeouts: 5 };
  const repairs = { phases: new Map([['elements', 5]]), keys: [] };
  const milliseconds = { plan: 1, kernel: 2 };
  events.synced({ ...PASS, full: true, counts, repaired: 8, repairs, repeated: 2, milliseconds }, 3);
  events.synced({ ...PASS, counts, unknown: 4, milliseconds: { plan: 10_000, kernel: 10_000 } }, 20_500);
  events.synced({ ...PASS, counts, unknown: 4, services: 0 }, 0);
  const change = { address: '192.0.2.2', sign: 'neighbour' } as const;
  for (const node of ['b', 'c']) events.reachChanged?.({ ...change, node, reachable: false }, 1);
  events.reachChanged?.({ ...change, node: 'b', reachable: true }, 1);
  const text = await lines();
  for (const line of [
    'kube_netlink_proxy_audit_repairs_total 8',
    'kube_netlink_proxy_repaired_operations_total{phase="elements"} 5',
    'kube_netlink_proxy_repeated_repairs 2',
    'kube_netlink_proxy_drain_timeouts_total 5',
    'kube_netlink_proxy_draining_real_servers 6',
    'kube_netlink_proxy_failed_items 4',
    'kube_netlink_proxy_unreachable_nodes 1',
    'kube_netlink_proxy_node_reach_changes_total{reachable="false",sign="neighbour"} 2',
    'kube_netlink_proxy_change_duration_seconds_sum{stage="wait"} 0.5',
    'kube_netlink_proxy_change_duration_seconds_sum{stage="kernel"} 10.002',
    'kube_netlink_proxy_change_duration_seconds_sum{stage="total"} 20.503',
    'kube_netlink_proxy_change_duration_seconds_count{stage="plan"} 2',
    'kubeproxy_sync_full_proxy_rules_duration_seconds_sum{ip_family="IPv6"} 0.003',
    'kubeproxy_sync_partial_proxy_rules_duration_seconds_bucket{le="16.384",ip_family="IPv6"} 1',
    'kubeproxy_sync_partial_proxy_rules_duration_seconds_bucket{le="+Inf",ip_family="IPv6"} 2',
    'kubeproxy_sync_proxy_rules_duration_seconds_count{ip_family="IPv6"} 3',
    'kubeproxy_sync_proxy_rules_endpoint_changes_pending 0',
    'kubeproxy_sync_proxy_rules_endpoint_changes_total 1',
    'kubeproxy_sync_proxy_rules_service_changes_pending 0',
    'kubeproxy_sync_proxy_rules_service_changes_total 2',
  ])
    assert.ok(text.split('\n').includes(line), `${line} is not among\n${text}`);
  for (const time of ['last_queued', 'last']) {
    const value = new RegExp(
      `^kubeproxy_sync_proxy_rules_${time}_timestamp_seconds\\{ip_family="IPv6"\\} (\\S+)$`,
      'm',
    );
    assert.ok(Math.abs(Number(value.exec(text)?.[1]) - Date.now() / 1000) < 3600, time);
  }
});

describe('unreadable files', () => {
  it('are counted, and named by the health server', async () => {
    const { health, incomplete, unread } = setUp();
    assert.equal(await unread(), 0);
    incomplete(['a.yaml', 'b.yaml']);
    assert.equal(await unread(), 2);
    assert.deepEqual(health.state().unread, ['a.yaml', 'b.yaml']);
    assert.ok(health.healthy);
    incomplete([]);
    assert.equal(await unread(), 0);
    assert.deepEqual(health.state().unread, []);
  });
});

it('the proxy is synced after a full pass without a failure of all Services; its time of success is 0 before', async () => {
  const { health, synced, lastSynced } = setUp();
  const refused = { key: 'tcp 10.96.0.1:80', error: new Error('no') as never, services: ['demo/a'] };
  assert.equal(await lastSynced(), 0);
  synced([], false);
  assert.equal(health.state().synced, false, 'no full pass has ended');
  synced([{ ...refused, vital: true }], true);
  assert.equal(health.state().synced, false);
  synced([{ ...refused, vital: false }], true);
  assert.equal(health.state().synced, true);
});

it('the proxy is synced after the retry of what failed in its full pass', async () => {
  const { health, synced, lastSynced } = setUp();
  const failure = { key: 'link', error: new Error('no') as never, vital: true };
  synced([failure], true);
  synced([failure], false);
  assert.deepEqual([health.state().synced, await lastSynced()], [false, 0]);
  synced([], false);
  assert.equal(health.state().synced, true);
});

describe('a change', () => {
  it('is programmed by the pass that read it', async () => {
    const { tell, taken, synced, pending, programmed } = setUp();
    tell('a');
    assert.equal(await pending(), 1);
    taken();
    assert.deepEqual([await pending(), await programmed()], [0, 0]);
    synced();
    assert.equal(await programmed(), 1);
  });

  it('that arrives during a pass waits for the next', async () => {
    const { tell, taken, synced, pending, programmed, health, clock } = setUp();
    tell('a');
    taken();
    tell('b');
    synced();
    assert.deepEqual([await pending(), await programmed()], [1, 1]);
    clock.time += TIMEOUT + 1;
    assert.equal(health.healthy, false, 'it still waits');
    taken();
    synced();
    assert.deepEqual([await pending(), await programmed(), health.healthy], [0, 2, true]);
  });

  it('whose pass failed is programmed by the pass that succeeds', async () => {
    const { tell, taken, synced, failed, programmed, health, clock } = setUp();
    tell('a');
    taken();
    failed();
    taken();
    synced([{ key: 'link', error: new Error('no') as never, vital: true }]);
    assert.equal(await programmed(), 0);
    clock.time += TIMEOUT + 1;
    assert.equal(health.healthy, false);
    taken();
    synced();
    assert.deepEqual([await programmed(), health.healthy], [1, true]);
  });
});

it('Services without local endpoints are counted, or each of their ports in a mode that counts ports', async () => {
  const cache = new ServiceCache();
  const metadata = { namespace: 'demo', name: 'web', labels: { 'kubernetes.io/service-name': 'web' } };
  const ports = ['a', 'b'].map((name, i) => ({ name, port: 80 + i }));
  const spec = { clusterIP: 'fd00:96::1', internalTrafficPolicy: 'Local', ports };
  for (const raw of [
    { apiVersion: 'v1', kind: 'Service', metadata, spec },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata,
      addressType: 'IPv6',
      ports,
      endpoints: [{ addresses: ['fd00:244::1'], nodeName: 'node-b' }],
    },
  ]) {
    const { object } = decodeObject(raw);
    assert.ok(object);
    cache.apply({ type: 'set', object });
  }
  const input = cache.planInput('demo/web', nodeFacts('node-a'));
  for (const [countsPorts, count] of [
    [undefined, 1],
    [true, 2],
  ] as const) {
    const { planned, synced, withoutLocal } = setUp(countsPorts);
    planned('demo/web', input);
    synced();
    assert.equal(await withoutLocal(), count);
    planned('demo/web', undefined);
    synced();
    assert.equal(await withoutLocal(), 0);
  }
});

it('the metric of repeated repairs is that of the last audit', async () => {
  const { audited, synced, shown } = setUp();
  audited(4);
  synced();
  assert.equal(await shown('kube_netlink_proxy_repeated_repairs'), 4, 'a pass for a change is not an audit');
  audited(0);
  assert.equal(await shown('kube_netlink_proxy_repeated_repairs'), 0);
});

it('the arrival of the oldest change, and the number of failed items, are shown until nothing fails', async () => {
  const { tell, taken, ended, shown } = setUp();
  const oldest = () => shown('kube_netlink_proxy_oldest_unapplied_change_timestamp_seconds');
  const failed = () => shown('kube_netlink_proxy_failed_items');
  assert.deepEqual([await oldest(), await failed()], [0, 0]);
  const before = Date.now() / 1000;
  tell('a');
  taken();
  ended({ unknown: 3 });
  const arrived = await oldest();
  assert.ok(arrived >= before && arrived <= Date.now() / 1000, `${arrived}`);
  assert.equal(await failed(), 3);
  tell('b');
  taken();
  ended({ unknown: 1 });
  assert.deepEqual([await oldest(), await failed()], [arrived, 1]);
  taken();
  ended({ unknown: 0 });
  assert.deepEqual([await oldest(), await failed()], [0, 0]);
});

it('real servers that were removed at the bound of draining are counted once', async () => {
  const { ended, shown } = setUp();
  const timeouts = () => shown('kube_netlink_proxy_drain_timeouts_total');
  assert.equal(await timeouts(), 0);
  for (const drainTimeouts of [2, 2, 5]) ended({ counts: { draining: 1, drainTimeouts } });
  ended({ counts: {} });
  assert.equal(await timeouts(), 5);
});

it('each repair counts: those of audits, and of the full pass after another program flushed a table', async () => {
  const { ended, shown } = setUp();
  ended({ full: true, repaired: 33 });
  ended({ full: false, repaired: 2 });
  assert.equal(await shown('kube_netlink_proxy_audit_repairs_total'), 35);
});
