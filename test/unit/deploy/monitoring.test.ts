// deploy/monitoring: rules and queries that promtool accepts, only metrics and labels that the program has, and a dashboard that Grafana
// can show.
// Needs: promtool
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { stringify } from 'yaml';
import { COUNTERS } from '../../../src/command/modes/iptables/open.js';
import { FAILURES } from '../../../src/command/modes/nftablesRules/failures.js';
import {
  failureMetrics,
  packetMetrics,
  probeMetrics,
} from '../../../src/command/servers/kubeProxyMetrics.js';
import { openMetrics } from '../../../src/command/servers/metrics.js';
import { contactMetrics } from '../../../src/command/servers/ownMetrics.js';
import { readDeployed } from '../../support/deployment/daemonSet.js';
import { ROOT } from '../../support/paths.js';
import { promtool } from '../../support/processes/promtool.js';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}

interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly legendFormat: string;
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description: string;
  readonly datasource: object;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly fieldConfig: { readonly defaults: { readonly unit: string } };
  readonly targets: readonly Target[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly query: string | { readonly query: string } }[];
  };
}

const { spec } = readDeployed<{ spec: { groups: { rules: Rule[] }[] } }>('monitoring/prometheusrule.yaml');
const rules = spec.groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(
  readFileSync(join(ROOT, 'deploy/monitoring/dashboard.json'), 'utf8'),
) as Dashboard;
const targets = dashboard.panels.flatMap((panel) => panel.targets.map((target) => ({ panel, target })));

const folder = mkdtempSync(join(tmpdir(), 'knp-rules-'));
after(() => rmSync(folder, { recursive: true }));

/** Writes a file for promtool; its path. */
function write(name: string, content: object): string {
  const path = join(folder, name);
  writeFileSync(path, stringify(content));
  return path;
}

/** Names and labels of every metric that the program has, in every mode. */
function known(): Map<string, readonly string[]> {
  const { registry, close } = openMetrics({ version: '1', kubernetesVersion: 'v1.36.0', startedAt: 0 });
  close();
  probeMetrics(registry, () => 0);
  contactMetrics(registry, () => []);
  failureMetrics(registry, FAILURES.counters, []);
  packetMetrics(registry, COUNTERS, async () => new Map());
  return new Map(
    registry.getMetricsAsArray().map((metric) => {
      const { name, labelNames = [] } = metric as unknown as { name: string; labelNames?: string[] };
      return [name, labelNames];
    }),
  );
}

/** Labels that Prometheus adds to every series. */
const OF_TARGET = ['job', 'instance'];

/** Metrics of an expression, with the labels of their selectors. */
function selectors(expression: string): { name: string; labels: string[] }[] {
  const found = expression.matchAll(/\b((?:kube_netlink_proxy|kubeproxy|process)_\w+)(?:\{([^}]*)\})?/g);
  return [...found].map(([, name = '', labels = '']) => ({
    name: name.replace(/_(bucket|sum|count)$/, ''),
    labels: [...labels.matchAll(/(\w+)\s*[!=]/g)].map(([, label = '']) => label),
  }));
}

/** The labels by which an expression groups; undefined if it does not. */
function groupedBy(expression: string): string[] | undefined {
  const [, labels] = /^[\s\S]*?\bby \(([^)]*)\)/.exec(expression) ?? [];
  return labels?.split(',').map((label) => label.trim());
}

const expressions: (readonly [where: string, expression: string])[] = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...targets.map(({ panel, target }) => [panel.title, target.expr] as const),
  ...dashboard.templating.list.flatMap(({ query }) =>
    typeof query === 'string' ? [] : [['variable', query.query] as const],
  ),
];

describe('every metric that alerts and the dashboard name exists, with its labels:', () => {
  const metrics = known();
  for (const [where, expression] of expressions) {
    it(`${where}: ${expression.replaceAll(/\s+/g, ' ')}`, () => {
      const used = selectors(expression);
      assert.ok(used.length > 0 || ['KubeNetlinkProxyDown', 'KubeNetlinkProxyAbsent'].includes(where));
      for (const { name, labels } of used) {
        const of = metrics.get(name);
        assert.ok(of, `there is no ${name}`);
        const isHistogram = expression.includes(`${name}_bucket`);
        for (const label of [...labels, ...(groupedBy(expression) ?? [])]) {
          const has = [...OF_TARGET, ...of, ...(isHistogram ? ['le'] : [])];
          assert.ok(has.includes(label), `${name} has no label ${label}`);
        }
      }
    });
  }
});

describe('every label that a text names is one of its series:', () => {
  const metrics = known();
  /** The labels of the result of an expression. */
  const labelsOf = (expression: string) =>
    groupedBy(expression) ?? [
      ...OF_TARGET,
      ...selectors(expression).flatMap(({ name }) => metrics.get(name) ?? []),
    ];
  for (const { alert, expr, annotations } of rules) {
    it(alert, () => {
      const named = [
        ...Object.values(annotations)
          .join(' ')
          .matchAll(/\$labels\.(\w+)/g),
      ];
      for (const [, label = ''] of named) assert.ok(labelsOf(expr).includes(label), label);
    });
  }
  for (const { panel, target } of targets) {
    it(`${panel.title} ${target.refId}`, () => {
      for (const [, label = ''] of target.legendFormat.matchAll(/\{\{(\w+)\}\}/g))
        assert.ok(labelsOf(target.expr).includes(label), label);
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
    const filled = targets.map(({ target }) =>
      target.expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'),
    );
    for (const expression of filled) assert.doesNotMatch(expression, /\$/);
    const records = filled.map((expr, i) => ({ record: `panel:${i}`, expr }));
    const path = write('panels.yaml', { groups: [{ name: 'panels', rules: records }] });
    assert.match(await check(path), new RegExp(`${filled.length} rules found`));
  });
});

describe('the dashboard', () => {
  const { panels, templating } = dashboard;

  it('has panels with different numbers and titles, and queries with different letters', () => {
    for (const values of [panels.map(({ id }) => id), panels.map(({ title }) => title)])
      assert.equal(new Set<unknown>(values).size, panels.length);
    for (const { title, targets, description } of panels) {
      assert.ok(targets.length > 0 && description !== '', title);
      assert.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length, title);
    }
  });

  it('has panels that fill a grid of 24 columns, and do not overlap', () => {
    const cells = new Set<string>();
    for (const { title, gridPos } of panels) {
      const { x, y, w, h } = gridPos;
      assert.ok(x >= 0 && x + w <= 24, title);
      for (let column = x; column < x + w; column++)
        for (let row = y; row < y + h; row++) {
          assert.ok(!cells.has(`${column} ${row}`), `${title} overlaps`);
          cells.add(`${column} ${row}`);
        }
    }
    assert.equal(cells.size, 24 * Math.max(...panels.map(({ gridPos: { y, h } }) => y + h)));
  });

  it('asks the data source and the nodes that its variables select, in units of Grafana', () => {
    assert.deepEqual(
      templating.list.map(({ name }) => name),
      ['datasource', 'instance'],
    );
    for (const { title, datasource, fieldConfig, targets } of panels) {
      assert.deepEqual(datasource, { type: 'prometheus', uid: `\${datasource}` }, title);
      assert.ok(['short', 's', 'ops', 'bytes'].includes(fieldConfig.defaults.unit), title);
      for (const { expr } of targets) assert.match(expr, /instance=~"\$instance"/, title);
    }
  });

  it('shows the network programming latency as Kubernetes defines it: over 5 minutes and all nodes', () => {
    const panel = panels.find(({ title }) => title === 'Network programming latency');
    const buckets =
      'kubeproxy_network_programming_duration_seconds_bucket{job="kube-netlink-proxy", instance=~"$instance"}';
    assert.deepEqual(
      panel?.targets.map(({ expr, legendFormat }) => [legendFormat, expr]),
      [
        ['p50', '0.5'],
        ['p90', '0.9'],
        ['p99', '0.99'],
      ].map(([name, quantile]) => [
        name,
        `histogram_quantile(${quantile}, sum by (le) (rate(${buckets}[5m])))`,
      ]),
    );
  });
});

it('the guide says of each panel of kubernetes-mixin whether the program has its metric', () => {
  const metrics = known();
  const guide = readFileSync(join(ROOT, 'docs/migrate.md'), 'utf8');
  const [, table = ''] = /\n\| panel \| metric \| here \|\n.*\n((?:\|.*\n)+)/.exec(guide) ?? [];
  const rows = [...table.matchAll(/^\| (.+?) \| `(\w+)` \| (as it is|no data)/gm)];
  assert.equal(rows.length, table.trim().split('\n').length);
  assert.equal(rows.length, 11);
  for (const [, panel = '', metric = '', here] of rows) {
    const exists = metric === 'up' || metrics.has(metric);
    assert.equal(here, exists ? 'as it is' : 'no data', panel);
  }
  for (const [, title = ''] of table.matchAll(/see `([^`]+)` in our dashboard/g))
    assert.ok(
      dashboard.panels.some((panel) => panel.title === title),
      title,
    );
});

it('the guide names alerts of ours that exist', () => {
  const guide =
    readFileSync(join(ROOT, 'docs/migrate.md'), 'utf8') + readFileSync(join(ROOT, 'docs/health.md'), 'utf8');
  const named = [...guide.matchAll(/KubeNetlinkProxy\w+/g)].map(([name]) => name);
  assert.ok(named.length > 3);
  for (const name of named)
    assert.ok(
      rules.some(({ alert }) => alert === name),
      name,
    );
});
