// The end of the last load balancer with source ranges: nobody outside of them gets in meanwhile.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { HOST, service, slice } from '../../../../support/clusters/manifests.js';
import { FakeNode } from '../../../../support/oracle/testNode.js';

const VIP = '203.0.113.9';
const FIREWALL = 'chain IPv4 filter/KUBE-PROXY-FIREWALL';
const BALANCED = `  type: LoadBalancer
  loadBalancerSourceRanges: [192.0.2.0/24]
status: {loadBalancer: {ingress: [{ip: ${VIP}}]}}`;
const SLICE = slice('web', '10.244.1.1');

/** Whether packets from outside of the source ranges are dropped. */
const drops = ({ kernel }: FakeNode) =>
  /^-A KUBE-PROXY-FIREWALL .*-j KUBE-SOURCE-RANGES-FIREWALL$/m.test(kernel.iptables.dump(4));

/** The operations of a change from the load balancer to this Service, as `phase key`. */
async function changeTo(manifest: string): Promise<string[]> {
  const node = new FakeNode(HOST);
  await node.loadText(service('web', '10.96.0.1', BALANCED) + SLICE);
  await node.sync();
  assert.ok(drops(node));
  const applied: string[] = [];
  const { apply } = node.mode;
  node.mode.apply = (operations) => {
    for (const { key, phase } of operations) applied.push(`${phase} ${key}`);
    return apply(operations);
  };
  await node.loadText(manifest + SLICE);
  await node.sync();
  assert.ok(!drops(node));
  return applied;
}

it('the entry of the firewall goes before the source ranges of a load balancer that stays', async () => {
  const applied = await changeTo(
    service('web', '10.96.0.1', BALANCED.replace(/ {2}loadBalancerSource.*\n/, '')),
  );
  const deleted = applied.filter((text) => text.startsWith('deleteEntries'));
  assert.deepEqual(deleted, [
    `deleteEntries entry KUBE-LOAD-BALANCER-FW ${VIP},tcp:80`,
    `deleteEntries entry KUBE-LOAD-BALANCER-SOURCE-CIDR ${VIP},tcp:80,192.0.2.0/24`,
  ]);
});

it('the rule that drops packets goes after the address, the virtual service and the entries', async () => {
  const applied = await changeTo(service('web', '10.96.0.1'));
  const ends = applied.filter((text) => text.includes(VIP) || text.includes(FIREWALL));
  const phases = [...new Set(ends.map((text) => text.split(' ')[0]))];
  assert.deepEqual(phases, ['deleteAddresses', 'deleteServers', 'deleteEntries', 'deleteRules']);
  assert.match(ends.at(-1) ?? '', /^deleteRules chain .*KUBE-PROXY-FIREWALL/);
});
