// The state that kube-proxy left in iptables mode is adopted: a node with the same objects changes nothing.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { FakeKernel } from '../../../../../src/kernel/testing/index.js';
import { sample } from '../../../../support/extent.js';
import { scenarios } from '../../../../support/oracle/oracle.js';
import { FakeIptablesNode } from '../../../../support/oracle/testNode.js';

for (const scenario of sample(scenarios('iptables'), 5)) {
  it(scenario.name, async () => {
    const step = scenario.steps.at(-1) as string;
    const kernel = new FakeKernel();
    kernel.iptables.load(4, readFileSync(`${step}/iptables.txt`, 'utf8'));
    kernel.iptables.load(6, readFileSync(`${step}/ip6tables.txt`, 'utf8'));
    kernel.sysctl.values.set('net/ipv4/conf/all/route_localnet', '1');
    const node = new FakeIptablesNode(scenario, kernel);
    await node.load(step);
    const { failures, operations, phases } = await node.sync();
    assert.deepEqual([failures, operations, [...phases]], [[], 0, []]);
  });
}
