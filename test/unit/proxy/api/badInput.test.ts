// Input that makes no sense: what was read before stays, everything else goes on, and each problem is reported once.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EndpointSlice, Service } from '../../../../src/proxy/objects/types.js';
import { agrees, Follower, until } from '../../../support/apiServer/cluster.js';
import { node, service, slice } from '../../../support/apiServer/objects.js';
import { SERVICES, startBoth, startServer } from '../../../support/apiServer/scene.js';
import type { ApiServer } from '../../../support/apiServer/server.js';
import { closeAfter } from '../../../support/closeAfter.js';

const LIST = /services\?.*limit=500/;
const BAD_TYPE =
  'Service demo/b: spec.type: must be ClusterIP, NodePort, LoadBalancer or ExternalName (the last readable value stays in use), found "Teapot"';

const withSpec = (name: string, spec: object) => ({ ...service(name, ''), spec });
const teapot = withSpec('b', { clusterIP: '10.96.9.9', type: 'Teapot', ports: [{ port: 80 }] });
const found = (follower: Follower, name: string) => follower.objects.get(`Service demo/${name}`) as Service;

/** Has the server send an event as it is over the watch of Services. */
function send(server: ApiServer, type: string, object: object): void {
  server.write(SERVICES, `${JSON.stringify({ type, object })}\n`);
}

/** Waits until the watch of Services is read up to here. */
async function goesOn({ server, follower }: { server: ApiServer; follower: Follower }): Promise<void> {
  server.store.set(service('later', '10.96.7.7'));
  await until('a later change is reported', () => follower.objects.has('Service demo/later'));
}

describe('an object', () => {
  it('with a bad field is used but for that field; it and others go on to change', async () => {
    const both = await startBoth();
    const { server, follower } = both;
    server.store.set(
      withSpec('new', { clusterIP: '10.96.0.9', ports: [{ port: 0 }, { name: 'b', port: 81 }] }),
    );
    await goesOn(both);
    assert.deepEqual(
      found(follower, 'new').ports.map(({ port }) => port),
      [81],
    );
    assert.deepEqual(follower.problems, [
      'Service demo/new: spec.ports[0].port: must be an integer from 1 to 65535, found 0',
    ]);
    server.store.set(
      withSpec('new', { clusterIP: '10.96.0.9', ports: [{ port: 80 }, { name: 'b', port: 82 }] }),
    );
    await until('it is put right', () => found(follower, 'new').ports.length === 2);
    assert.deepEqual(follower.mended, follower.problems);
  });

  it('that was readable keeps the last value of an unreadable field, and takes the others', async () => {
    const both = await startBoth();
    const { server, follower } = both;
    const ports = [
      { name: 'x', port: 80, nodePort: 30080 },
      { name: 'y', port: 81 },
    ];
    const spec = {
      clusterIP: '10.96.0.97',
      externalTrafficPolicy: 'Local',
      externalIPs: ['192.0.2.1'],
      ports,
    };
    server.store.set(withSpec('a', spec));
    await until('it is known', () => found(follower, 'a').ports.length === 2);
    const broken = [
      { name: 'x', port: '80' },
      { name: 'y', port: 8081 },
    ];
    server.store.set(
      withSpec('a', { ...spec, externalTrafficPolicy: 'Near', externalIPs: ['nowhere'], ports: broken }),
    );
    await goesOn(both);
    const { ports: kept, externalTrafficPolicy, externalIPs } = found(follower, 'a');
    assert.deepEqual(
      kept.map(({ name, port, nodePort }) => [name, port, nodePort]),
      [
        ['x', 80, 30080],
        ['y', 8081, 0],
      ],
    );
    assert.deepEqual([externalTrafficPolicy, externalIPs], ['Local', ['192.0.2.1']]);
    assert.equal(follower.problems.length, 3);
    for (const line of follower.problems) assert.match(line, /the last readable value stays in use/);
    server.store.delete(service('a', ''));
    await until('it is deleted', () => !follower.objects.has('Service demo/a'));
    assert.deepEqual(follower.mended, follower.problems);
  });

  it('that was readable stays as it was when it cannot be read at all, also through lists, until it is deleted', async () => {
    const both = await startBoth();
    const { server, follower } = both;
    const before = found(follower, 'b');
    server.store.set(teapot);
    await goesOn(both);
    assert.deepEqual(found(follower, 'b'), before);
    assert.deepEqual(follower.problems, [BAD_TYPE]);
    await server.close();
    server.store.set(node('node-b'));
    server.store.compact();
    await server.start();
    await until('it was listed again', () => server.watching(SERVICES) === 1);
    assert.deepEqual([found(follower, 'b'), follower.problems, follower.mended], [before, [BAD_TYPE], []]);
    server.store.delete(teapot);
    await until('it is deleted', () => !follower.objects.has('Service demo/b'));
    assert.deepEqual(follower.mended, [BAD_TYPE]);
  });

  it('that never was readable is left out, and used once it is', async () => {
    const server = await startServer();
    server.store.set(teapot);
    const follower = closeAfter(await Follower.start({ master: server.url }));
    await agrees(follower, server);
    assert.equal(found(follower, 'b'), undefined);
    assert.equal(follower.problems.length, 1);
    server.store.set(service('b', '10.96.0.98'));
    await agrees(follower, server);
    assert.deepEqual(follower.mended, follower.problems);
  });

  it('is reported once, however often the same problem is found', async () => {
    const both = await startBoth();
    const { server, follower } = both;
    for (let i = 0; i < 5; i++) server.store.set({ ...teapot, again: i });
    await goesOn(both);
    assert.deepEqual([follower.problems, follower.mended], [[BAD_TYPE], []]);
  });
});

describe('a slice', () => {
  it('that was readable keeps its endpoints when none can be read, and otherwise has those that can', async () => {
    const { server, follower } = await startBoth();
    const addresses = () =>
      Array.from(
        (follower.objects.get('EndpointSlice demo/a') as EndpointSlice).endpoints,
        ({ address }) => address,
      );
    server.store.set(slice('a', ['10.0.0.5', '10.0.0.300']));
    await until('it is read in part', () => addresses().join() === '10.0.0.5');
    server.store.set(slice('a', ['10.0.0.301', '10.0.0.300']));
    await until('it is reported', () => follower.problems.length === 3);
    assert.deepEqual(addresses(), ['10.0.0.5']);
    server.store.set(slice('a', []));
    await until('it says that there are none', () => addresses().length === 0);
    assert.equal(follower.mended.length, 3);
  });

  it('that was readable keeps the node of an endpoint, and its family', async () => {
    const { server, follower } = await startBoth();
    const known = () => follower.objects.get('EndpointSlice demo/a') as EndpointSlice;
    const raw = slice('a', ['10.0.0.1']);
    server.store.set({ ...raw, endpoints: [{ addresses: ['10.0.0.1'], nodeName: 7 }] });
    await until('it is reported', () => follower.problems.length === 1);
    assert.equal(known().endpoints.at(0).nodeName, 'node-a');
    server.store.set({ ...raw, addressType: 'IPv7' });
    await until('it is reported, too', () => follower.problems.length === 2);
    assert.equal(known().family, 4);
  });
});

describe('in a watch, nothing that works stops, and later changes are taken in, after', () => {
  const events: [what: string, type: string, object: object, problem: RegExp | undefined][] = [
    [
      'an object of another kind, with the name of a Service',
      'MODIFIED',
      { apiVersion: 'v1', kind: 'Foo', metadata: { namespace: 'demo', name: 'a', resourceVersion: '9' } },
      /^Foo demo\/a among services: kind: must be v1 Service, found "v1 Foo"$/,
    ],
    [
      'the deletion of an object of another kind, with the name of a Service',
      'DELETED',
      { apiVersion: 'v1', kind: 'Foo', metadata: { namespace: 'demo', name: 'a', resourceVersion: '9' } },
      undefined,
    ],
    [
      'a Service of another version',
      'MODIFIED',
      {
        ...service('a', '10.96.0.1'),
        apiVersion: 'v2',
        metadata: { namespace: 'demo', name: 'a', resourceVersion: '9' },
      },
      /must be v1 Service, found "v2 Service"/,
    ],
    [
      'a bookmark of another kind, from the future',
      'BOOKMARK',
      { apiVersion: 'v1', kind: 'Foo', metadata: { resourceVersion: '99999999' } },
      /must be v1 Service, found "v1 Foo"/,
    ],
    [
      'an object without a name',
      'ADDED',
      { apiVersion: 'v1', kind: 'Service', metadata: { resourceVersion: '9' } },
      /^nameless Service: metadata.name: must not be empty$/,
    ],
  ];
  for (const [what, type, object, problem] of events) {
    it(what, async () => {
      const both = await startBoth();
      const { server, follower } = both;
      const before = new Map(follower.objects);
      send(server, type, object);
      await goesOn(both);
      follower.objects.delete('Service demo/later');
      assert.deepEqual(follower.objects, before);
      assert.equal(follower.changes.at(-1), 'set Service demo/later');
      if (problem) assert.match(follower.problems.join('\n'), problem);
      else assert.deepEqual(follower.problems, []);
      // Where the watch would go on from did not move to a version of something else.
      server.resetConnections();
      await until('it watches again', () => server.watching(SERVICES) === 1 && follower.troubles.length > 0);
      const last = server.requests.filter(({ path, query }) => path === SERVICES && 'watch' in query).at(-1);
      assert.ok(Number(last?.query['resourceVersion']) <= server.store.version);
    });
  }

  const lines: [what: string, line: string][] = [
    ['a line that is not JSON', '{"type":"DELETED","object":{"kind":"Service"\n'],
    ['a line that is not an object', '7\n'],
    ['an object without metadata', '{"type":"DELETED","object":{"kind":"Service","apiVersion":"v1"}}\n'],
    ['a Status in place of an object', '{"type":"DELETED","object":{"kind":"Status","apiVersion":"v1"}}\n'],
    [
      'an event of no known type',
      '{"type":"GONE","object":{"kind":"Service","apiVersion":"v1","metadata":{"name":"a","namespace":"demo","resourceVersion":"9"}}}\n',
    ],
  ];
  for (const [what, line] of lines) {
    it(`${what}, which ends the watch`, async () => {
      const both = await startBoth();
      const { server, follower } = both;
      const before = new Map(follower.objects);
      server.write(SERVICES, line);
      await until('it is reported', () => follower.troubles.length === 1);
      assert.equal(follower.troubles[0]?.error.code, 'ERR_MALFORMED');
      assert.deepEqual(follower.objects, before);
      await goesOn(both);
      assert.ok(follower.changes.every((change) => !change.startsWith('delete')));
    });
  }
});

describe('in a list, nothing that works stops', () => {
  /** A follower that knows everything, and whose next list of Services has these items. */
  async function listing(items: readonly unknown[]) {
    const { server, follower } = await startBoth();
    const before = new Map(follower.objects);
    await server.close();
    server.store.set(node('node-b'));
    server.store.compact();
    server.fail(LIST, { items });
    await server.start();
    await until('it was listed again', () => server.faultsLeft === 0 && server.watching(SERVICES) === 1);
    return { server, follower, before };
  }
  const named = (name: string) => ({ metadata: { name, namespace: 'demo' } });
  const spec = (name: string) => ({ spec: service(name, `10.96.0.${name.charCodeAt(0)}`)['spec'] });
  const good = ['a', 'b'].map((name) => ({ ...named(name), ...spec(name) }));

  it('for an item of another kind, and its namesake stays', async () => {
    const both = await listing([...good, { apiVersion: 'v1', kind: 'Foo', ...named('c') }]);
    assert.deepEqual(both.follower.objects, both.before);
    assert.deepEqual(both.follower.problems, [
      'Foo demo/c among services: kind: must be v1 Service, found "v1 Foo"',
    ]);
    await goesOn(both);
  });

  for (const item of [
    { spec: {} },
    { kind: 'Status', message: 'no' },
    { metadata: 7 },
    { metadata: { name: 8 } },
  ]) {
    it(`for an item without a name, which may be any that is missing: ${JSON.stringify(item)}`, async () => {
      const both = await listing([...good, item]);
      assert.deepEqual(both.follower.objects, both.before);
      assert.equal(both.follower.problems.length, 1);
      both.server.store.delete(service('c', ''));
      await until('a deletion is followed', () => !both.follower.objects.has('Service demo/c'));
    });
  }

  it('for items that are not objects: the list is asked for again', async () => {
    const both = await listing([...good, 'text', 7]);
    await until('it is reported', () =>
      both.follower.troubles.some(({ error }) => /services: .*JSON/.test(error.message)),
    );
    assert.deepEqual(both.follower.objects, both.before);
  });
});
