// The judge of histories on this project's proxy in nftables mode, with all faults, and on one that programs too late.
// Needs: conntrack, nftables, bridge filter, command
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { replayText } from '../judge/core/replay.js';
import { COMMAND } from '../laboratory/proxyProcess.js';
import { faultsInTurn, OUTER_FAULTS } from '../support/judge/faultsInTurn.js';
import { recordedHistories } from '../support/judge/record.js';
import { shortJudge } from '../support/judge/shortJudge.js';
import { selectBackend } from '../support/namespaces/iptablesBackend.js';

// The change of the mode starts iptables mode.
selectBackend('nft');

test('the proxy breaks no rule', async () => {
  const report = await shortJudge({ mode: 'nftables', seed: 1 });
  assert.deepEqual(report.violations, []);
  assert.ok((report.requests.answered ?? 0) > 1000, JSON.stringify(report.requests));
  assert.ok(report.faults > 0, 'no fault happened');
});

test('the proxy breaks no rule while the API server fails in each way, and over a change of the mode', async () => {
  const report = await shortJudge({
    mode: 'nftables',
    seed: 0,
    replays: [replayText(faultsInTurn(OUTER_FAULTS))],
  });
  assert.deepEqual(report.violations, []);
  assert.equal(report.faults, OUTER_FAULTS.length);
});

test('a proxy that gathers changes for longer than the bound breaks one', async () => {
  const flags = [
    '--kubeconfig {kubeconfig} --hostname-override {node} --proxy-mode {mode}',
    '--cluster-cidr 10.244.0.0/16,fd00:10:244::/48 --iptables-min-sync-period 30s --whole-min-sync-period --conntrack-max-per-core 0',
  ];
  const proxy = [process.execPath, COMMAND, ...flags.flatMap((words) => words.split(' '))];
  const report = await shortJudge({ mode: 'nftables', seed: 3, proxy, time: 1, faults: [] });
  assert.notDeepEqual(report.violations, []);
});

test('the proxy breaks no rule in the histories of the record', async () => {
  const replays = [...recordedHistories().values()].map(replayText);
  const report = await shortJudge({ mode: 'nftables', seed: 0, replays });
  assert.deepEqual(report.violations, []);
  assert.ok(
    report.seeds.length >= replays.length - 1,
    `${report.seeds.length} of ${replays.length} histories`,
  );
});
