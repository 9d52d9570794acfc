// Random histories of iptables mode on a real kernel: whenever changes arrive, it has exactly the plan of the last objects at the
// end, without an audit. The rest of the kernel is in memory, and so is ipvs mode.
//
//   HISTORIES=1000 npm test -- --only kernel iptables-histories    more of them
//   HISTORY=17 npm test -- --only kernel iptables-histories        one of them with the same random numbers: the moments at which
//                                                                  the calls of the kernel end differ
// Needs: nftables, iptables-legacy
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { loadBenchAddon } from '../../bench/addon.js';
import { type HistoryCounts, runHistory } from '../support/clusters/history.js';
import { WHOLE } from '../support/extent.js';
import { selectBackend } from '../support/namespaces/iptablesBackend.js';

const { HISTORY, HISTORIES = WHOLE ? '50' : '10' } = process.env;
const SEEDS = HISTORY ? [Number(HISTORY)] : Array.from({ length: Number(HISTORIES) }, (_, i) => i + 1);

/** So few histories need not have everything. */
const FEW = 20;

const folder = mkdtempSync(join(tmpdir(), 'knp-histories-'));
after(() => rmSync(folder, { recursive: true }));
// This machine's lock belongs to its own rules.
process.env['XTABLES_LOCKFILE'] = join(folder, 'lock');

for (const backend of ['nft', 'legacy'] as const) {
  it(`${backend}: ${SEEDS.length} histories`, async () => {
    selectBackend(backend);
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
      loadBenchAddon().enterNewNetworkNamespace();
      await runHistory(seed, 'iptables', counts, true).catch((error) => {
        failed.push(`HISTORY=${seed} npm test -- --only kernel iptables-histories\n${error.stack}`);
      });
    }
    assert.equal(failed.length, 0, `${failed.length} failed. Again: ${failed[0]}`);
    if (SEEDS.length < FEW) return;
    for (const [what, count] of Object.entries(counts))
      assert.ok(count > SEEDS.length / 4, `only ${count} ${what}`);
  });
}
