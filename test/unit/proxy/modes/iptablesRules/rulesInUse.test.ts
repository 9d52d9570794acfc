// The rules of the running mode are hidden from a former one; everything else passes.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { iptablesWithout } from '../../../../../src/command/modes/iptablesRules/rulesInUse.js';
import { FakeIptables } from '../../../../../src/kernel/testing/index.js';

const SAVED = `*nat
:PREROUTING ACCEPT [0:0]
:KUBE-SERVICES - [0:0]
:KUBE-OLD - [0:0]
-A PREROUTING -j KUBE-SERVICES
-A PREROUTING -j KUBE-OLD
-A KUBE-SERVICES -j KUBE-OLD
COMMIT
*filter
:INPUT DROP [0:0]
:KUBE-SERVICES - [0:0]
COMMIT
`;

const USED = {
  chains: { nat: ['KUBE-SERVICES'], filter: [], mangle: [] },
  jumps: (family: 4 | 6) => [
    { family, table: 'nat' as const, chain: 'PREROUTING', text: '-j KUBE-SERVICES' },
  ],
};

function opened() {
  const iptables = new FakeIptables();
  iptables.load(4, SAVED);
  return { iptables, seen: iptablesWithout(iptables, USED) };
}

it('chains in use, and rules in use in other chains, are not read', async () => {
  const { seen } = opened();
  const rules = await seen.save(4);
  assert.deepEqual(rules.get('nat/PREROUTING'), ['-j KUBE-OLD']);
  assert.equal(rules.has('nat/KUBE-SERVICES'), false);
  // A chain of the same name in another table.
  assert.deepEqual([rules.get('nat/KUBE-OLD'), rules.get('filter/KUBE-SERVICES')], [[], []]);
  assert.deepEqual(await seen.listRules(4, 'nat', 'PREROUTING'), ['-j KUBE-OLD']);
  assert.deepEqual(await seen.listRules(4, 'nat', 'KUBE-SERVICES'), []);
  const tables = await seen.saveTables(4);
  assert.deepEqual([tables.rules, tables.policies.get('filter/INPUT')], [rules, 'DROP']);
});

it('restores pass, and are reported once', async () => {
  const { iptables, seen } = opened();
  let batches = 0;
  iptables.onBatch = () => batches++;
  const chain = { family: 4, table: 'nat', name: 'KUBE-OLD', rules: ['-j RETURN'] } as const;
  assert.deepEqual(await seen.restore(4, [{ do: 'setChain', chain }]), [undefined]);
  assert.match(iptables.dump(4), /-A KUBE-OLD -j RETURN/);
  assert.equal(batches, 1);
});
