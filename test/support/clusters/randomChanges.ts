// After any changes, in any order, the state reached step by step equals the state planned from nothing, in each mode.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Family } from '../../../src/kernel/net/address.js';
import type { FakeIptables } from '../../../src/kernel/testing/iptables.js';
import { FIREWALLS } from '../../../src/proxy/modes/ipvs/plan/rules.js';
import { FakeIptablesNode, FakeNode, FakeTablesNode } from '../oracle/testNode.js';
import { comparable, RANDOM_HOST, RandomCluster } from './randomCluster.js';

const CHANGES = 8;

const MODES = {
  ipvs: () => new FakeNode(RANDOM_HOST),
  'ipvs, rules of nf_tables': () => new FakeTablesNode(RANDOM_HOST),
  iptables: () => new FakeIptablesNode(RANDOM_HOST),
};

/** The number of rules in the firewall chains of ipvs mode, in each family and chain. */
function firewallRules(iptables: FakeIptables): number[] {
  const of = (family: Family, chain: string) => iptables.dump(family).split(`-A ${chain} `).length - 1;
  return ([4, 6] as const).flatMap((family) => FIREWALLS.map((chain) => of(family, chain)));
}

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
          const { iptables } = incremental.kernel;
          const { restores } = iptables;
          const before = firewallRules(iptables);
          const summary = await incremental.sync();
          assert.deepEqual(summary.failures, [], `seed ${seed}, change ${i}`);
          // In ipvs mode, firewalls lose rules after all else.
          const hasTwo =
            mode === 'ipvs' && before.some((count, j) => count > (firewallRules(iptables)[j] ?? 0));
          assert.ok(iptables.restores - restores <= (hasTwo ? 4 : 2), 'one restore for each family');
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
