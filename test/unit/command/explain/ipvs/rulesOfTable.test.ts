// The table of nf_tables of every recorded cluster, in the terms of iptables and ipset: the rules that ipvs mode writes with them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { rulesOfTable } from '../../../../../src/command/explain/ipvs/rulesOfTable.js';
import { ipvsOptions } from '../../../../../src/command/modes/ipvs/fromConfiguration.js';
import { parseSaved } from '../../../../../src/kernel/iptables/index.js';
import type { Item } from '../../../../../src/proxy/modes/ipvs/plan/items.js';
import { observeTable } from '../../../../../src/proxy/modes/ipvs/program/observeTable.js';
import { sample } from '../../../../support/extent.js';
import { type Scenario, scenarios } from '../../../../support/oracle/oracle.js';
import { FakeNode, FakeTablesNode } from '../../../../support/oracle/testNode.js';

/** The network of the pods of the recorded node. */
const POD_NETWORKS = { 4: '10.244.1.0/24', 6: 'fd00:10:244:1::/64' };

async function programmed(scenario: Scenario) {
  const nodes = [new FakeTablesNode(scenario), new FakeNode(scenario)] as const;
  for (const node of nodes) {
    await node.load(scenario.steps.at(-1) as string);
    assert.deepEqual((await node.sync()).failures, []);
  }
  return nodes;
}

async function itemsOf({ kernel }: FakeNode, family: 4 | 6): Promise<Item[]> {
  const items: Item[] = [];
  for await (const list of observeTable(kernel.nftables, family)) items.push(...list);
  return items;
}

function rulesIn(node: FakeNode, family: 4 | 6, items: readonly Item[]) {
  const options = ipvsOptions(node.configuration, { families: [4, 6], kernelRelease: '6.1.0' });
  return rulesOfTable(family, items, options, { podNetwork: POD_NETWORKS[family], receivesTunnels: false });
}

describe('the rules of a table are those of iptables', () => {
  for (const scenario of sample(scenarios('ipvs'), 3))
    it(scenario.name, async () => {
      const [node, other] = await programmed(scenario);
      for (const family of [4, 6] as const) {
        const { rules, sets } = rulesIn(node, family, await itemsOf(node, family));
        for (const [place, texts] of parseSaved(other.kernel.iptables.dump(family))) {
          if (texts.length === 0 || place.startsWith('mangle/')) continue;
          // What a table of nf_tables accepts meets the rules of others.
          const wanted = place.startsWith('filter/')
            ? texts.map((text) => text.replace(/-j ACCEPT$/, '-j RETURN'))
            : texts;
          assert.deepEqual(rules.get(place), wanted, place);
        }
        for (const { name } of await other.kernel.ipset.list()) {
          if (name.startsWith('KUBE-6-') !== (family === 6)) continue;
          const entries = (await other.kernel.ipset.get(name))?.entries ?? [];
          assert.equal(sets.get(name)?.entries.length, entries.length, name);
        }
      }
    });
});

it('a chain without rules, a rule that is missing, and a jump that is missing are not there', async () => {
  const scenario = scenarios('ipvs').find(({ name }) => name === 'random-01') ?? assert.fail();
  const [node] = await programmed(scenario);
  const items = await itemsOf(node, 4);
  const whole = rulesIn(node, 4, items).rules;
  const without = (name: string, keep: number) =>
    items.map((item) =>
      item.kind === 'tableChain' && item.name === name ? { ...item, rules: item.rules.slice(0, keep) } : item,
    );
  assert.deepEqual(rulesIn(node, 4, without('nat/KUBE-SERVICES', 0)).rules.get('nat/KUBE-SERVICES'), []);
  assert.deepEqual(
    rulesIn(node, 4, without('nat/KUBE-NODE-PORT', 1)).rules.get('nat/KUBE-NODE-PORT'),
    whole.get('nat/KUBE-NODE-PORT')?.slice(0, 1),
  );
  assert.equal(rulesIn(node, 4, without('nat/PREROUTING', 0)).rules.has('nat/PREROUTING'), false);
  assert.ok(whole.has('nat/PREROUTING'));
});
