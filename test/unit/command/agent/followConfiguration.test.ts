// Faults of a configuration file are reported like other unreadable input, and valid changes are applied in place or reported.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { ConfigurationFollower } from '../../../../src/command/agent/followConfiguration.js';
import { defaultConfiguration } from '../../../../src/command/config/configuration.js';
import { hashOf, readConfigurationFile } from '../../../../src/command/config/reload.js';
import { MODES } from '../../../../src/command/modes/select.js';
import { openMetrics } from '../../../../src/command/servers/metrics.js';
import { describeProblem, type Problem } from '../../../../src/kernel/errors.js';
import { until } from '../../../support/apiServer/cluster.js';
import { closeAfter } from '../../../support/closeAfter.js';
import { TrackedHealth } from '../../../support/fakes/trackedHealth.js';

/** A followed file with the mode and the verbosity in one line: `ipvs 0`. */
function follow(exitsOnChange = false) {
  const folder = mkdtempSync(join(tmpdir(), 'knp-follow-'));
  closeAfter({ close: () => rmSync(folder, { recursive: true }) });
  const path = join(folder, 'config.conf');
  writeFileSync(path, 'ipvs 0');
  const health = new TrackedHealth(1000, { now: Date.now, elapsed: () => 0 });
  const found: Problem[] = [];
  const mended: Problem[] = [];
  const told: string[] = [];
  const faults: string[] = [];
  const configurationOf = (text: string) => {
    const [mode = '', verbosity] = text.split(' ');
    const usual = defaultConfiguration();
    return { ...usual, mode, logging: { ...usual.logging, verbosity: Number(verbosity) } };
  };
  const read = async () => {
    if (faults.length > 0) throw new Error(faults.join('\n'));
    const text = readFileSync(path, 'utf8');
    return { text, configuration: configurationOf(text) };
  };
  const log = {
    level: 'info',
    info: (about: object) => told.push(`info ${JSON.stringify(about)}`),
    warn: (about: object) => told.push(`warn ${JSON.stringify(about)}`),
  };
  const configuration = configurationOf('ipvs 0');
  const file = readConfigurationFile(path);
  const metrics = closeAfter(openMetrics({ version: '0', kubernetesVersion: 'v1.36.0', startedAt: 0 }));
  const follower = new ConfigurationFollower(
    { file, configuration, read, exitsOnChange, times: { still: 10, again: 50 } },
    {
      node: 'node-a',
      log: log as never,
      modes: MODES,
      events: { problems: (all) => found.push(...all), mended: (all) => mended.push(...all) },
      health,
      metrics,
      announcer: { configurationWaits: (_, fields) => told.push(`event ${fields}`) },
      exit: () => told.push('exit'),
    },
  );
  closeAfter(follower);
  return { path, health, found, mended, told, faults, log, follower };
}

it('each fault of a configuration file is a problem, with an event about the Node, until it is solved', async () => {
  const { path, health, found, mended, told, faults } = follow();
  const line = (fault: string) =>
    `${path}: KubeProxyConfiguration: contents: ${fault} (the last readable value stays in use)`;

  faults.push('one', 'two');
  writeFileSync(path, 'damaged');
  await until('both are found', () => found.length === 2);
  assert.deepEqual(found.map(describeProblem), [line('one'), line('two')]);
  assert.deepEqual(found[0]?.reference, { apiVersion: 'v1', kind: 'Node', name: 'node-a' });
  assert.equal(found[0]?.reason, 'LastReadableKept');
  assert.deepEqual(health.state().unread, [path]);
  assert.ok(health.healthy);

  faults.shift();
  await until('one is solved', () => mended.length === 1);
  assert.deepEqual(mended.map(describeProblem), [line('one')]);
  assert.deepEqual(health.state().unread, [path]);

  faults.shift();
  writeFileSync(path, 'ipvs 0');
  await until('the other is solved', () => mended.length === 2);
  assert.deepEqual([found.length, health.state().unread, told], [2, [], []]);
});

it('the verbosity is applied at once, the mode waits, and a return to the contents in force ends the wait', async () => {
  const { path, told, log, follower } = follow();
  const { report: start } = follower;
  writeFileSync(path, 'ipvs 4');
  await until('it is applied', () => told.length === 1);
  const applied = hashOf('ipvs 4');
  assert.deepEqual(
    [log.level, follower.report],
    ['debug', { inForce: applied, found: applied, waiting: [] }],
  );
  assert.equal(told[0], `info ${JSON.stringify({ file: path, applied: ['logging.verbosity'] })}`);
  assert.equal(follower.configuration.logging.verbosity, 4);

  writeFileSync(path, 'nftables 6');
  await until('the mode is reported', () => told.length === 3);
  const found = hashOf('nftables 6');
  assert.deepEqual(follower.report, { inForce: applied, found, waiting: ['mode'] });
  assert.deepEqual([log.level, follower.configuration.mode], ['trace', 'ipvs']);
  assert.match(told[1] ?? '', /^warn .*"waiting":\["mode"\]/);
  assert.equal(told[2], 'event mode');

  writeFileSync(path, 'ipvs 0');
  await until('the wait has ended', () => told.length === 4);
  assert.deepEqual([log.level, follower.report], ['info', start]);
});

it('with --exit-on-config-change, the agent is ended once', async () => {
  const { path, told } = follow(true);
  writeFileSync(path, 'ipvs 4');
  await until('it is ended', () => told.length > 0);
  assert.deepEqual(told, ['exit']);
});
