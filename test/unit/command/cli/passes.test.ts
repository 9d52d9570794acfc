// --cleanup, --once and plan: all modes, even if one of them or a family cannot be read.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pino } from 'pino';
import {
  type PassParts,
  type Preview,
  runCleanUp,
  runOnce,
  runPreview,
} from '../../../../src/command/cli/passes.js';
import { readInputFlags } from '../../../../src/command/config/commandLine.js';
import { loadConfiguration } from '../../../../src/command/config/load.js';
import { formerState } from '../../../../src/command/modes/iptables/former.js';
import type { UnusableFamily } from '../../../../src/command/modes/iptablesRules/families.js';
import { MODES } from '../../../../src/command/modes/select.js';
import { NetlinkError } from '../../../../src/kernel/errors.js';
import type { IptablesOperation } from '../../../../src/kernel/iptables/types.js';
import { FakeKernel } from '../../../../src/kernel/testing/index.js';
import { IPTABLES_DEFAULTS } from '../../../../src/proxy/modes/iptables/index.js';
import type { FormerMode } from '../../../../src/proxy/modes/mode.js';
import { nodeFacts } from '../../../../src/proxy/services/nodeFacts.js';
import { MapKernel } from '../../../support/mapMode/mapKernel.js';
import { createMapMode } from '../../../support/mapMode/mapMode.js';

const CHAIN = { family: 4, table: 'nat', name: 'KUBE-SVC-AAAAAAAAAAAAAAAA', rules: [] } as const;

const IPVS_ERROR = new NetlinkError({
  code: 'EPERM',
  operation: 'ipvs.open',
  hint: 'run with CAP_NET_ADMIN',
});

/** A mode whose state cannot be opened. */
const UNREADABLE: FormerMode = { name: 'ipvs', open: () => Promise.reject(IPVS_ERROR) };

/** A clean-up of a node with one chain of iptables mode, and other modes. */
async function cleaned(
  others: readonly FormerMode[] = [],
  unusable: readonly UnusableFamily[] = [],
  more: readonly IptablesOperation[] = [],
) {
  const kernel = new FakeKernel();
  await kernel.iptables.restore(4, [{ do: 'setChain', chain: CHAIN }, ...more]);
  let open = 0;
  const iptables: FormerMode = {
    name: 'iptables',
    open: async () => {
      open++;
      return { ...formerState(kernel, IPTABLES_DEFAULTS), close: () => void open-- };
    },
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
  assert.equal(open, 0);
  return { status, printed, log: lines.join(''), rules: kernel.iptables.dump(4) };
}

const LOGGED = /"mode":"ipvs","err":"NetlinkError: EPERM: ipvs\.open \(run with CAP_NET_ADMIN\)"/;

describe('a clean-up', () => {
  it('removes the items of every mode that left some', async () => {
    const none: FormerMode = { name: 'ipvs', open: async () => undefined };
    const { status, printed, rules } = await cleaned([none]);
    assert.deepEqual([status, printed], [0, '1 kernel operation\nnone of our state is left\n']);
    assert.doesNotMatch(rules, /KUBE/);
  });

  it('names a chain that stays because a rule of another program jumps to it', async () => {
    const chain = { ...CHAIN, name: 'KUBE-SVC-BBBBBBBBBBBBBBBB' };
    const rule = { family: 4, table: CHAIN.table, chain: 'POSTROUTING', text: `-j ${chain.name}` } as const;
    const { status, printed } = await cleaned(
      [],
      [],
      [
        { do: 'setChain', chain },
        { do: 'insertRule', rule },
      ],
    );
    const text = `1 kernel operation
left, because other programs use it:
  chain IPv4 nat/KUBE-SVC-BBBBBBBBBBBBBBBB
nothing else of our state is left
`;
    assert.deepEqual([status, printed], [0, text]);
  });

  it('names a mode that cannot be opened, and removes the others', async () => {
    const { status, printed, log, rules } = await cleaned([UNREADABLE]);
    assert.equal(status, 1);
    assert.equal(printed, '1 kernel operation\nmore of our state may be left: see the errors\n');
    assert.match(log, LOGGED);
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

/** The parts of a pass on a node where these modes may have run before, and the lines that it logs. */
function passOf(kernel: FakeKernel, formerModes: readonly FormerMode[]) {
  const lines: string[] = [];
  const parts: PassParts = {
    opened: { mode: createMapMode(new MapKernel(), 60_000), kernel },
    formerModes,
    source: { start: async () => {}, stop() {} },
    node: nodeFacts('node-a'),
    configuration: loadConfiguration(readInputFlags([]), MODES).configuration,
    log: pino({ base: null }, { write: (line: string) => lines.push(line) }),
    print: () => {},
  };
  return { parts, lines };
}

/** A node on which iptables mode left one chain. */
async function withChain() {
  const kernel = new FakeKernel();
  await kernel.iptables.restore(4, [{ do: 'setChain', chain: CHAIN }]);
  const iptables: FormerMode = { name: 'iptables', open: async () => formerState(kernel, IPTABLES_DEFAULTS) };
  return { kernel, iptables };
}

describe('a plan', () => {
  it('lists the removal of what a former mode left, names a mode that cannot be opened, and changes nothing', async () => {
    const { kernel, iptables } = await withChain();
    const before = kernel.iptables.dump(4);
    const plan = async (...formerModes: FormerMode[]) => {
      const { parts, lines } = passOf(kernel, formerModes);
      const shown: Preview[] = [];
      const status = await runPreview(parts, (preview) => shown.push(preview));
      return { status, log: lines.join(''), operations: shown.flatMap(({ operations }) => operations) };
    };
    const found = await plan({ name: 'nftables', open: async () => undefined }, iptables);
    assert.deepEqual([found.status, found.log], [1, '']);
    const former = found.operations.filter(({ formerMode }) => formerMode !== undefined);
    assert.deepEqual(former, [
      {
        phase: 'deleteChains',
        key: `chain IPv4 nat/${CHAIN.name}`,
        ...{ node: false, services: [], state: 'unwanted', formerMode: 'iptables' },
        lines: [`- chain IPv4 nat/${CHAIN.name}`],
      },
    ]);
    const { parts } = passOf(kernel, [iptables]);
    const opened = { ...parts.opened, foreignChains: () => ['chain theirs'] };
    const shown: Preview[] = [];
    await runPreview({ ...parts, opened }, (preview) => shown.push(preview));
    assert.deepEqual(
      shown.map(({ foreignChains }) => foreignChains),
      [['chain theirs']],
    );
    const { status, log, operations } = await plan(UNREADABLE, iptables);
    assert.deepEqual([status, operations], [2, found.operations]);
    assert.match(log, LOGGED);
    assert.match(log, /"msg":"cannot read the items of another mode"/);
    assert.equal(kernel.iptables.dump(4), before);
  });
});

describe('--once', () => {
  it('removes what a former mode left', async () => {
    const { kernel, iptables } = await withChain();
    const { parts, lines } = passOf(kernel, [iptables]);
    assert.equal(await runOnce(parts), 0);
    assert.match(lines.join(''), /"mode":"iptables","operations":1,"left":\[\]/);
    assert.doesNotMatch(kernel.iptables.dump(4), /KUBE/);
  });

  it('has status 1 if a mode cannot be opened, or an item cannot be removed', async () => {
    const { kernel, iptables } = await withChain();
    const unopened = passOf(kernel, [UNREADABLE]);
    assert.equal(await runOnce(unopened.parts), 1);
    assert.match(unopened.lines.join(''), LOGGED);
    kernel.fault = (operation) => (operation === 'iptables.restore' ? IPVS_ERROR : undefined);
    const failed = passOf(kernel, [iptables]);
    assert.equal(await runOnce(failed.parts), 1);
    assert.match(failed.lines.join(''), /"left":\["chain IPv4 nat\/KUBE-SVC-A+"\]/);
  });
});
