// What objects may look like on their way to the proxy, and clocks.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { agrees, until } from '../../../support/apiServer/cluster.js';
import { service, slice } from '../../../support/apiServer/objects.js';
import { startBoth, watches } from '../../../support/apiServer/scene.js';

describe('objects', () => {
  it('that gain a label of others, or lose their cluster IP, are deleted', async () => {
    const { server, follower } = await startBoth();
    server.store.set(service('a', '10.96.0.97', { 'service.kubernetes.io/service-proxy-name': 'other' }));
    server.store.set(service('b', 'None'));
    server.store.set(slice('c', ['10.0.0.1'], { 'service.kubernetes.io/headless': '' }));
    await agrees(follower, server);
    assert.deepEqual(follower.identities, [
      'EndpointSlice demo/a',
      'EndpointSlice demo/b',
      'Node node-a',
      'Service demo/c',
    ]);
    server.store.set(service('a', '10.96.0.97'));
    await agrees(follower, server);
  });

  it('a clock that jumps changes nothing', async () => {
    const real = Date.now;
    const { server, follower } = await startBoth();
    try {
      for (const jump of [3_600_000, -86_400_000]) {
        Date.now = () => real() + jump;
        server.resetConnections();
        await until('it noticed', () => follower.troubles.some(({ resource }) => resource === 'services'));
        await watches(server);
        server.store.set(service('jumped', `10.98.0.${jump > 0 ? 1 : 2}`));
        await agrees(follower, server, 2_000);
        follower.troubles.length = 0;
      }
    } finally {
      Date.now = real;
    }
  });
});
