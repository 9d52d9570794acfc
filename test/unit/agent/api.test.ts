// The failures of requests to the API server in the metrics: by resource, and by HTTP status if the server answered.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pino } from 'pino';
import { openApi } from '../../../src/agent/api.js';
import { defaultConfiguration } from '../../../src/config/configuration.js';
import { openMetrics } from '../../../src/servers/metrics.js';
import { ApiServer } from '../../support/apiServer/server.js';
import { closeAfter } from '../../support/closeAfter.js';

it('a refusal is counted with its HTTP status, another failure with its code', async () => {
  const server = closeAfter(await new ApiServer().start());
  server.fail(/GET \/api\/v1\/services/, { status: 403 });
  server.fail(/GET \/apis\/discovery/, { status: 401 });
  const metrics = closeAfter(
    openMetrics({ version: '0', kubernetesVersion: 'v1.36.0', startedAt: 0, now: Date.now }),
  );
  const failed: Error[] = [];
  const api = closeAfter(
    await openApi({
      ...{ configuration: defaultConfiguration(), master: server.url, nodeName: 'node-a', allNodes: false },
      ...{ version: '0', log: pino({ level: 'silent' }), metrics },
      failed: (error) => failed.push(error),
    }),
  );
  await api.source.start({ changed() {}, synced() {}, problems() {} });
  const counted = (await metrics.text())
    .split('\n')
    .filter((line) => line.startsWith('kube_netlink_proxy_api_failures_total{'));
  assert.deepEqual(counted.sort(), [
    'kube_netlink_proxy_api_failures_total{resource="endpointslices",code="401"} 1',
    'kube_netlink_proxy_api_failures_total{resource="services",code="403"} 1',
  ]);
  assert.equal(failed.length, 2);
  assert.match(failed.map(String).join('\n'), /403 .*deploy\/base\/rbac\.yaml/);
});
