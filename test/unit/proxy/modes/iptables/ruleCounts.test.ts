// The running counts of rules, against a count of all rules in the kernel, in every recorded cluster.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { iptablesOptions } from '../../../../../src/command/modes/iptables/open.js';
import { type CountedMode, createCountedMode } from '../../../../../src/command/modes/iptables/ruleCounts.js';
import { NetlinkError } from '../../../../../src/kernel/errors.js';
import { FakeKernel } from '../../../../../src/kernel/testing/index.js';
import { sample } from '../../../../support/extent.js';
import { edit } from '../../../../support/fakes/tamperRules.js';
import { scenarios } from '../../../../support/oracle/oracle.js';
import { TestNode } from '../../../../support/oracle/testNode.js';

const FAMILIES = [4, 6] as const;

/** The rules in our chains, by family and table, as iptables-save has them. */
function counted({ iptables }: FakeKernel): string[] {
  return FAMILIES.flatMap((family) =>
    (['filter', 'nat'] as const).map((table) => {
      const [, section = ''] =
        new RegExp(`^\\*${table}\\n(.*?)^COMMIT`, 'ms').exec(iptables.dump(family)) ?? [];
      return `${family} ${table} ${section.match(/^-A KUBE-/gm)?.length ?? 0}`;
    }),
  );
}

const totals = ({ take }: CountedMode) =>
  take().map(({ family, table, total }) => `${family} ${table} ${total}`);

for (const scenario of sample(scenarios('iptables'), 5)) {
  it(scenario.name, async () => {
    const kernel = new FakeKernel();
    let counting: CountedMode | undefined;
    const node = new TestNode(scenario, kernel.conntrack, (configuration) => {
      const own = { families: FAMILIES, nfacct: true, conntrackLiberal: false };
      counting = createCountedMode(kernel, iptablesOptions(configuration, own));
      return counting.mode;
    });
    assert.ok(counting);
    for (const step of scenario.steps) {
      await node.load(step);
      await node.sync();
      assert.deepEqual(totals(counting), counted(kernel), step);
    }
    assert.ok(counting.take().every(({ written }) => written === 0));
    // A restore fails although it was made, and others change rules meanwhile: the retry reads them.
    const { iptables } = kernel;
    iptables.fault = () => new NetlinkError({ code: 'ERR_UNKNOWN_OUTCOME', operation: 'iptables.restore' });
    await node.load(scenario.folder);
    node.reconciler.requestFullSync();
    for (const family of FAMILIES)
      edit(iptables, family, (line) => (/-j (REJECT|KUBE-MARK-MASQ)/.test(line) ? [] : [line]));
    assert.ok((await node.sync()).failures.length > 0);
    iptables.fault = () => undefined;
    edit(iptables, 4, (line) => (line.startsWith('-A KUBE-S') ? [line, line] : [line]));
    node.retryFailed();
    await node.sync();
    assert.deepEqual(totals(counting), counted(kernel), 'after a retry');
    node.reconciler.startAudit();
    while (node.reconciler.auditing) await node.reconciler.auditSlice();
    assert.deepEqual(totals(counting), counted(kernel), 'after an audit');
    // Another program deletes a chain: the number follows the kernel.
    await kernel.iptables.restore(4, [
      { do: 'setChain', chain: { family: 4, table: 'filter', name: 'KUBE-FORWARD', rules: [] } },
    ]);
    node.reconciler.requestFullSync();
    await node.sync();
    assert.deepEqual(
      counting.take().map(({ total, written }) => [total > 0, written]),
      [
        [true, 3],
        [true, 0],
        [true, 0],
        [true, 0],
      ],
    );
  });
}
