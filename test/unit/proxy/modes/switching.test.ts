// Every recorded cluster changes its mode on a kernel in memory, in both directions: nothing of the former mode is left,
// and the running one has all it needs, at each step.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasTraces as hasTracesOfIptables } from '../../../../src/command/modes/iptables/definition.js';
import {
  formerState as formerIptables,
  RULES as IPTABLES_RULES,
} from '../../../../src/command/modes/iptables/former.js';
import { iptablesWithout } from '../../../../src/command/modes/iptablesRules/rulesInUse.js';
import { hasTraces } from '../../../../src/command/modes/ipvs/definition.js';
import { formerState as formerIpvs, RULES as IPVS_RULES } from '../../../../src/command/modes/ipvs/former.js';
import type { RulesInUse } from '../../../../src/command/modes/shared/definition.js';
import { NetlinkError } from '../../../../src/kernel/errors.js';
import { FakeKernel } from '../../../../src/kernel/testing/index.js';
import { IPTABLES_DEFAULTS } from '../../../../src/proxy/modes/iptables/index.js';
import { IPVS_DEFAULTS } from '../../../../src/proxy/modes/ipvs/index.js';
import type { FormerState } from '../../../../src/proxy/modes/mode.js';
import { FormerModes } from '../../../../src/proxy/reconcile/formerModes.js';
import { sample } from '../../../support/extent.js';
import { type Scenario, scenarios } from '../../../support/oracle/oracle.js';
import { FakeIptablesNode, FakeNftablesNode, FakeNode } from '../../../support/oracle/testNode.js';

type AnyNode = FakeNode | FakeIptablesNode;

const MODES = {
  ipvs: { scenarios: scenarios('ipvs'), node: FakeNode, rules: IPVS_RULES },
  iptables: { scenarios: scenarios('iptables'), node: FakeIptablesNode, rules: IPTABLES_RULES },
} as const;
type ModeName = keyof typeof MODES;

/** The scenarios that both modes have: the name → the scenario of each. */
const SCENARIOS = MODES.ipvs.scenarios.flatMap((ipvs) => {
  const iptables = MODES.iptables.scenarios.find(({ name }) => name === ipvs.name);
  return iptables ? [{ name: ipvs.name, ipvs, iptables }] : [];
});

/** The kernel as a former mode sees it. */
function withoutRules(kernel: FakeKernel, used: RulesInUse) {
  const { conntrack, ipvs, ipset, rtnetlink, sysctl } = kernel;
  return {
    conntrack,
    ipvs,
    ipset,
    rtnetlink,
    sysctl,
    otherEntries: async function* () {},
    iptables: iptablesWithout(kernel.iptables, used),
  };
}

/** The state that a mode left, without the rules that the running one uses. */
function former(mode: ModeName, kernel: FakeKernel, running: ModeName): FormerState {
  const seen = withoutRules(kernel, MODES[running].rules);
  if (mode === 'iptables') return formerIptables(seen, IPTABLES_DEFAULTS);
  return { ...formerIpvs(seen, { ...IPVS_DEFAULTS, kernelRelease: '6.1.0' }), close: () => {} };
}

async function start(mode: ModeName, scenario: Scenario, kernel: FakeKernel): Promise<AnyNode> {
  const node = new MODES[mode].node(scenario, kernel);
  await node.load(scenario.steps.at(-1) as string);
  const { failures } = await node.sync();
  assert.deepEqual(failures, []);
  return node;
}

/** Removes the state of the former mode as it was planned, and returns the number of operations. */
async function remove(from: ModeName, kernel: FakeKernel, to: ModeName): Promise<number> {
  let operations = -1;
  const formerModes = new FormerModes(
    [{ name: from, open: async () => former(from, kernel, to) }],
    {
      switched(_, summary) {
        assert.deepEqual([summary.failures, summary.left], [[], []]);
        ({ operations } = summary);
      },
      unswitched: (_, error) => assert.fail(String(error)),
    },
    () => 0,
  );
  const before = stateOf(kernel);
  const planned = await formerModes.preview();
  assert.deepEqual(stateOf(kernel), before, 'a plan changes nothing');
  for (const { formerMode, state, node, services } of planned)
    assert.deepEqual({ formerMode, state, node, services }, { ...UNWANTED, formerMode: from });
  await formerModes.remove();
  assert.equal(operations, planned.length);
  assert.equal(formerModes.pending, false);
  return operations;
}

const UNWANTED = { state: 'unwanted', node: false, services: [] };

/** kubelet has this chain too, so it stays. */
const KUBELETS = /KUBE-FIREWALL/;

/** The state of a kernel as sorted lines, without settings, which no clean-up resets. */
function stateOf({ ipvs, ipset, iptables, rtnetlink }: FakeKernel): string[] {
  const rules = ([4, 6] as const).map((family) =>
    iptables.dump(family).replace(/^\*mangle\n(:\w+ ACCEPT \[0:0\]\n)*COMMIT\n/, ''),
  );
  return [ipvs.dump(), ipset.dump(), rtnetlink.dump('kube-ipvs0'), ...rules]
    .join('\n')
    .split('\n')
    .filter((line) => !KUBELETS.test(line))
    .sort();
}

for (const [from, to] of [
  ['ipvs', 'iptables'],
  ['iptables', 'ipvs'],
] as const) {
  describe(`${from} → ${to}`, () => {
    for (const { name, ...scenario } of sample(SCENARIOS, 2)) {
      it(name, async () => {
        const fresh = new FakeKernel();
        await start(to, scenario[to], fresh);
        const kernel = new FakeKernel();
        await start(from, scenario[from], kernel);
        const node = await start(to, scenario[to], kernel);
        assert.ok((await remove(from, kernel, to)) > 0);
        assert.deepEqual(stateOf(kernel), stateOf(fresh));
        // Nothing that the running mode needs is missing.
        node.reconciler.requestFullSync();
        assert.equal((await node.sync()).operations, 0);
        assert.equal(await remove(from, kernel, to), 0);
      });
    }
  });
}

it('ipvs → iptables → ipvs leaves the same state as ipvs mode alone', async () => {
  const { ipvs, iptables } = SCENARIOS.find(({ name }) => name === 'random-01') ?? assert.fail();
  const fresh = new FakeKernel();
  await start('ipvs', ipvs, fresh);
  const kernel = new FakeKernel();
  await start('ipvs', ipvs, kernel);
  await start('iptables', iptables, kernel);
  await remove('ipvs', kernel, 'iptables');
  await start('ipvs', ipvs, kernel);
  await remove('iptables', kernel, 'ipvs');
  assert.deepEqual(stateOf(kernel), stateOf(fresh));
});

it('all new items are programmed before one of the former mode is removed', async () => {
  const { ipvs, iptables } = SCENARIOS.find(({ name }) => name === 'random-01') ?? assert.fail();
  const kernel = new FakeKernel();
  await start('ipvs', ipvs, kernel);
  const before = [kernel.ipvs.dump(), kernel.ipset.dump(), kernel.rtnetlink.dump('kube-ipvs0')];
  await start('iptables', iptables, kernel);
  assert.deepEqual([kernel.ipvs.dump(), kernel.ipset.dump(), kernel.rtnetlink.dump('kube-ipvs0')], before);
});

it('ipvs mode replaces the rules of iptables mode only after its virtual services and addresses are there', async () => {
  const { ipvs, iptables } = SCENARIOS.find(({ name }) => name === 'random-01') ?? assert.fail();
  const kernel = new FakeKernel();
  await start('iptables', iptables, kernel);
  const fresh = new FakeKernel();
  await start('ipvs', ipvs, fresh);
  const leads = () => /^-A KUBE-SERVICES .*-j KUBE-SVC-/m.test(kernel.iptables.dump(4));
  kernel.fault = (operation) => {
    if (!leads()) assert.doesNotMatch(operation, /add/, 'after the rules were replaced');
    return undefined;
  };
  await start('ipvs', ipvs, kernel);
  assert.equal(leads(), false);
  assert.equal(kernel.ipvs.dump(), fresh.ipvs.dump());
});

describe('ipvs mode replaces no rule of iptables mode while the kernel refuses', () => {
  const { ipvs, iptables } = SCENARIOS.find(({ name }) => name === 'random-01') ?? assert.fail();
  const rows: readonly (readonly [
    title: string,
    part: 'ipvs' | 'ipset' | 'rtnetlink' | 'sysctl',
    RegExp,
    code: string,
  ])[] = [
    ['a setting', 'sysctl', /vs\/conntrack/, 'EROFS'],
    ['a setting that it has not', 'sysctl', /expire_nodest_conn/, 'ENOENT'],
    ['the link', 'rtnetlink', /addLink/, 'EPERM'],
    ['a set', 'ipset', /KUBE-CLUSTER-IP/, 'EPERM'],
    ['most virtual services', 'ipvs', /addService/, 'ENOENT'],
  ];
  for (const [title, part, what, code] of rows)
    it(title, async () => {
      const kernel = new FakeKernel();
      await start('iptables', iptables, kernel);
      const rules = () =>
        ([4, 6] as const).map((family) =>
          kernel.iptables
            .dump(family)
            .split('\n')
            .filter((line) => /^-A KUBE-(SERVICES|NODEPORTS|SVC|SEP|EXT|FW)/.test(line)),
        );
      const before = rules();
      assert.ok(before.flat().some((line) => line.includes('-j KUBE-SVC-')));
      kernel[part].fault = (operation, target) =>
        what.test(`${operation} ${target}`) ? new NetlinkError({ code, operation, target }) : undefined;
      const node = new FakeNode(ipvs, kernel);
      await node.load(ipvs.steps.at(-1) as string);
      for (let pass = 0; pass < 3; pass++) {
        const { failures } = await node.sync();
        const held = failures.filter(({ error }) => error.code === 'ERR_HELD_BACK');
        assert.ok(pass > 0 || held.some(({ error }) => /iptables mode stay/.test(error.hint ?? '')));
        assert.deepEqual(rules(), before);
        node.retryFailed();
      }
      kernel[part].fault = () => undefined;
      for (let pass = 0; pass < 3; pass++) {
        await node.sync();
        node.retryFailed();
      }
      assert.ok(
        !rules()
          .flat()
          .some((line) => /^-A KUBE-SERVICES .*-j KUBE-SVC-/.test(line)),
      );
      node.reconciler.requestFullSync();
      assert.deepEqual((await node.sync()).failures, []);
    });
});

for (const [from, to] of [
  ['kube-proxy', 'scalable'],
  ['scalable', 'kube-proxy'],
] as const)
  it(`nftables mode, ${from} → ${to}: what the kernel refuses to add keeps all of the former layout`, async () => {
    const scenario = scenarios('nftables').find(({ name }) => name === 'random-01') ?? assert.fail();
    const text = scenario.steps.at(-1) as string;
    for (const [what, code] of [
      [/./, 'EPERM'],
      [/\.add/, 'ENOMEM'],
      [/\.addChain/, 'ENOENT'],
    ] as const) {
      const kernel = new FakeKernel();
      const former = new FakeNftablesNode(scenario, kernel, from);
      await former.load(text);
      await former.sync();
      const before = destinations(kernel);
      assert.ok(before.length > 0);
      kernel.nftables.fault = (operation, target) =>
        what.test(operation) ? new NetlinkError({ code, operation, target }) : undefined;
      const node = new FakeNftablesNode(scenario, kernel, to);
      await node.load(text);
      for (let pass = 0; pass < 2; pass++) {
        assert.ok((await node.sync()).failures.length > 0);
        assert.deepEqual(destinations(kernel), before, `${what} ${code}`);
        node.retryFailed();
      }
      kernel.nftables.fault = () => undefined;
      node.reconciler.requestFullSync();
      await node.sync();
      const fresh = new FakeNftablesNode(scenario, new FakeKernel(), to);
      await fresh.load(text);
      await fresh.sync();
      assert.deepEqual(linesOf(kernel), linesOf(fresh.kernel));
    }
  });

/** The ruleset without its order. */
function linesOf({ nftables }: FakeKernel): string[] {
  const lines = nftables.dump().split('\n');
  return lines.map((line) => line.trim().replace(/^elements = \{ |,$| \}$/g, '')).sort();
}

/** The addresses and ports that lead to a chain. */
function destinations(kernel: FakeKernel): string[] {
  return linesOf(kernel).flatMap((line) => /^(.+) : goto /.exec(line)?.[1] ?? []);
}

describe('the traces of ipvs mode', () => {
  const { ipvs, iptables } = SCENARIOS.find(({ name }) => name === 'random-01') ?? assert.fail();
  const found = ({ rtnetlink, iptables, ipset }: FakeKernel, withSets = true) => {
    const openIpset = async () => ({ list: () => ipset.list(), close: async () => {} });
    return hasTraces({ rtnetlink, iptables, openIpset: withSets ? openIpset : undefined }, [4, 6]);
  };

  it('are not found on a new node, or after iptables mode', async () => {
    const kernel = new FakeKernel();
    assert.equal(await found(kernel), false);
    await start('iptables', iptables, kernel);
    assert.equal(await found(kernel), false);
  });

  it('are the link, a chain, or a set', async () => {
    const kernel = new FakeKernel();
    await start('ipvs', ipvs, kernel);
    assert.equal(await found(kernel, false), true);
    await kernel.rtnetlink.apply([{ do: 'deleteLink', name: 'kube-ipvs0' }]);
    assert.equal(await found(kernel, false), true);
    for (const family of [4, 6] as const) kernel.iptables.load(family, '');
    assert.deepEqual([await found(kernel, false), await found(kernel, true)], [false, true]);
  });
});

it('the traces of iptables mode are its chains, without KUBE-FIREWALL and without those of ipvs mode', async () => {
  const { ipvs, iptables } = SCENARIOS.find(({ name }) => name === 'random-01') ?? assert.fail();
  const kernel = new FakeKernel();
  const found = () => hasTracesOfIptables(withoutRules(kernel, IPVS_RULES).iptables, [4, 6]);
  await start('ipvs', ipvs, kernel);
  assert.equal(await found(), false);
  for (const family of [4, 6] as const) {
    kernel.iptables.load(family, '*filter\n:KUBE-FIREWALL - [0:0]\n-A KUBE-FIREWALL -j DROP\nCOMMIT\n');
  }
  assert.equal(await found(), false);
  for (const [table, name] of [
    ['nat', 'KUBE-SEP-ABCDEFGHIJKLMNOP'],
    ['filter', 'KUBE-EXTERNAL-SERVICES'],
    ['mangle', 'KUBE-PROXY-CANARY'],
  ]) {
    kernel.iptables.load(6, `*${table}\n:${name} - [0:0]\nCOMMIT\n`);
    assert.equal(await found(), true, name);
  }
  const programmed = new FakeKernel();
  await start('iptables', iptables, programmed);
  assert.equal(await hasTracesOfIptables(programmed.iptables, [4]), true);
});

it('a former ipvs mode counts the connections of its own virtual services', async () => {
  const { ipvs } = SCENARIOS.find(({ name }) => name === 'random-01') ?? assert.fail();
  const kernel = new FakeKernel();
  await start('ipvs', ipvs, kernel);
  const count = async () => former('ipvs', kernel, 'iptables').connections?.();
  assert.equal(await count(), 0);
  const item = kernel.ipvs.dump().match(/-r (\S+)/)?.[1] ?? assert.fail();
  kernel.ipvs.activeConnections.set(item, 2);
  assert.ok(((await count()) ?? 0) >= 2);
  // A virtual service of another program does not keep the state.
  kernel.ipvs.activeConnections.clear();
  const service = { address: '192.0.2.1', port: 9, protocol: 'tcp', scheduler: 'rr' } as const;
  const realServer = { address: '192.0.2.2', port: 9, weight: 1, forwarding: 'masquerade' } as const;
  await kernel.ipvs.apply([
    { do: 'addService', service },
    { do: 'addRealServer', service, realServer },
  ]);
  kernel.ipvs.activeConnections.set('192.0.2.2:9', 5);
  assert.equal(await count(), 0);
});

it('UDP flows through IPVS are deleted with its virtual services, and no others', async () => {
  const { ipvs, iptables } = SCENARIOS.find(({ name }) => name === 'random-01') ?? assert.fail();
  const kernel = new FakeKernel();
  await start('ipvs', ipvs, kernel);
  const [, address = '', port, server = '', serverPort] =
    /^-a -u ([\d.]+):(\d+) -r ([\d.]+):(\d+)/m.exec(kernel.ipvs.dump()) ?? assert.fail('no UDP');
  const flow = (sourcePort: number, destination = address, translated = false) => {
    const original = { source: '10.0.0.9', destination, sourcePort, destinationPort: Number(port) };
    const reply = {
      source: server,
      destination: '10.0.0.9',
      sourcePort: Number(serverPort),
      destinationPort: sourcePort,
    };
    const status = translated ? (['DST_NAT'] as const) : [];
    kernel.conntrack.track({ protocol: 'udp', original, reply, status });
  };
  flow(4000);
  flow(4001, address, true);
  flow(4002, '192.0.2.7');
  await start('iptables', iptables, kernel);
  await remove('ipvs', kernel, 'iptables');
  const left = await kernel.conntrack.list({ protocol: 'udp' }).toArray();
  assert.deepEqual(left.map(({ original }) => original.sourcePort).sort(), [4001, 4002]);
});
