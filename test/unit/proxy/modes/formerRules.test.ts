// Several modes have left state, on a kernel in memory: while that of one remains, the chains that it shares with another stay.
import assert from 'node:assert/strict';
import { beforeEach, it } from 'node:test';
import type { KernelCommand } from '../../../../src/command/config/commandLine.js';
import { IPTABLES_MODE } from '../../../../src/command/modes/iptables/definition.js';
import { hasTraces, IPVS_MODE } from '../../../../src/command/modes/ipvs/definition.js';
import { formerState } from '../../../../src/command/modes/ipvs/former.js';
import { formerModes } from '../../../../src/command/modes/select.js';
import type { HostKernel } from '../../../../src/command/modes/shared/hostKernel.js';
import { NetlinkError } from '../../../../src/kernel/errors.js';
import { FakeKernel } from '../../../../src/kernel/testing/index.js';
import { IPVS_DEFAULTS } from '../../../../src/proxy/modes/ipvs/index.js';
import { observeSets } from '../../../../src/proxy/modes/ipvs/program/observe.js';
import { cleanUp } from '../../../../src/proxy/reconcile/cleanUp.js';
import { FormerModes } from '../../../../src/proxy/reconcile/formerModes.js';
import { scenarios } from '../../../support/oracle/oracle.js';
import { FakeIptablesNode, FakeNode, FakeTablesNode } from '../../../support/oracle/testNode.js';

const NODES = { ipvs: FakeNode, iptables: FakeIptablesNode } as const;
/** Chains of ipvs mode that iptables mode has too. */
const SHARED = ['KUBE-SERVICES', 'KUBE-POSTROUTING', 'KUBE-MARK-MASQ', 'KUBE-FORWARD'];

const OPTIONS = { ...IPVS_DEFAULTS, kernelRelease: '6.1.0' };

async function* otherEntries() {}

let kernel: FakeKernel;
let connections: number;
let told: string[];

beforeEach(() => {
  kernel = new FakeKernel();
  connections = 3;
  told = [];
});

/** Programs a recorded cluster. */
async function run(mode: keyof typeof NODES) {
  const scenario = scenarios(mode).find(({ name }) => name === 'random-01') ?? assert.fail();
  const node = new NODES[mode](scenario, kernel);
  await node.load(scenario.steps.at(-1) as string);
  assert.deepEqual((await node.sync()).failures, []);
  return node.configuration;
}

/** The modes that ran before nftables mode. */
function former(configuration: Awaited<ReturnType<typeof run>>): FormerModes {
  const ipvs = {
    ...IPVS_MODE,
    openFormer: async () => {
      if (!(await hasTraces({ ...kernel, openIpset: undefined }, [4, 6]))) return undefined;
      const left = formerState(Object.assign(kernel, { otherEntries }), OPTIONS);
      return { ...left, connections: async () => connections, close: () => {} };
    },
  };
  const host = { ...kernel, iptables: kernel.iptables, close: () => {} } as unknown as HostKernel;
  const settings = { configuration, command: {} as KernelCommand, kernel: host, families: [4, 6] as const };
  const modes = formerModes(undefined, settings, { ipvs, iptables: IPTABLES_MODE });
  const events = {
    switched: (name: string, { left, failures }: { left: readonly string[]; failures: readonly unknown[] }) =>
      told.push(`${name} left ${left.length}, ${failures.length} failures`),
    kept: (name: string) => told.push(`${name} kept`),
    unswitched: (name: string, error: unknown) => told.push(`${name}: ${String(error)}`),
  };
  return new FormerModes(modes, events, () => 0);
}

const rules = () => [4, 6].map((family) => kernel.iptables.dump(family as 4 | 6)).join('');
const has = (chain: string) => new RegExp(`^-A ${chain} `, 'm').test(rules());

it('ipvs mode is kept by its connections: its chains stay, also those that iptables mode has too', async () => {
  const modes = former(await run('ipvs'));
  const before = rules();
  await modes.remove();
  assert.deepEqual([told, rules()], [['ipvs kept'], before]);
  assert.ok(SHARED.every(has));
  connections = 0;
  await modes.remove();
  assert.deepEqual([told.slice(1), modes.pending], [['ipvs left 0, 0 failures'], false]);
  assert.doesNotMatch(rules(), /KUBE-(?!FIREWALL)/);
});

it('rules of both kinds: those that the whole former mode does not have wait until it is removed', async () => {
  const { openFormerRules = () => assert.fail() } = IPVS_MODE;
  const host = { ...kernel, iptables: kernel.iptables, close: () => {} } as unknown as HostKernel;
  const configuration = await run('ipvs');
  const settings = {
    ...{ configuration, command: {} as KernelCommand, families: [4, 6] as const, layout: undefined },
    ...{ kernel: host, unshared: host },
  };
  assert.equal(await openFormerRules(settings, ['ipvs']), 'later');
  let opened: 'later' | undefined = 'later';
  const modes = new FormerModes([{ name: 'other rules of ipvs', open: async () => opened }], {}, () => 0);
  assert.deepEqual([await modes.remove(), modes.pending, await modes.preview()], [false, true, []]);
  opened = undefined;
  assert.deepEqual([await modes.remove(), modes.pending], [false, false]);
});

it('a plan names each chain of ipvs mode once', async () => {
  const planned = await former(await run('ipvs')).preview();
  assert.deepEqual([...new Set(planned.map(({ formerMode }) => formerMode))], ['ipvs']);
  const keys = planned.map(({ key }) => key);
  assert.ok(keys.some((key) => key.includes('KUBE-POSTROUTING')));
  assert.equal(new Set(keys).size, keys.length);
});

it('iptables mode, which ran last, is removed at once while ipvs mode is kept', async () => {
  await run('ipvs');
  const modes = former(await run('iptables'));
  await modes.remove();
  assert.deepEqual(told, ['ipvs kept', 'iptables left 0, 0 failures']);
  assert.doesNotMatch(rules(), /KUBE-(SVC|SEP|EXT)-/);
  connections = 0;
  await modes.remove();
  assert.deepEqual([told.slice(2), modes.pending], [['ipvs left 0, 0 failures'], false]);
  assert.doesNotMatch(rules(), /KUBE-(?!FIREWALL)/);
});

it('chains that several modes have are removed if the state of none of them remains', async () => {
  const configuration = await run('iptables');
  kernel = new FakeKernel();
  for (const family of [4, 6] as const)
    kernel.iptables.load(family, '*nat\n:KUBE-POSTROUTING - [0:0]\n-A KUBE-POSTROUTING -j RETURN\nCOMMIT\n');
  await former(configuration).remove();
  assert.deepEqual(told, ['iptables left 0, 0 failures']);
  assert.doesNotMatch(rules(), /KUBE-POSTROUTING/);
});

it('the change of the rules of ipvs mode was interrupted: virtual services go that only the former entries record', async () => {
  await run('ipvs');
  const sets = { otherEntries: () => observeSets(kernel, OPTIONS) };
  const scenario = scenarios('ipvs').find(({ name }) => name === 'random-01') ?? assert.fail();
  const node = new FakeTablesNode(scenario, Object.assign(kernel, sets));
  await node.load(scenario.steps.at(-1) as string);
  kernel.fault = (operation, target) =>
    operation.startsWith('nftables.') && target.includes('ip6 ')
      ? new NetlinkError({ code: 'ENOMEM', operation, target })
      : undefined;
  assert.ok((await node.sync()).failures.length > 0);
  kernel.fault = () => undefined;
  assert.match(kernel.ipvs.dump(), /^-A -t \[fd/m);
  const { mode } = formerState(Object.assign(kernel, sets), { ...OPTIONS, rules: 'nftables' });
  const { left, failures } = await cleanUp(mode);
  assert.deepEqual([left, failures, kernel.ipvs.dump()], [[], [], '']);
});
