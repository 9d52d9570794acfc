// Changes between the rules of iptables and those of nf_tables in ipvs mode under traffic, and from other modes: the proxy is killed during each. No
// request may fail, and nothing of the former rules may be left.
// Needs: ipvs, dummy device, conntrack, nftables, bridge filter
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { SwitchLab } from '../support/disruptions/switchLab.js';
import { ask } from '../support/namespaces/witnesses.js';

/** Time limit for the removal of a former state, in ms: connections of IPVS expire after two minutes. */
const REMOVAL = 400_000;

let lab: SwitchLab;
before(async () => {
  lab = await SwitchLab.open('ipvs', '5m');
});

/** What the node has of each kind: rules and sets of ipvs mode, of iptables mode, and of nftables mode. */
function found(): string[] {
  const rules = ask(lab.node, 'iptables-save');
  const tables = ask(lab.node, 'nft', 'list', 'tables');
  return [
    ...(/KUBE-IPVS-FILTER/.test(rules) ? ['rules of iptables'] : []),
    ...(/KUBE-CLUSTER-IP/.test(ask(lab.node, 'ipset', 'list', '-n')) ? ['ipsets'] : []),
    ...(/KUBE-(SVC|SEP)-/.test(rules) ? ['iptables mode'] : []),
    ...(/^table ip kube-proxy-ipvs$/m.test(tables) ? ['tables'] : []),
    ...(/^table ip kube-proxy$/m.test(tables) ? ['nftables mode'] : []),
  ];
}

async function becomes(wanted: readonly string[]): Promise<void> {
  const deadline = performance.now() + REMOVAL;
  while (found().join() !== wanted.join() && performance.now() < deadline) await delay(200);
  assert.deepEqual(found(), wanted);
}

const CHANGES = [
  ['ipvs', 'nftables', ['tables']],
  ['ipvs', 'iptables', ['rules of iptables', 'ipsets']],
  ['ipvs', 'nftables', ['tables']],
  ['ipvs', 'iptables', ['rules of iptables', 'ipsets']],
  ['iptables', undefined, ['iptables mode']],
  ['ipvs', 'nftables', ['tables']],
  ['nftables', undefined, ['nftables mode']],
  ['ipvs', 'nftables', ['tables']],
] as const;

for (const [mode, rules, wanted] of CHANGES)
  test(`to ${mode} mode${rules === undefined ? '' : ` with rules of ${rules}`}: no request fails, and only ${wanted.join(' and ')} are left`, async () => {
    await lab.whileAsking(() => lab.change(mode, ...(rules === undefined ? [] : [`--ipvs-rules=${rules}`])));
    await becomes(wanted);
  });

test('a clean-up leaves nothing', async () => {
  assert.equal(await lab.proxy.end('SIGTERM'), 0);
  assert.match(lab.cleanUp(), /none of our state is left\n$/);
  assert.deepEqual(found(), []);
});
