// Node ports on localhost, with sockets: listeners that follow the plans of Services, and connections with faults of their peers.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { LocalhostPlans } from '../../../../src/command/localhostPorts/plans.js';
import { reset } from '../../../../src/command/localhostPorts/relay.js';
import { freePort } from '../../../support/freePort.js';
import {
  dial,
  eventually,
  inputOf,
  isRefused,
  open,
  received,
  serve,
} from '../../../support/localhostPorts/ports.js';

/** A server that says its name and ends. */
const named = (name: string, host = '127.0.0.1') => serve((socket) => socket.end(name), { host });
/** A server that returns what it gets, and ends when its client does. */
const echo = () => serve((socket) => socket.pipe(socket));

const answer = async (port: number, host?: string) => received(await dial(port, host));
const at = (port: number) => `127.0.0.1:${port}`;

describe('a listener', () => {
  it('opens with the first endpoint of a node port, and closes with the last one', async () => {
    const { want, told, counts } = open();
    const nodePort = await freePort();
    const server = await named('a');
    await want('default/web', { nodePort, endpoints: [] });
    assert.equal(await isRefused(nodePort), true);
    await want('default/web', { nodePort, endpoints: [at(server.port)] });
    assert.equal(await answer(nodePort), 'a');
    assert.equal(counts.get(4), 1);
    await want('default/web', { nodePort, endpoints: [] });
    assert.equal(await isRefused(nodePort), true);
    assert.equal(counts.get(4), 0);
    assert.deepEqual(told, [`opened 4 ${nodePort}`, `closed 4 ${nodePort}`]);
  });

  it('is on 127.0.0.1 only, or on ::1 in IPv6', async () => {
    const { want } = open({}, [4, 6]);
    const nodePort = await freePort();
    const four = await named('four');
    const six = await named('six', '::1');
    await want('default/web', { nodePort, endpoints: [at(four.port)] });
    await want('default/web6', { nodePort, endpoints: [`[::1]:${six.port}`], family: 6 });
    assert.equal(await answer(nodePort), 'four');
    assert.equal(await answer(nodePort, '::1'), 'six');
    assert.equal(await isRefused(nodePort, '127.0.0.2'), true);
  });

  it('has the local endpoints with policy Local, and none without them', async () => {
    const { want } = open();
    const nodePort = await freePort();
    const [cluster, local] = [await named('cluster'), await named('local')];
    const endpoints = [at(cluster.port)];
    await want('default/web', { nodePort, endpoints, local: [at(local.port)], localPolicy: true });
    assert.equal(await answer(nodePort), 'local');
    await want('default/web', { nodePort, endpoints, localPolicy: true });
    assert.equal(await isRefused(nodePort), true);
  });

  it('is only for TCP, and for families that are served', async () => {
    const { want, told } = open();
    const nodePort = await freePort();
    await want('default/dns', { nodePort, endpoints: ['127.0.0.1:53'], protocol: 'udp' });
    await want('default/web6', { nodePort, endpoints: ['[::1]:80'], family: 6 });
    assert.deepEqual(told, []);
    assert.equal(await isRefused(nodePort), true);
  });

  it('stays open when its node port goes to another Service, in one pass', async () => {
    const { ports, want, told } = open();
    const nodePort = await freePort();
    const [a, b] = [await named('a'), await named('b')];
    await want('default/a', { nodePort, endpoints: [at(a.port)] });
    ports.planned('default/b', inputOf({ nodePort, endpoints: [at(b.port)] }));
    ports.planned('default/a', undefined);
    await ports.apply();
    assert.equal(await answer(nodePort), 'b');
    assert.deepEqual(told, [`opened 4 ${nodePort}`]);
    await want('default/b', undefined);
    assert.equal(await isRefused(nodePort), true);
  });

  it('does not change before the pass has ended', async () => {
    const { ports } = open();
    const nodePort = await freePort();
    const server = await named('a');
    ports.planned('default/web', inputOf({ nodePort, endpoints: [at(server.port)] }));
    assert.equal(await isRefused(nodePort), true);
    await ports.apply();
    assert.equal(await answer(nodePort), 'a');
  });

  it('of a Service that is planned again while it opens is as the last plan wants', async () => {
    const { ports, want } = open();
    const [first, second] = [await freePort(), await freePort()];
    const server = await named('a');
    const endpoints = [at(server.port)];
    ports.planned('default/first', inputOf({ nodePort: first, endpoints }));
    ports.planned('default/second', inputOf({ nodePort: second, endpoints }));
    void ports.apply();
    ports.planned('default/first', undefined);
    await ports.apply();
    assert.equal(await isRefused(first), true);
    assert.equal(await answer(second), 'a');
    // Back within one pass, and gone within one pass.
    void want('default/second', undefined);
    await want('default/second', { nodePort: second, endpoints });
    assert.equal(await answer(second), 'a');
    ports.planned('default/first', inputOf({ nodePort: first, endpoints }));
    ports.planned('default/first', undefined);
    await ports.apply();
    assert.equal(await isRefused(first), true);
  });

  it('whose port is taken is tried again until it is free; other ports are open', async () => {
    const { want, told, counts } = open({ retryIn: 20 });
    const server = await named('a');
    const taken = await serve((socket) => socket.end('other program'));
    const nodePort = await freePort();
    await want('default/taken', { nodePort: taken.port, endpoints: [at(server.port)] });
    await want('default/web', { nodePort, endpoints: [at(server.port)] });
    assert.equal(await answer(nodePort), 'a');
    assert.equal(counts.get(4), 1);
    await eventually(
      'it was tried again',
      () => told.filter((line) => line.startsWith('refused')).length > 1,
    );
    taken.server.close();
    await eventually('it is open', () => told.includes(`opened 4 ${taken.port}`));
    assert.equal(await answer(taken.port), 'a');
    assert.equal(counts.get(4), 2);
  });

  it('beyond the limit is opened when another one is closed, in the same pass', async () => {
    const { want, told, counts } = open({ mostListeners: 2 });
    const server = await named('a');
    const ports = [await freePort(), await freePort(), await freePort(), await freePort()] as const;
    const endpoints = [at(server.port)];
    for (const [i, nodePort] of ports.entries()) await want(`default/web${i}`, { nodePort, endpoints });
    assert.equal(counts.get(4), 2);
    assert.deepEqual([await isRefused(ports[2]), await isRefused(ports[3])], [true, true]);
    assert.deepEqual(told, [`opened 4 ${ports[0]}`, `opened 4 ${ports[1]}`, 'beyond 1', 'beyond 2']);
    await want('default/web0', undefined);
    assert.equal(await answer(ports[2]), 'a');
    await want('default/web3', undefined);
    assert.deepEqual(told.slice(4), [`closed 4 ${ports[0]}`, `opened 4 ${ports[2]}`, 'beyond 1', 'beyond 0']);
    await want('default/web1', undefined);
    assert.equal(counts.get(4), 1);
  });

  it('whose port is taken is not tried again once its Service is gone', async () => {
    const { want, told } = open({ retryIn: 20 });
    const taken = await serve(() => {});
    await want('default/taken', { nodePort: taken.port, endpoints: ['127.0.0.1:1'] });
    await want('default/taken', undefined);
    const before = told.length;
    taken.server.close();
    await wait(100);
    assert.equal(told.length, before);
    assert.equal(await isRefused(taken.port), true);
  });
});

describe('a connection', () => {
  it('has both directions, and the end of one is passed on while the other continues', async () => {
    const { want } = open();
    const nodePort = await freePort();
    // Answers only after the end of the request.
    const server = await serve((socket) => {
      let got = '';
      socket.on('data', (part) => {
        got += part;
      });
      socket.once('end', () => setTimeout(() => socket.end(`got ${got}`), 50));
    });
    await want('default/web', { nodePort, endpoints: [at(server.port)] });
    const client = await dial(nodePort);
    client.end('a request');
    assert.equal(await received(client), 'got a request');
  });

  it('whose endpoint ends its direction first still carries what the client sends', async () => {
    const { want } = open();
    const nodePort = await freePort();
    let got = '';
    const server = await serve((socket) => {
      socket.end('bye');
      socket.on('data', (part) => {
        got += part;
      });
    });
    await want('default/web', { nodePort, endpoints: [at(server.port)] });
    const client = await dial(nodePort);
    assert.equal(await received(client), 'bye');
    client.write('first');
    await eventually('the first part is there', () => got === 'first');
    client.end(' second');
    await eventually('all is there', () => got === 'first second');
    await eventually('the connection is closed', () => server.sockets.size === 0);
  });

  it('carries much data without loss', async () => {
    const { want } = open();
    const nodePort = await freePort();
    const server = await echo();
    await want('default/web', { nodePort, endpoints: [at(server.port)] });
    const client = await dial(nodePort);
    const sent = Buffer.alloc(8 * 1024 * 1024, 'abcdefghij');
    client.end(sent);
    assert.equal(await received(client), sent.toString());
  });

  it('leads to new endpoints only if it is new', async () => {
    const { want } = open();
    const nodePort = await freePort();
    const [first, second] = [await echo(), await named('second')];
    await want('default/web', { nodePort, endpoints: [at(first.port)] });
    const old = await dial(nodePort);
    old.write('x');
    await once(old, 'data');
    await want('default/web', { nodePort, endpoints: [at(second.port)] });
    assert.equal(await answer(nodePort), 'second');
    old.end('still here');
    assert.equal(await received(old), 'still here');
  });

  it('is closed with its listener', async () => {
    const { want, ports } = open();
    const nodePort = await freePort();
    const server = await echo();
    await want('default/web', { nodePort, endpoints: [at(server.port)] });
    const client = await dial(nodePort);
    client.write('x');
    await once(client, 'data');
    await want('default/web', undefined);
    await received(client);
    await eventually('the endpoint has no connection', () => server.sockets.size === 0);
    await want('default/web', { nodePort, endpoints: [at(server.port)] });
    const other = await dial(nodePort);
    other.write('x');
    await once(other, 'data');
    await ports.close();
    await received(other);
    assert.equal(await isRefused(nodePort), true);
  });

  it('with session affinity has the endpoint of the last one', async () => {
    let now = 0;
    const numbers = [0.99, 0, 0];
    const { want } = open({ now: () => now, random: () => numbers.shift() ?? 0 });
    const nodePort = await freePort();
    const servers = [await named('a'), await named('b')].sort((x, y) => x.port - y.port);
    const endpoints = servers.map(({ port }) => at(port));
    await want('default/web', { nodePort, endpoints, affinitySeconds: 10 });
    const first = await answer(nodePort);
    now = 9000;
    assert.equal(await answer(nodePort), first);
    now = 30_000;
    assert.notEqual(await answer(nodePort), first);
  });
});

describe('a peer', () => {
  it('that refuses the connection closes it, without data, and is reported', async () => {
    const { want, told } = open();
    const nodePort = await freePort();
    const closed = await freePort();
    await want('default/web', { nodePort, endpoints: [at(closed)] });
    assert.equal(await answer(nodePort), '');
    await eventually('it is reported', () => told.includes(`failed ${nodePort} ECONNREFUSED`));
  });

  it('that does not answer closes it after the limit', async () => {
    const { want, told } = open({ times: { dial: 100 } });
    const nodePort = await freePort();
    // Of TEST-NET-1: packets to it get no answer, or the network is unreachable.
    await want('default/web', { nodePort, endpoints: ['192.0.2.1:80'] });
    const started = performance.now();
    assert.equal(await answer(nodePort), '');
    assert.ok(performance.now() - started < 4000);
    await eventually('it is reported', () => told.some((line) => line.startsWith(`failed ${nodePort} `)));
  });

  it('that resets the connection resets the other side', async () => {
    const { want } = open();
    const nodePort = await freePort();
    const server = await serve((socket) => void socket.once('data', () => socket.resetAndDestroy()));
    await want('default/web', { nodePort, endpoints: [at(server.port)] });
    const client = await dial(nodePort);
    const failed = once(client, 'error');
    client.write('x');
    client.resume();
    const [error] = await failed;
    assert.equal(error.code, 'ECONNRESET');
  });

  it('that is reset by its client is reset too', async () => {
    const { want } = open();
    const nodePort = await freePort();
    let code = '';
    const server = await serve((socket) => {
      socket.on('error', (error: NodeJS.ErrnoException) => {
        code = error.code ?? '';
      });
      socket.pipe(socket);
    });
    await want('default/web', { nodePort, endpoints: [at(server.port)] });
    const client = await dial(nodePort);
    client.write('x');
    await once(client, 'data');
    client.resetAndDestroy();
    await eventually('the endpoint sees the reset', () => code === 'ECONNRESET');
    await eventually('the endpoint has no connection', () => server.sockets.size === 0);
  });

  it('that is reset while its end is on its way is closed', async () => {
    const server = await serve((socket) => {
      socket.end();
      reset(socket);
    });
    await dial(server.port);
    await eventually('the server has no connection', () => server.sockets.size === 0);
  });

  it('that never reads stops the other one from sending', async () => {
    const { want } = open();
    const nodePort = await freePort();
    let taken = 0;
    let blocked = 0;
    const part = Buffer.alloc(64 * 1024);
    const server = await serve((socket) => {
      const send = () => {
        while (socket.write(part, () => (taken += part.length))) if (socket.destroyed) return;
        blocked = performance.now();
      };
      socket.on('drain', send);
      send();
    });
    await want('default/web', { nodePort, endpoints: [at(server.port)] });
    const client = await dial(nodePort);
    client.pause();
    await eventually('the server is blocked', () => blocked > 0 && performance.now() - blocked > 300);
    // What the kernel holds between three sockets: far less than the server would send in this time.
    assert.ok(taken < 32 * 1024 * 1024, `${taken} bytes`);
    const before = process.memoryUsage().rss;
    await wait(200);
    assert.ok(process.memoryUsage().rss - before < 16 * 1024 * 1024);
  });

  it('that is idle for longer than the limit loses its connection; another one keeps it', async () => {
    let now = 0;
    const { want } = open({ times: { idle: 50, halfClosed: 50 }, now: () => now });
    const nodePort = await freePort();
    const server = await echo();
    await want('default/web', { nodePort, endpoints: [at(server.port)] });
    const [idle, busy] = [await dial(nodePort), await dial(nodePort)];
    for (const client of [idle, busy]) {
      client.write('x');
      await once(client, 'data');
    }
    now = 45;
    busy.write('y');
    await once(busy, 'data');
    now = 60;
    await received(idle);
    assert.equal(busy.destroyed, false);
    busy.write('z');
    await once(busy, 'data');
  });
});

describe('too many connections', () => {
  it('close those without a byte for longest, of the listener with the most', async () => {
    let now = 0;
    const { want } = open({ mostConnections: 4, now: () => now++ });
    const [crowded, other] = [await freePort(), await freePort()];
    const server = await echo();
    await want('default/crowded', { nodePort: crowded, endpoints: [at(server.port)] });
    await want('default/other', { nodePort: other, endpoints: [at(server.port)] });
    const started = async (port: number) => {
      const client = await dial(port);
      client.write('x');
      await once(client, 'data');
      return client;
    };
    const first = await started(other);
    const flood = [await started(crowded), await started(crowded), await started(crowded)];
    const ended = flood.map((client) => received(client));
    const more = await started(crowded);
    await ended[0];
    const most = await started(other);
    await ended[1];
    await eventually('four are open', () => server.sockets.size === 4);
    for (const client of [first, more, most]) {
      client.write('y');
      await once(client, 'data');
    }
  });
});

it('a change of one Service changes its node ports only', async () => {
  const { want, told } = open();
  const server = await named('a');
  const nodePorts: number[] = [];
  for (let i = 0; i < 20; i++) {
    const nodePort = await freePort();
    nodePorts.push(nodePort);
    await want(`default/web-${i}`, { nodePort, endpoints: [at(server.port)] });
  }
  const before = told.length;
  assert.equal(before, nodePorts.length);
  const plans = new LocalhostPlans([4]);
  plans.planned('default/other', undefined);
  assert.equal(plans.take().size, 0, 'Services without a node port leave nothing to apply');
  await want('default/web-7', undefined);
  assert.deepEqual(told.slice(before), [`closed 4 ${nodePorts[7]}`]);
  assert.equal(await answer(nodePorts[8] as number), 'a');
});
