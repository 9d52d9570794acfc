// The failures of requests to the API server in the metrics: by resource, and by HTTP status if the server answered.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pino } from 'pino';
import { openApi } from '../../../../src/command/agent/api.js';
import { defaultConfiguration } from '../../../../src/command/config/configuration.js';
import { openMetrics } from '../../../../src/command/servers/metrics.js';
import { until } from '../../../support/apiServer/cluster.js';
import { ApiServer } from '../../../support/apiServer/server.js';
import { closeAfter } from '../../../support/closeAfter.js';

it('a refusal is counted with its HTTP status, another failure with its code', async () => {
  const server = closeAfter(await new ApiServer().start());
  server.fail(/GET \/api\/v1\/services/, { status: 403 });
  server.fail(/GET \/apis\/discovery/, { status: 401 });
  const metrics = closeAfter(openMetrics({ version: '0', kubernetesVersion: 'v1.36.0', startedAt: 0 }));
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

it('ServiceCIDRs are asked for only if the mode needs them, and a server that is too old is named', async () => {
  for (const serviceCIDRs of [undefined, true] as const) {
    const server = closeAfter(await new ApiServer().start());
    server.fail(/servicecidrs/, { status: 404 });
    const lines: string[] = [];
    const api = closeAfter(
      await openApi({
        ...{ configuration: defaultConfiguration(), master: server.url, nodeName: 'node-a', allNodes: false },
        version: '0',
        log: pino({}, { write: (line: string) => lines.push(line) }),
        ...(serviceCIDRs && { serviceCIDRs }),
      }),
    );
    await api.source.start({ changed() {}, synced() {}, problems() {} });
    const asked = () => server.requests.filter(({ path }) => path.endsWith('/servicecidrs'));
    if (serviceCIDRs) await until('the answer is logged', () => lines.length > 0);
    assert.equal(asked().length, serviceCIDRs ? 1 : 0);
    const told = lines.map((line) => JSON.parse(line)).map(({ resource, hint }) => `${resource}: ${hint}`);
    const hint = 'servicecidrs: Kubernetes 1.33 is the first with ServiceCIDRs';
    assert.deepEqual(told, serviceCIDRs ? [hint] : []);
  }
});
