// The text of explain: many endpoints on one screen, causes before their effects, and what was not followed.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explanationLines } from '../../../../../src/command/cli/explain/text.js';
import type { Explanation, PacketQuestion } from '../../../../../src/command/explain/explanation.js';
import { explain } from '../../../../../src/command/explain/read/nftables.js';
import { nftablesOptions } from '../../../../../src/command/modes/nftables/fromConfiguration.js';
import { parseRuleset } from '../../../../../src/kernel/nftables/text/index.js';
import { HOST, service, slice } from '../../../../support/clusters/manifests.js';
import { FakeProcNet } from '../../../../support/fakes/procNet.js';
import { FakeNftablesNode } from '../../../../support/oracle/testNode.js';

const QUESTION: PacketQuestion = { address: '203.0.113.1', port: 80, protocol: 'tcp', from: '198.51.100.7' };
const EXTERNAL = '  externalIPs: [203.0.113.1]';
/** Lines of a large terminal. */
const SCREEN = 50;

/** A node in nftables mode with a Service of so many endpoints, and a route to the pods unless they have none. */
async function nodeWith(endpoints: number, routes = true) {
  const node = new FakeNftablesNode(HOST);
  const addresses = Array.from({ length: endpoints }, (_, i) => `10.244.2.${i + 1}`);
  await node.loadText(service('web', '10.96.0.1', EXTERNAL) + slice('web', ...addresses));
  assert.deepEqual((await node.sync()).failures, []);
  const { rtnetlink, sysctl } = node.kernel;
  await rtnetlink.addLink('eth0', 'dummy');
  await rtnetlink.addAddress({ link: 'eth0', address: '192.168.50.10', prefix: 24 });
  sysctl.values.set('net/ipv4/ip_forward', '1');
  const procNet = new FakeProcNet();
  procNet.networkRoutes.push({ network: '192.0.0.0/3', link: 'eth0', metric: 0 });
  if (routes) procNet.networkRoutes.push({ network: '10.244.0.0/16', link: 'eth0', metric: 0 });
  return { ...node.kernel, procNet, configuration: node.configuration };
}

type Node = Awaited<ReturnType<typeof nodeWith>>;

function ask(node: Node, question = QUESTION): Promise<Explanation> {
  const options = nftablesOptions(node.configuration, { families: [4, 6], layout: 'kube-proxy' });
  return explain(node, options, question);
}

describe('the text of explain', () => {
  it('is about a screen for 200 endpoints, and names each cause once', async () => {
    const explanation = await ask(await nodeWith(200, false));
    assert.equal(explanation.endpoints.length, 200);
    const lines = explanationLines(explanation, undefined, 80);
    assert.ok(lines.length <= SCREEN, `${lines.length} lines`);
    const text = lines.join('\n');
    assert.match(text, /to 10\.244\.2\.\d+:8080 and 199 others alike, share 100 % together/);
    assert.equal(text.match(/no route of this node leads/g)?.length, 1);
    assert.match(
      text.replaceAll(/\s+/g, ' '),
      /leads to 10\.244\.2\.\d+; and the same for 199 other endpoints/,
    );
  });

  it('keeps apart what is not alike: one endpoint without a neighbour', async () => {
    const node = await nodeWith(20);
    const neighbour = { link: 'eth0', address: '10.244.2.7', state: 'failed' } as const;
    const explanation = await ask({
      ...node,
      rtnetlink: {
        listLinks: () => node.rtnetlink.listLinks(),
        listAddresses: () => node.rtnetlink.listAddresses(),
        listNeighbours: () => ({ toArray: async () => [neighbour] }),
      } as unknown as Node['rtnetlink'],
    });
    const text = explanationLines(explanation, undefined, 200).join('\n');
    assert.match(
      text,
      /^to 10\.244\.2\.7:8080, share 5 %.*: unreachable\n(?:.*\n)*to 10\.244\.2\.\d+:8080 and 18 others alike/m,
    );
  });

  it('has causes before their effects', async () => {
    const explanation = await ask(await nodeWith(1));
    const [rule, effect] = [
      { code: 'RulesMissing', text: 'a rule is missing' },
      { code: 'Hairpin', text: 'a pod connects to itself' },
    ] as const;
    const refused = ['Service demo/web: spec.externalIPs: is not served'];
    const text = explanationLines({ ...explanation, causes: [effect, rule] }, undefined, 80, refused).join(
      '\n',
    );
    assert.match(
      text,
      /because:\n {2}a rule is missing\n {2}a pod connects to itself\n {2}Service demo\/web: spec\.externalIPs: is not served\n/,
    );
  });

  it('names chains of other programs that may drop the packet, and no others', async () => {
    const node = await nodeWith(2);
    assert.deepEqual((await ask(node)).notJudged, []);
    const foreign = `table inet np {
      chain output { type filter hook output priority 0; policy accept; tcp dport 8080 drop; }
      chain empty { type filter hook input priority 0; policy accept; }
      chain closed { type filter hook forward priority 5; policy drop; }
      chain regular { tcp dport 8080 drop; }
    }
    table ip filter { chain INPUT { type filter hook input priority 0; policy accept; tcp dport 1 drop; } }
    table ip6 other { chain input { type filter hook input priority 0; policy drop; } }`;
    for (const result of await node.nftables.apply(parseRuleset(foreign))) assert.equal(result, undefined);
    const explanation = await ask(node);
    assert.deepEqual(explanation.notJudged, [
      'not read: table inet np, chain output (hook output, priority 0)',
      'not read: table inet np, chain closed (hook forward, priority 5)',
    ]);
    const text = explanationLines(explanation, undefined, 200).join('\n');
    assert.match(text, /may decide otherwise:\n {2}not read: table inet np, chain output/);
    assert.match(text, /verdict: forwarded .*unless what may decide otherwise does/s);
  });

  it('names a full table of connections, a strict reverse-path filter, and a smaller MTU', async () => {
    const node = await nodeWith(2);
    node.sysctl.values.set('net/netfilter/nf_conntrack_max', '1000');
    node.sysctl.values.set('net/netfilter/nf_conntrack_count', '400');
    assert.deepEqual((await ask(node)).warnings, []);
    node.sysctl.values.set('net/netfilter/nf_conntrack_count', '999');
    node.sysctl.values.set('net/ipv4/conf/eth0/rp_filter', '1');
    node.procNet.networkRoutes.push({ network: '10.244.2.0/24', link: 'tun0', metric: 0 });
    await node.rtnetlink.addLink('tun0', 'dummy');
    await node.rtnetlink.apply([{ do: 'setLink', link: 'tun0', settings: { mtu: 1400 } }]);
    const { warnings, notJudged } = await ask(node);
    assert.deepEqual(
      warnings.map(({ code }) => code),
      ['ConntrackFull'],
    );
    assert.match(
      notJudged.join('\n'),
      /eth0\.rp_filter = 1.*\n.*MTU of link tun0 is 1400, that of eth0 1500/,
    );
    node.sysctl.values.set('net/ipv4/conf/all/rp_filter', '2');
    assert.doesNotMatch((await ask(node)).notJudged.join('\n'), /rp_filter/);
  });
});
