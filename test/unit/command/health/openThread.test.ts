// The health thread.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { describe, it, mock } from 'node:test';
import { Worker } from 'node:worker_threads';
import { HealthThread, type HealthThreadOptions } from '../../../../src/command/health/openThread.js';
import { CLOCK, ProxyHealth } from '../../../../src/command/health/proxyHealth.js';
import { AddressPorts } from '../../../../src/kernel/net/addressPorts.js';
import { closeAfter } from '../../../support/closeAfter.js';
import { freePort } from '../../../support/freePort.js';
import { ask } from '../../../support/http/request.js';

/** A thread that serves on loopback, the proxy's health, and what the thread reports. */
async function setUp(options: Partial<HealthThreadOptions> = {}) {
  const told: string[] = [];
  let wake = () => {};
  const tell = (text: string) => {
    told.push(text);
    wake();
  };
  const code = (error: unknown) => (error as NodeJS.ErrnoException).code;
  const thread = closeAfter(
    new HealthThread({
      timeout: 60_000,
      failed: (error) => tell(`failed ${code(error)}`),
      recovered: () => tell('recovered'),
      serviceFailed: (service, port, error) => tell(`${service} ${port} failed ${code(error)}`),
      serviceRecovered: (service, port) => tell(`${service} ${port} recovered`),
      ended: (error) => tell(`ended: ${error}`),
      ...options,
    }),
  );
  const health = new ProxyHealth(CLOCK, (facts) => thread.tell(facts));
  health.completed();
  const port = await freePort('127.0.0.1');
  await thread.serve({ address: '127.0.0.1', port }, true);
  /** Waits for the next report. */
  const next = async () => {
    if (told.length === 0)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    return told.shift();
  };
  return { thread, health, port, next };
}

/** Blocks this thread with a process that asks until the answer has this status, and returns the body. */
function askWhileBlocked(port: number, path: string, status: number): { readonly [field: string]: unknown } {
  const program = `let answer; do answer = await fetch('http://127.0.0.1:${port}${path}'); while (answer.status !== ${status});
    console.log(await answer.text())`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
  });
  assert.equal(stderr, '');
  return JSON.parse(stdout);
}

async function occupy(port: number): Promise<Server> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  return closeAfter(server);
}

describe('the health thread', () => {
  it('answers while the main thread is blocked, and counts', async () => {
    const { thread, port } = await setUp();
    assert.equal(askWhileBlocked(port, '/healthz', 200)['healthy'], true);
    assert.deepEqual([thread.probes.get('healthz', 200), thread.probes.get('livez', 200)], [1, 0]);
  });

  it('says so when the main thread does not move, until it moves again', async () => {
    const { health, port } = await setUp({ beat: 2 });
    health.updated(4);
    await Promise.resolve(); // The thread is told at the end of a callback.
    for (const path of ['/livez', '/healthz', '/readyz']) {
      const { healthy, stalled, status } = askWhileBlocked(port, path, 503);
      assert.deepEqual([healthy, stalled], [false, true]);
      assert.equal((status as { IPv4: { healthy: boolean } }).IPv4.healthy, false);
    }
    const livez = () => ask(port, 'GET /livez HTTP/1.1');
    while ((await livez()).status !== 'HTTP/1.1 200 OK');
  });

  it('knows what happened before the question', async () => {
    const { health, port } = await setUp();
    for (let round = 0; round < 50; round++) {
      health.setNodeEligible(round % 2 === 1);
      const { status } = await ask(port, 'GET /healthz HTTP/1.1');
      assert.match(status, round % 2 === 1 ? /200/ : /503/);
    }
  });

  it('gets no message for a change of an object, and one for other facts', async () => {
    const { thread, health } = await setUp();
    const posts = mock.method(Worker.prototype, 'postMessage');
    const sent = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return posts.mock.calls.filter(({ arguments: [message] }) => !('beat' in message)).length;
    };
    try {
      for (let change = 0; change < 10; change++) {
        health.queued(4);
        health.updated(4);
        thread.update(new Map([['demo/web', undefined]]));
      }
      assert.equal(await sent(), 0);
      health.setNodeEligible(false);
      health.setUnread('objects', ['a.yaml']);
      assert.equal(await sent(), 1);
    } finally {
      posts.mock.restore();
    }
  });

  it('serves the health-check ports of Services, and reports a port in use', async () => {
    const { thread, port, next } = await setUp();
    const [own, taken] = [await freePort('127.0.0.1'), await freePort('127.0.0.1')];
    const server = await occupy(taken);
    thread.serveServices({ 4: ['127.0.0.1'] });
    thread.update(
      new Map([
        ['demo/a', { port: own, localEndpoints: { 4: 2 } }],
        ['demo/b', { port: taken, localEndpoints: { 4: 1 } }],
      ]),
    );
    assert.equal(await next(), `demo/b ${taken} failed EADDRINUSE`);
    assert.equal(JSON.parse((await ask(own)).body).localEndpoints, 2);
    await new Promise((resolve) => server.close(resolve));
    thread.update(new Map());
    assert.equal(await next(), `demo/b ${taken} recovered`);
    const where = { address: '127.0.0.1', port };
    await assert.rejects(thread.serve(where, true), { code: 'EADDRINUSE' });
    await thread.close();
    for (const each of [port, own, taken]) await assert.rejects(ask(each), { code: 'ECONNREFUSED' });
  });

  it('reports that it has ended by an error', async () => {
    const { thread, next } = await setUp();
    thread.serveServices({});
    thread.update(new Map([['demo/a', { port: 1, localEndpoints: null as never }]]));
    assert.match((await next()) ?? '', /^ended: TypeError/);
  });
});

it('the health thread relays connections to node ports on localhost while the main thread is blocked', async () => {
  const { thread } = await setUp();
  const told: string[] = [];
  const [endpoint, nodePort] = [await freePort('127.0.0.1'), await freePort('127.0.0.1')];
  const { port: taken } = (await occupy(await freePort('127.0.0.1'))).address() as AddressInfo;
  await new Promise<void>((resolve) => {
    const ports = thread.openLocalhostPorts(
      [4],
      {
        opened({ port }, endpoints) {
          told.push(`opened ${port === nodePort}, ${endpoints} endpoint`);
          resolve();
        },
        refused: (_, error) => void told.push(`refused ${(error as NodeJS.ErrnoException).code}`),
        listeners: (family, count) => void told.push(`${count} of IPv${family}`),
        ...{ closed() {}, failed() {}, beyond() {} },
      },
      { mostConnections: 5 },
    );
    const endpoints = AddressPorts.ofTexts(4, [`127.0.0.1:${endpoint}`]) ?? assert.fail();
    const wanted = [taken, nodePort].map((port) => ({
      nodePort: { family: 4, port } as const,
      target: { endpoints, affinitySeconds: 0 },
    }));
    ports.apply(new Map([['demo/web', wanted]]));
  });
  assert.deepEqual(told, ['0 of IPv4', 'refused EADDRINUSE', '1 of IPv4', 'opened true, 1 endpoint']);
  const program = `const { connect, createServer } = require('node:net');
    createServer((socket) => socket.on('error', () => {}).end('an answer')).listen(${endpoint}, '127.0.0.1', () =>
      connect(${nodePort}, '127.0.0.1').on('data', (data) => process.stdout.write(data, () => process.exit())));`;
  const { stdout } = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' });
  assert.equal(stdout, 'an answer');
});
