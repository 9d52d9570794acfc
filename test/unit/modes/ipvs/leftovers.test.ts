// A node on which kube-proxy in iptables mode ran before.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { cleanUp } from '../../../../src/reconcile/cleanUp.js';
import { type Scenario, scenarios } from '../../../support/oracle.js';
import { ROOT } from '../../../support/paths.js';
import { FakeNode } from '../../../support/testNode.js';

const RECORDINGS = ['random-01', 'load-balancer-source-ranges'];

/** kubelet also uses this chain, so it must not be deleted. */
const KUBELETS = /KUBE-FIREWALL/;

async function nodeWithIptablesMode(name: string): Promise<{ node: FakeNode; scenario: Scenario }> {
  const scenario = scenarios('ipvs').find((candidate) => candidate.name === name) as Scenario;
  const node = new FakeNode(scenario);
  await node.load(`${scenario.folder}/objects.yaml`);
  for (const [family, file] of [
    [4, 'iptables.txt'],
    [6, 'ip6tables.txt'],
  ] as const) {
    const folder = join(ROOT, 'test/oracle/recordings', name, 'iptables');
    node.kernel.iptables.load(family, readFileSync(join(folder, file), 'utf8'));
  }
  return { node, scenario };
}

/** Rules and chains of a family, without those of kubelet and the built-in chains of table mangle. */
function rules(node: FakeNode, family: 4 | 6): string[] {
  const lines = node.kernel.iptables.dump(family).split('\n');
  const mangle = lines.indexOf('*mangle') < 0 ? [] : lines.splice(0, lines.indexOf('COMMIT') + 1);
  assert.deepEqual(
    mangle.filter((line) => line.startsWith('-A') || line.startsWith(':KUBE')),
    [],
  );
  return lines.filter((line) => !KUBELETS.test(line)).sort();
}

describe('after iptables mode', () => {
  for (const name of RECORDINGS) {
    it(`${name}: the rules are those of ipvs mode alone`, async () => {
      const { node, scenario } = await nodeWithIptablesMode(name);
      const fresh = new FakeNode(scenario);
      await fresh.load(`${scenario.folder}/objects.yaml`);
      assert.deepEqual((await fresh.sync()).failures, []);
      assert.deepEqual((await node.sync()).failures, []);
      for (const family of [4, 6] as const) assert.deepEqual(rules(node, family), rules(fresh, family));
      node.reconciler.requestFullSync();
      assert.equal((await node.sync()).operations, 0);
    });

    it(`${name}: its chains are deleted only after ours are programmed`, async () => {
      const { node } = await nodeWithIptablesMode(name);
      let before = '';
      node.kernel.ipvs.fault = () => {
        before ||= node.kernel.iptables.dump(4);
        return undefined;
      };
      await node.sync();
      assert.match(before, /:KUBE-SVC-/);
      assert.match(before, /:KUBE-IPVS-FILTER/);
    });

    it(`${name}: a clean-up also deletes them`, async () => {
      const { node } = await nodeWithIptablesMode(name);
      const { failures, left } = await cleanUp(node.mode);
      assert.deepEqual({ failures, left }, { failures: [], left: [] });
      for (const family of [4, 6] as const) {
        assert.deepEqual(
          rules(node, family).filter((line) => /KUBE/.test(line)),
          [],
        );
      }
    });
  }

  it('a chain to which foreign rules jump stays', async () => {
    const { node } = await nodeWithIptablesMode('random-01');
    const others = '*raw\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING -j NOTRACK\nCOMMIT\n';
    node.kernel.iptables.load(6, others);
    await node.kernel.iptables.restore(4, [
      {
        do: 'insertRule',
        rule: { family: 4, table: 'filter', chain: 'OUTPUT', text: '-j KUBE-EXTERNAL-SERVICES' },
      },
    ]);
    assert.deepEqual((await node.sync()).failures, []);
    assert.match(node.kernel.iptables.dump(4), /:KUBE-EXTERNAL-SERVICES/);
    assert.doesNotMatch(node.kernel.iptables.dump(4), /KUBE-SVC-/);
  });
});
