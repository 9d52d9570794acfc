// deploy/monitoring: rules that promtool accepts and that fire, and only metrics that the program has.
// Needs: promtool
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { stringify } from 'yaml';
import { kubeProxyMetrics } from '../../../src/servers/kubeProxyMetrics.js';
import { ownMetrics } from '../../../src/servers/ownMetrics.js';
import { processMetrics } from '../../../src/servers/processMetrics.js';
import { readDeployed } from '../../support/deployment/daemonSet.js';
import { ROOT } from '../../support/paths.js';
import { promtool } from '../../support/processes/promtool.js';

interface Rule {
  readonly alert: string;
  readonly expr: string;
}

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
  readonly templating: { readonly list: readonly { readonly query: string | { readonly query: string } }[] };
}

const { spec } = readDeployed<{ spec: { groups: { rules: Rule[] }[] } }>('monitoring/prometheusrule.yaml');
const rules = spec.groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(
  readFileSync(join(ROOT, 'deploy/monitoring/dashboard.json'), 'utf8'),
) as Dashboard;

const folder = mkdtempSync(join(tmpdir(), 'knp-rules-'));
after(() => rmSync(folder, { recursive: true }));

/** Writes a file for promtool; its path. */
function write(name: string, content: object): string {
  const path = join(folder, name);
  writeFileSync(path, stringify(content));
  return path;
}

/** Names and labels of every metric that the program has. */
function known(): Map<string, readonly string[]> {
  const registry = new Registry();
  kubeProxyMetrics(registry);
  ownMetrics(registry, '1').close();
  processMetrics(registry, 0);
  return new Map(
    registry.getMetricsAsArray().map((metric) => {
      const { name, labelNames = [] } = metric as unknown as { name: string; labelNames?: string[] };
      return [name, labelNames];
    }),
  );
}

/** Metrics of an expression, with the labels of their selectors. */
function selectors(expression: string): { name: string; labels: string[] }[] {
  const found = expression.matchAll(/\b((?:kube_netlink_proxy|kubeproxy|process)_\w+)(?:\{([^}]*)\})?/g);
  return [...found].map(([, name = '', labels = '']) => ({
    name: name.replace(/_(bucket|sum|count)$/, ''),
    labels: [...labels.matchAll(/(\w+)\s*[!=]/g)].map(([, label = '']) => label),
  }));
}

const expressions: (readonly [where: string, expression: string])[] = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
  ...dashboard.templating.list.flatMap(({ query }) =>
    typeof query === 'string' ? [] : [['variable', query.query] as const],
  ),
];

describe('every metric that alerts and the dashboard name exists, with its labels:', () => {
  const metrics = known();
  for (const [where, expression] of expressions) {
    it(`${where}: ${expression.replaceAll(/\s+/g, ' ')}`, () => {
      const used = selectors(expression);
      assert.ok(used.length > 0 || where === 'KubeNetlinkProxyDown');
      for (const { name, labels } of used) {
        assert.ok(metrics.has(name), `there is no ${name}`);
        for (const label of labels) {
          assert.ok(['job', 'instance', ...(metrics.get(name) ?? [])].includes(label), `${name}: ${label}`);
        }
      }
    });
  }
});

describe('promtool', () => {
  const check = async (path: string) => {
    const { status, stdout, stderr } = await promtool(['check', 'rules', path]);
    assert.equal(status, 0, stderr);
    return stdout;
  };

  it('accepts the alerts', async () => {
    assert.match(await check(write('rules.yaml', spec)), new RegExp(`${rules.length} rules found`));
  });

  it('accepts the expressions of the dashboard, once Grafana has filled in its variables', async () => {
    const filled = dashboard.panels.flatMap(({ targets }) =>
      targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*')),
    );
    const records = filled.map((expr, i) => ({ record: `panel:${i}`, expr }));
    const path = write('panels.yaml', { groups: [{ name: 'panels', rules: records }] });
    assert.match(await check(path), new RegExp(`${filled.length} rules found`));
  });
});

/** What promtool expects of an alert at a time: the series for which it fires. */
function expected(alertname: string, at: string, severity: string, ...series: readonly object[]) {
  const fired = series.map((labels) => ({ exp_labels: { severity, ...labels } }));
  return { eval_time: at, alertname, exp_alerts: fired };
}

it('alerts fire when they should, and not before', async () => {
  const bare = rules.map((rule) => ({ ...rule, annotations: {} }));
  write('bare.yaml', { groups: [{ name: 'bare', rules: bare }] });
  const on = { job: 'kube-netlink-proxy', instance: 'a' };
  const damaged = { kind: 'KubeProxyConfiguration', reason: 'LastReadableKept' };
  const leftOut = { kind: 'Service', reason: 'FieldLeftOut' };
  const refused = { family: 'ipvs', kind: 'addService', result: 'ENOENT' };
  const series = (name: string, values: string, labels: object = {}) => {
    const pairs = Object.entries({ ...on, ...labels }).map(([label, value]) => `${label}="${value}"`);
    return { series: `${name}{${pairs.join(',')}}`, values };
  };
  const path = write('tests.yaml', {
    rule_files: ['bare.yaml'],
    evaluation_interval: '1m',
    tests: [
      {
        interval: '1m',
        input_series: [
          series('up', '1x9 0x10'),
          // Until minute 4 each request is followed by a success; after that, none is.
          series('kubeproxy_sync_proxy_rules_last_queued_timestamp_seconds', '0+60x30'),
          series('kubeproxy_sync_proxy_rules_last_timestamp_seconds', '1+60x4 241x26'),
          series('kubeproxy_sync_proxy_rules_last_timestamp_seconds', '0x30', { instance: 'b' }),
          series('kube_netlink_proxy_operations_total', '0+5x40', { ...refused, result: 'ok' }),
          series('kube_netlink_proxy_operations_total', '0x9 0+1x30', refused),
          series('kube_netlink_proxy_left_out_objects', '0x9 1x30', damaged),
          series('kube_netlink_proxy_left_out_objects', '0x9 2x30', leftOut),
          series('kube_netlink_proxy_repeated_repairs', '0x9 3x4 0x4 3x20'),
        ],
        alert_rule_test: [
          expected('KubeNetlinkProxyDown', '9m', 'critical'),
          expected('KubeNetlinkProxyDown', '15m', 'critical', on),
          expected('KubeNetlinkProxyNeverSynced', '4m', 'critical'),
          expected('KubeNetlinkProxyNeverSynced', '6m', 'critical', { ...on, instance: 'b' }),
          expected('KubeNetlinkProxyNotSyncing', '9m', 'critical'),
          expected('KubeNetlinkProxyNotSyncing', '12m', 'critical', on),
          expected('KubeNetlinkProxyOperationsFailing', '20m', 'warning'),
          expected('KubeNetlinkProxyOperationsFailing', '28m', 'warning', { instance: 'a', ...refused }),
          expected('KubeNetlinkProxyRepairsRepeated', '14m', 'warning'),
          expected('KubeNetlinkProxyRepairsRepeated', '23m', 'warning'),
          expected('KubeNetlinkProxyRepairsRepeated', '25m', 'warning', on),
          expected('KubeNetlinkProxyConfigurationDamaged', '14m', 'warning'),
          expected('KubeNetlinkProxyConfigurationDamaged', '16m', 'warning', { instance: 'a' }),
          expected('KubeNetlinkProxyObjectsLeftOut', '24m', 'info'),
          expected('KubeNetlinkProxyObjectsLeftOut', '26m', 'info', { instance: 'a', ...leftOut }),
        ],
      },
    ],
  });
  const { status, stdout, stderr } = await promtool(['test', 'rules', path]);
  assert.equal(status, 0, `${stdout}${stderr}`);
});
