// The commands for people in iptables mode, on a kernel that need not have IPVS: before the first pass, beside an agent,
// after another program changed rules, and with the state that ipvs mode left.
// Needs: conntrack, ipset, command
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { COMMAND } from '../laboratory/proxyProcess.js';
import { closeAfter } from '../support/closeAfter.js';
import { service, slice } from '../support/clusters/manifests.js';
import { tool, tools } from '../support/namespaces/tools.js';
import { AgentProcess } from '../support/processes/agentProcess.js';

const WEB = service('web', '10.96.0.1') + slice('web', '10.244.1.7', '10.244.1.8');
const EMPTY = service('empty', '10.96.0.2');
/** The chains of demo/web and of one of its endpoints. */
const SVC = 'KUBE-SVC-YTGZ2JEENUBCE3T3';
const SEP = 'KUBE-SEP-A4LOVF4NXD6MI45O';

let folder: string;
let flags: readonly string[];

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'knp-commands-'));
  closeAfter({ close: () => rmSync(folder, { recursive: true }) });
  writeFileSync(join(folder, 'objects.yaml'), WEB + EMPTY);
  // Without an audit, the agent does not repair what a test breaks.
  const ofMode = ['--proxy-mode=iptables', '--cluster-cidr=10.244.0.0/16', '--iptables-sync-period=1h'];
  flags = [`--manifests=${folder}/objects.yaml`, '--hostname-override=node-a', ...ofMode];
  tools(
    'ip link set lo up',
    'ip link add eth0 type veth peer name peer0',
    'ip address add 192.168.50.10/24 dev eth0',
    'ip link set eth0 up',
    'ip link set peer0 up',
    'ip route add default via 192.168.50.1',
    // The gateway does not exist: without this, the kernel asks for it in vain.
    'ip neighbour add 192.168.50.1 lladdr 02:00:00:00:00:01 dev eth0',
    'echo 1 >/proc/sys/net/ipv4/ip_forward',
  );
});

/** Runs the command, and returns its exit status with its standard output and standard error. */
function type(...args: string[]): [status: number | null, text: string] {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...args], { encoding: 'utf8' });
  return [status, stdout + stderr];
}

/** Runs the command with the flags of iptables mode. */
const run = (...args: string[]) => type(...args, ...flags);

/** The rules and sets, without counters. */
const stateOf = () =>
  tools('iptables-save', 'ip6tables-save', 'ipset save')
    .join('')
    .replace(/^#.*\n|\[\d+:\d+\]|initval \S+/gm, '');

test('before the first pass, plan and diff list all items, and change nothing', () => {
  const before = stateOf();
  const [status, plan] = run('plan');
  assert.equal(status, 1, plan);
  // Long lines continue below, further to the right.
  assert.match(
    plan.replace(/\n {6,}/g, ' '),
    /\n {2}\+ rule IPv4 filter\/KUBE-SERVICES -d 10\.96\.0\.2\/32 .*demo\/empty has no endpoints.* REJECT/,
  );
  assert.match(plan, new RegExp(`^Service demo/web\\n {2}\\+ chain IPv4 nat/${SVC}\\n`, 'm'));
  assert.match(plan, /\n\d+ operations: \d+ for the node, 5 for 2 Services\n$/);
  const [diffStatus, diff] = run('diff');
  assert.equal(diffStatus, 1, diff);
  assert.match(diff, new RegExp(`\\n {2}missing {4}chain IPv4 nat/${SVC}\\n`));
  assert.equal(stateOf(), before);
});

test('before the first pass, explain names the rules that are missing', () => {
  const [status, text] = run('explain', '10.96.0.1:80', '--from=198.51.100.1');
  assert.equal(status, 1, text);
  assert.match(text, /^10\.96\.0\.1:80\/tcp \(Service demo\/web\)\n/);
  assert.match(text, /\n {2}chain nat\/PREROUTING lacks the rule\s[^:]*-j\s+KUBE-SERVICES\n/);
});

/** The frontends of the rules, with the connections that the rules counted. */
function listed(type: (...args: string[]) => [number | null, string]): void {
  const before = type('services', '-o', 'json');
  // Packets to nowhere are counted as well: table nat has seen them.
  for (const address of ['10.96.0.1', '10.96.0.1', '10.96.0.2']) {
    spawnSync('bash', ['-c', `timeout 0.3 bash -c ': </dev/tcp/${address}/80' 2>/dev/null`]);
  }
  const [status, text] = type('services', '-o', 'wide');
  assert.equal(status, 0, text);
  assert.match(text, /^SERVICE +ADDRESS +SHARE +CONN +CONN\/S +BYTES +B\/S +KIND +PERSISTENCE +CHAIN\n/);
  assert.match(
    text,
    new RegExp(`\\ndemo/web +10\\.96\\.0\\.1:80/tcp +2 +- +120 +- +clusterIP +- +${SVC}\\n`),
  );
  assert.match(text, new RegExp(`\\n +-> 10\\.244\\.1\\.8:8080 +50% .* ${SEP}\\n`));
  assert.match(text, /\ndemo\/empty +10\.96\.0\.2:80\/tcp +REJECT +[1-9]/);
  type Report = { frontends: { service: string; counters: object; endpoints: { share: number }[] }[] };
  const report = JSON.parse(before[1]) as Report;
  assert.deepEqual(
    report.frontends.map(({ service, counters, endpoints }) => [service, counters, endpoints.length]),
    [
      ['demo/empty', { connections: 0, bytes: 0 }, 0],
      ['demo/web', { connections: 0, bytes: 0 }, 2],
    ],
  );
  const [measured, rates] = type('services', 'demo/web', '-o', 'json', '--interval', '0.2');
  assert.equal(measured, 0, rates);
  assert.match(rates, /"interval": 0\.[2-9]\d*,/);
  assert.match(rates, /"rates": \{\n +"connections": 0,\n +"bytes": 0\n/);
  const [shown, top] = type('top', '--once', '-n', '0.1');
  assert.equal(shown, 0, top);
  assert.match(
    top,
    /^2 frontends of 2 Service ports, 0 new\/s; by new connections per second\nSERVICE +ADDRESS/,
  );
  const [refused, error] = type('top', '--once', '--sort', 'active');
  assert.equal(refused, 2);
  assert.match(error, /^Error: --sort active: .*; the orders are rate, bytes, name\n$/);
}

test('beside an agent, the commands know its mode, and report that all is well', async () => {
  const agent = closeAfter(new AgentProcess(flags));
  assert.match(await agent.logged(/"msg":"synced"/), /"failures":0/);
  assert.deepEqual(run('plan'), [0, 'nothing would change\n']);
  assert.deepEqual(run('diff'), [0, 'the kernel has the desired state\n']);
  const [status, report] = type('status');
  assert.equal(status, 0, report);
  assert.match(
    report,
    /^status {4}good\nagent {5}kube-netlink-proxy \S+, iptables mode, IPv4 and IPv6\nnode {6}node-a\n/,
  );
  assert.match(report, /\ndrift {5}none since the start\nleft out {2}nothing\n$/);
  listed(type);
  const [explained, text] = type('explain', '10.96.0.1:80', '--from=198.51.100.1');
  assert.equal(explained, 0, text);
  assert.match(text, new RegExp(`\\nnat/${SVC} +selects one of 2 endpoints at random\\n`));
  assert.match(
    text,
    /\nverdict: forwarded \(no endpoint was asked\); masquerade: yes; endpoints:\n {2}10\.244\.1\.7:8080, 10\.244\.1\.8:8080\n$/,
  );
  const [refused, empty] = type('explain', '10.96.0.2:80', '--from=198.51.100.1');
  assert.equal(refused, 1, empty);
  assert.match(empty, /\n {2}demo\/empty has no endpoints: filter\/KUBE-SERVICES rejects the packet\n/);
  assert.match(empty, /\nverdict: refused\n$/);
  await agent.end('SIGTERM');
});

test('changes of rules by another program are differences, which one pass repairs', () => {
  const before = stateOf();
  tools(
    `iptables -t nat -D ${SVC} 1`,
    `iptables -t nat -D ${SVC} -m comment --comment "demo/web -> 10.244.1.8:8080" -j ${SEP}`,
    `iptables -t nat -F ${SEP}`,
    `iptables -t nat -X ${SEP}`,
    'iptables -t nat -A KUBE-POSTROUTING -s 192.0.2.1 -j ACCEPT',
    'iptables -t nat -I KUBE-SERVICES -d 192.0.2.1 -j ACCEPT',
    'iptables -t nat -N KUBE-SVC-AAAAAAAAAAAAAAAA',
  );
  assert.deepEqual(run('diff'), [
    1,
    `the node
  different  chain IPv4 nat/KUBE-POSTROUTING
      ~ chain IPv4 nat/KUBE-POSTROUTING
          - -s 192.0.2.1/32 -j ACCEPT
Service demo/web
  different  chain IPv4 nat/${SVC}
      ~ chain IPv4 nat/${SVC}
          + ! -s 10.244.0.0/16 -d 10.96.0.1/32 -p tcp -m comment --comment
              "demo/web cluster IP" -m tcp --dport 80 -j KUBE-MARK-MASQ
          + -m comment --comment "demo/web -> 10.244.1.8:8080" -j
              ${SEP}
  missing    chain IPv4 nat/${SEP}
no longer wanted
  unwanted   rule IPv4 nat/KUBE-SERVICES -d 192.0.2.1/32
  unwanted   chain IPv4 nat/KUBE-SVC-AAAAAAAAAAAAAAAA

5 differences: 1 missing, 2 different, 2 unwanted
`,
  ]);
  const [status, plan] = run('plan', '-o', 'json');
  assert.equal(status, 1, plan);
  const { operations } = JSON.parse(plan) as { operations: { phase: string; state: string }[] };
  assert.deepEqual(
    operations.map(({ phase, state }) => `${phase}: ${state}`),
    [
      'chains: different',
      'chains: different',
      'chains: missing',
      'deleteRules: unwanted',
      'deleteChains: unwanted',
    ],
  );
  const [explained, text] = run('explain', '10.96.0.1:80', '--from=198.51.100.1');
  assert.equal(explained, 1, text);
  assert.match(text, /\nbecause:\n(.*\n)* {2}the rules select no endpoint with probability 50 %\n/);
  const [repaired, summary] = run('--once');
  assert.equal(repaired, 0, summary);
  assert.match(summary, /^2 services: 5 kernel operations /);
  assert.equal(stateOf(), before);
  assert.deepEqual(run('plan'), [0, 'nothing would change\n']);
});

/** Makes a part of the state of ipvs mode, beside the state of another program. */
function addStateOfIpvsMode(): void {
  tools(
    'ipset create KUBE-CLUSTER-IP hash:ip,port',
    'ipset add KUBE-CLUSTER-IP 10.96.0.1,tcp:80',
    'iptables -N KUBE-IPVS-FILTER',
    'iptables -A KUBE-IPVS-FILTER -m set --match-set KUBE-CLUSTER-IP dst,dst -j RETURN',
    'iptables -A INPUT -m comment --comment "kubernetes ipvs access filter" -j KUBE-IPVS-FILTER',
  );
}

test('the state that ipvs mode left is planned as such, without IPVS, and one pass removes it', () => {
  tool('ipset', 'create', 'OTHER', 'hash:ip');
  const without = stateOf();
  addStateOfIpvsMode();
  const before = stateOf();
  assert.deepEqual(run('plan', '-o', 'wide'), [
    1,
    `no longer wanted, of ipvs mode
  deleteRules  - chain IPv4 filter/KUBE-IPVS-FILTER
  deleteRules  - rule IPv4 filter/INPUT -m comment --comment "kubernetes ipvs access filter" -j KUBE-IPVS-FILTER
  deleteSets   - set KUBE-CLUSTER-IP

3 operations: 3 for items of ipvs mode, which ran before
`,
  ]);
  const [status, diff] = run('diff', '-o', 'json');
  assert.equal(status, 1, diff);
  const { differences } = JSON.parse(diff) as { differences: { item: string; formerMode: string }[] };
  assert.deepEqual(
    differences.map(({ item, formerMode }) => [item.split(' ')[0], formerMode]),
    ['chain', 'jump', 'set'].map((kind) => [kind, 'ipvs']),
  );
  assert.equal(stateOf(), before, 'plan and diff change nothing');
  const [removed, text] = run('--once');
  assert.equal(removed, 0, text);
  assert.match(text, /removed items of another mode mode="ipvs" operations=3 left=\[\]/);
  assert.equal(stateOf(), without);
  assert.deepEqual(run('plan'), [0, 'nothing would change\n']);
});

test('a clean-up removes the state of both modes, and keeps that of other programs', () => {
  addStateOfIpvsMode();
  const [status, text] = type('--cleanup');
  assert.equal(status, 0, text);
  assert.match(text, /none of our state is left\n$/);
  const lines = stateOf().split('\n');
  // kubelet has this chain too.
  assert.deepEqual(
    lines.filter((line) => line.includes('KUBE-') && !line.includes('KUBE-FIREWALL')),
    [],
  );
  assert.ok(lines.some((line) => line.startsWith('create OTHER ')));
});
