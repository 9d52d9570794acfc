// Some random clusters on a real kernel: the state after several changes equals the state after one pass on an empty kernel.
// test/unit/proxy/modes/random.test.ts does this for many more with fakes.
// Needs: ipvs, dummy device
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { RULE_MODULES } from '../../bench/ruleModules.js';
import { WHOLE } from '../support/extent.js';
import { runInNamespace } from '../support/namespaces/runInNamespace.js';
import { tool } from '../support/namespaces/tools.js';
import type { RandomReport } from './runRandom.js';

const SEEDS = WHOLE
  ? [
      [1, 2, 3],
      [4, 5, 6],
    ]
  : [[1], [4]];

before(() => {
  tool('modprobe', '-a', 'ip_vs', 'dummy', ...RULE_MODULES);
});

// Two in parallel, because a namespace is idle during the kernel's grace periods.
describe('random clusters', { concurrency: 2 }, () => {
  for (const seeds of SEEDS) judge(seeds);
});

function judge(seeds: readonly number[]): void {
  describe(`seeds ${seeds[0]} to ${seeds.at(-1)}`, () => {
    let reports: readonly RandomReport[];
    before(async () => {
      reports = await runInNamespace<RandomReport[]>(`random-${seeds[0]}`, 'runRandom.js', {
        args: seeds.map(String),
      });
    });
    for (const [i, seed] of seeds.entries()) {
      it(`seed ${seed}: the state step by step equals the state from an empty kernel`, () => {
        const { failures, stepwise, fromNothing, again, left, operations } = reports[i] as RandomReport;
        assert.deepEqual(failures, []);
        assert.ok(operations > 100, `only ${operations} operations: the cluster is too dull`);
        if (fromNothing !== 'the same') assert.deepEqual(stepwise, fromNothing);
        assert.equal(again, 0, 'a full pass has no operations');
        assert.deepEqual(left, [], 'a clean-up leaves no state');
      });
    }
  });
}
