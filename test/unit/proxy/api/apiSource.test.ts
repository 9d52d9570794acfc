// The API source on a server in this process: what it asks for, and what it tells.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { waitForNodeAddresses } from '../../../../src/command/agent/api.js';
import { SERVICE_CIDRS } from '../../../../src/proxy/api/resources.js';
import type { EndpointSlice, Node, ServiceCIDR } from '../../../../src/proxy/objects/types.js';
import { agrees, Follower, until } from '../../../support/apiServer/cluster.js';
import { node, service, slice } from '../../../support/apiServer/objects.js';
import { NODES, SERVICES, SLICES } from '../../../support/apiServer/scene.js';
import { ApiServer } from '../../../support/apiServer/server.js';
import { closeAfter } from '../../../support/closeAfter.js';

async function setUp(options: ConstructorParameters<typeof ApiServer>[0] = {}) {
  const server = closeAfter(await new ApiServer(options).start());
  server.store.set(service('web', '10.96.0.1'));
  server.store.set(slice('web', ['10.0.0.1', '10.0.0.2']));
  server.store.set(node('node-a'));
  return server;
}

describe('ApiSource', () => {
  it('reports all objects, then that these were all, then changes', async () => {
    const server = await setUp();
    const follower = closeAfter(await Follower.start({ master: server.url }));
    await until('it is synced', () => follower.synced === 1 && follower.objects.size === 3);
    assert.deepEqual(follower.identities, ['EndpointSlice demo/web', 'Node node-a', 'Service demo/web']);
    await until('it watches', () => server.watching(SLICES) === 1 && server.watching(SERVICES) === 1);
    server.store.set(slice('web', ['10.0.0.3']));
    server.store.delete(service('web', ''));
    await until('the changes are reported', () => follower.changes.length === 5);
    const told = follower.objects.get('EndpointSlice demo/web') as EndpointSlice;
    assert.deepEqual(
      Array.from(told.endpoints, ({ address }) => address),
      ['10.0.0.3'],
    );
    assert.equal(follower.objects.has('Service demo/web'), false);
    assert.deepEqual([follower.troubles, follower.problems, follower.synced], [[], [], 1]);
  });

  it('follows ServiceCIDRs only if it is told to, and a change of their status is none', async () => {
    const server = await setUp();
    const range = (status: object, ...cidrs: string[]) => ({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'ServiceCIDR',
      metadata: { name: 'kubernetes' },
      spec: { cidrs },
      status,
    });
    server.store.set(range({}, '10.96.0.0/12'));
    const follower = closeAfter(await Follower.start({ master: server.url }, { serviceCIDRs: true }));
    await until('it watches', () => server.watching(SERVICE_CIDRS.path) === 1);
    assert.equal(follower.objects.has('ServiceCIDR kubernetes'), true);
    server.store.set(range({ conditions: [] }, '10.96.0.0/12'));
    server.store.set(range({}, '10.96.0.0/12', 'fd00::/112'));
    await until('the change is reported', () => follower.changes.length === 5);
    const { cidrs } = follower.objects.get('ServiceCIDR kubernetes') as ServiceCIDR;
    assert.deepEqual(cidrs, ['10.96.0.0/12', 'fd00::/112']);
  });

  it('needs no ServiceCIDRs to be synced: a server without them is asked again after a long time', async () => {
    const server = await setUp();
    server.fail(/servicecidrs\?/, { status: 404 });
    const follower = closeAfter(await Follower.start({ master: server.url }, { serviceCIDRs: true }));
    await until('it is synced', () => follower.synced === 1 && follower.troubles.length === 1);
    const [trouble] = follower.troubles;
    assert.deepEqual(
      [trouble?.resource, trouble?.error.status, trouble?.retryIn],
      ['servicecidrs', 404, 600_000],
    );
  });

  it('asks as kube-proxy 1.36 does', async () => {
    const server = await setUp();
    const follower = closeAfter(await Follower.start({ master: server.url }));
    await until('it watches', () => [SERVICES, SLICES, NODES].every((path) => server.watching(path) === 1));
    const selectors: Record<string, object> = {
      [SERVICES]: {
        labelSelector: '!service.kubernetes.io/service-proxy-name',
        fieldSelector: 'spec.clusterIP!=None',
      },
      [SLICES]: { labelSelector: '!service.kubernetes.io/headless' },
      [NODES]: { fieldSelector: 'metadata.name=node-a' },
    };
    assert.equal(server.requests.length, 6);
    for (const { path, query, headers } of server.requests) {
      const { timeoutSeconds = '', ...rest } = query;
      assert.equal(headers['user-agent'], 'kube-netlink-proxy/test');
      if (!('watch' in query)) {
        assert.deepEqual(query, { ...selectors[path], limit: '500', resourceVersion: '0' });
        continue;
      }
      assert.ok(Number(timeoutSeconds) >= 300 && Number(timeoutSeconds) <= 600, timeoutSeconds);
      assert.deepEqual(rest, {
        ...selectors[path],
        allowWatchBookmarks: 'true',
        resourceVersion: String(server.store.version),
        watch: 'true',
      });
    }
    assert.deepEqual(follower.troubles, []);
  });

  it('follows its own Node, or every one; a change of an unused field is not reported', async () => {
    const server = await setUp();
    server.store.set(node('node-b'));
    const own = closeAfter(await Follower.start({ master: server.url }));
    const all = closeAfter(await Follower.start({ master: server.url }, { allNodes: true }));
    await until('both watch', () => server.watching(NODES) === 2);
    server.store.set({
      ...node('node-a'),
      status: { ...(node('node-a')['status'] as object), heartbeat: 1 },
    });
    server.store.set(node('node-b', { zone: 'zone-b' }));
    server.store.set(node('node-a', { zone: 'zone-b' }));
    const told = ({ changes }: Follower) => changes.filter((change) => change.includes('Node'));
    await until('everything is reported', () => told(own).length === 2 && told(all).length === 4);
    assert.deepEqual(told(own), ['set Node node-a', 'set Node node-a']);
    assert.equal((own.objects.get('Node node-a') as Node).zone, 'zone-b');
    server.store.delete(node('node-b'));
    server.store.delete(node('node-a'));
    await until('they are deleted', () => told(all).length === 6);
    assert.deepEqual(own.identities, ['EndpointSlice demo/web', 'Service demo/web']);
  });

  it('lists each kind once, also where its own Node, or all of them, were waited for before', async () => {
    for (const allNodes of [false, true]) {
      const server = await setUp();
      server.store.set(node('node-b'));
      const { source, follower } = await Follower.open({ master: server.url }, { allNodes });
      closeAfter(follower);
      const own = await waitForNodeAddresses({ source, nodeName: 'node-a' });
      assert.equal(own?.name, 'node-a');
      follower.start();
      await until('it watches', () => [SERVICES, SLICES, NODES].every((path) => server.watching(path) === 1));
      await until('Nodes are reported', () => follower.objects.size === (allNodes ? 4 : 3));
      const asked = server.requests.map(
        ({ path, query }) => `${'watch' in query ? 'watch' : 'list'} ${path}`,
      );
      assert.equal(new Set(asked).size, 6);
      assert.equal(asked.length, 6, asked.join('\n'));
      server.store.set(node('node-a', { zone: 'zone-b' }));
      const zone = () => (follower.objects.get('Node node-a') as Node).zone;
      await until('the Node is followed', () => zone() === 'zone-b');
    }
  });

  it('reads a list that is sent as a whole although pages were asked for, and one in pages', async () => {
    for (const pagesOld of [false, true]) {
      const server = await setUp({ pagesOld });
      for (let i = 0; i < 1_100; i++) server.store.set(slice(`many-${i}`, [`10.1.${i >> 8}.${i & 255}`]));
      const follower = closeAfter(await Follower.start({ master: server.url }));
      await agrees(follower, server);
      const pages = server.requests.filter(({ path, query }) => path === SLICES && !('watch' in query));
      assert.equal(pages.length, pagesOld ? 3 : 1);
    }
  });

  it('has started once everything is reported, or it was stopped; then it reports nothing', async () => {
    const server = await setUp();
    const follower = closeAfter(await Follower.start({ master: server.url }));
    await follower.started;
    assert.equal(follower.synced, 1);
    await until('it watches', () => server.watching(SERVICES) === 1);
    follower.close();
    const told = follower.changes.length;
    server.store.set(service('late', '10.96.0.9'));
    await until('it watches no more', () => server.watching(SERVICES) === 0);
    assert.deepEqual([follower.changes.length, follower.troubles], [told, []]);
    await server.close();
    const unheard = await Follower.start({ master: server.url });
    await until('it tried', () => unheard.troubles.length > 0);
    unheard.close();
    await unheard.started;
    assert.equal(unheard.synced, 0);
  });
});
