// UDP flows after changes: only flows to endpoints that no longer serve are deleted.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NetlinkError } from '../../../../src/kernel/errors.js';
import { HOST, service, slice } from '../../../support/clusters/manifests.js';
import { FakeNode } from '../../../support/oracle/testNode.js';

const udp = (text: string) => text.replace(/port: (80|8080)}/, 'port: $1, protocol: UDP}');
const DNS = udp(service('dns', '10.96.0.10'));

async function change(node: FakeNode, ...endpoints: string[]) {
  await node.loadText(DNS + udp(slice('dns', ...endpoints)));
  return node.sync();
}

/** A client's flow to the cluster IP and an endpoint. */
function track(node: FakeNode, endpoint: string, destination = '10.96.0.10') {
  const client = { address: '10.244.9.9', port: 40_000 };
  node.kernel.conntrack.track({
    protocol: 'udp',
    original: { source: client.address, sourcePort: client.port, destination, destinationPort: 80 },
    reply: { source: endpoint, sourcePort: 8080, destination: client.address, destinationPort: client.port },
  });
}

const endpointsOf = async (node: FakeNode) =>
  (await node.kernel.conntrack.list().toArray()).map(({ reply }) => reply.source).sort();

describe('UDP flows', () => {
  it('to a removed endpoint are deleted, others stay', async () => {
    const node = new FakeNode(HOST);
    await change(node, '10.0.0.1', '10.0.0.2');
    for (const endpoint of ['10.0.0.1', '10.0.0.2']) track(node, endpoint);
    track(node, '10.0.0.1', '10.96.0.99');
    const { phases, again } = await change(node, '10.0.0.2');
    assert.equal(phases.get('deleteFlows'), 1);
    assert.equal(again, 1000);
    assert.deepEqual(await endpointsOf(node), ['10.0.0.1', '10.0.0.2']);
    assert.equal((await node.sync()).again, undefined, 'a second look finds nothing');
  });

  it('are listed only if their port changed', async () => {
    const node = new FakeNode(HOST);
    await change(node, '10.0.0.1');
    const { listings } = node.kernel.conntrack;
    await change(node, '10.0.0.1');
    node.reconciler.requestFullSync();
    await node.sync();
    assert.equal(node.kernel.conntrack.listings, listings);
  });

  it('of a Service that is deleted and created again with the same endpoints are listed', async () => {
    const node = new FakeNode(HOST);
    await change(node, '10.0.0.1');
    await node.loadText('');
    await node.sync();
    track(node, '10.0.0.7');
    await change(node, '10.0.0.1');
    assert.deepEqual(await endpointsOf(node), []);
  });

  it('that began with a reply of an endpoint are deleted when it is added in ipvs mode, and no others', async () => {
    const node = new FakeNode(HOST);
    const client = { address: '10.244.9.9', port: 40_000 };
    const reply = (source: string, sourcePort: number, protocol: 'tcp' | 'udp', to: string) =>
      node.kernel.conntrack.track({
        protocol,
        original: { source, sourcePort, destination: client.address, destinationPort: client.port },
        reply: {
          source: client.address,
          sourcePort: client.port,
          destination: to,
          destinationPort: sourcePort,
        },
      });
    await change(node, '10.0.0.2');
    reply('10.0.0.1', 8080, 'udp', '10.0.0.1');
    reply('10.0.0.3', 8080, 'udp', '10.0.0.3');
    reply('10.0.0.1', 53, 'udp', '10.0.0.1');
    reply('10.0.0.1', 8080, 'tcp', '10.0.0.1');
    const { phases, again } = await change(node, '10.0.0.1', '10.0.0.2');
    assert.equal(phases.get('deleteFlows'), 1);
    assert.equal(again, 1000);
    const left = await node.kernel.conntrack.list().toArray();
    const texts = left.map(
      ({ protocol, original }) => `${protocol} ${original.source}:${original.sourcePort}`,
    );
    assert.deepEqual(texts.sort(), ['tcp 10.0.0.1:8080', 'udp 10.0.0.1:53', 'udp 10.0.0.3:8080']);
    assert.equal((await node.sync()).again, undefined, 'a second look finds nothing');
    reply('10.0.0.1', 8080, 'udp', '192.0.2.1');
    assert.equal((await change(node, '10.0.0.1')).phases.get('deleteFlows'), undefined, 'it is translated');
  });

  it('of an earlier process are found at the start', async () => {
    const node = new FakeNode(HOST);
    track(node, '10.0.0.7');
    await change(node, '10.0.0.1');
    assert.deepEqual(await endpointsOf(node), []);
  });

  it('are deleted when no endpoint serves any more, without those that were not translated', async () => {
    const node = new FakeNode(HOST);
    await change(node, '10.0.0.1');
    track(node, '10.0.0.1');
    track(node, '10.0.0.1', '10.96.0.99');
    const { conntrack } = node.kernel;
    const original = { source: '10.244.9.9', sourcePort: 7, destination: '10.96.0.10', destinationPort: 80 };
    const reply = { source: '10.96.0.10', sourcePort: 80, destination: '10.244.9.9', destinationPort: 7 };
    conntrack.track({ protocol: 'udp', original, reply });
    await change(node);
    assert.deepEqual(await endpointsOf(node), ['10.0.0.1', '10.96.0.10']);
  });

  it('of a Service that is deleted are deleted, once, without those to its node port and to other Services', async () => {
    const node = new FakeNode(HOST);
    const withNodePort = DNS.replace('protocol: UDP}', 'protocol: UDP, nodePort: 30053}').replace(
      'spec:',
      'spec:\n  type: NodePort',
    );
    assert.match(withNodePort, /type: NodePort.*nodePort: 30053/s);
    await node.loadText(withNodePort + udp(slice('dns', '10.0.0.1')));
    await node.sync();
    track(node, '10.0.0.1');
    track(node, '10.0.0.1', '10.96.0.99');
    const original = {
      source: '10.244.9.9',
      sourcePort: 7,
      destination: '192.0.2.5',
      destinationPort: 30_053,
    };
    const reply = { source: '10.0.0.1', sourcePort: 8080, destination: '10.244.9.9', destinationPort: 7 };
    node.kernel.conntrack.track({ protocol: 'udp', original, reply });
    await node.loadText('');
    const { phases } = await node.sync();
    assert.equal(phases.get('deleteFlows'), 1);
    const left = (await node.kernel.conntrack.list().toArray()).map(({ original }) => original.destination);
    assert.deepEqual(left.sort(), ['10.96.0.99', '192.0.2.5']);
    await node.sync();
    const { listings } = node.kernel.conntrack;
    await node.sync();
    assert.equal(node.kernel.conntrack.listings, listings, 'nothing is left to check');
  });

  it('to a removed port stay if another Service has its address and port', async () => {
    const node = new FakeNode(HOST);
    await change(node, '10.0.0.1');
    track(node, '10.0.0.2');
    const other = udp(service('other', '10.96.0.10')) + udp(slice('other', '10.0.0.2'));
    await node.loadText(other);
    await node.sync();
    assert.deepEqual(await endpointsOf(node), ['10.0.0.2']);
  });

  it('are checked until the kernel has the items of the Service, and three times after that', async () => {
    const node = new FakeNode(HOST);
    await change(node, '10.0.0.1');
    await node.sync();
    const { ipvs } = node.kernel;
    ipvs.fault = (operation) =>
      operation.includes('RealServer') ? new NetlinkError({ code: 'ENOMEM', operation }) : undefined;
    const { again } = await change(node, '10.0.0.2');
    assert.equal(again, undefined, 'the pass that programs the Service checks again');
    for (let i = 0; i < 5; i++) {
      node.retryFailed();
      track(node, '10.0.0.1');
      await node.sync();
      assert.deepEqual(await endpointsOf(node), [], `attempt ${i}`);
    }
    ipvs.fault = () => undefined;
    for (let i = 0; i < 3; i++) {
      track(node, '10.0.0.1');
      node.retryFailed();
      assert.equal((await node.sync()).again, i < 2 ? 1000 : undefined);
      assert.deepEqual(await endpointsOf(node), [], `check ${i}`);
    }
  });

  it('that cannot be listed in the pass that programs their Service are listed again after it', async () => {
    const node = new FakeNode(HOST);
    await change(node, '10.0.0.1');
    await node.sync();
    const { ipvs, conntrack } = node.kernel;
    ipvs.fault = (operation) =>
      operation.includes('RealServer') ? new NetlinkError({ code: 'ENOMEM', operation }) : undefined;
    assert.equal((await change(node, '10.0.0.2')).again, undefined);
    track(node, '10.0.0.1');
    ipvs.fault = () => undefined;
    conntrack.readFault = (operation) => new NetlinkError({ code: 'EPERM', operation });
    node.retryFailed();
    const { failures, again, unknown } = await node.sync();
    assert.deepEqual([failures.length, again, unknown], [1, 1000, 0]);
    assert.equal(node.reconciler.retryIn, undefined, 'no item is to be retried');
    conntrack.readFault = () => undefined;
    await node.sync();
    assert.deepEqual(await endpointsOf(node), []);
  });

  it('that cannot be listed are a reported failure and are listed again; the Service works meanwhile', async () => {
    const node = new FakeNode(HOST);
    track(node, '10.0.0.7');
    node.kernel.conntrack.readFault = (operation) => new NetlinkError({ code: 'EPERM', operation });
    const { failures } = await change(node, '10.0.0.1');
    assert.deepEqual(
      failures.map(({ error }) => error.code),
      ['EPERM'],
    );
    assert.match(node.kernel.ipvs.dump(), /10\.0\.0\.1:8080/);
    node.kernel.conntrack.readFault = () => undefined;
    node.reconciler.requestFullSync();
    assert.deepEqual((await node.sync()).failures, []);
    assert.deepEqual(await endpointsOf(node), []);
  });
});
