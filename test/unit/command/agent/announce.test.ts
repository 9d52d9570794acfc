// The Kubernetes events of the proxy, with kube-proxy's reasons.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { announcer } from '../../../../src/command/agent/announce.js';
import type { ClusterEvent } from '../../../../src/command/agent/events.js';
import type { Problem } from '../../../../src/kernel/errors.js';

it("events have kube-proxy's reasons, types, actions and objects", () => {
  const events: ClusterEvent[] = [];
  const tell = announcer('node-a', { record: (event) => events.push(event), flush: async () => {} });
  tell.starting();
  tell.readOnlySys();
  tell.serverFailed('health', 'in use');
  tell.serverFailed('metrics', 'in use');
  tell.configurationWaits('/c/config.conf', ['mode', 'clusterCIDR']);
  const change = { node: 'node-b', address: '192.0.2.2', sign: 'flows' } as const;
  for (const reachable of [false, true]) tell.reachChanged({ ...change, reachable });
  tell.serviceHealthFailed('demo/web', 32000, 'in use');
  assert.deepEqual(
    events.map(({ type, reason, action, regarding }) => [type, reason, action, regarding]),
    [
      ['Normal', 'Starting', 'StartKubeProxy', { apiVersion: 'v1', kind: 'Node', name: 'node-a' }],
      ['Warning', 'readOnlySysFS', 'StartKubeProxy', { apiVersion: 'v1', kind: 'Node', name: 'node-a' }],
      [
        'Warning',
        'FailedToStartProxierHealthcheck',
        'StartKubeProxy',
        { apiVersion: 'v1', kind: 'Node', name: 'node-a' },
      ],
      [
        'Warning',
        'FailedToStartMetricServer',
        'StartKubeProxy',
        { apiVersion: 'v1', kind: 'Node', name: 'node-a' },
      ],
      [
        'Warning',
        'ConfigurationWaits',
        'ReadConfiguration',
        { apiVersion: 'v1', kind: 'Node', name: 'node-a' },
      ],
      ['Warning', 'NodeDoesNotAnswer', 'Program', { apiVersion: 'v1', kind: 'Node', name: 'node-b' }],
      ['Normal', 'NodeAnswersAgain', 'Program', { apiVersion: 'v1', kind: 'Node', name: 'node-b' }],
      [
        'Warning',
        'FailedToStartServiceHealthcheck',
        'Listen',
        { kind: 'Service', namespace: 'demo', name: 'web' },
      ],
    ],
  );
  assert.equal(
    events.at(-1)?.note,
    'node node-a failed to start healthcheck "demo/web" on port 32000: in use',
  );
});

it('an event names no Service of another namespace', () => {
  const events: ClusterEvent[] = [];
  const recorder = { record: (event: ClusterEvent) => events.push(event), flush: async () => {} };
  const tell = announcer('node-a', recorder, true);
  const problem: Problem = {
    object: 'Service demo/web',
    field: 'spec',
    rule: 'is served by Service secret/name, which is older',
    publicRule: 'is served by another Service, which is older',
    reference: { apiVersion: 'v1', kind: 'Service', namespace: 'demo', name: 'web' },
  };
  tell.leftOut([problem]);
  assert.match(events[0]?.note ?? '', /is served by another Service/);
  assert.doesNotMatch(events[0]?.note ?? '', /secret/);
  announcer('node-a', recorder).leftOut([problem]);
  assert.equal(events.length, 1, 'none by default');
});
