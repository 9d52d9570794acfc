// Single items are read by their names: as a listing of all has them, and without that listing.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NftablesLayout } from '../../../../../src/proxy/modes/nftables/index.js';
import { isSame } from '../../../../../src/proxy/modes/nftables/plan/compare.js';
import { observeAll } from '../../../../../src/proxy/reconcile/observeAll.js';
import { scenarios } from '../../../../support/oracle/oracle.js';
import { FakeNftablesNode } from '../../../../support/oracle/testNode.js';

const LISTINGS = ['listTables', 'listChains', 'listSets'] as const;

for (const layout of ['kube-proxy', 'scalable'] as const satisfies readonly NftablesLayout[])
  describe(`items that are read alone, in layout ${layout}`, () => {
    for (const name of ['dual-stack', 'session-affinity'])
      it(`are what is listed, of ${name}`, async () => {
        const scenario = scenarios('nftables').find((each) => each.name === name) ?? assert.fail();
        const node = new FakeNftablesNode(scenario, undefined, layout);
        await node.load(scenario.folder);
        assert.deepEqual((await node.sync()).failures, []);
        // A full observation reads the sets of rules too, as one of single items does.
        const all = await observeAll(node.mode, true);
        assert.ok(all.size > 20);
        const { nftables } = node.kernel;
        const calls = new Map<string, number>();
        for (const verb of LISTINGS) {
          const list = nftables[verb].bind(nftables) as (...args: unknown[]) => never;
          nftables[verb] = (...args: unknown[]) => {
            calls.set(verb, (calls.get(verb) ?? 0) + 1);
            return list(...args);
          };
        }
        for (const [key, item] of all) {
          const { items, failures } = await node.mode.observeAlone(
            new Map([[key, undefined]]),
            new Map() as never,
          );
          assert.deepEqual([[...items.keys()], failures.size], [[key], 0]);
          assert.ok(isSame(item, items.get(key) ?? assert.fail()), key);
        }
        assert.deepEqual([...calls], []);
        const unknown = 'chain ip kube-proxy none';
        const found = await node.mode.observeAlone(new Map([[unknown, undefined]]), new Map() as never);
        assert.deepEqual([found.items.size, found.failures.size], [0, 0]);
        // Many at once are listed.
        const many = await node.mode.observeAlone(all, new Map() as never);
        assert.deepEqual([...many.items.keys()].sort(), [...all.keys()].sort());
      });
  });
