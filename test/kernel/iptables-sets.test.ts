// Sets that rules of iptables-nft match: nf_tables frees deleted rules some ms after the program has deleted them.
// Needs: nftables, ipset
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openIpset } from '../../src/kernel/ipset/index.js';
import { openIptables } from '../../src/kernel/iptables/index.js';
import { applyToSets } from '../../src/modes/ipvs/program/applyToSets.js';

const iptables = openIptables();
const ipset = await openIpset();
after(() => {
  ipset.close();
  return iptables.close();
});

const CHAIN = { family: 4, table: 'filter', name: 'KUBE-TEST' } as const;

async function createSetWithRule(): Promise<void> {
  await ipset.create({ name: 'USED', type: 'hash:ip', family: 4 });
  const chain = { ...CHAIN, rules: ['-m set --match-set USED src -j DROP'] };
  assert.deepEqual(await iptables.restore(4, [{ do: 'setChain', chain }]), [undefined]);
}

async function deleteChain(): Promise<void> {
  assert.deepEqual(await iptables.restore(4, [{ do: 'deleteChain', chain: CHAIN }]), [undefined]);
}

const names = async () => (await ipset.list()).map(({ name }) => name);

test('a set is destroyed right after the rule that matches it', async () => {
  let refused = 0;
  const counting: Pick<typeof ipset, 'apply'> = {
    apply: async (batch) => {
      const results = await ipset.apply(batch);
      refused += results.filter((error) => error?.code === 'EBUSY').length;
      return results;
    },
  };
  for (let i = 0; i < 20; i++) {
    await createSetWithRule();
    await deleteChain();
    assert.deepEqual(await applyToSets(counting, [{ do: 'destroy', name: 'USED' }]), [undefined]);
    assert.deepEqual(await names(), []);
  }
  // Otherwise this kernel frees rules at once, and the test shows nothing.
  assert.ok(refused > 0);
});

test('a set that a rule matches stays, and only it', async () => {
  await createSetWithRule();
  await ipset.create({ name: 'FREE', type: 'hash:ip', family: 4 });
  const results = await applyToSets(ipset, [
    { do: 'destroy', name: 'USED' },
    { do: 'destroy', name: 'FREE' },
  ]);
  assert.deepEqual(
    results.map((error) => error?.code),
    ['EBUSY', undefined],
  );
  assert.deepEqual(await names(), ['USED']);
  await deleteChain();
  assert.deepEqual(await applyToSets(ipset, [{ do: 'destroy', name: 'USED' }]), [undefined]);
});
