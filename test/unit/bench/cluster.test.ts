import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeCluster, NODE_NAME, VITAL_ADDRESSES } from '../../../bench/cluster.js';

const SIZE = { services: 25, endpoints: 4 };

describe('the cluster of the benchmark', () => {
  it('is the same for the same seed', () => {
    assert.deepEqual(makeCluster(SIZE, 1).objects(), makeCluster(SIZE, 1).objects());
    assert.notDeepEqual(makeCluster(SIZE, 1).objects(), makeCluster(SIZE, 2).objects());
  });

  it('has the Services of its size and the vital ones, each with a slice, and the node', () => {
    const objects = makeCluster(SIZE, 1).objects();
    assert.deepEqual(countKinds(objects), { Node: 1, Service: 27, EndpointSlice: 27 });
    const addresses = objects.flatMap(({ object }) =>
      object.kind === 'Service' ? [object.clusterIPs[4]] : [],
    );
    assert.equal(new Set(addresses).size, 27);
    for (const vital of VITAL_ADDRESSES) assert.ok(addresses.includes(vital));
  });

  it('lists the vital Services where an API server does, not first', () => {
    const names = makeCluster(SIZE, 1)
      .objects()
      .flatMap(({ object }) => (object.kind === 'Service' ? [`${object.namespace}/${object.name}`] : []));
    assert.deepEqual(names, [...names].sort());
    assert.equal(names.at(-1), 'kube-system/kube-dns');
  });

  it('replaces an endpoint of one Service, and contains the change afterwards', () => {
    const cluster = makeCluster(SIZE, 1);
    const before = cluster.objects();
    const change = cluster.replaceEndpoint();
    const differing = cluster
      .objects()
      .filter((object, place) => JSON.stringify(object) !== JSON.stringify(before[place]));
    assert.deepEqual(differing, [change]);
    assert.notDeepEqual(cluster.replaceEndpoint(), change);
  });

  it('replaces the same endpoints by the same ones in a larger cluster', () => {
    const [small, large] = [100, 300].map((services) => makeCluster({ services, endpoints: 4 }, 1));
    const changes = Array.from({ length: 20 }, () => small?.replaceEndpoint());
    assert.deepEqual(
      changes,
      Array.from({ length: 20 }, () => large?.replaceEndpoint()),
    );
    assert.equal(new Set(changes.map((change) => change?.object.name)).size, 20);
  });

  it('terminates the endpoints of every tenth Service', () => {
    assert.equal(makeCluster(SIZE, 1).terminate().length, 3);
  });

  it('deletes everything but the node', () => {
    const deleted = makeCluster(SIZE, 1).deleteAll();
    assert.deepEqual(countKinds(deleted), { Service: 27, EndpointSlice: 27 });
    assert.ok(deleted.every(({ type }) => type === 'delete'));
  });

  it('changes the zone of the node and nothing else', () => {
    const { object } = makeCluster(SIZE, 1).nodeInZone('zone-9');
    assert.ok(object.kind === 'Node' && object.name === NODE_NAME && object.zone === 'zone-9');
  });
});

function countKinds(
  changes: readonly { readonly object: { readonly kind: string } }[],
): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { object } of changes) counts[object.kind] = (counts[object.kind] ?? 0) + 1;
  return counts;
}
