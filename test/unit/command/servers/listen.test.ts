import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { BadRequest, type Handler, plain, routes } from '../../../../src/command/servers/handler.js';
import { bindHint, listen, openServer } from '../../../../src/command/servers/listen.js';
import { closeAfter } from '../../../support/closeAfter.js';
import { closing, openListener as open } from '../../../support/http/openListener.js';
import { ask, dial, parse, readAll } from '../../../support/http/request.js';

function unexpected(error: unknown): never {
  throw error;
}

/** Occupies a loopback port. */
async function squat(): Promise<{ port: number; close(): Promise<void> }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
  return closeAfter({ port, close });
}

describe('a listener', () => {
  it('sends the same headers as Go', async () => {
    const { port } = await open(routes({ '/here': () => plain(200, 'grüße') }));
    assert.deepEqual(await ask(port, 'GET /here?x=1 HTTP/1.1'), {
      status: 'HTTP/1.1 200 OK',
      headers: [
        'Content-Type: text/plain; charset=utf-8',
        'X-Content-Type-Options: nosniff',
        'Content-Length: 7',
      ],
      body: 'grüße',
    });
    assert.deepEqual(await ask(port, 'DELETE /elsewhere HTTP/1.1'), {
      status: 'HTTP/1.1 404 Not Found',
      headers: [
        'Content-Type: text/plain; charset=utf-8',
        'X-Content-Type-Options: nosniff',
        'Content-Length: 19',
      ],
      body: '404 page not found\n',
    });
  });

  it('sends no body to HEAD', async () => {
    const { port } = await open(() => plain(200, 'body'));
    const { headers, body } = await ask(port, 'HEAD / HTTP/1.1');
    assert.ok(headers.includes('Content-Length: 4'));
    assert.equal(body, '');
  });

  it('accepts escaped paths and whole URLs, and rejects others', async () => {
    const { port, failures } = await open(({ path, query }) => plain(200, `${path} ${query.get('q')}`));
    assert.equal((await ask(port, 'GET /a%20b?q=c%26d HTTP/1.1')).body, '/a b c&d');
    assert.equal((await ask(port, 'GET http://node:1/x?q=y HTTP/1.1')).body, '/x y');
    const { status, body } = await ask(port, 'GET /%zz HTTP/1.1');
    assert.equal(status, 'HTTP/1.1 400 Bad Request');
    assert.equal(body, 'the path "/%zz" is not percent-encoded UTF-8\n');
    assert.match((await ask(port, 'NONSENSE')).status, /^HTTP\/1\.1 400 /);
    assert.deepEqual(failures, []);
  });

  it('keeps a connection for the next request', async () => {
    const { port } = await open(({ path }) => plain(200, path));
    const socket = await dial(port);
    socket.write('GET /one HTTP/1.1\r\nHost: x\r\n\r\n');
    await pause(50);
    socket.end('GET /two HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    const text = await readAll(socket);
    assert.ok(text.includes('/one') && text.includes('/two') && !text.includes('Keep-Alive'), text);
  });

  it('responds with 500 if a handler throws, reports the error, and continues', async () => {
    const { port, failures } = await open(
      routes({
        '/sync': () => {
          throw new Error('one');
        },
        '/async': async () => {
          throw new Error('two');
        },
        '/bad': () => {
          throw new BadRequest('x must be y');
        },
        '/stream': () => ({
          ...plain(200, ''),
          body: new Readable({
            read() {
              this.destroy(new Error('three'));
            },
          }),
        }),
        '/fine': () => plain(200, 'fine'),
      }),
    );
    for (const path of ['/sync', '/async']) {
      const { status, body } = await ask(port, `GET ${path} HTTP/1.1`);
      assert.deepEqual([status, body], ['HTTP/1.1 500 Internal Server Error', 'internal error\n']);
    }
    const { status, body } = await ask(port, 'GET /bad HTTP/1.1');
    assert.deepEqual([status, body], ['HTTP/1.1 400 Bad Request', 'x must be y\n']);
    const cut = await ask(port, 'GET /stream HTTP/1.1').catch((error: NodeJS.ErrnoException) => error.code);
    assert.ok(cut === 'ECONNRESET' || (typeof cut === 'object' && !cut.body.includes('0\r\n\r\n')));
    assert.equal((await ask(port, 'GET /fine HTTP/1.1')).body, 'fine');
    assert.deepEqual(
      failures.map((error) => (error as Error).message),
      ['one', 'two', 'three'],
    );
  });

  it('reads bodies up to the size limit', async () => {
    const { port } = await open(async (request) => plain(200, `${(await request.body()).length}`));
    assert.equal((await ask(port, 'PUT / HTTP/1.1', 'x'.repeat(65_536))).body, '65536');
    const { status, body } = await ask(port, 'PUT / HTTP/1.1', 'x'.repeat(65_537));
    assert.deepEqual(
      [status, body],
      ['HTTP/1.1 400 Bad Request', 'the body must not be longer than 65536 bytes\n'],
    );
  });

  it('signals a handler that its client disconnected', async () => {
    let gone: Promise<unknown> | undefined;
    const { port, failures } = await open(async ({ signal }) => {
      gone = new Promise((resolve) => signal.addEventListener('abort', resolve));
      await gone;
      return plain(200, 'for nobody');
    });
    const socket = await dial(port);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    while (!gone) await pause(5);
    socket.destroy();
    await gone;
    assert.deepEqual(failures, []);
  });

  it('closes at once, in any state of its connections', async () => {
    let asked = false;
    const { port, close } = await open(
      routes({
        '/never': () => {
          asked = true;
          return new Promise(() => {});
        },
        '/fine': () => plain(200, 'fine'),
      }),
    );
    const silent = await dial(port);
    const idle = await dial(port);
    idle.write('GET /fine HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => idle.once('data', resolve));
    const waiting = await dial(port);
    waiting.write('GET /never HTTP/1.1\r\nHost: x\r\n\r\n');
    while (!asked) await pause(5);
    const closed = Promise.all([silent, idle, waiting].map(closing));
    const start = performance.now();
    await close();
    await closed;
    assert.ok(performance.now() - start < 4000);
    await assert.rejects(dial(port), { code: 'ECONNREFUSED' });
  });
});

describe('an address', () => {
  const answer: Handler = () => plain(200, 'x');
  const reaches = (port: number, host: string) =>
    ask(port, undefined, undefined, host).then(
      ({ body }) => body === 'x',
      () => false,
    );

  for (const address of ['0.0.0.0', '::']) {
    it(`${address} means both families`, async () => {
      const { port } = await open(answer, {}, { address, port: 0 });
      assert.deepEqual([await reaches(port, '127.0.0.1'), await reaches(port, '::1')], [true, true]);
    });
  }

  it('may be limited to one family, so that the other can use the same port', async () => {
    const { port } = await open(answer, {}, { address: '0.0.0.0', port: 0, only: 4 });
    assert.deepEqual([await reaches(port, '127.0.0.1'), await reaches(port, '::1')], [true, false]);
    const six = await open(answer, {}, { address: '::', port, only: 6 });
    assert.equal(six.port, port);
    assert.ok(await reaches(port, '::1'));
  });

  it('of the host means only that address', async () => {
    const { port, address } = await open(answer, {}, { address: '127.0.0.2', port: 0 });
    assert.equal(address, '127.0.0.2');
    assert.deepEqual([await reaches(port, '127.0.0.2'), await reaches(port, '127.0.0.1')], [true, false]);
  });

  it('that does not exist is an error that names it', async () => {
    // RFC 5737: for documentation only.
    await assert.rejects(listen({ address: '192.0.2.1', port: 1 }, answer, unexpected), {
      code: 'EADDRNOTAVAIL',
      message: /192\.0\.2\.1:1/,
    });
  });
});

describe('a server whose address is in use', () => {
  const options = (port: number, failed: (error: unknown, retryIn?: number) => void) => ({
    where: { address: '127.0.0.1', port },
    handler: () => plain(200, 'x'),
    failed,
    retryIn: 20,
  });

  it('retries until it listens, and reports the first failure, one every five minutes, and the success', async () => {
    const squatter = await squat();
    const reports: string[] = [];
    const clock = { now: 0, reads: 0 };
    const server = await openServer({
      ...options(squatter.port, (error, retryIn) =>
        reports.push(`${(error as NodeJS.ErrnoException).code} ${retryIn}`),
      ),
      recovered: () => reports.push('listens'),
      now: () => {
        clock.reads++;
        return clock.now;
      },
      hardFail: false,
    });
    closeAfter(server);
    /** Waits for this number of attempts. */
    const tries = async (count: number) => {
      const until = clock.reads + count;
      while (clock.reads < until) await pause(5);
    };
    assert.equal(server.listener, undefined);
    await tries(3);
    assert.deepEqual(reports, ['EADDRINUSE 20']);
    clock.now = 299_999;
    await tries(2);
    assert.equal(reports.length, 1);
    clock.now = 300_000;
    await tries(3);
    assert.deepEqual(reports, ['EADDRINUSE 20', 'EADDRINUSE 20']);
    await squatter.close();
    while (server.listener === undefined) await pause(5);
    assert.deepEqual(reports.slice(2), ['listens']);
    assert.equal((await ask(squatter.port)).body, 'x');
    await server.close();
    await assert.rejects(dial(squatter.port), { code: 'ECONNREFUSED' });
  });

  it('gives up with hardFail', async () => {
    const { port } = await squat();
    await assert.rejects(openServer({ ...options(port, unexpected), hardFail: true }), {
      code: 'EADDRINUSE',
    });
  });

  it('stops retrying when it is closed', async () => {
    const squatter = await squat();
    let tries = 0;
    const server = await openServer({ ...options(squatter.port, () => tries++), hardFail: false });
    await server.close();
    const before = tries;
    await squatter.close();
    await pause(60);
    assert.equal(tries, before);
    await assert.rejects(dial(squatter.port), { code: 'ECONNREFUSED' });
  });
});

it('only a port in use has a likely cause', () => {
  assert.match(bindHint({ code: 'EADDRINUSE' }) ?? '', /is kube-proxy still running/);
  assert.equal(bindHint({ code: 'EADDRNOTAVAIL' }), undefined);
});

describe('parse', () => {
  it('omits the date', () =>
    assert.deepEqual(parse('HTTP/1.1 200 OK\r\nDate: x\r\nA: b\r\n\r\nbody'), {
      status: 'HTTP/1.1 200 OK',
      headers: ['A: b'],
      body: 'body',
    }));
});
