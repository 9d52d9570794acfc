// Recorded clusters with an API server: the agent reaches kube-proxy's kernel state and health responses.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { RULE_MODULES } from '../../../bench/ruleModules.js';
import type { ApiReport } from '../../oracle/runOnApi.js';
import { runInNamespace } from '../namespaces/runInNamespace.js';
import { tool } from '../namespaces/tools.js';
import type { Scenario } from './oracle.js';

/** Registers a test for each. */
export function judgeOnApi(recordings: readonly Scenario[]): void {
  before(() => {
    tool('modprobe', '-a', 'ip_vs', 'dummy', ...RULE_MODULES);
  });

  // Two in parallel, because a namespace is idle during the kernel's grace periods.
  describe('recordings of kube-proxy, with an API server', { concurrency: 2 }, () => {
    for (const scenario of recordings) {
      it(`${scenario.name}: the recorded state and health responses at every step`, async () => {
        const report = await runInNamespace<ApiReport>(`api-${scenario.name}`, 'runOnApi.js', {
          args: [scenario.name],
        });
        assert.equal(report.failures, 0);
        assert.equal(report.status, 0);
        assert.equal(report.steps.length, scenario.steps.length);
        for (const { step, ...found } of report.steps) {
          assert.deepEqual(found, { differences: [], health: [] }, step);
        }
      });
    }
  });
}
