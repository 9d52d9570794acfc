// The tests of a change of the mode. The proxy changes its mode while many clients send requests, from ipvs mode to iptables mode
// and back, and is killed during each change. No request may fail, and nothing of the former mode may be left.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { PlannedOperation } from '../../../src/index.js';
import { Crowd } from '../../laboratory/crowd.js';
import { type Lab, openLab } from '../../laboratory/lab.js';
import { ManifestFolder } from '../../laboratory/manifestFolder.js';
import { CLIENT, CLUSTER_CIDR, NODE_A, SHELL, WEB, WEB_PORT } from '../../laboratory/places.js';
import { COMMAND, ProxyProcess, runOnce } from '../../laboratory/proxyProcess.js';
import { Replicas } from '../../laboratory/replica.js';
import { closeAfter } from '../closeAfter.js';
import { service, slice } from '../clusters/manifests.js';
import { ask, witness } from '../namespaces/witnesses.js';

const CLUSTER_IP = '10.96.0.80';
const EXTERNAL_IP = '203.0.113.80';
/** Clients in each of the two crowds; half of them keep their connections. */
const CROWD = { port: 80, keepAlive: 8, short: 8 };
/** After each audit, the removal of the former mode is tried again. */
const AUDIT = ['--ipvs-sync-period=1s', '--iptables-sync-period=1s', '--iptables-min-sync-period=0s'];
/** The longest time after which a first pass is interrupted, in ms; on the slower test machines it takes longer. */
const FIRST_PASS = 1000;
const ENDPOINTS = WEB.map(({ ipv4 }) => ipv4);

let lab: Lab;
let manifests: ManifestFolder;
let proxy: ProxyProcess;
let crowds: readonly Crowd[];
let drain: string;

const flags = (mode: string) => [`--proxy-mode=${mode}`, `--drain-timeout=${drain}`, ...AUDIT];
const startProxy = (mode: string) =>
  closeAfter(new ProxyProcess(lab.namespace(NODE_A), manifests.path, flags(mode)));

/** Lets both crowds send requests, before the step, during it and until each has reached every endpoint again. */
async function whileAsking(step: () => Promise<void>): Promise<void> {
  await Promise.all(
    crowds.map((crowd, i) => crowd.start({ ...CROWD, address: i === 0 ? CLUSTER_IP : EXTERNAL_IP })),
  );
  await answered(0);
  const failed = await step().then(
    () => undefined,
    (error: unknown) => error,
  );
  await answered(40);
  for (const { requests, failures, answers } of await Promise.all(crowds.map((crowd) => crowd.stop()))) {
    assert.deepEqual(failures, [], `${failures.length} of ${requests} requests failed`);
    assert.deepEqual(Object.keys(answers).sort(), ENDPOINTS.toSorted());
  }
  if (failed !== undefined) throw failed;
}

/** Waits until each crowd has reached all endpoints, and has had this many more responses. */
async function answered(more: number): Promise<void> {
  const from = await Promise.all(crowds.map((crowd) => crowd.report()));
  for (const deadline = performance.now() + 60_000; ; await delay(200)) {
    const reports = await Promise.all(crowds.map((crowd) => crowd.report()));
    const done = reports.every(
      ({ answers, requests }, i) =>
        ENDPOINTS.every((address) => answers[address]) && requests >= (from[i]?.requests ?? 0) + more,
    );
    if (done) return;
    assert.ok(performance.now() < deadline, `too few responses: ${JSON.stringify(reports)}`);
  }
}

/** Ends the proxy, and starts it in another mode, twice: the first time it is killed at a random time of its first pass. */
async function change(mode: string): Promise<void> {
  assert.equal(await proxy.end('SIGTERM'), 0);
  proxy = startProxy(mode);
  await proxy.logged(({ msg }) => msg === 'starting', 'its start');
  await delay(Math.random() * FIRST_PASS);
  assert.equal(await proxy.end('SIGKILL'), 'SIGKILL');
  proxy = startProxy(mode);
  assert.equal((await proxy.programmed()).failures, 0);
}

/** Connections that the clients closed expire after two minutes too. */
const removed = () =>
  proxy.logged(({ msg }) => msg === 'removed items of another mode', 'the removal', 400_000);

/** Chains that only iptables mode has. */
const OF_IPTABLES_MODE = /KUBE-(SVC-|SEP-|EXT-|EXTERNAL-SERVICES|NODEPORTS|PROXY-CANARY)/;

/** Waits until the chains of iptables mode are removed: by this proxy, or by the one that was killed. */
async function chainsRemoved(): Promise<void> {
  for (const deadline = performance.now() + 60_000; ; await delay(500)) {
    const { rules } = stateOf();
    if (!OF_IPTABLES_MODE.test(rules)) return;
    assert.ok(performance.now() < deadline, `not removed:\n${rules}`);
  }
}

/**
 * The tests of a file.
 *
 * @param drainTimeout connections of IPVS expire after two minutes, or after this time since the change of the mode: `10s`
 */
export function testModeSwitch(drainTimeout: string): void {
  drain = drainTimeout;
  before(async () => {
    lab = closeAfter(openLab([SHELL, ...WEB]));
    manifests = closeAfter(new ManifestFolder(''));
    manifests.write('service.yaml', service('web', CLUSTER_IP, `  externalIPs: [${EXTERNAL_IP}]`));
    manifests.write('slice.yaml', slice('web', ...ENDPOINTS));
    proxy = startProxy('ipvs');
    crowds = await Promise.all(
      [SHELL, CLIENT].map(async (place) => closeAfter(await Crowd.open(lab.namespace(place)))),
    );
    await Promise.all(
      WEB.map(async (pod) => {
        const replicas = closeAfter(await Replicas.open(lab.namespace(pod)));
        await replicas.ask({ do: 'serve', address: pod.ipv4, port: WEB_PORT });
      }),
    );
    assert.equal((await proxy.programmed()).failures, 0);
  });

  test('ipvs → iptables: no request fails, and the state of ipvs mode stays until its connections have ended', async () => {
    await whileAsking(async () => {
      await change('iptables');
      await proxy.logged(({ msg }) => msg.startsWith('connections still use'), 'the connections');
      assert.match(stateOf().ipvsadm, /^-A -t 10\.96\.0\.80:80 /m);
    });
    await removed();
    const { ipvsadm, ipset, links, rules } = stateOf();
    assert.deepEqual([ipvsadm, ipset], ['', '']);
    assert.doesNotMatch(links, /kube-ipvs0/);
    assert.doesNotMatch(rules, /KUBE-(IPVS|NODE-PORT|LOAD-BALANCER|SOURCE-RANGES)/);
    assert.match(rules, /KUBE-SVC-/);
  });

  test('iptables → ipvs: no request fails while the chains of iptables mode are removed', async () => {
    await whileAsking(async () => {
      await change('ipvs');
      await chainsRemoved();
    });
    assert.match(stateOf().ipvsadm, /^-A -t 10\.96\.0\.80:80 /m);
    assert.equal(await proxy.end('SIGTERM'), 0);
    const { stdout, stderr } = await runOnce(lab.namespace(NODE_A), manifests.path, flags('ipvs'));
    assert.match(stdout, /: 0 kernel operations /, stderr);
  });

  test('each mode plans the removal of what the other one left, and a clean-up removes both', async () => {
    await whileAsking(async () => {
      const { status, stderr } = await runOnce(lab.namespace(NODE_A), manifests.path, flags('iptables'));
      assert.equal(status, 0, stderr);
      assert.match(stderr, /connections still use the items of another mode/);
    });
    const before = stateOf();
    assert.match(before.ipvsadm, /^-A -t 10\.96\.0\.80:80 /m);
    assert.match(before.rules, /KUBE-SVC-/);
    const witnessed = witness(lab.namespace(NODE_A));
    const iptables = planOf('iptables', 'ipvs');
    assert.deepEqual(iptables.own, []);
    for (const line of ['virtual service 10.96.0.80:80/tcp', 'set KUBE-CLUSTER-IP', 'link kube-ipvs0'])
      assert.ok(iptables.former.includes(`- ${line}`), iptables.former.join('\n'));
    const ipvs = planOf('ipvs', 'iptables');
    assert.ok(
      ipvs.former.some((line) => line.startsWith('- chain IPv4 nat/KUBE-SVC-')),
      ipvs.former.join('\n'),
    );
    assert.deepEqual(witness(lab.namespace(NODE_A)), witnessed);
    const printed = ask(lab.namespace(NODE_A), process.execPath, COMMAND, '--cleanup');
    assert.match(printed, /none of our state is left\n$/);
    const { ipvsadm, ipset, links, rules } = stateOf();
    assert.deepEqual([ipvsadm, ipset], ['', '']);
    assert.doesNotMatch(links, /kube-ipvs0/);
    const left = rules.split('\n').filter((line) => /KUBE-/.test(line) && !/KUBE-FIREWALL/.test(line));
    assert.deepEqual(left, []);
  });
}

/** The lines that a mode plans on the node, of its own items and of those that the other mode left. */
function planOf(mode: string, other: string): { own: string[]; former: string[] } {
  const node = [
    '--manifests',
    manifests.path,
    '--hostname-override',
    NODE_A.name,
    '--cluster-cidr',
    CLUSTER_CIDR,
  ];
  const command = [process.execPath, COMMAND, 'plan', '-o', 'json', `--proxy-mode=${mode}`, ...node];
  // Exit status 1: there are operations.
  const printed = ask(lab.namespace(NODE_A), 'sh', '-c', '"$@" || test $? = 1', 'sh', ...command);
  const { operations } = JSON.parse(printed) as { operations: readonly PlannedOperation[] };
  const linesOf = (former: string | undefined) =>
    operations.filter(({ formerMode }) => formerMode === former).flatMap(({ lines }) => lines);
  return { own: linesOf(undefined), former: linesOf(other) };
}

/** The state of the kernel as the tools print it. */
function stateOf() {
  const node = lab.namespace(NODE_A);
  return {
    ipvsadm: ask(node, 'ipvsadm', '-S', '-n'),
    ipset: ask(node, 'ipset', 'save'),
    links: ask(node, 'ip', '-o', 'link'),
    rules: ask(node, 'iptables-save') + ask(node, 'ip6tables-save'),
  };
}
