// The API server of the judge: what each fault does to a client, and that the client has the current objects afterwards.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { decodeObject } from '../../../src/proxy/objects/decode.js';
import { identityOf } from '../../../src/proxy/source/manifestFile.js';
import { type ClusterState, EMPTY_CLUSTER, stateAfter } from '../../judge/core/cluster.js';
import { objectsOf } from '../../judge/core/objects.js';
import { JudgeServer, type ServerFault } from '../../judge/run/server.js';
import { agrees, Follower, until } from '../../support/apiServer/cluster.js';
import { OWN_LOOPBACK } from '../../support/apiServer/loopback.js';
import { faultsInTurn } from '../../support/judge/faultsInTurn.js';

/** States of a Service whose endpoints roll; each differs from the others. */
const STATES = statesOf();

function statesOf(): ClusterState[] {
  let state = EMPTY_CLUSTER;
  return faultsInTurn([]).steps.map(({ event }) => {
    state = stateAfter(state, event);
    return state;
  });
}

/** A server with the first endpoints, and a client that has them. */
async function withClient(test: (server: JudgeServer, follower: Follower) => Promise<void>): Promise<void> {
  const server = await new JudgeServer(OWN_LOOPBACK).start();
  server.hold(objectsOf(STATES[1] as ClusterState));
  const follower = await Follower.start({ master: server.url });
  try {
    await agrees(follower, server);
    await test(server, follower);
  } finally {
    follower.close();
    await server.close();
  }
}

/** Whether the client has exactly the objects of a state. */
function has({ objects }: Follower, state: ClusterState | undefined): boolean {
  const wanted = [...objectsOf(state as ClusterState).values()].flatMap((raw) => {
    const { object } = decodeObject(raw);
    return object ? [[identityOf(object), object] as const] : [];
  });
  return isDeepStrictEqual(objects, new Map(wanted));
}

const STATUSES: [fault: ServerFault, status: number][] = [
  ['serverErrors', 500],
  ['serverForbidden', 403],
  ['serverThrottled', 429],
];
for (const [fault, status] of STATUSES) {
  it(`answers ${status} during ${fault}, and the client has the changes afterwards`, () =>
    withClient(async (server, follower) => {
      server.begin(fault, 100);
      await until(`a request got ${status}`, () =>
        follower.troubles.some(({ error }) => error.status === status),
      );
      server.hold(objectsOf(STATES[2] as ClusterState));
      assert.ok(has(follower, STATES[1]));
      server.recover();
      await agrees(follower, server);
      assert.ok(has(follower, STATES[2]));
    }));
}

it('refuses all watches with 410 during serverCompacting, as a status and as an event, and answers lists', () =>
  withClient(async (server, follower) => {
    const before = follower.troubles.length;
    server.begin('serverCompacting', 100);
    const refused = (of: RegExp) => () =>
      follower.troubles.slice(before).some(({ error }) => error.expired && of.test(error.message));
    await until('a watch got the event', refused(/^ERR_STATUS: watch /));
    await until('a watch got the status', refused(/^ERR_STATUS: GET /));
    server.hold(objectsOf(STATES[2] as ClusterState));
    await until('lists bring the change', () => has(follower, STATES[2]));
    server.recover();
    server.hold(objectsOf(STATES[1] as ClusterState));
    await agrees(follower, server);
  }));

it('has the objects of the earlier time during serverOlder, and at its end the later ones', () =>
  withClient(async (server, follower) => {
    await wait(100);
    const changed = performance.now();
    server.hold(objectsOf(STATES[2] as ClusterState));
    await agrees(follower, server);
    const version = server.store.version;
    const age = server.begin('serverOlder', performance.now() - changed + 50) as number;
    assert.ok(age >= 100, `${age} ms`);
    assert.ok(server.store.version < version);
    await until('the client has the earlier objects', () => has(follower, STATES[1]));
    server.hold(objectsOf(STATES[0] as ClusterState));
    assert.ok(has(follower, STATES[1]));
    server.recover();
    await until('the client has the last objects', () => has(follower, STATES[0]));
    assert.ok(server.store.version > version);
  }));

it('does not go back beyond what it has forgotten', () =>
  withClient(async (server, follower) => {
    server.hold(objectsOf(STATES[2] as ClusterState));
    server.forgetPast();
    server.begin('serverOlder', 60_000);
    await agrees(follower, server);
    assert.ok(has(follower, STATES[2]));
    server.recover();
  }));

it('sends events late and in their order during serverSlow, and lists in portions and pages', () =>
  withClient(async (server, follower) => {
    server.begin('serverSlow', 100);
    const began = performance.now();
    server.hold(objectsOf(STATES[2] as ClusterState));
    server.hold(objectsOf(STATES[1] as ClusterState));
    server.hold(objectsOf(STATES[2] as ClusterState));
    assert.ok(has(follower, STATES[1]));
    await until('the change came', () => has(follower, STATES[2]));
    assert.ok(performance.now() - began >= 990, `${performance.now() - began} ms`);
    // A new client lists slowly.
    const other = await Follower.start({ master: server.url });
    try {
      await agrees(other, server);
    } finally {
      other.close();
    }
    const pages = server.requests.filter(({ query }) => query['continue'] !== undefined);
    assert.ok(pages.length > 0, 'no page was asked for');
    // A change that is still on its way stays before the next one.
    server.hold(objectsOf(STATES[1] as ClusterState));
    server.recover();
    server.hold(objectsOf(STATES[2] as ClusterState));
    await wait(1_200);
    await until('the last change stays', () => has(follower, STATES[2]));
  }));

it('gives the Node by its name, and no event of another encoding an answer that ends the connection', async () => {
  await withClient(async (server) => {
    const status = async (path: string, init?: RequestInit) => (await fetch(server.url + path, init)).status;
    const response = await fetch(`${server.url}/api/v1/nodes/node-a`);
    const node = (await response.json()) as { kind: string; metadata: { name: string } };
    assert.deepEqual([node.kind, node.metadata.name], ['Node', 'node-a']);
    assert.equal(await status('/api/v1/nodes/node-z'), 404);
    assert.equal(await status('/api/v1/services/alpha'), 404);
    const headers = { 'content-type': 'application/vnd.kubernetes.protobuf' };
    const events = '/apis/events.k8s.io/v1/namespaces/default/events';
    assert.equal(await status(events, { method: 'POST', headers, body: 'k8s' }), 415);
  });
});
