// Clients of a listener that are slow, one or many.
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { plain } from '../../../../src/command/servers/handler.js';
import { LIMITS } from '../../../../src/command/servers/serve.js';
import { closing, openListener as open } from '../../../support/http/openListener.js';
import { ask, dial, readAll } from '../../../support/http/request.js';

describe('a slow client', () => {
  const limits = { headers: 100, request: 300, stalled: 200, idle: 250, check: 50 };

  it('that sends nothing is closed', async () => {
    const { port } = await open(() => plain(200, ''), limits);
    assert.ok((await closing(await dial(port))) < LIMITS.headers);
  });

  it('that never ends its headers is closed', async () => {
    const { port } = await open(() => plain(200, ''), limits);
    const socket = await dial(port);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n');
    const text = await readAll(socket);
    assert.match(text, /^HTTP\/1\.1 408 /);
  });

  it('that never ends its body is closed', async () => {
    const { port } = await open(async (request) => plain(200, await request.body()), limits);
    const socket = await dial(port);
    socket.write('PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf');
    assert.ok((await closing(socket)) < LIMITS.headers);
  });

  it('that does not read is closed, and its response is released', async () => {
    let destroyed = false;
    const endless = () =>
      new Readable({
        read() {
          this.push(Buffer.alloc(65_536));
        },
        destroy(error, done) {
          destroyed = true;
          done(error);
        },
      });
    const { port, failures } = await open(() => ({ ...plain(200, ''), body: endless() }), limits);
    const socket = await dial(port);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    socket.pause();
    while (!destroyed) await pause(10);
    assert.deepEqual(failures, []);
    socket.destroy();
  });

  it('is not closed because of a slow handler', async () => {
    const { port } = await open(async () => {
      await pause(700);
      return plain(200, 'done');
    }, limits);
    assert.equal((await ask(port)).body, 'done');
  });

  it('is kept between requests up to the limit', async () => {
    const { port } = await open(() => plain(200, 'x'), { ...limits, idle: 600 });
    const socket = await dial(port);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    const took = await closing(socket);
    // Node adds up to 1 s to the timeout.
    assert.ok(took > 500 && took < LIMITS.idle, `${took} ms`);
  });

  it('loses its oldest idle connection when another needs the place', async () => {
    const { port } = await open(() => plain(200, 'x'), { connections: 2 });
    const unfinished = await dial(port);
    const idle = await dial(port);
    idle.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => idle.once('data', resolve));
    const closed = closing(idle);
    assert.equal((await ask(port)).body, 'x');
    await closed;
    unfinished.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    assert.match(await readAll(unfinished), /^HTTP\/1\.1 200 /);
  });

  it('cannot block others', async () => {
    const { port } = await open(() => plain(200, 'x'), { connections: 2 });
    const slow = [await dial(port), await dial(port)];
    const oldest = closing(slow[0] as Socket);
    assert.equal((await ask(port)).body, 'x');
    await oldest;
    slow[1]?.destroy();
  });
});

describe('many slow clients', () => {
  /** A client that has sent a part of a request; undefined if it was refused. */
  const slow = (port: number, from: string) =>
    new Promise<Socket>((resolve) => {
      const socket = connect({ port, host: '127.0.0.1', localAddress: from }, () => {
        socket.write('GET / HTTP/1.1\r\nHost: x\r\n');
        resolve(socket);
      });
      socket.on('error', () => resolve(socket));
      socket.on('close', () => resolve(socket));
    });

  for (const sources of [1, 10, 300]) {
    it(`from ${sources} addresses do not stop probes`, async () => {
      const { port, failures } = await open(() => plain(200, 'healthy'));
      const clients: Socket[] = [];
      try {
        for (let i = 0; i < 300; i++) {
          const n = 2 + (i % sources);
          clients.push(await slow(port, `127.1.${n >> 8}.${n & 255}`));
          if (i % 10 === 9) assert.equal((await ask(port)).body, 'healthy', `after ${i} clients`);
        }
        for (let i = 0; i < 50; i++) assert.equal((await ask(port)).body, 'healthy', `probe ${i}`);
        assert.deepEqual(failures, []);
      } finally {
        for (const client of clients) client.destroy();
      }
    });
  }

  it("of one address take each other's place, not that of an older client from another", async () => {
    const { port } = await open(() => plain(200, 'x'), { connections: 3 });
    const old = await slow(port, '127.1.0.1');
    const many: Socket[] = [];
    for (let i = 0; i < 5; i++) many.push(await slow(port, '127.1.0.2'));
    const answer = readAll(old);
    old.write('Connection: close\r\n\r\n');
    assert.match(await answer, /^HTTP\/1\.1 200 /);
    for (const client of many) client.destroy();
  });

  it('do not end a request whose response is being prepared', async () => {
    const release: (() => void)[] = [];
    const { port } = await open(
      async () => {
        await new Promise<void>((resolve) => release.push(resolve));
        return plain(200, 'done');
      },
      { connections: 3 },
    );
    const waiting = ask(port);
    while (release.length === 0) await pause(5);
    const many: Socket[] = [];
    for (let i = 0; i < 8; i++) many.push(await slow(port, '127.0.0.1'));
    release[0]?.();
    assert.equal((await waiting).body, 'done');
    for (const client of many) client.destroy();
  });

  it('are closed at most 5 s after their time is over', () => assert.equal(LIMITS.check, 5000));
});
