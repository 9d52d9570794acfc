// Repairs that another program undoes after each audit.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { edit } from '../../../support/fakes/tamperRules.js';
import { scenarios } from '../../../support/oracle/oracle.js';
import { FakeIptablesNode } from '../../../support/oracle/testNode.js';

it('an audit that repairs what the one before it repaired says so', async () => {
  const [scenario] = scenarios('iptables');
  assert.ok(scenario);
  const node = new FakeIptablesNode(scenario);
  assert.deepEqual((await node.sync()).failures, []);
  const undo = (chain: string) =>
    edit(node.kernel.iptables, 4, (line) =>
      line.startsWith(`-A ${chain} `) && line.endsWith('-j KUBE-SERVICES') ? [] : [line],
    );
  const numbers = async () => {
    const { repaired, repeated } = await node.audit();
    return { repaired, repeated };
  };
  assert.deepEqual(await numbers(), { repaired: 0, repeated: 0 });
  undo('PREROUTING');
  assert.deepEqual(await numbers(), { repaired: 1, repeated: 0 });
  undo('PREROUTING');
  assert.deepEqual(await numbers(), { repaired: 1, repeated: 1 });
  assert.deepEqual(await numbers(), { repaired: 0, repeated: 0 });
  undo('PREROUTING');
  assert.deepEqual(await numbers(), { repaired: 1, repeated: 0 }, 'an audit between them had nothing to do');
});
