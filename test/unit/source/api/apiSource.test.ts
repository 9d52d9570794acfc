// The API source on a server in this process: what it asks for, and what it tells.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EndpointSlice } from '../../../../src/objects/types.js';
import { Follower, until } from '../../../support/apiServer/cluster.js';
import { node, service, slice } from '../../../support/apiServer/objects.js';
import { ApiServer } from '../../../support/apiServer/server.js';
import { closeAfter } from '../../../support/closeAfter.js';

const SERVICES = '/api/v1/services';
const SLICES = '/apis/discovery.k8s.io/v1/endpointslices';

async function setUp(options: ConstructorParameters<typeof ApiServer>[0] = {}) {
  const server = closeAfter(await new ApiServer(options).start());
  server.store.set(service('web', '10.96.0.1'));
  server.store.set(slice('web', ['10.0.0.1', '10.0.0.2']));
  server.store.set(node('node-a'));
  return server;
}

describe('ApiSource', () => {
  it('tells what there is, that it told it, and what changes', async () => {
    const server = await setUp();
    const follower = closeAfter(await Follower.start({ master: server.url }));
    await until('it is synced', () => follower.synced === 1 && follower.objects.size === 3);
    assert.deepEqual(follower.identities, ['EndpointSlice demo/web', 'Node node-a', 'Service demo/web']);
    await until('it watches', () => server.watching(SLICES) === 1 && server.watching(SERVICES) === 1);
    server.store.set(slice('web', ['10.0.0.3']));
    server.store.delete(service('web', ''));
    await until('the changes are told', () => follower.changes.length === 5);
    const told = follower.objects.get('EndpointSlice demo/web') as EndpointSlice;
    assert.deepEqual(
      told.endpoints.map(({ address }) => address),
      ['10.0.0.3'],
    );
    assert.equal(follower.objects.has('Service demo/web'), false);
    assert.deepEqual([follower.troubles, follower.problems, follower.synced], [[], [], 1]);
  });
});
