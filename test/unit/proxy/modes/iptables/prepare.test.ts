// The probe and the check of the matches and targets that Services need.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { FEATURES, isProgrammed } from '../../../../../src/command/modes/iptables/features.js';
import {
  checkFeatures,
  PROBE_CHAIN,
  probeFeatures,
} from '../../../../../src/command/modes/iptables/prepare.js';
import { NetlinkError } from '../../../../../src/kernel/errors.js';
import { FakeIptables, FakeKernel } from '../../../../../src/kernel/testing/index.js';
import { machine, machineWith } from '../../../../support/fakes/machine.js';
import { scenarios } from '../../../../support/oracle/oracle.js';
import { FakeIptablesNode } from '../../../../support/oracle/testNode.js';

const MODULES = FEATURES.map(({ module }) => module);
const BOTH = [4, 6] as const;

/** The kernel refuses rules with one of these options. */
function kernelWithout(...options: readonly string[]): FakeIptables {
  const iptables = new FakeIptables();
  iptables.refuse = (_chain, rule) =>
    options.some((option) => rule.includes(option)) ? 'No chain/target/match by that name.' : undefined;
  return iptables;
}

it('a kernel with all features is probed by two restores for each family, which leave no chain', async () => {
  const iptables = new FakeIptables();
  const seen = new Set<string>();
  iptables.refuse = (chain, rule) => void seen.add(`${chain} ${rule}`);
  const before = BOTH.map((family) => iptables.dump(family));
  await probeFeatures(iptables, BOTH);
  assert.equal(iptables.restores, 4);
  assert.equal(
    [...seen].filter((rule) => rule.startsWith(`nat/${PROBE_CHAIN} `)).length,
    FEATURES.length + 1,
  );
  assert.deepEqual(
    BOTH.map((family) => iptables.dump(family)),
    before,
  );
});

it('one error names the family, what it lacks, and the module', async () => {
  const iptables = kernelWithout('-m statistic ');
  await assert.rejects(probeFeatures(iptables, [6], machineWith([])), {
    name: 'NetlinkError',
    code: 'ERR_PROCESS',
    message:
      'ERR_PROCESS: iptables.probe IPv6: match statistic: line 3 failed: No chain/target/match by that name. (the rules of ' +
      'Services need it: the kernel 6.12.1 has no module xt_statistic: install the package with its modules, or another kernel)',
  });
  assert.doesNotMatch(iptables.dump(6), /PROBE/);
});

it('one error names all features that the kernel lacks, in one family if both lack them', async () => {
  const iptables = kernelWithout('-m mark ', '-j MARK ', '-j MASQUERADE ');
  await assert.rejects(probeFeatures(iptables, BOTH, machineWith(['xt_mark', 'xt_MASQUERADE'])), {
    target: 'IPv4: match mark, target MARK, target MASQUERADE',
    hint:
      'the rules of Services need them: load the kernel module xt_mark (modprobe xt_mark); ' +
      'load the kernel module xt_MASQUERADE (modprobe xt_MASQUERADE)',
  });
});

it('the backend nf_tables needs nft_compat before any module of a match', async () => {
  const iptables = new FakeIptables();
  const kernelMessage =
    'iptables-restore v1.8.9 (nf_tables): line 3: RULE_APPEND failed (No such file or directory)';
  iptables.fault = (operation) => new NetlinkError({ code: 'ERR_PROCESS', operation, kernelMessage });
  const hintOn = async (files: Readonly<Record<string, string>>) => {
    const error = await probeFeatures(iptables, [4], machineWith([], files)).catch(String);
    return [...String(error).matchAll(/module (\w+):/g)].map(([, module]) => module);
  };
  assert.deepEqual(await hintOn({}), ['nft_compat']);
  assert.deepEqual(await hintOn({ '/sys/module/nft_compat': '' }), [...new Set(MODULES)]);
});

it('a lock that another program holds is not a missing feature, and other errors are reported', async () => {
  const iptables = new FakeIptables();
  const failing = (code: string) => {
    iptables.fault = (operation) => new NetlinkError({ code, operation });
    return probeFeatures(iptables, BOTH);
  };
  await failing('ERR_UNKNOWN_OUTCOME');
  await assert.rejects(failing('ENOENT'), { code: 'ENOENT', operation: 'iptables.restore' });
});

it('the check finds features in use and modules, and changes nothing', () => {
  assert.equal(checkFeatures(BOTH, machineWith(MODULES)), undefined);
  const list = (kind: string) =>
    FEATURES.filter((feature) => feature.kind === kind)
      .map(({ name }) => `${name}\n`)
      .join('');
  const inUse = Object.fromEntries(
    ['ip', 'ip6'].flatMap((family) => [
      [`/proc/net/${family}_tables_matches`, list('match')],
      [`/proc/net/${family}_tables_targets`, list('target')],
    ]),
  );
  assert.equal(checkFeatures(BOTH, machine(inUse)), undefined);
});

it('the check refuses a kernel without a module that every backend needs', () => {
  const modules = MODULES.filter((module) => module !== 'xt_statistic');
  assert.throws(() => checkFeatures(BOTH, machineWith(modules)), {
    code: 'ENOENT',
    message:
      'ENOENT: iptables.probe IPv4: match statistic (the rules of Services need it: the kernel 6.12.1 has no module ' +
      'xt_statistic: install the package with its modules, or another kernel)',
  });
});

it('the check warns if it cannot know', () => {
  const unknown = 'it is unknown whether the kernel has these extensions of iptables: ';
  const all = FEATURES.map(({ kind, name }) => `${kind} ${name}`).join(', ');
  assert.equal(checkFeatures(BOTH, machine({})), unknown + all);
  // iptables-nft may need no module for it.
  const modules = MODULES.filter((module) => module !== 'xt_comment');
  assert.equal(checkFeatures(BOTH, machineWith(modules)), `${unknown}match comment`);
});

it('the chain of a probe that was interrupted is deleted by the first pass of the next start', async () => {
  const [scenario] = scenarios('iptables');
  assert.ok(scenario);
  const kernel = new FakeKernel();
  const chain = { family: 4, table: 'nat', name: PROBE_CHAIN } as const;
  const rules = FEATURES.map((feature) => feature.rule(4));
  assert.deepEqual(await kernel.iptables.restore(4, [{ do: 'setChain', chain: { ...chain, rules } }]), [
    undefined,
  ]);
  assert.equal(isProgrammed(new Set((await kernel.iptables.save(4)).keys())), false);
  const node = new FakeIptablesNode(scenario, kernel);
  assert.deepEqual((await node.sync()).failures, []);
  const saved = await kernel.iptables.save(4);
  assert.ok(!saved.has(`nat/${PROBE_CHAIN}`));
  assert.equal(isProgrammed(new Set(saved.keys())), true);
});

it('all matches and targets of the recordings are probed, except those that only some Services need', () => {
  const used = new Set<string>();
  for (const { steps } of scenarios('iptables')) {
    for (const file of ['iptables.txt', 'ip6tables.txt']) {
      const text = readFileSync(`${steps.at(-1)}/${file}`, 'utf8').replace(/"[^"]*"/g, '""');
      for (const [, name] of text.matchAll(/ -m (\w+)/g)) used.add(`match ${name}`);
      for (const [, name] of text.matchAll(/ -j (?!KUBE-)(\w+)/g)) used.add(`target ${name}`);
    }
  }
  for (const { kind, name } of FEATURES)
    assert.ok(used.delete(`${kind} ${name}`), `${kind} ${name} is not used`);
  const verdicts = ['target ACCEPT', 'target DROP', 'target RETURN'];
  const ofSome = ['match nfacct', 'match recent', 'match sctp', 'target REJECT'];
  assert.deepEqual(
    [...used].filter((feature) => ![...verdicts, ...ofSome].includes(feature)),
    [],
  );
});
