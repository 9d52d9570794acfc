// Recorded clusters behind an API server: the whole agent reaches what kube-proxy left, and answers as it did.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { ApiReport } from '../oracle/runOnApi.js';
import type { Scenario } from './oracle.js';
import { runInNamespace } from './runInNamespace.js';
import { tool } from './tools.js';

/** Makes a test of each. */
export function judgeOnApi(recordings: readonly Scenario[]): void {
  before(() => {
    for (const name of ['ip_vs', 'dummy', 'br_netfilter', 'nf_conntrack']) tool('modprobe', name);
  });

  // Two at a time: a namespace is idle while the kernel waits for its own grace periods.
  describe('recordings of kube-proxy, behind an API server', { concurrency: 2 }, () => {
    for (const scenario of recordings) {
      it(`${scenario.name}: the recorded state at every step, and health checks as they were answered`, async () => {
        const report = await runInNamespace<ApiReport>(`api-${scenario.name}`, 'runOnApi.js', scenario.name);
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
