// The command bench at its smallest size: its figures and targets, and another proxy.
// Needs: ipvs, dummy device
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { AgainstReport } from '../../bench/against/types.js';
import type { BenchReport } from '../../bench/types.js';
import { COMMAND } from '../laboratory/proxyProcess.js';
import { bench } from '../support/benchmark/benchProcess.js';
import { ROOT } from '../support/paths.js';

test('the proxy, the limit and the tools are measured, and the targets with them', () => {
  const scenarios = [
    '--scenarios',
    'full,endpoint,oneOperation,memory',
    '--methods',
    'ours,raw,rawSingle,toolBatch',
  ];
  const { status, stdout, stderr } = bench([
    ...scenarios,
    ...['--sizes', '5x2', '--repetitions', '1', '--sample', '2', '-o', 'json'],
  ]);
  assert.equal(status, 0, stderr);
  const { figures, unavailable, targets, machine, memory } = JSON.parse(stdout) as BenchReport;
  assert.deepEqual(unavailable, []);
  const measured = figures.map(({ scenario, method }) => `${scenario} ${method}`);
  const missing = ['full ours', 'full raw', 'full toolBatch', 'endpoint ours', 'oneOperation ours'];
  assert.deepEqual(
    missing.filter((name) => !measured.includes(name)),
    [],
    `${measured}`,
  );
  for (const { scenario, method, wall } of figures) {
    assert.ok(wall.min > 0 && wall.min <= wall.median && wall.median <= wall.max, `${scenario} ${method}`);
  }
  const changed = figures.find(({ scenario, method }) => scenario === 'endpoint' && method === 'ours');
  assert.equal(changed?.messages, 2, 'one addition and one deletion');
  assert.ok(
    targets.length > 10 && targets.every(({ value, reason }) => value !== undefined || reason),
    stdout,
  );
  const [agent] = memory;
  assert.ok(agent && agent.idleResident > 10e6 && agent.resident > 10e6, stderr);
  assert.ok(Object.keys(machine.tools).includes('ipvsadm'), stdout);
});

test('another proxy is measured beside this one', () => {
  const script = join(ROOT, 'dist/test/support/benchmark/otherProxy.js');
  const { status, stdout, stderr } = bench([
    ...['--against', `"${process.execPath}" ${script} {kubeconfig}`, '--pass-pattern', '^other: a pass'],
    ...['--sizes', '5x2', '--repetitions', '1', '--quick', '-o', 'json'],
  ]);
  assert.equal(status, 0, stderr);
  const { figures, failed } = JSON.parse(stdout) as AgainstReport;
  assert.deepEqual(failed, []);
  const [ours, other] = figures;
  assert.deepEqual([ours?.proxy, other?.proxy], ['ours', 'other']);
  for (const figure of figures) {
    assert.ok(figure.firstSync.median > 0 && figure.cpu.median > 0, stdout);
    assert.ok(figure.resident.median > 10e6 && figure.peak.median >= figure.resident.median * 0.9, stdout);
    assert.ok(figure.started.median >= 1, stdout);
    assert.equal(figure.endpointChange?.values.length, 1, stdout);
  }
  assert.equal(ours?.startedByChange?.median, 0, 'a changed endpoint starts no process');
  assert.ok((other?.startedByChange?.median ?? 0) >= 1, stdout);
  assert.equal(other?.nodeChange?.values.length, 1, stdout);
});

test('endpoints change steadily, and a client reaches each new one', () => {
  const ours = `"${process.execPath}" ${COMMAND} --kubeconfig={kubeconfig} --hostname-override={node} --proxy-mode=ipvs`;
  const { status, stdout, stderr } = bench([
    ...['--against', `${ours} --logging-format=json --v=2`, '--pass-pattern', '"msg":"synced"'],
    ...['--sizes', '5x2', '--repetitions', '1', '--quick', '--rate', '20', '-o', 'json'],
  ]);
  assert.equal(status, 0, stderr);
  const { figures, failed } = JSON.parse(stdout) as AgainstReport;
  assert.deepEqual(failed, []);
  for (const { streams } of figures) {
    assert.deepEqual(
      streams.map(({ rate, changes, missed }) => [rate, changes, missed]),
      [[20, 20, 0]],
    );
    assert.ok(
      streams.every(({ p50, p99, max }) => p50 > 0 && p99 >= p50 && max >= p99),
      stdout,
    );
  }
});
