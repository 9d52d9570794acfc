// Series for each alert of deploy/monitoring, and the times at which it fires and does not fire.

/** A series of one node, in promtool's notation: `0+5x40` begins with 0, and grows by 5 every minute. */
export interface AlertSeries {
  readonly metric: string;
  readonly values: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** What an alert does at a time. */
export interface AlertAt {
  /** Time since the start, in minutes. */
  readonly minute: number;
  /** The labels of the series for which it fires, without severity; none if it does not fire. */
  readonly fires: readonly Readonly<Record<string, string>>[];
}

/** One alert. */
export interface AlertCase {
  readonly severity: 'critical' | 'warning' | 'info';
  readonly series: readonly AlertSeries[];
  readonly at: readonly AlertAt[];
}

/** The labels of every series. */
export const TARGET = { job: 'kube-netlink-proxy', instance: 'a' };

const OWN = 'kube_netlink_proxy_';
const RULES = 'kubeproxy_sync_proxy_rules_';

const silent = (minute: number): AlertAt => ({ minute, fires: [] });
const firing = (minute: number, ...fires: AlertAt['fires']): AlertAt => ({ minute, fires });

const REFUSED = { family: 'ipvs', kind: 'addService', result: 'ENOENT' };
const DAMAGED = { kind: 'KubeProxyConfiguration', reason: 'LastReadableKept' };
const LEFT_OUT = { kind: 'Service', reason: 'FieldLeftOut' };
const NODE = { instance: 'a' };
const IPV4 = { ip_family: 'IPv4' };

/** A counter whose growth in the last minutes fires an alert at once: it stands still, grows once, and stands still again. */
function onceGrown(metric: string, minutes: number): Pick<AlertCase, 'series' | 'at'> {
  return {
    series: [{ metric, values: '7x9 9x40' }],
    at: [silent(9), firing(11, NODE), silent(11 + minutes)],
  };
}

/** The cases, by the name of the alert. */
export const ALERT_CASES: Readonly<Record<string, AlertCase>> = {
  KubeNetlinkProxyAbsent: {
    severity: 'critical',
    // Another job, and a target that disappears: `_` is no sample.
    series: [
      { metric: 'up', values: '1x4 _x40' },
      { metric: 'up', values: '1x44', labels: { job: 'kube-proxy' } },
    ],
    at: [silent(4), silent(19), firing(25, { job: 'kube-netlink-proxy' })],
  },
  KubeNetlinkProxyOtherProgram: {
    severity: 'warning',
    // Node a has kube-proxy's metrics from minute 10 on.
    series: [
      { metric: 'up', values: '1x40' },
      { metric: 'up', values: '1x40', labels: { instance: 'b' } },
      { metric: `${OWN}build_info`, values: '1x9 _x30', labels: { version: '0.1.0' } },
      { metric: `${OWN}build_info`, values: '1x40', labels: { version: '0.1.0', instance: 'b' } },
    ],
    at: [silent(9), silent(14), firing(22, TARGET)],
  },
  KubeNetlinkProxyDown: {
    severity: 'critical',
    series: [{ metric: 'up', values: '1x9 0x10' }],
    at: [silent(9), silent(14), firing(15, TARGET)],
  },
  KubeNetlinkProxyNeverSynced: {
    severity: 'critical',
    series: [
      { metric: `${RULES}last_timestamp_seconds`, values: '1+60x30' },
      { metric: `${RULES}last_timestamp_seconds`, values: '0x30', labels: { instance: 'b' } },
    ],
    at: [silent(4), firing(6, { ...TARGET, instance: 'b' })],
  },
  KubeNetlinkProxyNotSyncing: {
    severity: 'critical',
    series: [
      // Until minute 4 each request is followed by a success; after that, none is. Without a request, none is needed.
      { metric: `${RULES}last_queued_timestamp_seconds`, values: '0+60x30' },
      { metric: `${RULES}last_timestamp_seconds`, values: '1+60x4 241x26' },
      { metric: `${RULES}last_queued_timestamp_seconds`, values: '60x30', labels: { instance: 'idle' } },
      { metric: `${RULES}last_timestamp_seconds`, values: '61x30', labels: { instance: 'idle' } },
    ],
    at: [silent(9), firing(12, TARGET)],
  },
  KubeNetlinkProxyChangeWaiting: {
    severity: 'warning',
    series: [
      // Each change is applied within a minute; one that arrives after 3 minutes (180 s) is not.
      { metric: `${OWN}oldest_unapplied_change_timestamp_seconds`, values: '0 60 0 180x30' },
      {
        metric: `${OWN}oldest_unapplied_change_timestamp_seconds`,
        values: '0+60x30',
        labels: { instance: 'b' },
      },
    ],
    at: [silent(2), silent(9), firing(11, TARGET)],
  },
  KubeNetlinkProxyItemsRefused: {
    severity: 'warning',
    series: [{ metric: `${OWN}failed_items`, values: '0x3 2x3 0x3 1x20' }],
    at: [silent(6), silent(19), firing(23, TARGET)],
  },
  KubeNetlinkProxyOperationsFailing: {
    severity: 'warning',
    series: [
      { metric: `${OWN}operations_total`, values: '0+5x40', labels: { ...REFUSED, result: 'ok' } },
      { metric: `${OWN}operations_total`, values: '0x9 0+1x30', labels: REFUSED },
    ],
    at: [silent(20), firing(28, { ...NODE, ...REFUSED })],
  },
  KubeNetlinkProxyRestoreFailing: {
    severity: 'warning',
    series: [{ metric: `${RULES}iptables_restore_failures_total`, values: '0x9 0+1x30', labels: IPV4 }],
    at: [silent(9), silent(14), firing(18, { ...NODE, ...IPV4 })],
  },
  KubeNetlinkProxyApiFailing: {
    severity: 'warning',
    series: [
      { metric: `${OWN}api_contact_lost`, values: '0x9 1x30', labels: { resource: 'services' } },
      { metric: `${OWN}api_contact_lost`, values: '0x9 1 0x30', labels: { resource: 'nodes' } },
    ],
    at: [silent(9), silent(11), firing(13, { ...TARGET, resource: 'services' })],
  },
  KubeNetlinkProxyTransactionsFailing: {
    severity: 'warning',
    series: [{ metric: `${RULES}nftables_sync_failures_total`, values: '0x9 0+1x30', labels: IPV4 }],
    at: [silent(9), silent(14), firing(18, { ...NODE, ...IPV4 })],
  },
  KubeNetlinkProxyRepairsOften: {
    severity: 'warning',
    series: [
      { metric: `${OWN}audit_repairs_total`, values: '0x4 0+2x60' },
      { metric: `${OWN}audit_repairs_total`, values: '0x4 33x60', labels: { instance: 'once' } },
    ],
    at: [silent(30), firing(40, NODE)],
  },
  KubeNetlinkProxyDriftRepaired: { severity: 'info', ...onceGrown(`${OWN}audit_repairs_total`, 15) },
  KubeNetlinkProxyRepairsRepeated: {
    severity: 'warning',
    series: [{ metric: `${OWN}repeated_repairs`, values: '0x9 3x4 0x4 3x20' }],
    at: [silent(14), silent(23), firing(25, TARGET)],
  },
  KubeNetlinkProxySlowProgramming: {
    severity: 'warning',
    series: [
      ...bucketsOf('a', { '1': '0x60', '10': '0+1x60', '16': '0+10x60', '+Inf': '0+10x60' }),
      ...bucketsOf('fast', { '1': '0+10x60', '10': '0+10x60', '16': '0+10x60', '+Inf': '0+10x60' }),
    ],
    at: [silent(10), firing(30, NODE)],
  },
  KubeNetlinkProxyDrainTimeouts: { severity: 'info', ...onceGrown(`${OWN}drain_timeouts_total`, 15) },
  KubeNetlinkProxyBusy: {
    severity: 'warning',
    series: [
      {
        metric: `${OWN}event_loop_delay_seconds`,
        values: '0.1x4 2x4 0.1x4 2x40',
        labels: { statistic: 'p99' },
      },
      { metric: `${OWN}event_loop_delay_seconds`, values: '9x60', labels: { statistic: 'max' } },
    ],
    at: [silent(8), silent(28), firing(32, { ...TARGET, statistic: 'p99' })],
  },
  KubeNetlinkProxyConfigurationDamaged: {
    severity: 'warning',
    series: [
      { metric: `${OWN}left_out_objects`, values: '0x9 1x30', labels: DAMAGED },
      { metric: `${OWN}left_out_objects`, values: '1x40', labels: { ...LEFT_OUT, instance: 'b' } },
    ],
    at: [silent(14), firing(16, NODE)],
  },
  KubeNetlinkProxyConfigurationWaiting: {
    severity: 'warning',
    series: [{ metric: `${OWN}config_waiting_fields`, values: '0x9 2x30 2x60' }],
    at: [silent(9), silent(69), firing(71, TARGET)],
  },
  KubeNetlinkProxyManifestsUnreadable: {
    severity: 'warning',
    series: [{ metric: `${OWN}unread_manifests`, values: '0x9 2x30' }],
    at: [silent(9), silent(14), firing(16, TARGET)],
  },
  KubeNetlinkProxyObjectsLeftOut: {
    severity: 'info',
    series: [
      { metric: `${OWN}left_out_objects`, values: '1x40', labels: { ...DAMAGED, instance: 'b' } },
      { metric: `${OWN}left_out_objects`, values: '0x9 2x30', labels: LEFT_OUT },
    ],
    at: [silent(24), firing(26, { ...NODE, ...LEFT_OUT })],
  },
  KubeNetlinkProxyMixedVersions: {
    severity: 'info',
    series: [
      { metric: `${OWN}build_info`, values: '1x500', labels: { version: '0.1.0' } },
      { metric: `${OWN}build_info`, values: '_x20 1x480', labels: { version: '0.2.0', instance: 'b' } },
    ],
    at: [silent(20), silent(370), firing(390, {})],
  },
};

/** The buckets of the network programming latency of a node, by upper bound. */
function bucketsOf(instance: string, buckets: Readonly<Record<string, string>>): AlertSeries[] {
  return Object.entries(buckets).map(([le, values]) => ({
    metric: 'kubeproxy_network_programming_duration_seconds_bucket',
    values,
    labels: { instance, ip_family: 'IPv4', le },
  }));
}
