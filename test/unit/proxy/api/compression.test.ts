// Lists come compressed; what is wrong with a compressed body is an error like any other.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { agrees, Follower, until } from '../../../support/apiServer/cluster.js';
import { node, slice } from '../../../support/apiServer/objects.js';
import { SLICES, startServer } from '../../../support/apiServer/scene.js';
import type { ApiServer } from '../../../support/apiServer/server.js';
import { closeAfter } from '../../../support/closeAfter.js';

const LIST = /endpointslices\?.*limit=500/;

/** A server whose slices take 400 kB as JSON. */
async function setUp() {
  const server = await startServer();
  for (let i = 0; i < 1000; i++) server.store.set(slice(`many-${i}`, [`10.1.${i >> 8}.${i & 255}`]));
  return server;
}

/** Has the server forget what it would take to go on with a watch. */
function forget({ store }: ApiServer): void {
  store.set(node('node-b'));
  store.compact();
}

describe('a list', () => {
  it('is asked for compressed, and takes a tenth of the bytes; a watch is not', async () => {
    const server = await setUp();
    const size = JSON.stringify(server.store.list('EndpointSlice', () => true)).length;
    const follower = closeAfter(await Follower.start({ master: server.url }));
    await agrees(follower, server);
    assert.ok(size > 300_000, `${size} bytes of JSON`);
    assert.ok(server.bytesSent < size / 8, `${server.bytesSent} bytes sent for ${size}`);
    await until('slices are watched', () => server.watching(SLICES) === 1);
    for (const { query, headers } of server.requests) {
      assert.equal(headers['accept-encoding'], 'watch' in query ? undefined : 'gzip');
    }
    server.store.set(slice('many-1', ['10.9.9.9']));
    await agrees(follower, server);
  });

  const packed = gzipSync(
    JSON.stringify({ metadata: { resourceVersion: '1' }, items: [{ a: 'b'.repeat(50) }] }),
  );
  const broken = Buffer.from(packed);
  broken[20] = (broken[20] ?? 0) ^ 0xff;
  const faults = [
    ['is not gzip', { gzip: Buffer.from('{"items":[]}') }, /ERR_MALFORMED.*gzip: incorrect header check/],
    ['is broken', { gzip: broken }, /ERR_MALFORMED.*gzip/],
    ['is cut off', { cut: 5_000 }, /ERR_MALFORMED.*gzip: unexpected end of file/],
    ['is reset', { reset: 5_000 }, /ECONNRESET/],
    ['is sent in pieces of seven bytes', { pieces: 7 }, undefined],
  ] as const;
  for (const [what, fault, told] of faults) {
    it(`whose compressed body ${what} is asked for again, and removes nothing`, async () => {
      const server = await setUp();
      const follower = closeAfter(await Follower.start({ master: server.url }));
      await agrees(follower, server);
      const before = follower.changes.length;
      await server.close();
      forget(server);
      server.fail(LIST, fault);
      await server.start();
      await until('it was listed again', () => server.faultsLeft === 0 && server.watching(SLICES) === 1);
      assert.equal(follower.changes.length, before);
      const found = follower.troubles.filter(({ error }) => told?.test(error.message));
      assert.equal(
        found.length > 0,
        told !== undefined,
        follower.troubles.map(({ error }) => error.message).join('\n'),
      );
      server.store.set(slice('many-1', ['10.9.9.9']));
      await agrees(follower, server);
    });
  }

  it('that unpacks to a thousand times its size is refused before it takes the memory', async () => {
    const server = await setUp();
    const follower = closeAfter(await Follower.start({ master: server.url }));
    await agrees(follower, server);
    await server.close();
    forget(server);
    const fast = { level: 1 };
    const blank = gzipSync(Buffer.alloc(400_000_000, ' '), fast);
    const items = gzipSync(`{"items":[{"metadata":{"name":"${'x'.repeat(300_000_000)}"}}]}`, fast);
    server.fail(LIST, { gzip: blank }, { gzip: items });
    let most = 0;
    const timer = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss);
    }, 5);
    const before = process.memoryUsage().rss;
    await server.start();
    await until('both were refused', () => server.faultsLeft === 0);
    await agrees(follower, server);
    await until('slices are watched', () => server.watching(SLICES) === 1);
    clearInterval(timer);
    assert.ok(most - before < 150_000_000, `${most - before} bytes more`);
    const refused = follower.troubles.filter(({ error }) =>
      /ERR_MALFORMED.*is longer than/.test(error.message),
    );
    assert.equal(refused.length, 2);
  });
});
