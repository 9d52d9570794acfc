// Events as the API server gets them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ClusterEvent, EventRecorder } from '../../../../src/command/agent/events.js';
import { ApiClient } from '../../../../src/proxy/api/client.js';
import { connectToApi } from '../../../../src/proxy/api/connection.js';
import { Backoff } from '../../../../src/proxy/backoff.js';
import { until } from '../../../support/apiServer/cluster.js';
import { ApiServer } from '../../../support/apiServer/server.js';
import { closeAfter } from '../../../support/closeAfter.js';

const STARTING: ClusterEvent = {
  reason: 'Starting',
  type: 'Normal',
  action: 'StartKubeProxy',
  note: '',
  regarding: { apiVersion: 'v1', kind: 'Node', name: 'node-a' },
};

const ON_SERVICE: ClusterEvent = {
  reason: 'FailedToStartServiceHealthcheck',
  type: 'Warning',
  action: 'Listen',
  note: 'node node-a failed to start healthcheck "demo/web" on port 32000: in use',
  regarding: { kind: 'Service', namespace: 'demo', name: 'web' },
};

async function setUp(host = 'host-a', date = 1_790_000_000_000) {
  const server = closeAfter(await new ApiServer().start());
  const connection = await connectToApi({ master: server.url });
  const client = closeAfter(new ApiClient(connection, { userAgent: 'test', rate: { qps: -1, burst: 0 } }));
  const failed: string[] = [];
  let now = 0;
  const recorder = new EventRecorder({
    client,
    host,
    failed: (event, reason) => failed.push(`${event.reason}: ${reason}`),
    backoff: new Backoff({ first: 5, most: 20, spread: 1 }, Math.random),
    now: () => now,
    date: () => date + now,
  });
  closeAfter({ close: () => recorder.stop() });
  const sent = () => server.requests.map(({ path, body }) => ({ path, ...JSON.parse(body) }));
  const later = (milliseconds: number) => {
    now += milliseconds;
  };
  return { server, recorder, failed, sent, later };
}

describe('an event', () => {
  it('is in the namespace of its object; an event on a Node is in default', async () => {
    const { recorder, sent } = await setUp();
    recorder.record(STARTING);
    recorder.record(ON_SERVICE);
    await until('both are sent', () => sent().length === 2);
    const [{ metadata, eventTime, ...first }, second] = sent();
    assert.deepEqual(first, {
      path: '/apis/events.k8s.io/v1/namespaces/default/events',
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      reportingController: 'kube-netlink-proxy',
      reportingInstance: 'kube-netlink-proxy-host-a',
      reason: 'Starting',
      type: 'Normal',
      action: 'StartKubeProxy',
      note: '',
      regarding: { apiVersion: 'v1', kind: 'Node', name: 'node-a', uid: 'node-a' },
    });
    assert.match(metadata.name, /^node-a\.[0-9a-f]{16}$/);
    assert.match(eventTime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    assert.equal(second.path, '/apis/events.k8s.io/v1/namespaces/demo/events');
    assert.deepEqual(second.regarding, { kind: 'Service', namespace: 'demo', name: 'web', uid: 'demo/web' });
    assert.equal(second.note, ON_SERVICE.note);
  });

  it('is sent again until the server takes it', async () => {
    const { server, recorder, sent, failed } = await setUp();
    server.fail(/POST/, { reset: 0 }, { status: 500 }, { status: 429 }, { status: 401 });
    recorder.record(STARTING);
    await until('it is taken', () => sent().length === 5);
    // The server had taken it, and the answer was lost.
    server.fail(/POST/, { status: 409 });
    recorder.record(ON_SERVICE);
    await until('it is sent', () => sent().length === 6);
    await recorder.stop();
    assert.deepEqual(failed, []);
    assert.equal(
      new Set(
        sent()
          .slice(0, 5)
          .map(({ metadata }) => metadata.name),
      ).size,
      1,
    );
  });

  it('that the server refuses, or does not accept for too long, is reported', async () => {
    const { server, recorder, failed } = await setUp();
    server.fail(/POST/, { status: 403 });
    recorder.record(STARTING);
    await until('it failed', () => failed.length === 1);
    server.fail(/POST/, ...Array.from({ length: 12 }, () => ({ status: 500 })));
    recorder.record(ON_SERVICE);
    await until('it failed', () => failed.length === 2);
    assert.match(failed[0] ?? '', /^Starting: ERR_STATUS.*403/);
    assert.match(failed[1] ?? '', /^FailedToStartServiceHealthcheck: ERR_STATUS.*500/);
    assert.equal(server.faultsLeft, 0);
  });

  it('is not sent again for ten minutes', async () => {
    const { recorder, sent, later } = await setUp();
    recorder.record(STARTING);
    recorder.record(STARTING);
    later(599_999);
    recorder.record(STARTING);
    recorder.record(ON_SERVICE);
    await until('two are sent', () => sent().length === 2);
    later(1);
    recorder.record(STARTING);
    await until('a third is sent', () => sent().length === 3);
    assert.deepEqual(
      sent().map(({ reason }) => reason),
      ['Starting', 'FailedToStartServiceHealthcheck', 'Starting'],
    );
  });

  it('is reported when too many wait, and none waits after a stop', async () => {
    const { server, recorder, failed, sent } = await setUp();
    server.fail(/POST/, { silent: true });
    for (let i = 0; i < 110; i++) recorder.record({ ...ON_SERVICE, note: `${i}` });
    // One is under way, a hundred wait.
    assert.deepEqual(
      failed,
      Array.from({ length: 9 }, () => `${ON_SERVICE.reason}: too many events wait`),
    );
    await until('the first is under way', () => sent().length === 1);
    await recorder.stop();
    recorder.record(STARTING);
    assert.equal(sent().length, 1);
  });

  it('keeps the bounds of the API, whatever the names', async () => {
    const { recorder, failed } = await setUp('h'.repeat(300));
    const name = `${'n'.repeat(61)}.`.repeat(4).slice(0, 247);
    recorder.record({ ...STARTING, regarding: { kind: 'Node', name } });
    recorder.record({ ...ON_SERVICE, note: '€'.repeat(2000) });
    await recorder.flush(5_000);
    assert.deepEqual(failed, []);
  });

  it('has a note of 1024 bytes at most, without half a character at its end', async () => {
    const { recorder, sent } = await setUp();
    recorder.record({ ...ON_SERVICE, note: `a${'€'.repeat(400)}` });
    await until('it is sent', () => sent().length === 1);
    assert.equal(sent()[0]?.note, `a${'€'.repeat(341)}`);
  });

  it('of all nodes has the same name on each for an hour, and a node sends ten of them an hour', async () => {
    const about = (name: string): ClusterEvent => ({
      ...ON_SERVICE,
      reason: 'FieldLeftOut',
      regarding: { apiVersion: 'v1', kind: 'Service', namespace: 'demo', name },
      ofCluster: true,
    });
    const nodes = [await setUp('host-a'), await setUp('host-b')];
    for (const { recorder } of nodes) for (let i = 0; i < 300; i++) recorder.record(about(`s${i}`));
    const [first = [], second = []] = await Promise.all(
      nodes.map(async ({ recorder, sent, failed }) => {
        await recorder.flush(5_000);
        assert.deepEqual(failed, []);
        return sent().map(({ metadata }) => metadata.name);
      }),
    );
    assert.equal(first.length, 10);
    assert.deepEqual(first, second);
    assert.equal(new Set(first).size, 10);
    const [{ recorder, sent, later }] = nodes as [Awaited<ReturnType<typeof setUp>>];
    later(3_600_000);
    recorder.record(about('s0'));
    await until('it is sent again', () => sent().length === 11);
    assert.ok(!first.includes(sent()[10]?.metadata.name));
  });

  it('is remembered among a thousand, and an event that is not sent makes it forget none', async () => {
    const failed: string[] = [];
    let taken = 0;
    const recorder = new EventRecorder({
      client: {
        create: async () => {
          taken++;
        },
      },
      failed: (_, reason) => failed.push(reason),
      now: () => 0,
    });
    closeAfter({ close: () => recorder.stop() });
    const record = async (event: ClusterEvent) => {
      const before = taken;
      recorder.record(event);
      await recorder.flush(5_000);
      return taken - before;
    };
    for (let i = 0; i < 1000; i++) assert.equal(await record({ ...ON_SERVICE, note: `${i}` }), 1);
    // Ten of all nodes are sent in an hour, and forget the ten oldest; the others are not sent.
    for (let i = 0; i < 1000; i++) {
      const sent = await record({ ...ON_SERVICE, note: `for all ${i}`, ofCluster: true });
      assert.equal(sent, i < 10 ? 1 : 0);
    }
    for (const note of [10, 999]) assert.equal(await record({ ...ON_SERVICE, note: `${note}` }), 0);
    for (const note of [9, 0]) assert.equal(await record({ ...ON_SERVICE, note: `${note}` }), 1);
    assert.deepEqual(failed, []);
  });

  it('keeps of a long note only what it sends', async () => {
    const { recorder, sent } = await setUp();
    const note = 'x'.repeat(5_000_000);
    recorder.record({ ...ON_SERVICE, note });
    recorder.record({ ...ON_SERVICE, note: `${note}y` });
    await recorder.flush(5_000);
    assert.deepEqual(
      sent().map((event) => event.note.length),
      [1024],
    );
  });
});
