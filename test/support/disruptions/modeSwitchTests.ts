// The tests of a change of the mode. The proxy changes its mode while many clients send requests, from ipvs mode to iptables mode
// and back, and is killed during each change. No request may fail, and nothing of the former mode may be left.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { PATIENCE } from '../../laboratory/patience.js';
import { WHOLE } from '../extent.js';
import { type Backend, selectBackend } from '../namespaces/iptablesBackend.js';
import { ask, witness } from '../namespaces/witnesses.js';
import { MORE_OBSTACLES, OBSTACLES } from './obstacles.js';
import { SwitchLab } from './switchLab.js';

let lab: SwitchLab;

/** Connections that the clients closed expire after two minutes too. */
const removed = () =>
  lab.proxy.logged(({ msg }) => msg === 'removed items of another mode', 'the removal', 400_000);

/** Chains that only iptables mode has. */
const OF_IPTABLES_MODE = /KUBE-(SVC-|SEP-|EXT-|EXTERNAL-SERVICES|NODEPORTS|PROXY-CANARY)/;

/** Waits until the chains of iptables mode are removed: by this proxy, or by the one that was killed. */
async function chainsRemoved(): Promise<void> {
  for (const deadline = performance.now() + PATIENCE; ; await delay(500)) {
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
export function testModeSwitch(backend: Backend, drainTimeout: string): void {
  selectBackend(backend);

  before(async () => {
    lab = await SwitchLab.open('ipvs', drainTimeout);
  });

  test('ipvs → iptables: no request fails, and the state of ipvs mode stays until its connections have ended', async () => {
    await lab.whileAsking(async () => {
      await lab.change('iptables');
      await lab.proxy.logged(({ msg }) => msg.startsWith('connections still use'), 'the connections');
      assert.match(stateOf().ipvsadm, /^-A -t 10\.96\.0\.80:80 /m);
    });
    await removed();
    const { ipvsadm, ipset, links, rules } = stateOf();
    assert.deepEqual([ipvsadm, ipset], ['', '']);
    assert.doesNotMatch(links, /kube-ipvs0/);
    assert.doesNotMatch(rules, /KUBE-(IPVS|NODE-PORT|LOAD-BALANCER|SOURCE-RANGES)/);
    assert.match(rules, /KUBE-SVC-/);
  });

  const readOnly = OBSTACLES.ipvs;
  test(`iptables → ipvs: no request fails while ${readOnly.title}, nor while the chains of iptables mode are removed`, async () => {
    await lab.whileAsking(async () => {
      await lab.obstruct(readOnly, 'ipvs');
      await lab.change('ipvs');
      await chainsRemoved();
    });
    assert.match(stateOf().ipvsadm, /^-A -t 10\.96\.0\.80:80 /m);
    assert.equal(await lab.proxy.end('SIGTERM'), 0);
    const { stdout, stderr } = await lab.once('ipvs');
    assert.match(stdout, /: 0 kernel operations /, stderr);
  });

  for (const [to, obstacle] of WHOLE && backend === 'legacy' ? MORE_OBSTACLES : [])
    test(`→ ${to}: no request fails while ${obstacle.title}`, () =>
      lab.whileAsking(async () => {
        await lab.obstruct(obstacle, to);
        await lab.replaced();
      }));

  test('each mode plans the removal of what the other one left, and a clean-up removes both', async () => {
    assert.equal(await lab.proxy.end('SIGTERM'), 0);
    await lab.whileAsking(async () => {
      const { status, stderr } = await lab.once('iptables');
      assert.equal(status, 0, stderr);
      assert.match(stderr, /connections still use the items of another mode/);
    });
    const before = stateOf();
    assert.match(before.ipvsadm, /^-A -t 10\.96\.0\.80:80 /m);
    assert.match(before.rules, /KUBE-SVC-/);
    const witnessed = witness(lab.node);
    const iptables = lab.planOf('iptables');
    assert.deepEqual(iptables.own, []);
    for (const line of ['virtual service 10.96.0.80:80/tcp', 'set KUBE-CLUSTER-IP', 'link kube-ipvs0'])
      assert.ok(iptables.former['ipvs']?.includes(`- ${line}`), iptables.former['ipvs']?.join('\n'));
    const ipvs = lab.planOf('ipvs');
    assert.ok(
      ipvs.former['iptables']?.some((line) => line.startsWith('- chain IPv4 nat/KUBE-SVC-')),
      ipvs.former['iptables']?.join('\n'),
    );
    assert.deepEqual(witness(lab.node), witnessed);
    const printed = lab.cleanUp();
    assert.match(printed, /none of our state is left\n$/);
    const { ipvsadm, ipset, links, rules } = stateOf();
    assert.deepEqual([ipvsadm, ipset], ['', '']);
    assert.doesNotMatch(links, /kube-ipvs0/);
    const left = rules.split('\n').filter((line) => /KUBE-/.test(line) && !/KUBE-FIREWALL/.test(line));
    assert.deepEqual(left, []);
  });
}

/** The state of the kernel as the tools print it. */
function stateOf() {
  const { node } = lab;
  return {
    ipvsadm: ask(node, 'ipvsadm', '-S', '-n'),
    ipset: ask(node, 'ipset', 'save'),
    links: ask(node, 'ip', '-o', 'link'),
    rules: ask(node, 'iptables-save') + ask(node, 'ip6tables-save'),
  };
}
