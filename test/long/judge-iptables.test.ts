// The judge of histories on this project's proxy in iptables mode, with all faults.
// Needs: conntrack, nftables, bridge filter, command
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { replayText } from '../judge/core/replay.js';
import { faultsInTurn, OUTER_FAULTS } from '../support/judge/faultsInTurn.js';
import { recordedHistories } from '../support/judge/record.js';
import { shortJudge } from '../support/judge/shortJudge.js';
import { selectBackend } from '../support/namespaces/iptablesBackend.js';

selectBackend('nft');

test('the proxy breaks no rule', async () => {
  const report = await shortJudge({ mode: 'iptables', seed: 1 });
  assert.deepEqual(report.violations, []);
  assert.ok((report.requests.answered ?? 0) > 1000, JSON.stringify(report.requests));
  assert.ok(report.faults > 0, 'no fault happened');
});

test('the proxy breaks no rule while the API server fails in each way, and over a change of the mode', async () => {
  const report = await shortJudge({
    mode: 'iptables',
    seed: 0,
    replays: [replayText(faultsInTurn(OUTER_FAULTS))],
  });
  assert.deepEqual(report.violations, []);
  assert.equal(report.faults, OUTER_FAULTS.length);
});

test('the proxy breaks no rule in the histories of the record', async () => {
  const replays = [...recordedHistories().values()].map(replayText);
  const report = await shortJudge({ mode: 'iptables', seed: 0, replays });
  assert.deepEqual(report.violations, []);
  assert.ok(
    report.seeds.length >= replays.length - 1,
    `${report.seeds.length} of ${replays.length} histories`,
  );
});
