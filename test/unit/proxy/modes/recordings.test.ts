// Every recorded cluster, programmed into a kernel in memory in each mode: its state must equal that of kube-proxy.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BLOCK_LOCALNET } from '../../../../src/proxy/modes/iptables/plan/fixedChains.js';
import { ROUTE_LOCALNET } from '../../../../src/proxy/modes/iptables/plan/planNode.js';
import { cleanUp } from '../../../../src/proxy/reconcile/cleanUp.js';
import { sample } from '../../../support/extent.js';
import { differences, type RecordedMode, type Scenario, scenarios } from '../../../support/oracle/oracle.js';
import { FakeIptablesNode, FakeNode, FakeTablesNode } from '../../../support/oracle/testNode.js';

function recordings<Node extends FakeNode | FakeIptablesNode>(
  mode: RecordedMode,
  create: (scenario: Scenario, kernel?: Node['kernel']) => Node,
): void {
  for (const scenario of sample(scenarios(mode), 4)) {
    const last = scenario.steps.at(-1) as string;
    describe(`${mode}: ${scenario.name}`, () => {
      it('step by step, with no further operations after each', async () => {
        const node = create(scenario);
        for (const step of scenario.steps) {
          await node.load(step);
          const { failures } = await node.sync();
          assert.deepEqual(failures, []);
          assert.deepEqual(differences(step, node.output()), [], step);
          node.reconciler.requestFullSync();
          assert.equal((await node.sync()).operations, 0);
        }
      });

      it('from nothing to the last step, after a restart, and after a clean-up', async () => {
        const node = create(scenario);
        const { iptables } = node.kernel;
        const empty = [iptables.dump(4), iptables.dump(6)].map(linesOf);
        await node.load(last);
        await node.sync();
        assert.deepEqual(differences(last, node.output()), []);
        const restarted = create(scenario, node.kernel);
        await restarted.load(last);
        assert.equal((await restarted.sync()).operations, 0);
        const { failures, left } =
          restarted instanceof FakeNode ? await cleanUp(restarted.mode) : await cleanUp(restarted.mode);
        assert.deepEqual([failures, left], [[], []]);
        const protects = iptables.dump(4).includes(BLOCK_LOCALNET.text);
        assert.equal(protects, node.kernel.sysctl.values.get(ROUTE_LOCALNET) === '1');
        assert.deepEqual([iptables.dump(4), iptables.dump(6)].map(linesOf), empty);
      });
    });
  }
}

/** The lines of a dump, without a table that has no chains but its own, and without KUBE-FIREWALL, which protects loopback addresses. */
function linesOf(dump: string): string[] {
  return dump
    .replace(/^\*mangle\n(:\w+ ACCEPT \[0:0\]\n)*COMMIT\n/, '')
    .split('\n')
    .filter((line) => !line.includes('KUBE-FIREWALL'))
    .sort();
}

recordings('ipvs', (scenario, kernel) => new FakeNode(scenario, kernel));
recordings('iptables', (scenario, kernel) => new FakeIptablesNode(scenario, kernel));

for (const scenario of sample(scenarios('ipvs'), 4)) {
  describe(`ipvs, rules of nf_tables: ${scenario.name}`, () => {
    it('the sets have the entries of ipsets, and all but rules is as recorded, with no further operations', async () => {
      const [node, other] = [new FakeTablesNode(scenario), new FakeNode(scenario)];
      for (const step of scenario.steps) {
        for (const each of [node, other]) {
          await each.load(step);
          assert.deepEqual((await each.sync()).failures, []);
        }
        const { iptables, ip6tables, ipset } = other.output();
        assert.deepEqual(differences(step, { ...node.output(), iptables, ip6tables, ipset }), [], step);
        assert.deepEqual(await entriesOf(node), await entriesOf(other), step);
        node.reconciler.requestFullSync();
        assert.equal((await node.sync()).operations, 0);
      }
      assert.equal(node.kernel.ipset.dump(), '');
      assert.equal(node.kernel.iptables.restores, 0);
      const restarted = new FakeTablesNode(scenario, node.kernel);
      await restarted.load(scenario.steps.at(-1) as string);
      assert.equal((await restarted.sync()).operations, 0);
      const { failures, left } = await cleanUp(restarted.mode);
      assert.deepEqual([failures, left, node.kernel.nftables.dump()], [[], [], '']);
    });
  });
}

/** The keys of the entries that a node finds in its kernel, except the source ranges that others contain. */
async function entriesOf({ mode }: FakeNode): Promise<string[]> {
  const keys: string[] = [];
  for await (const piece of mode.observe()) {
    for (const [key, { kind }] of piece) if (kind === 'entry') keys.push(key);
  }
  return keys.sort();
}
