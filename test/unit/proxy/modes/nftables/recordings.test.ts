// The plan of every recorded cluster, as the text of nft: it must equal what kube-proxy left in the kernel.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { sample } from '../../../../support/extent.js';
import { nftText } from '../../../../support/oracle/nftText.js';
import { nftDifferences, scenarios } from '../../../../support/oracle/oracle.js';
import { desiredAt, itemsOf } from '../../../../support/oracle/plannedNftables.js';

const all = scenarios('nftables');

it('were recorded', () => assert.ok(all.length >= 33, `${all.length} recordings`));

for (const scenario of sample(all, 6)) {
  it(`${scenario.name}: the texts of all rules, sets and elements`, async () => {
    for (const step of scenario.steps) {
      const items = itemsOf(await desiredAt(scenario, step));
      assert.deepEqual(nftDifferences(step, nftText(items)), [], step);
    }
  });
}
