// Equal rules of one Service: kube-proxy adds one for each time that the Service lists an address.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FakeIptablesNode } from '../../../../support/oracle/testNode.js';

const HOST = {
  configuration: { clusterCIDR: '10.244.0.0/16' },
  interfaces: [{ link: 'eth0', address: '192.168.10.5', prefix: 24 }],
};

const ADDRESS = '203.0.113.1';

/** A Service without endpoints that lists the address as external IPs and as load-balancer IPs. */
function manifest(externalIPs: number, loadBalancerIPs: number): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'demo', name: 'web' },
    spec: {
      type: 'LoadBalancer',
      clusterIP: '10.96.0.1',
      ports: [{ port: 80 }],
      externalIPs: Array.from({ length: externalIPs }, () => ADDRESS),
    },
    status: { loadBalancer: { ingress: Array.from({ length: loadBalancerIPs }, () => ({ ip: ADDRESS })) } },
  });
}

function refusals(node: FakeIptablesNode): number {
  const lines = node.kernel.iptables.dump(4).split('\n');
  return lines.filter((line) => line.includes(`-d ${ADDRESS}/32`) && / -j REJECT /.test(line)).length;
}

it('as many as the Service lists an address, through changes, full passes and restarts', async () => {
  const node = new FakeIptablesNode(HOST);
  const steps = [
    [1, 1],
    [0, 1],
    [1, 2],
    [2, 0],
    [0, 0],
  ] as const;
  let before = 0;
  for (const [externalIPs, loadBalancerIPs] of steps) {
    const now = externalIPs + loadBalancerIPs;
    await node.loadText(manifest(externalIPs, loadBalancerIPs));
    const { operations, failures } = await node.sync();
    assert.deepEqual(failures, []);
    assert.equal(refusals(node), now);
    if (before > 0) assert.equal(operations, Math.abs(now - before));
    node.reconciler.requestFullSync();
    assert.equal((await node.sync()).operations, 0);
    const restarted = new FakeIptablesNode(HOST, node.kernel);
    await restarted.loadText(manifest(externalIPs, loadBalancerIPs));
    assert.equal((await restarted.sync()).operations, 0);
    before = now;
  }
});
