// Random histories: whenever changes arrive, the kernel has exactly the plan of the last objects at the end, without an audit.
//
//   HISTORIES=10000 node --test dist/test/unit/proxy/reconcile/histories.test.js    more of them
//   HISTORY=17 node --test dist/test/unit/proxy/reconcile/histories.test.js         one of them again
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type HistoryCounts, runHistory } from '../../../support/clusters/history.js';
import { WHOLE } from '../../../support/extent.js';

const { HISTORY, HISTORIES = WHOLE ? '120' : '24' } = process.env;
const SEEDS = HISTORY ? [Number(HISTORY)] : Array.from({ length: Number(HISTORIES) }, (_, i) => i + 1);

for (const mode of ['ipvs', 'ipvs tables', 'iptables'] as const) {
  it(`${mode}: ${SEEDS.length} histories`, async () => {
    const counts: HistoryCounts = {
      changes: 0,
      duringCalls: 0,
      audits: 0,
      failures: 0,
      ends: 0,
      switches: 0,
    };
    const failed: string[] = [];
    for (const seed of SEEDS) {
      await runHistory(seed, mode, counts).catch((error) => {
        failed.push(
          `HISTORY=${seed} node --test dist/test/unit/proxy/reconcile/histories.test.js\n${error.stack}`,
        );
      });
    }
    assert.equal(failed.length, 0, `${failed.length} failed. Again: ${failed[0]}`);
    if (HISTORY) return;
    for (const [what, count] of Object.entries(counts))
      assert.ok(count > SEEDS.length / (WHOLE ? 4 : 12), `only ${count} ${what}`);
  });
}
