// A configuration file that is damaged while the agent runs is reported like other unreadable input.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { followConfiguration } from '../../../src/agent/followConfiguration.js';
import { readConfigurationFile } from '../../../src/config/reload.js';
import { describeProblem, type Problem } from '../../../src/errors.js';
import { ProxyHealth } from '../../../src/servers/health.js';
import { until } from '../../support/apiServer/cluster.js';
import { closeAfter } from '../../support/closeAfter.js';

it('each fault of a configuration file is a problem, with an event about the Node, until it is solved', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'knp-follow-'));
  closeAfter({ close: () => rmSync(folder, { recursive: true }) });
  const path = join(folder, 'config.conf');
  writeFileSync(path, 'good');
  const health = new ProxyHealth(1000, { now: Date.now, elapsed: () => 0 });
  const found: Problem[] = [];
  const mended: Problem[] = [];
  let faults: readonly string[] = [];
  const read = async () => {
    if (faults.length > 0) throw new Error(faults.join('\n'));
    return 'good';
  };
  const watch = followConfiguration(
    { file: readConfigurationFile(path), read, times: { still: 10, again: 50 } },
    {
      node: 'node-a',
      events: { problems: (all) => found.push(...all), mended: (all) => mended.push(...all) },
      health,
      updated: () => assert.fail('its contents are the same'),
    },
  );
  closeAfter(watch);
  const line = (fault: string) =>
    `${path}: KubeProxyConfiguration: contents: ${fault} (the last readable value stays in use)`;

  faults = ['one', 'two'];
  writeFileSync(path, 'damaged');
  await until('both are found', () => found.length === 2);
  assert.deepEqual(found.map(describeProblem), [line('one'), line('two')]);
  assert.deepEqual(found[0]?.reference, { apiVersion: 'v1', kind: 'Node', name: 'node-a' });
  assert.equal(found[0]?.reason, 'LastReadableKept');
  assert.deepEqual(health.state().unread, [path]);
  assert.ok(health.healthy);

  faults = ['two'];
  await until('one is solved', () => mended.length === 1);
  assert.deepEqual(mended.map(describeProblem), [line('one')]);
  assert.deepEqual(health.state().unread, [path]);

  faults = [];
  await until('the other is solved', () => mended.length === 2);
  assert.deepEqual([found.length, health.state().unread], [2, []]);
});
