// Every frontend of every recorded cluster, explained from kube-proxy's own rules: all rules are understood, and the
// verdict is that of the recorded real servers.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { Explanation } from '../../../../../src/command/explain/explanation.js';
import { explain as explainPacket } from '../../../../../src/command/explain/read/ipvs.js';
import { ipvsOptions } from '../../../../../src/command/modes/ipvs/fromConfiguration.js';
import type { AddressId, VirtualService } from '../../../../../src/kernel/ipvs/types.js';
import { formatNetwork, parseNetwork } from '../../../../../src/kernel/net/network.js';
import type { Protocol } from '../../../../../src/kernel/net/protocol.js';
import { sample } from '../../../../support/extent.js';
import { FakeProcNet } from '../../../../support/fakes/procNet.js';
import { type Scenario, scenarios } from '../../../../support/oracle/oracle.js';
import { FakeNode } from '../../../../support/oracle/testNode.js';

/** A scenario's node with kube-proxy's recorded rules, an uplink, and a network of pods. */
async function nodeOf(scenario: Scenario) {
  const node = new FakeNode(scenario);
  const last = scenario.steps.at(-1) as string;
  await node.load(last);
  assert.deepEqual((await node.sync()).failures, []);
  const procNet = new FakeProcNet();
  const { iptables, rtnetlink, sysctl } = node.kernel;
  iptables.load(4, readFileSync(`${last}/iptables.txt`, 'utf8'));
  iptables.load(6, readFileSync(`${last}/ip6tables.txt`, 'utf8'));
  sysctl.values.set('net/ipv6/conf/all/forwarding', '1');
  rtnetlink.kinds.add('veth');
  for (const link of new Set(scenario.interfaces.map(({ link }) => link)))
    await rtnetlink.addLink(link, 'dummy');
  for (const { link, address, prefix } of scenario.interfaces) {
    await rtnetlink.addAddress({ link, address, prefix });
    const network = parseNetwork(`${address}/${prefix}`);
    if (network) procNet.networkRoutes.push({ network: formatNetwork(network), link, metric: 0 });
  }
  const [uplink] = scenario.interfaces;
  const link = uplink?.link ?? 'lo';
  procNet.networkRoutes.push(
    { network: '0.0.0.0/0', gateway: '192.168.50.1', link, metric: 0 },
    { network: '::/0', gateway: 'fd00:192:168:50::1', link, metric: 1024 },
    { network: '10.244.1.0/24', link: 'cni0', metric: 0 },
    { network: 'fd00:10:244:1::/64', link: 'cni0', metric: 256 },
  );
  return Object.assign(node, { procNet });
}

/** A node with its routes. */
type ExplainedNode = Awaited<ReturnType<typeof nodeOf>>;

const CLIENTS = ['pod', 'node', 'outside', undefined] as const;

async function explain(
  node: ExplainedNode,
  service: AddressId,
  from: string | undefined,
): Promise<Explanation> {
  const { address, port } = service;
  const protocol = service.protocol as Protocol;
  const question = { address, port, protocol, ...(from === undefined ? {} : { from }) };
  const options = ipvsOptions(node.configuration, { families: [4, 6], kernelRelease: '6.1.0' });
  return explainPacket({ ...node.kernel, procNet: node.procNet }, options, question);
}

for (const scenario of sample(scenarios('ipvs'), 2)) {
  describe(scenario.name, () => {
    it('each virtual service, from each place', async () => {
      const node = await nodeOf(scenario);
      const services = await node.kernel.ipvs.list();
      assert.ok(services.length > 0);
      for (const service of services as (VirtualService & AddressId & { realServers: readonly object[] })[]) {
        for (const from of CLIENTS) {
          const explanation = await explain(node, service, from);
          const story = JSON.stringify(explanation, undefined, 1);
          assert.deepEqual(explanation.notUnderstood, [], story);
          assert.deepEqual(explanation.warnings, [], story);
          const codes = new Set(explanation.causes.map(({ code }) => code));
          if (codes.has('SourceRanges')) {
            assert.equal(explanation.verdict, 'hangs', story);
            assert.match(story, /-LOAD-BALANCER-FW|KUBE-IPVS-OUT-FILTER/);
          } else if (service.realServers.length === 0) {
            // Its sets show the policy of an external address.
            const isLocal = /has [^"]*"[^}]*KUBE-(EXTERNAL-IP|LOAD-BALANCER)-LOCAL dst,dst/.test(story);
            const code = isLocal ? 'NoLocalEndpoint' : explanation.causes[0]?.code;
            assert.deepEqual([explanation.verdict, ...codes], ['refused', code], story);
            assert.match(code ?? '', /^No(RealServer|LocalEndpoint)$/, story);
          } else {
            assert.ok(['forwarded', 'partly', 'hangs'].includes(explanation.verdict), story);
            assert.equal(explanation.endpoints.length, service.realServers.length, story);
            for (const code of codes) assert.match(code, /^(ReplyBypasses|BridgeFilterOff)$/, story);
          }
        }
      }
    });

    it('an unused port at each virtual IP is refused', async () => {
      const node = await nodeOf(scenario);
      const addresses = await node.kernel.rtnetlink.listAddresses('kube-ipvs0');
      for (const { address } of addresses) {
        const { verdict, causes } = await explain(node, { address, port: 9, protocol: 'tcp' }, 'node');
        assert.deepEqual([verdict, causes.map(({ code }) => code)], ['refused', ['PortNotServed']]);
      }
    });
  });
}
