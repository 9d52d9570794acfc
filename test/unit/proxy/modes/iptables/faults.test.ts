// Failed restores and changes by other programs: the state converges, without a full pass where possible.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NetlinkError } from '../../../../../src/kernel/errors.js';
import type { Fault } from '../../../../../src/kernel/testing/index.js';
import {
  comparable,
  RANDOM_HOST,
  RandomCluster,
  randomFrom,
} from '../../../../support/clusters/randomCluster.js';
import { sample, WHOLE } from '../../../../support/extent.js';
import { tamperWithRules } from '../../../../support/fakes/tamperRules.js';
import { differences, scenarios } from '../../../../support/oracle/oracle.js';
import { FakeIptablesNode } from '../../../../support/oracle/testNode.js';

const refused = (operation: string, target: string) =>
  new NetlinkError({ code: 'ERR_PROCESS', operation, target, kernelMessage: 'refused' });

describe('every restore and every setting fails once', () => {
  for (const scenario of sample(scenarios('iptables'), 4)) {
    it(scenario.name, async () => {
      for (let nth = 1, failed = true; failed; nth++) {
        failed = false;
        const node = new FakeIptablesNode(scenario);
        let count = 0;
        node.kernel.fault = (operation, target) => {
          if (++count !== nth) return undefined;
          failed = true;
          return refused(operation, target);
        };
        for (const step of scenario.steps) {
          await node.load(step);
          const { failures } = await node.sync();
          if (failures.length > 0) {
            node.retryFailed();
            const again = await node.sync();
            assert.deepEqual(again.failures, [], step);
          }
          assert.deepEqual(differences(step, node.output()), [], `operation ${nth}, ${step}`);
        }
        node.reconciler.requestFullSync();
        assert.equal((await node.sync()).operations, 0);
      }
    });
  }
});

const SEEDS = WHOLE ? 60 : 4;
const STEPS = 20;

/** Runs a whole audit. */
async function audit({ reconciler }: FakeIptablesNode): Promise<void> {
  reconciler.startAudit();
  while (reconciler.auditing) await reconciler.auditSlice();
}

/** A jump that was lost is inserted at the head again, as by kube-proxy: the order of jumps may differ. */
function stateOf(node: FakeIptablesNode): string[] {
  const { iptables, ip6tables } = comparable(node.output());
  return [...iptables, ...ip6tables].map((chain) =>
    /^\w+\/(INPUT|FORWARD|OUTPUT|PREROUTING|POSTROUTING)/.test(chain)
      ? chain.split('\n').sort().join('\n')
      : chain,
  );
}

const failing =
  (random: () => number, probability: number): Fault =>
  (operation, target) =>
    random() < probability ? refused(operation, target) : undefined;

it(`${SEEDS} random clusters on a kernel that fails and that others change, ${STEPS} steps each`, async () => {
  let failures = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = randomFrom(seed);
    const cluster = new RandomCluster(seed);
    const node = new FakeIptablesNode(RANDOM_HOST);
    await node.sync();
    for (let step = 0; step < STEPS; step++) {
      node.kernel.fault = () => undefined;
      if (random() < 0.2) tamperWithRules(node.kernel.iptables, random);
      node.kernel.fault = failing(random, random() < 0.5 ? 0.3 : 0);
      if (random() < 0.7) cluster.change();
      node.set(cluster.objects);
      if (random() < 0.3) node.retryFailed();
      if (random() < 0.3) await audit(node);
      failures += (await node.sync()).failures.length;
    }
    node.kernel.fault = () => undefined;
    // Keys that an audit found and could not repair are read again.
    for (let round = 0; round < 3; round++) {
      await audit(node);
      node.retryFailed();
      await node.sync();
    }
    const fresh = new FakeIptablesNode(RANDOM_HOST);
    fresh.set(cluster.objects);
    await fresh.sync();
    assert.deepEqual(stateOf(node), stateOf(fresh), `seed ${seed}`);
    node.reconciler.requestFullSync();
    assert.equal((await node.sync()).operations, 0, `seed ${seed}: a full pass finds nothing to do`);
  }
  assert.ok(failures > SEEDS, `only ${failures} failures`);
});
