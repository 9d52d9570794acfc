// The tables of nf_tables of ipvs mode on the kernel: what it lists is what was written, and what another program changes is repaired.
// Needs: nftables
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type Nftables, openNftables } from '../../src/kernel/nftables/index.js';
import { FakeKernel } from '../../src/kernel/testing/index.js';
import type { IpvsKernel } from '../../src/proxy/modes/ipvs/index.js';
import { sample } from '../support/extent.js';
import { makeNamespace, type Namespace } from '../support/namespaces/netns.js';
import { type Scenario, scenarios } from '../support/oracle/oracle.js';
import { IpvsNode } from '../support/oracle/testNode.js';

let namespace: Namespace;
let nftables: Nftables;

const nft = (command: string) => namespace.run('nft', command);

before(async () => {
  namespace = makeNamespace();
  nftables = await openNftables({ netns: namespace.path });
});
after(async () => {
  await nftables.close();
  namespace.remove();
});
beforeEach(() => nft('flush ruleset'));

type Kernel = IpvsKernel & Pick<FakeKernel, 'conntrack'>;

/** A kernel in memory with the real part. */
function newKernel(): Kernel {
  const { conntrack, ipvs, ipset, iptables, rtnetlink, sysctl } = new FakeKernel();
  return { conntrack, ipvs, ipset, iptables, rtnetlink, sysctl, nftables };
}

async function programmed(scenario: Scenario, kernel: Kernel) {
  const node = new IpvsNode(scenario, kernel, '6.1.0', [], 'nftables');
  await node.load(scenario.steps.at(-1) as string);
  const { failures, operations } = await node.sync();
  assert.deepEqual(failures, []);
  return { node, operations };
}

describe('every recorded cluster: no further operations after a full pass and a restart, step by step', () => {
  for (const scenario of sample(scenarios('ipvs'), 3))
    it(scenario.name, async () => {
      const kernel = newKernel();
      const node = new IpvsNode(scenario, kernel, '6.1.0', [], 'nftables');
      for (const step of scenario.steps) {
        await node.load(step);
        assert.deepEqual((await node.sync()).failures, [], step);
        node.reconciler.requestFullSync();
        assert.equal((await node.sync()).operations, 0, step);
      }
      assert.equal((await programmed(scenario, kernel)).operations, 0);
    });
});

describe('what another program changes is repaired', () => {
  const TABLE = 'ip kube-proxy-ipvs';
  const COMMANDS = [
    `delete table ${TABLE}`,
    `flush set ${TABLE} KUBE-CLUSTER-IP`,
    `flush chain ${TABLE} nat/KUBE-SERVICES`,
    `add element ${TABLE} KUBE-CLUSTER-IP { 10.96.255.1 . tcp . 80 }`,
    `add element ${TABLE} KUBE-LOAD-BALANCER-SOURCE-CIDR { 10.96.255.1 . tcp . 80 . 10.0.0.1-10.0.0.6 }`,
    `insert rule ${TABLE} filter/INPUT drop`,
    `add rule ${TABLE} filter/KUBE-FORWARD counter`,
    `add element ${TABLE} KUBE-CLUSTER-IP { 10.96.255.1 . 99 . 80 }`,
    `add element ${TABLE} KUBE-CLUSTER-IP { 10.96.255.1 . tcp . 80 comment "mine" }`,
    `add element ${TABLE} KUBE-SHORTCUT { 10.96.255.1 . tcp . 80 }`,
    `add element ${TABLE} KUBE-SHORTCUT-CLUSTER-IP { 10.96.255.1 . tcp . 80 : 10.96.255.2 . 80 }`,
    `add element ${TABLE} KUBE-NODE-DROP { 10.96.255.1 . 10.96.255.2 . tcp . 80 }`,
    `add element ${TABLE} KUBE-NODE-PORT-TCP { 1 }`,
    `add element ${TABLE} KUBE-LOAD-BALANCER-SOURCE-CIDR { 10.96.255.1 . tcp . 80 . 10.0.0.0/8 }`,
    `flush set ${TABLE} KUBE-LOAD-BALANCER-SOURCE-CIDR`,
    `flush set ${TABLE} KUBE-LOOP-BACK`,
    `rename chain ${TABLE} nat/KUBE-SERVICES nat/MINE`,
    `add chain ${TABLE} nat/MINE`,
    `table ${TABLE} { chain filter/INPUT { policy drop; }; }`,
    `add table ${TABLE} { flags dormant; }`,
    `flush table ${TABLE}; delete set ${TABLE} KUBE-CLUSTER-IP`,
    `flush table ${TABLE}; delete set ${TABLE} KUBE-CLUSTER-IP; add set ${TABLE} KUBE-CLUSTER-IP { type ipv4_addr; }`,
    `flush chain ${TABLE} filter/INPUT; delete chain ${TABLE} filter/INPUT; add chain ${TABLE} filter/INPUT { type filter hook input priority 5; }`,
    `add chain ${TABLE} nat/MINE; add rule ${TABLE} nat/MINE jump nat/KUBE-SERVICES; add element ${TABLE} KUBE-CLUSTER-IP { 10.96.255.1 . 99 . 80 }`,
  ];
  for (const command of sample(COMMANDS, 8))
    it(command, async () => {
      const scenario = scenarios('ipvs').find(({ name }) => name === 'random-01') ?? assert.fail();
      const { node } = await programmed(scenario, newKernel());
      const before = lines(nft(`list table ${TABLE}`));
      nft(command);
      node.reconciler.requestFullSync();
      assert.deepEqual((await node.sync()).failures, []);
      assert.deepEqual(lines(nft(`list table ${TABLE}`)), before);
      node.reconciler.requestFullSync();
      assert.equal((await node.sync()).operations, 0);
    });
});

/** The kernel lists elements in no order. */
function lines(text: string): string[] {
  return text
    .replaceAll(/elements = \{ |,\s+| \}$/gm, '\n')
    .split('\n')
    .map((line) => line.trim())
    .sort();
}
