// Whatever changes, in whatever order: the state reached step by step is the state planned from nothing.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RandomCluster } from '../../../support/randomCluster.js';
import { FakeNode } from '../../../support/testNode.js';

const HOST = {
  configuration: { clusterCIDR: '10.244.0.0/16,fd00:244::/64' },
  interfaces: [
    { link: 'eth0', address: '192.168.50.10', prefix: 24 },
    { link: 'eth0', address: 'fd00:192::10', prefix: 64 },
  ],
};
const SEEDS = 500;
const CHANGES = 8;

/** Order of virtual servers and entries is the order of history, and means nothing. */
function sorted(node: FakeNode): Record<string, string[]> {
  const { ipvsadm, ipset, address, iptables, ip6tables } = node.output();
  const lines = (text: string) => text.split('\n').sort();
  const buckets = ipset.replaceAll(/ hashsize \d+/g, '');
  return {
    ipvsadm: lines(ipvsadm),
    ipset: lines(buckets),
    address: lines(address),
    iptables: iptables.split('\n'),
    ip6tables: ip6tables.split('\n'),
  };
}

it(`${SEEDS} random clusters, ${CHANGES} random changes each`, async () => {
  let operations = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const cluster = new RandomCluster(seed);
    const incremental = new FakeNode(HOST);
    for (let i = 0; i < CHANGES; i++) {
      cluster.change();
      incremental.set(cluster.objects);
      const summary = await incremental.sync();
      assert.deepEqual(summary.failures, [], `seed ${seed}, change ${i}`);
      operations += summary.operations;
    }
    const fresh = new FakeNode(HOST);
    fresh.set(cluster.objects);
    await fresh.sync();
    assert.deepEqual(sorted(incremental), sorted(fresh), `seed ${seed}`);
    incremental.reconciler.distrust();
    assert.equal((await incremental.sync()).operations, 0, `seed ${seed}: a full pass finds nothing to do`);
  }
  assert.ok(operations > SEEDS * 100, `only ${operations} operations in all: the clusters are too dull`);
});
