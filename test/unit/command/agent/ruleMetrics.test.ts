import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ruleMetrics } from '../../../../src/command/agent/ruleMetrics.js';
import { openMetrics } from '../../../../src/command/servers/metrics.js';
import type { RuleCount } from '../../../../src/proxy/modes/mode.js';
import type { SyncSummary } from '../../../../src/proxy/reconcile/summary.js';
import { closeAfter } from '../../../support/closeAfter.js';

it('after each pass, the rules are counted, and failed restores of a pass that was not full', async () => {
  const metrics = closeAfter(openMetrics({ version: '0', kubernetesVersion: 'v1.36.0', startedAt: 0 }));
  const failed = new Map<4 | 6, number>([
    [4, 2],
    [6, 1],
  ]);
  const counts: RuleCount[] = [{ family: 4, table: 'nat', total: 12, written: 3 }];
  const sources = { ruleCounts: () => counts, failedRestores: () => failed };
  const { synced } = ruleMetrics(sources, metrics);
  const pass = (full: boolean) => synced?.({ full } as SyncSummary, 0);
  const shown = async () =>
    (await metrics.text())
      .split('\n')
      .flatMap((line) => /^kubeproxy_sync_proxy_rules_(iptables.*)/.exec(line)?.[1] ?? []);
  pass(true);
  const rules = [
    'iptables_last{ip_family="IPv4",table="nat"} 3',
    'iptables_total{ip_family="IPv4",table="nat"} 12',
  ];
  assert.deepEqual(await shown(), rules);
  pass(false);
  const failures = [4, 6].map(
    (family) =>
      `iptables_partial_restore_failures_total{ip_family="IPv${family}"} ${failed.get(family as 4)}`,
  );
  assert.deepEqual(await shown(), [rules[0], ...failures, rules[1]]);
});
