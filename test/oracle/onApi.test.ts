// Recorded clusters with an API server: the agent reaches kube-proxy's kernel state and health responses. The other recordings need no API
// server: their state is compared in recordings.test.ts.
// Needs: ipvs, dummy device
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { RULE_MODULES } from '../../bench/ruleModules.js';
import { runInNamespace } from '../support/namespaces/runInNamespace.js';
import { tool } from '../support/namespaces/tools.js';
import { type Scenario, scenarios } from '../support/oracle/oracle.js';
import { recordedHealth } from '../support/oracle/recordedHealth.js';
import type { ApiReport } from './runOnApi.js';

before(() => {
  tool('modprobe', '-a', 'ip_vs', 'dummy', ...RULE_MODULES);
});

/** What an API server adds: several steps, and health checks. */
const isUsual = ({ steps }: Scenario) =>
  steps.length > 1 && steps.some((step) => recordedHealth(step).length > 0);

// Two in parallel, because a namespace is idle during the kernel's grace periods.
describe('recordings of kube-proxy, with an API server', { concurrency: 2 }, () => {
  for (const scenario of scenarios('ipvs').filter(isUsual)) {
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
