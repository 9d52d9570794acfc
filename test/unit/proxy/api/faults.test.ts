// Everything that can go wrong between a node and its API server, on real connections. After each fault the proxy must
// know exactly what the server has: no deletion missed, nothing stale.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Fault } from '../../../support/apiServer/answers.js';
import { agrees, Follower, QUICK, until } from '../../../support/apiServer/cluster.js';
import { node, service, slice } from '../../../support/apiServer/objects.js';
import {
  churn,
  NODES,
  SERVICES,
  SLICES,
  startBoth,
  startServer,
  watches,
} from '../../../support/apiServer/scene.js';
import type { ApiServer } from '../../../support/apiServer/server.js';
import { closeAfter } from '../../../support/closeAfter.js';

const LIST = /services\?.*limit=/;
const WATCH = /services\?.*watch=true/;

const lists = (server: ApiServer, path = SERVICES) =>
  server.requests.filter(
    ({ path: asked, query }) => asked === path && !('watch' in query) && !('resourceVersionMatch' in query),
  );

/** What the server has sent was read by the client of this process: both had many turns of the event loop. */
async function arrived(): Promise<void> {
  for (let turns = 0; turns < 10; turns++) await wait(5);
}

describe('the first list survives', () => {
  const faults: [what: string, faults: Fault[]][] = [
    ['a reset before any byte', [{ reset: 0 }]],
    ['a reset in the middle', [{ reset: 700 }, { reset: 1 }]],
    ['an end in the middle', [{ cut: 700 }]],
    ['an empty answer', [{ cut: 0 }]],
    ['errors of the server', [{ status: 500 }, { status: 503 }, { status: 504 }]],
    ['pieces of a byte', [{ pieces: 1 }]],
  ];
  for (const [what, queue] of faults) {
    it(what, async () => {
      const server = await startServer();
      server.fail(LIST, ...queue);
      const follower = closeAfter(await Follower.start({ master: server.url }));
      await until('it is synced', () => follower.synced === 1);
      await agrees(follower, server);
      assert.equal(server.faultsLeft, 0);
      const broken = queue.filter((fault) => !('pieces' in fault));
      assert.equal(follower.troubles.length, broken.length);
      assert.ok(follower.troubles.every(({ resource, retryIn }) => resource === 'services' && retryIn >= 20));
    });
  }

  it('a server that is not running yet: start reports the trouble, and waits', async () => {
    const server = await startServer();
    await server.close();
    const follower = closeAfter(await Follower.start({ master: server.url }));
    await until('it tried', () => follower.troubles.length >= 6);
    assert.equal(follower.synced, 0);
    assert.ok(follower.troubles.every(({ error }) => error.code === 'ECONNREFUSED'));
    await server.start();
    await until('it is synced', () => follower.synced === 1);
    await agrees(follower, server);
  });

  it('is not synced before both Services and slices are listed', async () => {
    const server = await startServer();
    server.fail(/endpointslices\?/, { status: 500 }, { status: 500 });
    const follower = closeAfter(await Follower.start({ master: server.url }));
    await until('Services are reported', () => follower.objects.has('Service demo/c'));
    assert.equal(follower.synced, 0);
    await until('it is synced', () => follower.synced === 1);
    assert.ok(follower.objects.has('EndpointSlice demo/c'));
  });
});

describe('a watch takes up where it stood, without a list, after', () => {
  const faults: [what: string, fault: Fault, told: RegExp | undefined][] = [
    ['a reset in the middle of an event', { reset: 60 }, /ECONNRESET/],
    ['an end in the middle of an event', { cut: 60 }, /ERR_MALFORMED.*cut off/],
    ['a line that makes no sense', { garbage: '{"type":"ADDED","object":{"kind"\n' }, /ERR_MALFORMED/],
    ['an event without version', { garbage: '{"type":"ADDED","object":{}}\n' }, /resourceVersion/],
    ['an error of the server in the stream', { garbage: serverError(500) }, /500 InternalError: etcd is ill/],
    ['an error of the server instead of the stream', { status: 502 }, /502/],
    ['events in pieces of a byte', { pieces: 1 }, undefined],
  ];
  for (const [what, fault, told] of faults) {
    it(what, async () => {
      const { server, follower } = await startBoth();
      server.fail(WATCH, fault);
      server.endWatches(SERVICES);
      await until('the fault is due', () => server.faultsLeft === 0);
      churn(server);
      await agrees(follower, server);
      assert.equal(lists(server).length, 1);
      if (told) assert.match(follower.troubles[0]?.error.message ?? '', told);
      assert.equal(follower.troubles.length, told ? 1 : 0);
    });
  }

  it('its end, at once and without trouble', async () => {
    const { server, follower } = await startBoth();
    server.endWatches(SERVICES);
    churn(server);
    await agrees(follower, server);
    assert.deepEqual([lists(server).length, follower.troubles], [1, []]);
  });

  it('a minute without the server, with all times a fortieth', async () => {
    const { server, follower } = await startBoth({ backoff: { first: 20, most: 750, spread: 1 } });
    await server.close();
    churn(server);
    await wait(1_500);
    const pauses = follower.troubles.filter(({ resource }) => resource === 'services').map((t) => t.retryIn);
    assert.ok(pauses.length >= 3 && pauses.length < 20, `${pauses.length} tries`);
    assert.ok((pauses.at(-1) ?? 0) > 2 * (pauses[0] ?? 0), `pauses ${pauses.join(', ')}`);
    assert.ok(follower.objects.has('Service demo/a'), 'known objects are kept meanwhile');
    await server.start();
    await agrees(follower, server);
    assert.equal(lists(server).length, 1);
  });

  it("connections that are reset for a while, at client-go's pace, where other failures wait ever longer", async () => {
    const { server, follower } = await startBoth({
      repeat: 20,
      backoff: { first: 3_000, most: 30_000, spread: 1 },
    });
    server.fail(WATCH, ...Array.from({ length: 8 }, () => ({ hangUp: true }) as const));
    server.resetConnections();
    churn(server);
    await agrees(follower, server, 2_500);
    assert.equal(server.faultsLeft, 0);
    assert.equal(lists(server).length, 1);
    const pauses = follower.troubles.filter(({ resource }) => resource === 'services').map((t) => t.retryIn);
    assert.ok(
      pauses.every((pause) => pause <= 30),
      `pauses ${pauses.join(', ')}`,
    );
  });

  it('connections that have become silent', async () => {
    const { server, follower } = await startBoth({ watch: [1, 1], margin: 300 });
    server.freeze();
    churn(server);
    server.thaw();
    await agrees(follower, server);
    assert.equal(lists(server).length, 1);
    assert.ok(follower.troubles.some(({ error }) => error.code === 'ERR_TIMEOUT'));
  });

  it('silence where bookmarks came before, long before the watch would end', async () => {
    const { server, follower } = await startBoth({ silence: 500 });
    server.bookmark(SERVICES);
    server.bookmark(SLICES);
    await arrived();
    server.freeze();
    churn(server);
    server.thaw();
    await agrees(follower, server);
    assert.deepEqual(new Set(follower.troubles.map(({ error }) => error.code)), new Set(['ERR_TIMEOUT']));
    assert.equal(lists(server).length, 1);
  });

  it('bookmarks alone, though everything before them was forgotten', async () => {
    const { server, follower } = await startBoth();
    for (let i = 0; i < 5; i++) server.store.set(node('node-b'));
    const { version } = server.store;
    server.bookmark(SERVICES);
    server.bookmark(SLICES);
    await arrived();
    server.store.compact();
    server.resetConnections();
    await watches(server);
    churn(server);
    await agrees(follower, server);
    assert.equal(lists(server).length, 1);
    const versions = server.requests.filter(({ path, query }) => path === SERVICES && query['watch']);
    assert.equal(versions.at(-1)?.query['resourceVersion'], String(version));
  });
});

describe('the clock may jump', () => {
  for (const [what, to] of [
    ['ahead', Date.UTC(2099)],
    ['back', Date.UTC(1999)],
  ] as const) {
    it(`${what}: watches go on, and so does what is counted in time`, async (t) => {
      const { server, follower } = await startBoth({ silence: 2_000 });
      server.bookmark(SERVICES);
      server.bookmark(SLICES);
      await until('the Node is watched', () => server.watching(NODES) === 1);
      t.mock.method(Date, 'now', () => to);
      const before = server.requests.length;
      churn(server);
      await agrees(follower, server);
      assert.deepEqual([server.requests.length, follower.troubles], [before, []]);
      server.fail(WATCH, { status: 500 }, { status: 500 });
      server.endWatches(SERVICES);
      await until('both failed', () => follower.troubles.length === 2);
      for (const [i, { retryIn }] of follower.troubles.entries()) {
        const base = QUICK.backoff.first * 2 ** i;
        assert.ok(retryIn >= base && retryIn <= 2 * base, `pause ${i}: ${retryIn}`);
      }
      server.store.set(service('a', '10.96.0.97'));
      await agrees(follower, server);
    });
  }
});

describe('a list finds the deleted objects after', () => {
  it('a version that is too old, reported in the stream', async () => {
    const { server, follower } = await startBoth();
    await server.close();
    churn(server);
    server.store.compact();
    await server.start();
    await agrees(follower, server);
    assert.equal(lists(server).length, 2);
    assert.ok(follower.troubles.some(({ error, retryIn }) => error.expired && retryIn === 0));
  });

  it('a version that is too old, reported as the answer', async () => {
    const { server, follower } = await startBoth();
    server.fail(WATCH, { status: 410, reason: 'Gone' });
    await server.close();
    churn(server);
    await server.start();
    await agrees(follower, server);
    assert.equal(lists(server).length, 2);
  });

  it('a second line in the same place that makes no sense', async () => {
    const { server, follower } = await startBoth();
    const garbage = { garbage: 'HTTP/1.1 502 Bad Gateway\n' };
    server.fail(WATCH, garbage, garbage);
    server.endWatches(SERVICES);
    await until('both came', () => server.faultsLeft === 0);
    churn(server);
    await agrees(follower, server);
    await until('it was listed again', () => lists(server).length === 2);
  });

  it('faults of the list itself, in a later page', async () => {
    const { server, follower } = await startBoth();
    for (let i = 0; i < 1200; i++) server.store.set(service(`many-${i}`, `10.97.${i >> 8}.${i & 255}`));
    await agrees(follower, server);
    await server.close();
    churn(server);
    for (let i = 0; i < 600; i++) server.store.delete(service(`many-${2 * i}`, ''));
    server.store.compact();
    server.fail(/services\?.*continue=/, { reset: 5_000 });
    server.fail(/services\?.*continue=/, { status: 410, reason: 'Expired' });
    await server.start();
    await agrees(follower, server);
    assert.equal(server.faultsLeft, 0);
    // Pages that grew too old are not asked for again: the whole list is.
    const last = lists(server).slice(-2);
    assert.deepEqual(
      last.map(({ query }) => ['limit' in query, 'continue' in query, 'resourceVersion' in query]),
      [
        [true, true, false],
        [false, false, false],
      ],
    );
  });

  it('pages whose version expired, when an object of the first page was deleted meanwhile', async () => {
    const { server, follower } = await startBoth();
    for (let i = 0; i < 600; i++) server.store.set(service(`many-${i}`, `10.97.${i >> 8}.${i & 255}`));
    await agrees(follower, server);
    await server.close();
    server.store.set(service('a', '10.96.0.77'));
    server.store.compact();
    server.fail(/services\?.*continue=/, { status: 410, reason: 'Expired', after: 200 });
    await server.start();
    await until('the first page is reported', () => follower.changes.at(-1) === 'set Service demo/a');
    server.store.delete(service('a', ''));
    await agrees(follower, server);
    assert.equal(server.faultsLeft, 0);
    assert.equal(follower.changes.at(-1), 'delete Service demo/a');
  });

  it('asks for the newest state, page by page, where the first list was content with a cached one', async () => {
    const { server, follower } = await startBoth();
    for (let i = 0; i < 600; i++) server.store.set(service(`many-${i}`, `10.97.${i >> 8}.${i & 255}`));
    await agrees(follower, server);
    await server.close();
    server.store.delete(service('a', ''));
    server.store.compact();
    await server.start();
    await agrees(follower, server);
    const shown = lists(server).map(({ query: { limit, resourceVersion, continue: next } }) => ({
      limit,
      resourceVersion,
      continued: next !== undefined,
    }));
    assert.deepEqual(shown, [
      { limit: '500', resourceVersion: '0', continued: false },
      { limit: '500', resourceVersion: undefined, continued: false },
      { limit: '500', resourceVersion: undefined, continued: true },
    ]);
    assert.equal(follower.synced, 1);
  });

  it('reports only differences', async () => {
    const { server, follower } = await startBoth();
    const before = follower.changes.length;
    await server.close();
    server.store.delete(service('a', ''));
    server.store.compact();
    await server.start();
    await agrees(follower, server);
    assert.deepEqual(follower.changes.slice(before), ['delete Service demo/a']);
  });
});

describe('the server is spared', () => {
  it('for as long as it asks, with 429 and Retry-After', async () => {
    const server = await startServer();
    server.fail(LIST, { status: 429, retryAfter: 1 });
    const follower = closeAfter(await Follower.start({ master: server.url }));
    await until('it is synced', () => follower.synced === 1);
    const [first, second] = lists(server);
    assert.ok((second?.at ?? 0) - (first?.at ?? 0) >= 990);
    assert.equal(follower.troubles[0]?.error.status, 429);
    assert.equal(follower.troubles[0]?.retryIn, 1000);
  });

  it('by pauses that grow while it fails, and start over when it does not', async () => {
    const { server, follower } = await startBoth({ backoff: { first: 10, most: 160, spread: 1 } });
    // Errors that come late do not show that a watch works.
    const fail = { status: 500, after: 30 };
    for (const _ of [1, 2]) {
      follower.troubles.length = 0;
      // The watch has to last before it counts as one that works.
      await wait(50);
      server.fail(WATCH, fail, fail, fail, fail, fail, fail);
      server.endWatches(SERVICES);
      await until('all failed', () => server.faultsLeft === 0 && follower.troubles.length === 6);
      for (const [i, { retryIn }] of follower.troubles.entries()) {
        const base = Math.min(10 * 2 ** i, 80);
        assert.ok(retryIn >= base && retryIn <= 2 * base, `pause ${i}: ${retryIn}`);
      }
      churn(server);
      await agrees(follower, server);
      server.store.set(service('a', '10.96.0.97'));
      server.store.set(slice('a', ['10.0.0.1']));
      await agrees(follower, server);
    }
  });

  it('by no watches in quick succession, when each ends at once', async () => {
    const { server, follower } = await startBoth({
      floor: 100,
      backoff: { first: 100, most: 400, spread: 1 },
    });
    const ended = Array.from({ length: 4 }, () => ({ cut: 0 }) as const);
    server.fail(WATCH, ...ended);
    const before = server.requests.length;
    const started = performance.now();
    const timer = setInterval(() => server.endWatches(SERVICES), 5);
    await wait(1_000);
    clearInterval(timer);
    const most = (performance.now() - started) / 100;
    const made = server.requests.length - before;
    assert.ok(made <= most, `${made} requests instead of at most ${most}`);
    churn(server);
    await agrees(follower, server);
  });
});

function serverError(code: number): string {
  const object = { kind: 'Status', apiVersion: 'v1', message: 'etcd is ill', reason: 'InternalError', code };
  return `${JSON.stringify({ type: 'ERROR', object })}\n`;
}
