import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import {
  type ServiceHealthCheck,
  ServiceHealthServers,
} from '../../../../src/command/health/serviceHealth.js';
import { closeAfter } from '../../../support/closeAfter.js';
import { freePort } from '../../../support/freePort.js';
import { ask, dial } from '../../../support/http/request.js';
import { scenarios } from '../../../support/oracle/oracle.js';
import { healthNow, recordedHealth } from '../../../support/oracle/recordedHealth.js';

/** kube-proxy's response on one port. */
interface Recorded {
  readonly where: string;
  readonly service: string;
  readonly localEndpoints: number;
  readonly answer: string;
}

function recordings(): Recorded[] {
  const steps = scenarios('ipvs').flatMap((scenario) => scenario.steps);
  return steps.flatMap((step) =>
    recordedHealth(step).flatMap(({ port, answer }) => {
      // A later step repeats the request for a deleted Service.
      if (answer === undefined) return [];
      const body = JSON.parse(answer.slice(answer.indexOf('\n\n')));
      return {
        where: `${step.split('/recordings/')[1]}, port ${port}`,
        service: `${body.service.namespace}/${body.service.name}`,
        localEndpoints: body.localEndpoints,
        answer,
      };
    }),
  );
}

/** Listeners on loopback, and their failures. */
function setUp(addresses: { 4?: string[]; 6?: string[] } = { 4: ['127.0.0.1'], 6: ['::1'] }) {
  const state = { healthy: true, now: 0 };
  const failures: string[] = [];
  const recovered: string[] = [];
  const servers = closeAfter(
    new ServiceHealthServers({
      addresses,
      healthy: () => state.healthy,
      failed: (service, port, error) =>
        failures.push(`${service} ${port} ${(error as NodeJS.ErrnoException).code}`),
      recovered: (service, port) => recovered.push(`${service} ${port}`),
      now: () => state.now,
    }),
  );
  let before: Record<string, ServiceHealthCheck> = {};
  /** Sets the Services with health checks. */
  const sync = (desired: Record<string, ServiceHealthCheck>) => {
    const names = new Set([...Object.keys(before), ...Object.keys(desired)]);
    const changed = [...names].filter((name) => before[name] !== desired[name]);
    before = desired;
    return servers.update(new Map(changed.map((name) => [name, desired[name]])));
  };
  return { state, failures, recovered, servers, sync };
}

async function refused(port: number, host?: string): Promise<boolean> {
  try {
    (await dial(port, host)).destroy();
    return false;
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ECONNREFUSED');
    return true;
  }
}

describe('the health of Services', () => {
  const recorded = recordings();

  it('was recorded', () => assert.ok(recorded.length >= 12, `${recorded.length} recordings`));

  for (const { where, service, localEndpoints, answer } of recorded) {
    it(`equals kube-proxy's: ${where}`, async () => {
      const { sync, servers } = setUp();
      const port = await freePort('0.0.0.0');
      await sync({ [service]: { port, localEndpoints: { 4: localEndpoints } } });
      assert.equal(await healthNow(port), answer);
      await servers.close();
    });
  }

  it('is 503 while the proxy is unhealthy', async () => {
    const { sync, state } = setUp();
    const port = await freePort('0.0.0.0');
    await sync({ 'demo/web': { port, localEndpoints: { 4: 2 } } });
    state.healthy = false;
    const { status, body, headers } = await ask(port, 'POST /any/path?x HTTP/1.1', 'ignored');
    assert.equal(status, 'HTTP/1.1 503 Service Unavailable');
    assert.ok(headers.includes('X-Load-Balancing-Endpoint-Weight: 2'));
    assert.deepEqual(JSON.parse(body), {
      service: { namespace: 'demo', name: 'web' },
      localEndpoints: 2,
      serviceProxyHealthy: false,
    });
  });

  it('is counted by family, on separate sockets', async () => {
    const { sync, failures, servers } = setUp({});
    const port = await freePort('0.0.0.0');
    await sync({ 'demo/web': { port, localEndpoints: { 4: 1, 6: 3 } } });
    assert.deepEqual(failures, []);
    assert.equal(servers.size, 2);
    const weight = async (host: string) =>
      (await ask(port, undefined, undefined, host)).headers.find((line) => line.includes('Weight'));
    assert.equal(await weight('127.0.0.1'), 'X-Load-Balancing-Endpoint-Weight: 1');
    assert.equal(await weight('::1'), 'X-Load-Balancing-Endpoint-Weight: 3');
    await sync({ 'demo/web': { port, localEndpoints: { 4: 2 } } });
    assert.equal(await weight('127.0.0.1'), 'X-Load-Balancing-Endpoint-Weight: 2');
    assert.ok(await refused(port, '::1'));
  });

  it('listens only on the given addresses', async () => {
    const { sync } = setUp({ 4: ['127.0.0.2', '127.0.0.3'] });
    const port = await freePort('0.0.0.0');
    await sync({ 'demo/web': { port, localEndpoints: { 4: 1 } } });
    for (const host of ['127.0.0.2', '127.0.0.3']) {
      assert.equal((await ask(port, undefined, undefined, host)).status, 'HTTP/1.1 200 OK');
    }
    assert.ok(await refused(port, '127.0.0.1'));
  });

  it('is answered while 300 clients send nothing', async () => {
    const { sync } = setUp();
    const port = await freePort('0.0.0.0');
    await sync({ 'demo/web': { port, localEndpoints: { 4: 1 } } });
    const slow: Socket[] = [];
    for (let i = 0; i < 300; i++) slow.push((await dial(port)).on('error', () => {}));
    for (let i = 0; i < 20; i++) assert.equal((await ask(port)).status, 'HTTP/1.1 200 OK', `probe ${i}`);
    for (const socket of slow) socket.destroy();
  });

  it('does not listen for a family without an address', async () => {
    const { sync, servers } = setUp({ 4: ['127.0.0.1'], 6: [] });
    await sync({ 'demo/web': { port: await freePort('0.0.0.0'), localEndpoints: { 6: 1 } } });
    assert.deepEqual(servers.size, 1);
  });

  it('closes removed ports, follows a changed port, and lets another Service use a port', async () => {
    const { sync, failures } = setUp();
    const [one, two] = [await freePort('0.0.0.0'), await freePort('0.0.0.0')];
    await sync({ 'demo/a': { port: one, localEndpoints: { 4: 1 } } });
    const idle = await dial(one);
    const closed = new Promise((resolve) => idle.once('close', resolve));
    await sync({
      'demo/a': { port: two, localEndpoints: { 4: 1 } },
      'demo/b': { port: one, localEndpoints: { 4: 0 } },
    });
    await closed;
    assert.equal(JSON.parse((await ask(one)).body).service.name, 'b');
    assert.equal(JSON.parse((await ask(two)).body).service.name, 'a');
    await sync({});
    assert.ok((await refused(one)) && (await refused(two)));
    assert.deepEqual(failures, []);
  });

  it('reports a port in use once, then every five minutes, and when it is opened', async () => {
    const { sync, failures, recovered, servers, state } = setUp({ 4: ['127.0.0.3', '127.0.0.2'] });
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.2', resolve));
    const { port } = taken.address() as { port: number };
    const desired = { 'demo/web': { port, localEndpoints: { 4: 1 } } };
    for (let pass = 0; pass < 50; pass++) {
      state.now += 20;
      await sync(desired);
    }
    assert.deepEqual(failures, [`demo/web ${port} EADDRINUSE`]);
    assert.equal(servers.size, 0);
    assert.ok(await refused(port, '127.0.0.3'), 'no address is served while another cannot be');
    state.now += 300_000;
    for (let pass = 0; pass < 5; pass++) await sync(desired);
    assert.equal(failures.length, 2);
    await new Promise((resolve) => taken.close(resolve));
    await sync(desired);
    assert.equal((await ask(port, undefined, undefined, '127.0.0.2')).status, 'HTTP/1.1 200 OK');
    await sync(desired);
    assert.deepEqual([failures.length, recovered], [2, [`demo/web ${port}`]]);
  });

  it('reports a port again after its Service was removed and added, and no success when it is removed', async () => {
    const { sync, failures, recovered } = setUp({ 4: ['127.0.0.2'] });
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.2', resolve));
    closeAfter(taken);
    const { port } = taken.address() as { port: number };
    const desired = { 'demo/web': { port, localEndpoints: { 4: 1 } } };
    await sync(desired);
    await sync({});
    await sync(desired);
    assert.deepEqual([failures, recovered], [Array(2).fill(`demo/web ${port} EADDRINUSE`), []]);
  });

  it('closes all ports at the end, and opens none afterwards', async () => {
    const { sync, servers } = setUp();
    const port = await freePort('0.0.0.0');
    await sync({ 'demo/web': { port, localEndpoints: { 4: 1, 6: 1 } } });
    await servers.close();
    await sync({ 'demo/web': { port, localEndpoints: { 4: 1, 6: 1 } } });
    assert.equal(servers.size, 0);
    assert.ok(await refused(port));
  });
});
