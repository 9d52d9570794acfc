// The health and metrics servers of the agent.
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import {
  BindError,
  checkHealthAddress,
  openServers,
  type ServerParts,
} from '../../../../src/command/agent/servers.js';
import { HealthThread } from '../../../../src/command/health/openThread.js';
import { plain } from '../../../../src/command/servers/handler.js';
import { probeMetrics } from '../../../../src/command/servers/kubeProxyMetrics.js';
import { listen } from '../../../../src/command/servers/listen.js';
import { openMetrics } from '../../../../src/command/servers/metrics.js';
import { closeAfter } from '../../../support/closeAfter.js';
import { freePort } from '../../../support/freePort.js';
import { ask, dial } from '../../../support/http/request.js';

function parts(configuration: ServerParts['configuration']) {
  const told: [server: string, code: string | undefined, retryIn: number | undefined][] = [];
  const failed = (server: string, error: unknown, retryIn: number | undefined) =>
    told.push([server, (error as NodeJS.ErrnoException).code, retryIn]);
  const health = closeAfter(
    new HealthThread({
      timeout: 60_000,
      failed: (error, retryIn) => failed('health', error, retryIn),
      recovered() {},
      serviceFailed() {},
      serviceRecovered() {},
      ended: (error) => failed('health', error, undefined),
    }),
  );
  const metrics = closeAfter(openMetrics({ version: '0.1.0', kubernetesVersion: 'v1.36.0', startedAt: 0 }));
  probeMetrics(metrics.registry, (probe, status) => health.probes.get(probe, status));
  const all: ServerParts = {
    configuration,
    metrics,
    health,
    shown: {
      startedAt: 0,
      now: Date.now,
      version: '0.1.0',
      emulates: '1.36',
      proxyMode: 'ipvs',
      configuration: () => ({}),
      statusz: false,
      leftOut: () => undefined,
      report: () => ({ version: '0.1.0' }),
      frontends: async () => [{ service: 'demo/web' }],
    },
    recovered() {},
    failed: (error, retryIn) => failed('metrics', error, retryIn),
  };
  return { all, told };
}

describe("the agent's servers", () => {
  it('listen on the configured addresses, and count their responses', async () => {
    const [healthz, metricsPort] = [await freePort('::'), await freePort('::')];
    const { all, told } = parts({
      healthzBindAddress: `0.0.0.0:${healthz}`,
      metricsBindAddress: `[::1]:${metricsPort}`,
      bindAddressHardFail: true,
    });
    const servers = closeAfter(await openServers(all));
    for (const host of ['127.0.0.1', '::1']) {
      assert.equal((await ask(healthz, 'GET /livez HTTP/1.1', undefined, host)).status, 'HTTP/1.1 200 OK');
    }
    const { body } = await ask(metricsPort, 'GET /metrics HTTP/1.1', undefined, '::1');
    assert.match(body, /^kubeproxy_proxy_livez_total\{code="200"\} 2$/m);
    await assert.rejects(dial(metricsPort), { code: 'ECONNREFUSED' });
    await servers.close();
    await assert.rejects(dial(healthz), { code: 'ECONNREFUSED' });
    assert.deepEqual(told, []);
  });

  it('do not include the health server if it has no address', async () => {
    const port = await freePort('::');
    const { all } = parts({
      healthzBindAddress: '',
      metricsBindAddress: `127.0.0.1:${port}`,
      bindAddressHardFail: true,
    });
    closeAfter(await openServers(all));
    assert.equal((await ask(port, 'GET /proxyMode HTTP/1.1')).body, 'ipvs');
  });

  it('wait for an address in use, or reject with bindAddressHardFail', async () => {
    const squatter = createServer();
    await new Promise<void>((resolve) => squatter.listen(0, '127.0.0.1', resolve));
    closeAfter(squatter);
    const { port: taken } = squatter.address() as { port: number };
    const healthz = await freePort('::');
    const configuration = {
      healthzBindAddress: `127.0.0.1:${healthz}`,
      metricsBindAddress: `127.0.0.1:${taken}`,
    };
    const patient = parts({ ...configuration, bindAddressHardFail: false });
    const servers = await openServers(patient.all);
    assert.deepEqual(patient.told, [['metrics', 'EADDRINUSE', 5000]]);
    await servers.close();
    const { all } = parts({ ...configuration, bindAddressHardFail: true });
    await assert.rejects(openServers(all), (error) => {
      assert.ok(error instanceof BindError);
      assert.equal(error.server, 'metrics');
      assert.match(error.message, /^failed to start metrics server: .*EADDRINUSE/);
      return true;
    });
    await assert.rejects(dial(healthz), { code: 'ECONNREFUSED' }, 'the other server is closed');
    // A program that is ending, such as kube-proxy after its pod was deleted, does not make a start fail.
    const ending = createServer();
    await new Promise<void>((resolve) => ending.listen(healthz, '127.0.0.1', resolve));
    const checked = checkHealthAddress(configuration, new AbortController().signal);
    const where = { address: '127.0.0.1', port: healthz };
    const other = listen(
      where,
      () => plain(200, ''),
      () => {},
    );
    await assert.rejects(other, { code: 'EADDRINUSE' }, 'so was the first attempt');
    await new Promise((resolve) => ending.close(resolve));
    await checked;
    // Only the health server has to have its address.
    const ofHealth = parts({ ...configuration, bindAddressHardFail: false });
    await (await openServers({ ...ofHealth.all, healthHardFail: true })).close();
    const swapped = parts({
      healthzBindAddress: `127.0.0.1:${taken}`,
      metricsBindAddress: '127.0.0.1:0',
      bindAddressHardFail: false,
    });
    await assert.rejects(openServers({ ...swapped.all, healthHardFail: true }), BindError);
  });
});
