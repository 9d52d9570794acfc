// The recordings of nftables mode on a real kernel, in a network namespace: what nft lists equals what kube-proxy left, step by step and
// from an empty kernel; a second pass, a restart, and a start on kube-proxy's own tables have no operations; a clean-up removes our
// tables and nothing else.
// Needs: nftables
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Nftables, openNftables } from '../../src/kernel/nftables/index.js';
import { FakeKernel } from '../../src/kernel/testing/index.js';
import { cleanUp } from '../../src/proxy/reconcile/cleanUp.js';
import { makeNamespace, type Namespace } from '../support/namespaces/netns.js';
import { nftDifferences, type Scenario, scenarios } from '../support/oracle/oracle.js';
import { NftablesNode } from '../support/oracle/testNode.js';

let namespace: Namespace;
let nftables: Nftables;

const nft = (...args: readonly string[]) => namespace.run('nft', ...args);

/** A node on the kernel of the namespace. */
const newNode = (scenario: Scenario) =>
  new NftablesNode(scenario, { nftables, conntrack: new FakeKernel().conntrack });

/** A pass without failures; returns the number of operations. */
async function sync(node: ReturnType<typeof newNode>): Promise<number> {
  const { failures, operations } = await node.sync();
  assert.deepEqual(
    failures.map(({ error }) => error.message),
    [],
  );
  return operations;
}

/** A table of another program. */
const OTHER = 'table ip kube-proxies {\n\tchain services {\n\t\tcounter packets 0 bytes 0\n\t}\n}\n';

before(async () => {
  namespace = makeNamespace();
  nftables = await openNftables({ netns: namespace.path });
});
after(async () => {
  await nftables.close();
  namespace.remove();
});

describe('recordings of nftables mode', () => {
  const all = scenarios('nftables');

  it('were made', () => assert.ok(all.length >= 33, `${all.length}`));

  for (const scenario of all) {
    const last = scenario.steps.at(-1) as string;
    it(scenario.name, async () => {
      nft('flush', 'ruleset');
      nft(
        'add table ip kube-proxies; add chain ip kube-proxies services; add rule ip kube-proxies services counter',
      );
      const node = newNode(scenario);
      for (const step of scenario.steps) {
        await node.load(step);
        await sync(node);
        assert.deepEqual(nftDifferences(step, nft('list', 'ruleset')), [], step);
        node.reconciler.requestFullSync();
        assert.equal(await sync(node), 0, `${step}: a second pass`);
      }
      const restarted = newNode(scenario);
      await restarted.load(last);
      assert.equal(await sync(restarted), 0, 'a restart');
      const { failures, left } = await cleanUp(restarted.mode);
      assert.deepEqual([failures, left], [[], []]);
      assert.equal(nft('list', 'ruleset'), OTHER);
      nft('-f', `${last}/nft.txt`);
      const adopting = newNode(scenario);
      await adopting.load(last);
      assert.equal(await sync(adopting), 0, "a start on kube-proxy's tables");
    });
  }
});
