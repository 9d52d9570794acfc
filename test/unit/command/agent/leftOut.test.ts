// Objects that are left out are reported in metrics, in /statusz and as events.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { announcer } from '../../../../src/command/agent/announce.js';
import { EventRecorder } from '../../../../src/command/agent/events.js';
import { LeftOut } from '../../../../src/command/agent/leftOut.js';
import { openMetrics } from '../../../../src/command/servers/metrics.js';
import type { Problem } from '../../../../src/kernel/errors.js';
import { ApiSource } from '../../../../src/proxy/api/apiSource.js';
import { ApiClient } from '../../../../src/proxy/api/client.js';
import { connectToApi } from '../../../../src/proxy/api/connection.js';
import { QUICK, until } from '../../../support/apiServer/cluster.js';
import { service, slice } from '../../../support/apiServer/objects.js';
import { startServer, watches } from '../../../support/apiServer/scene.js';
import { closeAfter } from '../../../support/closeAfter.js';

function openOwnMetrics() {
  const metrics = closeAfter(openMetrics({ version: '0', kubernetesVersion: 'v1.36.0', startedAt: 0 }));
  /** The lines of the metric, sorted, because the order of detection is not fixed. */
  const gauge = async () =>
    (await metrics.text())
      .split('\n')
      .filter((line) => line.startsWith('kube_netlink_proxy_left_out_objects{'))
      .map((line) => line.slice('kube_netlink_proxy_left_out_objects'.length))
      .sort();
  return { metrics, gauge };
}

/** An API server, and a `LeftOut` that receives the problems of its objects. */
async function setUp() {
  const server = await startServer();
  const client = closeAfter(
    new ApiClient(await connectToApi({ master: server.url }), {
      userAgent: 'test',
      rate: { qps: -1, burst: 0 },
    }),
  );
  const failed: string[] = [];
  const recorder = new EventRecorder({ client, failed: (_, reason) => failed.push(reason) });
  closeAfter({ close: () => recorder.stop() });
  const { metrics, gauge } = openOwnMetrics();
  const leftOut = new LeftOut({ metrics, announcer: announcer('node-a', recorder, true) });
  const source = new ApiSource({ client, nodeName: 'node-a', trouble: () => {}, times: QUICK });
  closeAfter({ close: () => source.stop() });
  await source.start({
    changed() {},
    synced() {},
    problems: (problems) => leftOut.found(problems),
    mended: (problems) => leftOut.mended(problems),
  });
  await watches(server);
  const events = () => server.requests.flatMap(({ body }) => (body === '' ? [] : [JSON.parse(body)]));
  return { server, leftOut, gauge, events, failed };
}

describe('an object with an invalid value', () => {
  it('is counted by kind and reason, named, and has an event, until it is valid', async () => {
    const { server, leftOut, gauge, events, failed } = await setUp();
    assert.deepEqual([await gauge(), leftOut.summary()], [[], undefined]);
    const wrong = service('new', '10.96.0.9');
    const metadata = { ...wrong.metadata, uid: 'uid-of-new' };
    server.store.set({
      ...wrong,
      metadata,
      spec: { clusterIP: '10.96.0.9', ports: [{ port: 0 }, { port: -1 }] },
    });
    await until('it is found', () => leftOut.summary() !== undefined);
    assert.deepEqual(await gauge(), ['{kind="Service",reason="FieldLeftOut"} 1']);
    assert.equal(
      leftOut.summary(),
      '1 (Service demo/new: spec.ports[0].port: must be an integer from 1 to 65535, found 0; ' +
        'Service demo/new: spec.ports[1].port: must be an integer from 1 to 65535, found -1)',
    );
    await until('there is an event', () => events().length === 1);
    const [{ type, reason, action, note, regarding }] = events();
    assert.deepEqual([type, reason, action], ['Warning', 'FieldLeftOut', 'Program']);
    assert.match(
      note,
      /^node node-a: Service demo\/new: spec\.ports\[0\]\.port: .*; Service demo\/new: spec\.ports\[1\]/,
    );
    // kubectl describe selects events by uid.
    const about = { apiVersion: 'v1', kind: 'Service', namespace: 'demo', name: 'new', uid: 'uid-of-new' };
    assert.deepEqual(regarding, about);
    server.store.set(wrong);
    await until('it is valid', () => leftOut.summary() === undefined);
    assert.deepEqual(await gauge(), ['{kind="Service",reason="FieldLeftOut"} 0']);
    assert.deepEqual([events().length, failed], [1, []]);
  });

  it('is counted until it is deleted, and has one event even if other fields change often', async () => {
    const { server, leftOut, gauge, events } = await setUp();
    for (let i = 0; i < 10; i++) {
      server.store.set({ ...slice('a', ['10.0.0.1']), addressType: 'IPv7', again: i });
      server.store.set({ ...service('b', ''), spec: { type: 'Teapot' }, again: i });
    }
    await until('both are found', () => leftOut.summary()?.startsWith('2 (') ?? false);
    await until('both have an event', () => events().length === 2);
    assert.deepEqual(await gauge(), [
      '{kind="EndpointSlice",reason="LastReadableKept"} 1',
      '{kind="Service",reason="LastReadableKept"} 1',
    ]);
    const slices = events().find(({ regarding }) => regarding.kind === 'EndpointSlice');
    assert.equal(slices.regarding.apiVersion, 'discovery.k8s.io/v1');
    server.store.delete(slice('a', []));
    server.store.delete(service('b', ''));
    await until('both are deleted', () => leftOut.summary() === undefined);
    assert.deepEqual(await gauge(), [
      '{kind="EndpointSlice",reason="LastReadableKept"} 0',
      '{kind="Service",reason="LastReadableKept"} 0',
    ]);
    assert.equal(events().length, 2);
  });
});

it('the first five problems are named, each object is counted once, and data without a name has no event', async () => {
  const { metrics, gauge } = openOwnMetrics();
  const told: string[] = [];
  const leftOut = new LeftOut({
    metrics,
    announcer: { leftOut: (problems) => told.push(`${problems[0]?.object} ${problems.length}`) },
  });
  const problem = (i: number): Problem => ({
    object: `Service demo/${i >> 1}`,
    field: `f${i}`,
    rule: 'no',
    kind: 'Service',
  });
  const all = Array.from({ length: 8 }, (_, i) => problem(i));
  leftOut.found([
    ...all,
    { source: 'a.yaml', object: 'text', field: 'line 1', rule: 'no', reason: 'Unreadable' },
  ]);
  leftOut.found(all);
  assert.deepEqual(told, [
    'Service demo/0 2',
    'Service demo/1 2',
    'Service demo/2 2',
    'Service demo/3 2',
    'text 1',
  ]);
  assert.match(leftOut.summary() ?? '', /^5 \(Service demo\/0: f0: no; .*f4: no; and 4 more problems\)$/);
  const series = ['{kind="Service",reason="FieldLeftOut"} 4', '{kind="document",reason="Unreadable"} 1'];
  assert.deepEqual(await gauge(), series);
  leftOut.mended(all.slice(0, 3));
  assert.equal((await gauge())[0], '{kind="Service",reason="FieldLeftOut"} 3');
});
