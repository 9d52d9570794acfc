// After any changes, in any order, the state reached step by step equals the state planned from nothing, in each mode.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FakeIptablesNode, FakeNode } from '../oracle/testNode.js';
import { comparable, RANDOM_HOST, RandomCluster } from './randomCluster.js';

const CHANGES = 8;

const MODES = { ipvs: () => new FakeNode(RANDOM_HOST), iptables: () => new FakeIptablesNode(RANDOM_HOST) };

/** Tests clusters with the seeds from `first` to `last`, in each mode. */
export function testRandomChanges(first: number, last: number): void {
  const seeds = last - first + 1;
  for (const [mode, create] of Object.entries(MODES)) {
    it(`${mode}: ${seeds} random clusters, ${CHANGES} random changes each`, async () => {
      let operations = 0;
      for (let seed = first; seed <= last; seed++) {
        const cluster = new RandomCluster(seed);
        const incremental = create();
        for (let i = 0; i < CHANGES; i++) {
          cluster.change();
          incremental.set(cluster.objects);
          const { restores } = incremental.kernel.iptables;
          const summary = await incremental.sync();
          assert.deepEqual(summary.failures, [], `seed ${seed}, change ${i}`);
          assert.ok(incremental.kernel.iptables.restores - restores <= 2, 'one restore for each family');
          operations += summary.operations;
        }
        const fresh = create();
        fresh.set(cluster.objects);
        await fresh.sync();
        assert.deepEqual(comparable(incremental.output()), comparable(fresh.output()), `seed ${seed}`);
        incremental.reconciler.requestFullSync();
        assert.equal(
          (await incremental.sync()).operations,
          0,
          `seed ${seed}: a full pass finds nothing to do`,
        );
      }
      assert.ok(operations > seeds * 100, `only ${operations} operations in all: the clusters are too dull`);
    });
  }
}
