// Every recorded cluster, programmed into a kernel in memory: its state must equal that of kube-proxy.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { differences, scenarios } from '../../../support/oracle.js';
import { FakeNode } from '../../../support/testNode.js';

for (const scenario of scenarios('ipvs')) {
  describe(scenario.name, () => {
    it('step by step, with no further operations after each', async () => {
      const node = new FakeNode(scenario);
      for (const step of scenario.steps) {
        await node.load(`${step}/objects.yaml`);
        const { failures } = await node.sync();
        assert.deepEqual(failures, []);
        assert.deepEqual(differences(step, node.output()), [], step);
        node.reconciler.requestFullSync();
        assert.equal((await node.sync()).operations, 0);
      }
    });

    it('from nothing to the last step, and after a restart', async () => {
      const node = new FakeNode(scenario);
      const last = scenario.steps.at(-1) as string;
      await node.load(`${last}/objects.yaml`);
      await node.sync();
      assert.deepEqual(differences(last, node.output()), []);
      const restarted = new FakeNode(scenario, node.kernel);
      await restarted.load(`${last}/objects.yaml`);
      assert.equal((await restarted.sync()).operations, 0);
    });
  });
}
