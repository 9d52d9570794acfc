// While objects are unreadable, rules that no plan contains stay, and so do endpoints in chains that a plan contains.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { decodeObject } from '../../../../../src/proxy/objects/decode.js';
import type { KubernetesObject } from '../../../../../src/proxy/objects/types.js';
import { identityOf } from '../../../../../src/proxy/source/manifestFile.js';
import { FakeIptablesNode } from '../../../../support/oracle/testNode.js';

const HOST = {
  configuration: { clusterCIDR: '10.244.0.0/16' },
  interfaces: [{ link: 'eth0', address: '192.168.10.5', prefix: 24 }],
};

const service = (name: string, clusterIP: string, sessionAffinity = 'ClientIP') => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'demo', name },
  spec: { clusterIP, ports: [{ port: 80 }], sessionAffinity },
});

const slice = (service: string, number: number, ...addresses: string[]) => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: {
    namespace: 'demo',
    name: `${service}-${number}`,
    labels: { 'kubernetes.io/service-name': service },
  },
  addressType: 'IPv4',
  ports: [{ port: 8080 }],
  endpoints: addresses.map((address) => ({ addresses: [address] })),
});

function objects(...raw: object[]): Map<string, KubernetesObject> {
  const decoded = raw.map((each) => decodeObject(each).object as KubernetesObject);
  return new Map(decoded.map((object) => [identityOf(object), object]));
}

const WEB = service('web', '10.96.0.1');
const FIRST = slice('web', 1, '10.244.0.1', '10.244.0.2');
const SECOND = slice('web', 2, '10.244.0.3');
const OTHER = [service('other', '10.96.0.2'), slice('other', 1, '10.244.0.9')];

/** The rules that lead from the chain of Service `web` to endpoints. */
function endpointsOf({ kernel }: FakeIptablesNode): string[] {
  const lines = kernel.iptables.dump(4).split('\n');
  return lines
    .filter((line) => line.includes('"demo/web -> ') && !line.includes('-m recent'))
    .map((line) => /-> ([0-9.]+):.*?(?:--probability (\S+) )?-j/.exec(line)?.slice(1).join(' ') ?? line);
}

it('keeps a Service and endpoints that are not read, until every object is known', async () => {
  const node = new FakeIptablesNode(HOST);
  node.set(objects(WEB, FIRST, SECOND, ...OTHER));
  await node.sync();
  const before = node.output().iptables;

  // After a restart, one Service and one slice of the other cannot be read.
  const restarted = new FakeIptablesNode(HOST, node.kernel);
  restarted.reconciler.hold();
  restarted.set(objects(WEB, FIRST));
  assert.equal((await restarted.sync()).operations, 0);
  assert.equal(restarted.output().iptables, before);

  // A read endpoint disappears: those that are not read stay, and share the connections.
  restarted.set(objects(WEB, slice('web', 1, '10.244.0.1')));
  assert.deepEqual((await restarted.sync()).failures, []);
  assert.deepEqual(endpointsOf(restarted), ['10.244.0.1 0.50000000000', '10.244.0.3 ']);
  assert.match(restarted.output().iptables, /"demo\/other cluster IP"/);

  restarted.reconciler.release();
  assert.deepEqual((await restarted.sync()).failures, []);
  assert.deepEqual(endpointsOf(restarted), ['10.244.0.1 ']);
  assert.doesNotMatch(restarted.output().iptables, /demo\/other|10\.244\.0\.3/);
});

for (const [what, before, after] of [
  ['gains', 'None', 'ClientIP'],
  ['loses', 'ClientIP', 'None'],
] as const)
  it(`a Service ${what} session affinity, and a slice of it is not read: its endpoints stay`, async () => {
    const former = new FakeIptablesNode(HOST);
    former.set(objects(service('web', '10.96.0.1', before), FIRST, SECOND));
    await former.sync();

    const node = new FakeIptablesNode(HOST, former.kernel);
    node.reconciler.hold();
    for (const affinity of [after, before, after]) {
      node.set(objects(service('web', '10.96.0.1', affinity), FIRST));
      assert.deepEqual((await node.sync()).failures, []);
      const shares = ['10.244.0.1 0.33333333349', '10.244.0.2 0.50000000000', '10.244.0.3 '];
      assert.deepEqual(endpointsOf(node), shares);
      assert.match(node.output().iptables, /--to-destination 10\.244\.0\.3:8080/);
    }

    node.reconciler.release();
    assert.deepEqual((await node.sync()).failures, []);
    assert.deepEqual(endpointsOf(node), ['10.244.0.1 0.50000000000', '10.244.0.2 ']);
  });
