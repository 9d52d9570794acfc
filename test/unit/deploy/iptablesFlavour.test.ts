// deploy/image/iptables-flavour, with programs in the place of iptables' that print what a host holds.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../../support/paths.js';

const SCRIPT = join(ROOT, 'deploy/image/iptables-flavour');
const HINT = '*mangle\n:KUBE-IPTABLES-HINT - [0:0]\nCOMMIT\n';
const CANARY = '*mangle\n:KUBE-KUBELET-CANARY - [0:0]\nCOMMIT\n';
const PROXY = '*nat\n:KUBE-SERVICES - [0:0]\n-A KUBE-SERVICES -j RETURN\nCOMMIT\n';
const rules = (count: number) => `*filter\n${'-A INPUT -j ACCEPT\n'.repeat(count)}COMMIT\n`;

type Program = 'iptables-nft' | 'ip6tables-nft' | 'iptables-legacy' | 'ip6tables-legacy';

/** What the script says where these programs save this; those that are not named fail, as without their modules. */
function decide(saved: { readonly [program in Program]?: string }, IPTABLES_FLAVOUR?: string) {
  const folder = mkdtempSync(join(tmpdir(), 'knp-flavour-'));
  try {
    for (const program of ['iptables-nft', 'ip6tables-nft', 'iptables-legacy', 'ip6tables-legacy'] as const) {
      const text = saved[program];
      const body = text === undefined ? 'echo no >&2\nexit 3\n' : `cat <<'END'\n${text}END\n`;
      writeFileSync(join(folder, `${program}-save`), `#!/bin/sh\n${body}`, { mode: 0o755 });
    }
    const env = {
      PATH: `${folder}:/usr/bin:/bin`,
      ...(IPTABLES_FLAVOUR === undefined ? {} : { IPTABLES_FLAVOUR }),
    };
    const { status, stdout, stderr } = spawnSync('/bin/sh', [SCRIPT], { env, encoding: 'utf8' });
    return { status, flavour: stdout.trim(), said: stderr };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const nft = { status: 0, flavour: 'nft', said: '' };
const legacy = { status: 0, flavour: 'legacy', said: '' };

test('where nothing is, or nothing works, it is nft', () => {
  assert.deepEqual(decide({ 'iptables-nft': '', 'iptables-legacy': '' }), nft);
  assert.deepEqual(decide({}), nft);
});

test("kubelet's mark decides, in either family and by either name, whatever else is there", () => {
  assert.deepEqual(decide({ 'iptables-nft': HINT, 'iptables-legacy': rules(9) }), nft);
  assert.deepEqual(decide({ 'ip6tables-nft': CANARY, 'iptables-legacy': rules(9) }), nft);
  assert.deepEqual(decide({ 'iptables-legacy': HINT, 'iptables-nft': rules(9) }), legacy);
  assert.deepEqual(decide({ 'ip6tables-legacy': CANARY, 'iptables-nft': rules(9) }), legacy);
});

test('a mark in both is nft: the one that kubelet left last cannot be told, and nft is newer', () => {
  assert.deepEqual(decide({ 'iptables-nft': HINT, 'iptables-legacy': HINT }), nft);
});

test('without a mark it is the one with more rules, and nft where there are as many', () => {
  assert.deepEqual(decide({ 'iptables-nft': rules(2), 'iptables-legacy': rules(3) }), legacy);
  assert.deepEqual(decide({ 'iptables-nft': rules(3), 'iptables-legacy': rules(3) }), nft);
  const split = { 'iptables-legacy': rules(2), 'ip6tables-legacy': rules(2), 'iptables-nft': rules(3) };
  assert.deepEqual(decide(split), legacy);
});

test("a service proxy's chains in the other one are told", () => {
  const one = decide({ 'iptables-nft': HINT, 'ip6tables-legacy': PROXY });
  assert.equal(one.flavour, 'nft');
  assert.equal(
    one.said,
    'warning: this host uses iptables-nft, but iptables-legacy holds KUBE-SERVICES: its rules act on packets too\n',
  );
  const other = decide({ 'iptables-legacy': HINT, 'iptables-nft': PROXY });
  assert.equal(other.flavour, 'legacy');
  assert.match(other.said, /^warning: this host uses iptables-legacy, but iptables-nft holds KUBE-SERVICES/);
});

test('what was settled before stays', () => {
  assert.deepEqual(decide({ 'iptables-nft': HINT }, 'legacy'), legacy);
  assert.deepEqual(decide({ 'iptables-legacy': HINT }, 'nft'), nft);
  const wrong = { status: 1, flavour: '', said: 'IPTABLES_FLAVOUR must be nft or legacy, found ebtables\n' };
  assert.deepEqual(decide({}, 'ebtables'), wrong);
});
