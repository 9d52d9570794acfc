// The alerts of deploy/monitoring: each fires when it should and not before, and has a section in the runbook.
// Needs: promtool
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { stringify } from 'yaml';
import { ALERT_CASES, type AlertCase, TARGET } from '../../support/deployment/alertCases.js';
import { readDeployed } from '../../support/deployment/daemonSet.js';
import { ROOT } from '../../support/paths.js';
import { promtool } from '../../support/processes/promtool.js';

interface Rule {
  readonly alert: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<string, string>>;
}

const { spec } = readDeployed<{ spec: { groups: { rules: Rule[] }[] } }>('monitoring/prometheusrule.yaml');
const rules = spec.groups.flatMap((group) => group.rules);
const names = rules.map(({ alert }) => alert);

const folder = mkdtempSync(join(tmpdir(), 'knp-alerts-'));
after(() => rmSync(folder, { recursive: true }));

/** Writes a file for promtool; its path. */
function write(name: string, content: object): string {
  const path = join(folder, name);
  writeFileSync(path, stringify(content));
  return path;
}

/** promtool compares labels only: annotations are checked below. */
function bareRules(): string {
  const bare = rules.map((rule) => ({ ...rule, annotations: {} }));
  write('bare.yaml', { groups: [{ name: 'bare', rules: bare }] });
  return 'bare.yaml';
}

/** A test of promtool. */
function testOf(alertname: string, { severity, series, at }: AlertCase) {
  return {
    interval: '1m',
    input_series: series.map(({ metric, values, labels }) => {
      const pairs = Object.entries({ ...TARGET, ...labels }).map(([label, value]) => `${label}="${value}"`);
      return { series: `${metric}{${pairs.join(',')}}`, values };
    }),
    alert_rule_test: at.map(({ minute, fires }) => ({
      eval_time: `${minute}m`,
      alertname,
      exp_alerts: fires.map((labels) => ({ exp_labels: { severity, ...labels } })),
    })),
  };
}

function run(name: string, tests: readonly object[]) {
  const files = { rule_files: [bareRules()], evaluation_interval: '1m', tests };
  return promtool(['test', 'rules', write(`${name}.yaml`, files)]);
}

it('every alert has a case in which it fires and is silent before', () => {
  assert.deepEqual(Object.keys(ALERT_CASES).sort(), [...names].sort());
  for (const [name, { at, severity }] of Object.entries(ALERT_CASES)) {
    assert.ok(at[0]?.fires.length === 0 && at.some(({ fires }) => fires.length > 0), name);
    assert.equal(rules.find(({ alert }) => alert === name)?.labels.severity, severity, name);
  }
});

describe('fires when it should, and not before:', () => {
  for (const [name, alertCase] of Object.entries(ALERT_CASES)) {
    it(name, async () => {
      const { status, stdout, stderr } = await run(name, [testOf(name, alertCase)]);
      assert.equal(status, 0, `${stdout}${stderr}`);
    });
  }

  it('and promtool would find one that does not', async () => {
    const { KubeNetlinkProxyDown: down } = ALERT_CASES;
    assert.ok(down);
    const { status } = await run('wrong', [
      testOf('KubeNetlinkProxyDown', { ...down, at: [{ minute: 9, fires: [TARGET] }] }),
    ]);
    assert.equal(status, 1);
  });
});

describe('the runbook', () => {
  const text = readFileSync(join(ROOT, 'docs/runbook.md'), 'utf8');
  const sections = text.split(/^## /m).slice(1);

  it('has a section for each alert, in the order of the rules, and no other', () => {
    assert.deepEqual(
      sections.map((section) => section.split('\n')[0]),
      names,
    );
  });

  it('says in each section what the alert means, how to look, and the cure', () => {
    for (const section of sections) {
      for (const part of ['Meaning', 'Look', 'Cure']) {
        assert.match(
          section,
          new RegExp(`^\\*\\*${part}\\.\\*\\* \\S|^\\*\\*${part}\\.\\*\\*$`, 'm'),
          section,
        );
      }
      assert.match(section, /^```sh\n/m, section.split('\n')[0]);
    }
  });

  it('is named by each alert, with the anchor of its section', () => {
    for (const { alert, annotations } of rules) {
      assert.equal(annotations['runbook_url'], `docs/runbook.md#${alert.toLowerCase()}`);
      assert.ok(annotations['summary'] && annotations['description'], alert);
    }
  });
});
