// The comments of endpoints in a cluster that becomes large, and small again. As in kube-proxy, only Services that change get
// the other form; a start writes every chain.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FakeIptablesNode } from '../../../support/testNode.js';

const HOST = {
  configuration: { clusterCIDR: '10.244.0.0/16' },
  interfaces: [{ link: 'eth0', address: '192.168.10.5', prefix: 24 }],
};

/** A Service and its slice. */
function manifest(name: string, number: number, endpoints: number): object[] {
  const metadata = { namespace: 'demo', name };
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { clusterIP: `10.96.0.${number}`, ports: [{ port: 80 }] },
    },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...metadata, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      ports: [{ name: '', port: 8080, protocol: 'TCP' }],
      endpoints: Array.from({ length: endpoints }, (_, i) => ({
        addresses: [`10.244.${number * 8 + (i >> 8)}.${i & 255}`],
      })),
    },
  ];
}

/** A cluster of three Services. */
function cluster(big: number, still: number, small: number): string {
  const objects = [manifest('big', 1, big), manifest('still', 2, still), manifest('small', 3, small)];
  return objects
    .flat()
    .map((object) => JSON.stringify(object))
    .join('\n---\n');
}

/** Of each Service, whether the rules of all endpoints have comments; both forms are never mixed. */
function comments(node: FakeIptablesNode): Record<string, boolean> {
  const forms = new Map<string, Set<boolean>>();
  const names = ['big', 'still', 'small'];
  for (const line of node.kernel.iptables.dump(4).split('\n')) {
    const number = / --to-destination 10\.244\.(\d+)\./.exec(line)?.[1];
    if (number === undefined) continue;
    const name = names[(Number(number) >> 3) - 1] as string;
    const form = forms.get(name) ?? new Set();
    forms.set(name, form.add(line.includes(`--comment "demo/${name}"`)));
  }
  return Object.fromEntries([...forms].map(([name, form]) => [name, form.size === 1 && form.has(true)]));
}

it('comments of endpoints: only the Services that change above 1000 endpoints lose them', async () => {
  const node = new FakeIptablesNode(HOST);
  const load = async (text: string) => {
    await node.loadText(text);
    assert.deepEqual((await node.sync()).failures, []);
    node.reconciler.requestFullSync();
    assert.equal((await node.sync()).operations, 0, 'a full pass');
    return comments(node);
  };
  assert.deepEqual(await load(cluster(996, 2, 2)), { big: true, still: true, small: true });
  assert.deepEqual(await load(cluster(997, 2, 2)), { big: false, still: true, small: true });
  const text = node.kernel.iptables.dump(4);
  assert.doesNotMatch(text, /"demo\/big -> /);
  assert.match(text, /"demo\/still -> /);
  assert.match(text, /-A KUBE-SEP-\S+ -s \S+ -j KUBE-MARK-MASQ\n-A KUBE-SEP-\S+ -p tcp -m tcp -j DNAT /);
  assert.deepEqual(await load(cluster(997, 2, 1)), { big: false, still: true, small: true });
  assert.deepEqual(await load(cluster(997, 2, 2)), { big: false, still: true, small: false });

  const restarted = new FakeIptablesNode(HOST, node.kernel);
  await restarted.loadText(cluster(997, 2, 2));
  // The chain of the Service and those of its two endpoints.
  assert.equal((await restarted.sync()).operations, 3);
  assert.deepEqual(comments(restarted), { big: false, still: false, small: false });

  await restarted.loadText(cluster(995, 2, 2));
  await restarted.sync();
  assert.deepEqual(comments(restarted), { big: true, still: false, small: false });
});
