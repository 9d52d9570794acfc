// The Kubernetes events of the proxy, with kube-proxy's reasons.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { announcer } from '../../../src/agent/announce.js';
import type { ClusterEvent } from '../../../src/api/events.js';

it("events have kube-proxy's reasons, types, actions and objects", () => {
  const events: ClusterEvent[] = [];
  const tell = announcer('node-a', { record: (event) => events.push(event), flush: async () => {} });
  tell.starting();
  tell.readOnlySys();
  tell.serverFailed('health', 'in use');
  tell.serverFailed('metrics', 'in use');
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
