import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ruleMetrics } from '../../../../src/command/agent/ruleMetrics.js';
import type { RuleCount } from '../../../../src/proxy/modes/mode.js';
import type { SyncSummary } from '../../../../src/proxy/reconcile/summary.js';

it('after each pass, the rules are counted, and failed restores of a pass that was not full', () => {
  const shown: unknown[] = [];
  const metrics = {
    rules: (...values: unknown[]) => shown.push(values),
    partialRestoreFailed: (family: number, count: number) => shown.push(`partial ${family} ${count}`),
  };
  const failed = new Map<4 | 6, number>([
    [4, 2],
    [6, 1],
  ]);
  const counts: RuleCount[] = [{ family: 4, table: 'nat', total: 12, written: 3 }];
  const sources = { ruleCounts: () => counts, failedRestores: () => failed };
  const { synced } = ruleMetrics(sources, metrics);
  const pass = (full: boolean) => synced?.({ full } as SyncSummary, 0);
  pass(false);
  assert.deepEqual(shown.splice(0), [[4, 'nat', 12, 3], 'partial 4 2', 'partial 6 1']);
  pass(true);
  assert.deepEqual(shown.splice(0), [[4, 'nat', 12, 3]]);
});
