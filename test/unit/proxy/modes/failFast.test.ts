// The kernel's state for Services with fail-fast: real servers that are deleted, and how packets without an endpoint are refused.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HOST, service, slice } from '../../../support/clusters/manifests.js';
import { FakeIptablesNode, FakeNftablesNode, FakeNode } from '../../../support/oracle/testNode.js';

const NODE = { ...HOST, configuration: { serviceSettings: ['fail-fast', 'weight'] } };

/** A Service with TCP port 80 and UDP port 53, and the setting if it has one. */
function web(setting?: string): string {
  const text = service('web', '10.96.0.1').replace(
    '[{port: 80}]',
    '[{name: http, port: 80}, {name: dns, port: 53, protocol: UDP}]',
  );
  if (setting === undefined) return text;
  return text.replace('name: web}', `name: web, annotations: {kube-netlink-proxy.io/fail-fast: ${setting}}}`);
}

const ports = (text: string) =>
  text.replace('[{port: 8080}]', '[{name: http, port: 8080}, {name: dns, port: 5353, protocol: UDP}]');

async function change(
  node: FakeNode | FakeIptablesNode | FakeNftablesNode,
  setting: string | undefined,
  ...endpoints: string[]
) {
  await node.loadText(web(setting) + ports(slice('web', ...endpoints)));
  const summary = await node.sync();
  assert.deepEqual(summary.failures, []);
  return summary;
}

describe('in ipvs mode, a real server with connections', () => {
  /** Weights of the real servers of the TCP port: `1=1 2=1`, by the last number of their addresses. */
  const weights = (node: FakeNode) =>
    [...node.kernel.ipvs.dump().matchAll(/-r 10\.0\.0\.(\d):8080 -m -w (\d+)/g)]
      .map(([, address, weight]) => `${address}=${weight}`)
      .join(' ');

  async function busy(setting?: string): Promise<FakeNode> {
    const node = new FakeNode(NODE);
    node.kernel.ipvs.activeConnections.set('10.0.0.1:8080', 3);
    await change(node, setting, '10.0.0.1', '10.0.0.2');
    return node;
  }

  for (const [setting, expected] of [
    [undefined, '1=0 2=1'],
    ['removed', '1=0 2=1'],
    ['not-serving', '2=1'],
  ] as const) {
    it(`that does not serve, with ${setting}: ${expected}`, async () => {
      const node = await busy(setting);
      await change(node, setting, '10.0.0.1 unready', '10.0.0.2');
      assert.equal(weights(node), expected);
      await change(node, setting, '10.0.0.2');
      assert.equal(weights(node), expected);
    });

    it(`that terminates drains, with ${setting}`, async () => {
      const node = await busy(setting);
      await change(node, setting, '10.0.0.1 terminating', '10.0.0.2');
      await change(node, setting, '10.0.0.2');
      assert.equal(weights(node), '1=0 2=1');
    });
  }

  it('that leaves while it does not serve, between two passes, is deleted with not-serving', async () => {
    for (const [setting, expected] of [
      ['removed', '1=0 2=1'],
      ['not-serving', '2=1'],
    ] as const) {
      const node = await busy(setting);
      await node.loadText(web(setting) + ports(slice('web', '10.0.0.1 unready', '10.0.0.2')));
      await change(node, setting, '10.0.0.2');
      assert.equal(weights(node), expected, setting);
    }
  });

  it('that is draining because it does not serve is deleted when the setting is added', async () => {
    const node = await busy();
    await change(node, undefined, '10.0.0.1 unready', '10.0.0.2');
    assert.equal(weights(node), '1=0 2=1');
    await change(node, 'not-serving', '10.0.0.1 unready', '10.0.0.2');
    assert.equal(weights(node), '2=1');
  });

  it('with weight 0 by annotation drains when it leaves, and is deleted with the setting', async () => {
    for (const [setting, expected] of [
      [undefined, '1=0 2=1'],
      ['removed', '2=1'],
    ] as const) {
      const node = new FakeNode(NODE);
      node.kernel.ipvs.activeConnections.set('10.0.0.1:8080', 3);
      const light = (...endpoints: string[]) =>
        ports(slice('light', ...endpoints)).replace(
          'labels: {kubernetes.io/service-name: light}',
          'labels: {kubernetes.io/service-name: web}, annotations: {kube-netlink-proxy.io/weight: "0"}',
        );
      await node.loadText(web(setting) + light('10.0.0.1') + ports(slice('web', '10.0.0.2')));
      await node.sync();
      assert.equal(weights(node), '1=0 2=1');
      await change(node, setting, '10.0.0.2');
      assert.equal(weights(node), expected, setting);
    }
  });
});

describe('packets to a Service without endpoints', () => {
  it('in iptables mode: a reset for TCP with the setting, and nothing else changes', async () => {
    const node = new FakeIptablesNode(NODE);
    await change(node, undefined);
    const rules = () => node.kernel.iptables.dump(4).split('\n').sort().join('\n');
    const before = rules();
    const { operations } = await change(node, 'removed');
    const after = rules();
    assert.equal(operations, 2, 'a rule for another');
    const tcp = (target: string) =>
      `-d 10.96.0.1/32 -p tcp -m comment --comment "demo/web:http has no endpoints" -m tcp --dport 80 -j REJECT --reject-with ${target}\n`;
    assert.ok(before.includes(tcp('icmp-port-unreachable')), before);
    const others = (text: string) => text.split('\n').filter((line) => !line.includes('demo/web:http'));
    assert.deepEqual(others(after), others(before));
    assert.ok(after.includes(tcp('tcp-reset')) && !after.includes(tcp('icmp-port-unreachable')), after);
    const restarted = new FakeIptablesNode(NODE, node.kernel);
    assert.equal((await change(restarted, 'removed')).operations, 0, 'after a restart');
    await change(node, undefined);
    assert.equal(rules(), before);
  });

  for (const layout of ['kube-proxy', 'scalable'] as const) {
    it(`in nftables mode, layout ${layout}: they reach the chain with the reset, which exists while it is needed`, async () => {
      const node = new FakeNftablesNode(NODE, undefined, layout);
      const { nftables } = node.kernel;
      const where = { family: 'ip', table: 'kube-proxy' } as const;
      const chains = async () => (await nftables.listChains(where).toArray()).map(({ name }) => name).sort();
      const verdicts = async () => {
        const elements = await nftables.listElements({ ...where, name: 'no-endpoint-services' }).toArray();
        return elements.map(({ data }) => (data as { chain?: string }).chain).sort();
      };
      await change(node, undefined);
      const before = await chains();
      assert.deepEqual(await verdicts(), ['reject-chain', 'reject-chain']);
      await change(node, 'removed');
      assert.deepEqual(await chains(), [...before, 'reset-chain'].sort());
      assert.deepEqual(await verdicts(), ['reject-chain', 'reset-chain']);
      const restarted = new FakeNftablesNode(NODE, node.kernel, layout);
      assert.equal((await change(restarted, 'removed')).operations, 0, 'after a restart');
      await change(node, 'removed', '10.0.0.1');
      assert.deepEqual(await verdicts(), []);
      assert.ok(!(await chains()).includes('reset-chain'));
      await change(node, undefined);
      assert.deepEqual(await chains(), before);
    });
  }
});
