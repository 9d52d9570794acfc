// Sets that rules of iptables-nft match: nf_tables frees deleted rules some ms after the program has deleted them.
// Needs: nftables, ipset
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openIpset } from '../../src/kernel/ipset/index.js';
import { openIptables } from '../../src/kernel/iptables/index.js';
import { openNftables } from '../../src/kernel/nftables/index.js';
import { applyToSets } from '../../src/proxy/modes/ipvs/program/applyToSets.js';

const iptables = openIptables();
const ipset = await openIpset();
const nftables = await openNftables();
after(() => {
  ipset.close();
  return Promise.all([iptables.close(), nftables.close()]);
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

/** Elements that the kernel frees in some 100 ms. */
const MANY = 300_000;

/**
 * Deletes a large set of nf_tables. The kernel frees it in the work item that frees the rules of the next transaction, and before them: how
 * soon it would free these rules otherwise depends on the grace periods of RCU, which are short in many virtual machines.
 */
async function delayFreeing(): Promise<void> {
  const table = { family: 'ip', name: 'large' } as const;
  const set = { family: 'ip', table: 'large', name: 'numbers', key: 'mark' } as const;
  const elements = Array.from({ length: MANY }, (_, key) => ({ key }));
  for (const batch of [
    [
      { do: 'addTable', table },
      { do: 'addSet', set },
      { do: 'addElements', set, elements },
    ],
    [{ do: 'deleteTable', table }],
  ] as const) {
    assert.deepEqual([...new Set(await nftables.apply(batch))], [undefined]);
  }
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
  for (let i = 0; i < 3; i++) {
    await createSetWithRule();
    await delayFreeing();
    await deleteChain();
    assert.deepEqual(await applyToSets(counting, [{ do: 'destroy', name: 'USED' }]), [undefined]);
    assert.deepEqual(await names(), []);
  }
  assert.ok(refused > 0, 'otherwise the kernel has freed the rules at once, and the test shows nothing');
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
