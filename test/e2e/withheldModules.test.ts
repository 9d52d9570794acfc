// iptables mode on a kernel that lacks a module: one error that names it, or a family that is left out.
// Needs: iptables-legacy, modules
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, beforeEach, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { KERNEL_MODULES } from '../../src/command/modes/iptables/open.js';
import { PATIENCE } from '../laboratory/patience.js';
import { COMMAND } from '../laboratory/proxyProcess.js';
import { closeAfter } from '../support/closeAfter.js';
import { service, slice } from '../support/clusters/manifests.js';
import { ask } from '../support/http/ask.js';
import { selectBackend } from '../support/namespaces/iptablesBackend.js';
import { feed, tool, tools } from '../support/namespaces/tools.js';

const LOADER = '/proc/sys/kernel/modprobe';
const NFT = ['nft_compat', 'nft_chain_nat'];
const TABLES = ['ip', 'ip6'].flatMap((ip) =>
  ['nat', 'filter', 'mangle'].map((table) => `${ip}table_${table}`),
);

/** User Mode Linux has no NAT in nf_tables. */
const HAS_NFT_NAT = spawnSync('modprobe', ['-a', ...NFT]).status === 0;

/** A Service with two endpoints in each family, whose rules need the match statistic. */
const MANIFESTS = [
  service('web', '10.96.0.1'),
  slice('web', '10.244.1.7', '10.244.1.8'),
  service('six', '"fd00:10:96::1"'),
  slice('six', 'fd00:10:244:1::7', 'fd00:10:244:1::8').replace('IPv4', 'IPv6'),
].join('');
const BALANCED = /^-A KUBE-SVC-\w+ .*--probability 0\.5/m;

let folder: string;

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'knp-withheld-'));
  closeAfter({ close: () => rmSync(folder, { recursive: true }) });
  writeFileSync(join(folder, 'objects.yaml'), MANIFESTS);
  // The proxy loads modules by modprobe, and the kernel by its own loader.
  writeFileSync(join(folder, 'modprobe'), '#!/bin/sh\nexit 1\n');
  chmodSync(join(folder, 'modprobe'), 0o755);
  const loader = readFileSync(LOADER, 'utf8');
  closeAfter({ close: () => writeFileSync(LOADER, loader) });
  writeFileSync(LOADER, '/bin/false');
});

const FLAGS = ['--proxy-mode=iptables', '--hostname-override=node-a'];

/** The environment of a proxy without a program that loads modules. */
const withoutLoader = () => ({ ...process.env, PATH: `${folder}:${process.env['PATH']}` });

const manifests = () => `--manifests=${join(folder, 'objects.yaml')}`;

/** One pass. */
function runOnce() {
  const args = [COMMAND, ...FLAGS, '--once', manifests()];
  return spawnSync(process.execPath, args, { encoding: 'utf8', env: withoutLoader() });
}

const bothFamilies = () => tools('iptables-save', 'ip6tables-save');

/** Loads all modules, and deletes the rules of both backends, which hold modules. */
function begin(modules: readonly string[]): void {
  tool('modprobe', '-a', 'nf_conntrack_netlink', ...KERNEL_MODULES, ...modules);
  const backends = HAS_NFT_NAT ? ['legacy', 'nft'] : ['legacy'];
  const programs = backends.flatMap((backend) => [`iptables-${backend}`, `ip6tables-${backend}`]);
  const empty = '*nat\nCOMMIT\n*filter\nCOMMIT\n*mangle\nCOMMIT\n';
  feed(programs.map((program) => [`${program}-restore`, empty] as const));
}

async function refusesWithoutStatistic(): Promise<void> {
  await unload('xt_statistic');
  const { status, stderr } = runOnce();
  assert.equal(status, 1, stderr);
  const errors = stderr.split('\n').filter((line) => line.includes('ERR_'));
  assert.equal(errors.length, 1, stderr);
  assert.match(errors[0] ?? '', /iptables\.probe IPv4: match statistic:/);
  const hint = 'the rules of Services need it: load the kernel module xt_statistic (modprobe xt_statistic)';
  assert.ok(stderr.includes(hint), stderr);
  assert.doesNotMatch(bothFamilies().join(''), /KUBE-/);
}

describe('iptables-legacy', () => {
  before(() => selectBackend('legacy'));
  beforeEach(() => begin(TABLES));

  test('a kernel with all modules is programmed in both families', () => {
    const { status, stderr } = runOnce();
    assert.equal(status, 0, stderr);
    const saved = bothFamilies();
    for (const rules of saved) assert.match(rules, BALANCED);
    assert.doesNotMatch(saved.join(''), /PROBE/);
  });

  test(
    'without a match that Services need, one error names it, and nothing changes',
    refusesWithoutStatistic,
  );

  test('without it, an agent ends with 1, and is not ready before: a rollout stops at this node', async () => {
    await unload('xt_statistic');
    const agent = spawn(process.execPath, [COMMAND, ...FLAGS, manifests()], {
      env: withoutLoader(),
      stdio: 'ignore',
    });
    const ended = once(agent, 'close') as Promise<[number | null]>;
    const answers = new Set<number>();
    while (agent.exitCode === null && agent.signalCode === null) {
      answers.add((await ask('/healthz')).status);
      await delay(50);
    }
    assert.deepEqual(await ended, [1, null]);
    assert.deepEqual([...answers], [0]);
  });

  test('without table nat in IPv6, one warning names it, and IPv4 is programmed', async () => {
    await unload('ip6table_nat');
    const { status, stderr } = runOnce();
    assert.equal(status, 0, stderr);
    const warnings = stderr.split('\n').filter((line) => line.includes('IPv6 is left out'));
    assert.equal(warnings.length, 1, stderr);
    assert.match(warnings[0] ?? '', /iptables\.findTable IPv6 table nat:/);
    assert.ok(stderr.includes('load the kernel module ip6table_nat (modprobe ip6table_nat)'), stderr);
    assert.match(tool('iptables-save', '-t', 'nat'), BALANCED);
    assert.doesNotMatch(tool('ip6tables-save'), /KUBE-/);
  });
});

describe('iptables-nft', () => {
  before(() => selectBackend('nft'));

  // Where the kernel has the module, tests of other files may hold it.
  if (HAS_NFT_NAT) {
    test('without a match that Services need, one error names it, and nothing changes', async () => {
      begin(NFT);
      await refusesWithoutStatistic();
    });
    return;
  }

  test('without NAT in nf_tables, each family is left out with a warning, and nothing changes', () => {
    const { status, stderr } = runOnce();
    assert.equal(status, 1, stderr);
    for (const family of [4, 6]) {
      const warning = `IPv${family} is left out err="NetlinkError: ERR_PROCESS: iptables.findTable IPv${family} table nat: `;
      assert.equal(stderr.split(warning).length, 2, stderr);
    }
    assert.equal(stderr.match(/\(.*kernel .*module nft_chain_nat.*\)/g)?.length, 2, stderr);
    assert.match(stderr, /^Error: iptables is not available on this host$/m);
  });
});

/** Waits for network namespaces that are still being deleted: their rules hold the module. */
async function unload(module: string): Promise<void> {
  for (const deadline = Date.now() + PATIENCE; ; await delay(200)) {
    const { status, stderr } = spawnSync('rmmod', [module], { encoding: 'utf8' });
    if (status === 0) return;
    assert.ok(Date.now() < deadline, stderr);
  }
}
