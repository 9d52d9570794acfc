// After any changes, in any order, the state reached step by step equals the state planned from nothing.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { comparable, RANDOM_HOST, RandomCluster } from '../../../support/randomCluster.js';
import { FakeNode } from '../../../support/testNode.js';

const SEEDS = 500;
const CHANGES = 8;

it(`${SEEDS} random clusters, ${CHANGES} random changes each`, async () => {
  let operations = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const cluster = new RandomCluster(seed);
    const incremental = new FakeNode(RANDOM_HOST);
    for (let i = 0; i < CHANGES; i++) {
      cluster.change();
      incremental.set(cluster.objects);
      const summary = await incremental.sync();
      assert.deepEqual(summary.failures, [], `seed ${seed}, change ${i}`);
      operations += summary.operations;
    }
    const fresh = new FakeNode(RANDOM_HOST);
    fresh.set(cluster.objects);
    await fresh.sync();
    assert.deepEqual(comparable(incremental.output()), comparable(fresh.output()), `seed ${seed}`);
    incremental.reconciler.requestFullSync();
    assert.equal((await incremental.sync()).operations, 0, `seed ${seed}: a full pass finds nothing to do`);
  }
  assert.ok(operations > SEEDS * 100, `only ${operations} operations in all: the clusters are too dull`);
});
