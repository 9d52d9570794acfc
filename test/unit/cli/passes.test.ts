// --cleanup: all modes, even if one of them or a family cannot be read.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pino } from 'pino';
import { runCleanUp } from '../../../src/cli/passes.js';
import { NetlinkError } from '../../../src/errors.js';
import { FakeKernel } from '../../../src/kernel/testing/index.js';
import { formerState } from '../../../src/modes/iptables/former.js';
import { IPTABLES_DEFAULTS } from '../../../src/modes/iptables/index.js';
import type { FormerMode } from '../../../src/modes/mode.js';
import type { UnusableFamily } from '../../../src/modes/shared/families.js';

const CHAIN = { family: 4, table: 'nat', name: 'KUBE-SVC-AAAAAAAAAAAAAAAA', rules: [] } as const;

/** A clean-up of a node with one chain of iptables mode, and other modes. */
async function cleaned(others: readonly FormerMode[] = [], unusable: readonly UnusableFamily[] = []) {
  const kernel = new FakeKernel();
  await kernel.iptables.restore(4, [{ do: 'setChain', chain: CHAIN }]);
  let closed = 0;
  const iptables: FormerMode = {
    name: 'iptables',
    open: async () => ({ ...formerState(kernel, IPTABLES_DEFAULTS), close: () => void closed++ }),
  };
  const lines: string[] = [];
  let printed = '';
  const status = await runCleanUp({
    modes: [...others, iptables],
    unusable,
    log: pino({ base: null }, { write: (line: string) => lines.push(line) }),
    print: (text) => {
      printed += text;
    },
  });
  assert.equal(closed, 1);
  return { status, printed, log: lines.join(''), rules: kernel.iptables.dump(4) };
}

describe('a clean-up', () => {
  it('removes the items of every mode that left some', async () => {
    const none: FormerMode = { name: 'ipvs', open: async () => undefined };
    const { status, printed, rules } = await cleaned([none]);
    assert.deepEqual([status, printed], [0, '1 kernel operation\nnone of our state is left\n']);
    assert.doesNotMatch(rules, /KUBE/);
  });

  it('names a mode that cannot be opened, and removes the others', async () => {
    const hint = 'IPVS needs the kernel module ip_vs';
    const error = new NetlinkError({ code: 'ENOENT', operation: 'ipvs.open', hint });
    const { status, printed, log, rules } = await cleaned([
      { name: 'ipvs', open: () => Promise.reject(error) },
    ]);
    assert.equal(status, 1);
    assert.equal(printed, '1 kernel operation\nmore of our state may be left: see the errors\n');
    assert.match(
      log,
      /"mode":"ipvs","err":"NetlinkError: ENOENT: ipvs\.open \(IPVS needs the kernel module ip_vs\)"/,
    );
    assert.doesNotMatch(rules, /KUBE/);
  });

  it('names a family whose rules cannot be read, but not one that the kernel does not have', async () => {
    const reason = 'NetlinkError: ENOENT: iptables.save ip6tables-save (install the package iptables)';
    const missing = await cleaned([], [{ family: 6, inKernel: true, reason }]);
    assert.equal(missing.status, 1);
    assert.match(missing.log, /ip6tables-save.*"msg":"cannot remove the rules of IPv6"/);
    const without = await cleaned([], [{ family: 6, inKernel: false, reason: 'no IPv6' }]);
    assert.deepEqual([without.status, without.log], [0, '']);
  });
});
