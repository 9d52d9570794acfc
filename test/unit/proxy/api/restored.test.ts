// An API server whose versions went back, as after a restore of etcd: it answers a watch from the future with silence.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { agrees, Follower, QUICK, until } from '../../../support/apiServer/cluster.js';
import { node, service, slice } from '../../../support/apiServer/objects.js';
import { churn, NODES, SERVICES, SLICES, startServer, watches } from '../../../support/apiServer/scene.js';
import type { ApiServer, ApiServerOptions } from '../../../support/apiServer/server.js';
import { closeAfter } from '../../../support/closeAfter.js';

const SELDOM: [number, number] = [600_000, 1_200_000];
/** Ms that the server waits for a version; kube-apiserver waits 3000. */
const VERSION_WAIT = 30;
const PAUSE = 50;

async function setUp(interval = SELDOM, options: ApiServerOptions = {}) {
  const server = await startServer({ versionWait: VERSION_WAIT, ...options });
  const times = { ...QUICK, check: { interval, pause: PAUSE } };
  const follower = closeAfter(await Follower.start({ master: server.url }, { times }));
  await agrees(follower, server);
  await watches(server);
  await until('the Node is watched', () => server.watching(NODES) === 1);
  return { server, follower };
}

const asked = (server: ApiServer, check: boolean) =>
  server.requests.filter(({ query }) => !('watch' in query) && 'resourceVersionMatch' in query === check);
const checks = (server: ApiServer) => asked(server, true);
const lists = (server: ApiServer) => asked(server, false);

/** What happens after the backup is made, and is lost with the restore. */
function afterBackup(server: ApiServer): void {
  churn(server);
  for (let i = 0; i < 20; i++) server.store.set(service('lost', `10.96.2.${i}`));
  server.store.set(slice('lost', ['10.0.9.9']));
  server.store.set(node('node-a', { zone: 'lost' }));
}

describe('a server that was restored is noticed', () => {
  const breaks: [how: string, restore: (server: ApiServer, back: () => void) => Promise<void>][] = [
    [
      'when it resets connections',
      async (server, back) => {
        await server.close();
        back();
        await server.start();
      },
    ],
    [
      'when it ends watches in good order before their time',
      async (server, back) => {
        back();
        for (const path of [SERVICES, SLICES, NODES]) server.endWatches(path);
      },
    ],
  ];
  for (const [how, restore] of breaks) {
    it(how, async () => {
      const { server, follower } = await setUp();
      const backup = server.store.snapshot();
      afterBackup(server);
      await agrees(follower, server);
      await restore(server, () => server.store.restore(backup));
      await agrees(follower, server);
      assert.equal(follower.objects.has('Service demo/lost'), false);
      assert.ok(follower.objects.has('Service demo/a'), 'what the backup holds is there again');
      await watches(server);
      churn(server);
      await agrees(follower, server);
      assert.ok(follower.troubles.some(({ error, retryIn }) => error.tooLarge && retryIn === 0));
      for (const { query } of checks(server)) {
        assert.deepEqual([query['limit'], query['resourceVersionMatch']], ['1', 'NotOlderThan']);
      }
      for (const { query } of lists(server).slice(3)) assert.equal(query['resourceVersion'], undefined);
    });
  }

  it('when its watches never break, by a check once in a while', async () => {
    const { server, follower } = await setUp([200, 400]);
    const backup = server.store.snapshot();
    afterBackup(server);
    await agrees(follower, server);
    server.store.restore(backup);
    server.store.set(service('b', '10.96.3.3'));
    await agrees(follower, server);
    await watches(server);
    churn(server);
    await agrees(follower, server);
  });
});

describe('nothing is listed or removed', () => {
  it('while the check fails with other errors', async () => {
    const { server, follower } = await setUp();
    const before = [...follower.changes];
    const errors = Array.from({ length: 40 }, () => ({ status: 500 }));
    server.fail(/NotOlderThan/, ...errors);
    server.resetConnections();
    await wait(1_500);
    assert.deepEqual(follower.changes, before);
    assert.equal(lists(server).length, 3);
    // Three kinds; pauses of 50 ms that double.
    assert.ok(checks(server).length >= 3 && checks(server).length <= 18, `${checks(server).length} checks`);
    churn(server);
    await agrees(follower, server);
  });

  it('when a server is behind for a moment', async () => {
    const { server, follower } = await setUp();
    const behind = server.store.version;
    churn(server);
    await agrees(follower, server);
    const ahead = server.store.version;
    server.store.version = behind;
    server.resetConnections();
    const tooLarge = () => follower.troubles.filter(({ error }) => error.tooLarge).length;
    await until('it was found to be behind', () => tooLarge() >= 2);
    server.store.version = ahead;
    await wait(3 * (PAUSE + VERSION_WAIT));
    assert.equal(lists(server).length, 3);
    churn2(server);
    await agrees(follower, server);
  });
});

describe('the server is spared', () => {
  it('by no check while nothing breaks', async () => {
    const { server } = await setUp();
    await wait(500);
    assert.equal(checks(server).length, 0);
  });

  it('by few checks when connections break all the time', async () => {
    const { server } = await setUp();
    const started = performance.now();
    let took = 0;
    for (; took < 1_000; took = performance.now() - started) {
      server.resetConnections();
      await wait(10);
    }
    // Three kinds, and 50 ms between two checks of one.
    const most = 3 * (took / PAUSE + 2);
    assert.ok(checks(server).length <= most, `${checks(server).length} checks in ${took} ms`);
  });

  it('by one list in all from one that stays behind, whatever breaks', async () => {
    const { server, follower } = await setUp(SELDOM, { versionWait: 0 });
    // The list is consistent, and so newer than the cache that answers checks and watches.
    server.staysBehind = true;
    server.resetConnections();
    await until('everything was listed again', () => lists(server).length >= 6);
    for (let i = 0; i < 50; i++) {
      server.resetConnections();
      await wait(30);
    }
    assert.equal(lists(server).length, 6, 'each kind once more');
    server.staysBehind = false;
    churn(server);
    await agrees(follower, server);
  });
});

/** More changes. */
function churn2({ store }: ApiServer): void {
  store.set(service('e', '10.96.1.9'));
  store.delete(service('d', ''));
}
