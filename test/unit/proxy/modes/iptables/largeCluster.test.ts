// The comments of endpoints in a cluster that becomes large, and small again: all Services have the same form, as after a start
// of kube-proxy.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FakeIptablesNode } from '../../../../support/oracle/testNode.js';

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

/** Loads a cluster, programs it, and checks that a full pass has nothing to do. */
async function load(node: FakeIptablesNode, text: string) {
  await node.loadText(text);
  const { failures, operations } = await node.sync();
  assert.deepEqual(failures, []);
  node.reconciler.requestFullSync();
  assert.equal((await node.sync()).operations, 0, 'a full pass');
  return { comments: comments(node), operations };
}

const WITH = { big: true, still: true, small: true };
const WITHOUT = { big: false, still: false, small: false };

it('above 1000 endpoints, the rules of all Services lose their comments, and below they get them back', async () => {
  const node = new FakeIptablesNode(HOST);
  assert.deepEqual((await load(node, cluster(996, 2, 2))).comments, WITH);
  const large = await load(node, cluster(997, 2, 2));
  assert.deepEqual(large.comments, WITHOUT);
  // Three chains of Services and those of 1001 endpoints.
  assert.equal(large.operations, 1004);
  const text = node.kernel.iptables.dump(4);
  assert.doesNotMatch(text, /"demo\/\w+ -> /);
  assert.match(text, /-A KUBE-SEP-\S+ -s \S+ -j KUBE-MARK-MASQ\n-A KUBE-SEP-\S+ -p tcp -m tcp -j DNAT /);
  // A change that does not cross the number costs one Service.
  assert.equal((await load(node, cluster(997, 2, 3))).operations, 2);
  assert.deepEqual((await load(node, cluster(997, 2, 1))).comments, WITH);
});

it('a deleted Service may make the cluster small', async () => {
  const node = new FakeIptablesNode(HOST);
  assert.deepEqual((await load(node, cluster(997, 2, 2))).comments, WITHOUT);
  const [big, still] = [manifest('big', 1, 997), manifest('still', 2, 2)];
  const left = [...big, ...still].map((object) => JSON.stringify(object)).join('\n---\n');
  assert.deepEqual((await load(node, left)).comments, { big: true, still: true });
});

it('after a change of the number, a restart and a plan have nothing to do', async () => {
  const node = new FakeIptablesNode(HOST);
  await load(node, cluster(996, 2, 2));
  await load(node, cluster(997, 2, 2));
  for (const run of ['preview', 'sync'] as const) {
    const restarted = new FakeIptablesNode(HOST, node.kernel);
    await restarted.loadText(cluster(997, 2, 2));
    const result = await restarted.reconciler[run]();
    assert.equal('operations' in result ? result.operations : result.length, 0, run);
  }
});
