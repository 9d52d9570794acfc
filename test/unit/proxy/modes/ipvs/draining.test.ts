// Draining and removal of real servers that are no longer desired.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failNth } from '../../../../../src/kernel/testing/index.js';
import { IPVS_DEFAULTS } from '../../../../../src/proxy/modes/ipvs/index.js';
import { DRAINING_CHECK } from '../../../../../src/proxy/modes/ipvs/program/draining.js';
import { HOST, service, slice } from '../../../../support/clusters/manifests.js';
import { FakeNode } from '../../../../support/oracle/testNode.js';

const WEB = service('web', '10.96.0.1');

/** A node with two real servers; the first has connections. */
async function busy(): Promise<FakeNode> {
  const node = new FakeNode(HOST);
  node.kernel.ipvs.activeConnections.set('10.0.0.1:8080', 3);
  await change(node, '10.0.0.1', '10.0.0.2');
  return node;
}

async function change(node: FakeNode, ...endpoints: string[]) {
  await node.loadText(WEB + slice('web', ...endpoints));
  return node.sync();
}

/** Weights of the real servers: `10.0.0.1=1 10.0.0.2=1`. */
function weights(node: FakeNode): string {
  const lines = [...node.kernel.ipvs.dump().matchAll(/-r (\S+):8080 -m -w (\d+)/g)];
  return lines.map(([, address, weight]) => `${address}=${weight}`).join(' ');
}

describe('a real server that is no longer desired', () => {
  it('gets no new connections while its endpoint is terminating, and is removed when it is idle', async () => {
    const node = await busy();
    const { again } = await change(node, '10.0.0.1 terminating', '10.0.0.2');
    assert.equal(weights(node), '10.0.0.1=0 10.0.0.2=1');
    assert.equal(again, DRAINING_CHECK);
    assert.equal((await node.sync()).operations, 0);
    node.kernel.ipvs.activeConnections.clear();
    assert.equal((await node.sync()).operations, 0, 'its connections are not counted before they are due');
    node.now = DRAINING_CHECK;
    assert.equal((await node.sync()).again, undefined);
    assert.equal(weights(node), '10.0.0.2=1');
    assert.equal((await node.sync()).operations, 0);
  });

  it('continues to drain after its endpoint is removed from the slice', async () => {
    const node = await busy();
    await change(node, '10.0.0.1 terminating', '10.0.0.2');
    await change(node, '10.0.0.2');
    assert.equal(weights(node), '10.0.0.1=0 10.0.0.2=1');
  });

  it('is draining if its endpoint was terminating, but still in use, when it was removed from the slice', async () => {
    const node = await busy();
    await change(node, '10.0.0.1 terminating', '10.0.0.2 terminating');
    assert.equal(weights(node), '10.0.0.1=1 10.0.0.2=1');
    await change(node, '10.0.0.2 terminating');
    assert.equal(weights(node), '10.0.0.1=0 10.0.0.2=1');
    await change(node, '10.0.0.3');
    assert.equal(weights(node), '10.0.0.1=0 10.0.0.3=1');
  });

  it('is draining while its endpoint is unready', async () => {
    const node = await busy();
    await change(node, '10.0.0.1 unready', '10.0.0.2');
    assert.equal(weights(node), '10.0.0.1=0 10.0.0.2=1');
  });

  it('is draining if its endpoint became terminating or unready and left the slice between two passes', async () => {
    for (const state of ['terminating', 'unready']) {
      const node = await busy();
      await node.loadText(WEB + slice('web', `10.0.0.1 ${state}`, '10.0.0.2'));
      await node.loadText(WEB + slice('web', '10.0.0.2'));
      await node.loadText(WEB + slice('web', '10.0.0.2', '10.0.0.3'));
      await node.sync();
      assert.equal(weights(node), '10.0.0.1=0 10.0.0.2=1 10.0.0.3=1');
    }
  });

  it('is draining if its terminating endpoint left between two passes with its whole slice', async () => {
    const node = await busy();
    await node.loadText(WEB + slice('web', '10.0.0.1 terminating', '10.0.0.2'));
    await node.loadText(WEB);
    await node.sync();
    assert.equal(weights(node), '10.0.0.1=0');
  });

  it('is draining although the first pass that plans it after its endpoint left is aborted', async () => {
    const node = await busy();
    await node.loadText(WEB + slice('web', '10.0.0.1 terminating', '10.0.0.2'));
    await node.loadText(WEB + slice('web', '10.0.0.2'));
    node.reconciler.requestFullSync();
    node.kernel.ipvs.readFault = failNth(1);
    await assert.rejects(node.sync());
    await node.sync();
    assert.equal(weights(node), '10.0.0.1=0 10.0.0.2=1');
  });

  it('is removed immediately if its endpoint disappears without termination', async () => {
    const node = await busy();
    await change(node, '10.0.0.2');
    assert.equal(weights(node), '10.0.0.2=1');
  });

  it('is removed in the same pass if it is idle', async () => {
    const node = await busy();
    const { again } = await change(node, '10.0.0.1', '10.0.0.2 terminating');
    assert.equal(weights(node), '10.0.0.1=1');
    assert.equal(again, undefined);
  });

  it('is removed immediately with UDP', async () => {
    const node = new FakeNode(HOST);
    const udp = (text: string) => text.replace(/port: (80|8080)}/, 'port: $1, protocol: UDP}');
    node.kernel.ipvs.activeConnections.set('10.0.0.1:8080', 3);
    await node.loadText(udp(WEB) + udp(slice('web', '10.0.0.1', '10.0.0.2')));
    await node.sync();
    assert.equal(weights(node), '10.0.0.1=1 10.0.0.2=1');
    await node.loadText(udp(WEB) + udp(slice('web', '10.0.0.1 terminating', '10.0.0.2')));
    await node.sync();
    assert.equal(weights(node), '10.0.0.2=1');
  });

  it('is removed with its virtual service', async () => {
    const node = await busy();
    await change(node, '10.0.0.1 terminating', '10.0.0.2');
    await node.loadText('');
    assert.equal((await node.sync()).again, undefined);
    assert.equal(node.kernel.ipvs.dump(), '');
  });

  it('does not drain for longer than the bound', async () => {
    const node = await busy();
    await change(node, '10.0.0.1 terminating', '10.0.0.2');
    node.now = IPVS_DEFAULTS.drainBound - 1;
    await node.sync();
    assert.equal(weights(node), '10.0.0.1=0 10.0.0.2=1');
    node.reconciler.requestFullSync();
    node.now = IPVS_DEFAULTS.drainBound;
    await node.sync();
    assert.equal(weights(node), '10.0.0.2=1', 'a look at the kernel in between does not start the time anew');
  });

  it('is counted if it was removed at the bound with connections, once it is gone, and not if it was idle', async () => {
    const node = await busy();
    await change(node, '10.0.0.1 terminating', '10.0.0.2');
    node.now = IPVS_DEFAULTS.drainBound;
    node.kernel.ipvs.fault = failNth(1);
    const refused = await node.sync();
    assert.deepEqual([refused.failures.length, refused.counts], [1, { draining: 1 }]);
    node.kernel.ipvs.fault = () => undefined;
    node.now += DRAINING_CHECK;
    node.retryFailed();
    assert.deepEqual((await node.sync()).counts, { draining: 0, drainTimeouts: 1 });
    assert.deepEqual((await change(node, '10.0.0.2', '10.0.0.3')).counts, { draining: 0, drainTimeouts: 1 });
    const idle = await change(node, '10.0.0.2', '10.0.0.3 terminating');
    assert.deepEqual(idle.counts, { draining: 0, drainTimeouts: 1 });
  });
});

describe('a draining real server', () => {
  it('gets its weight back by an update if a plan needs it again', async () => {
    const node = await busy();
    await change(node, '10.0.0.1 terminating', '10.0.0.2');
    const done: string[] = [];
    node.kernel.ipvs.fault = (operation) => void done.push(operation);
    await change(node, '10.0.0.1', '10.0.0.2');
    assert.deepEqual(done, ['ipvs.updateRealServer']);
    assert.equal(weights(node), '10.0.0.1=1 10.0.0.2=1');
    node.now = 2 * IPVS_DEFAULTS.drainBound;
    assert.equal((await node.sync()).operations, 0);
  });

  it('is removed even if connections of another one cannot be counted', async () => {
    const node = await busy();
    const other = (endpoint: string) => service('other', '10.96.0.2') + slice('other', endpoint, '10.0.1.2');
    node.kernel.ipvs.activeConnections.set('10.0.1.1:8080', 3);
    await node.loadText(WEB + slice('web', '10.0.0.1', '10.0.0.2') + other('10.0.1.1'));
    await node.sync();
    await node.loadText(
      WEB + slice('web', '10.0.0.1 terminating', '10.0.0.2') + other('10.0.1.1 terminating'),
    );
    assert.equal((await node.sync()).counts['draining'], 2);
    node.kernel.ipvs.activeConnections.clear();
    node.kernel.ipvs.readFault = (operation, target) =>
      target.includes('10.96.0.2') ? failNth(1)(operation, target) : undefined;
    node.now = DRAINING_CHECK;
    const { failures } = await node.sync();
    assert.deepEqual(
      failures.map(({ key }) => key),
      ['draining real servers of virtual service 10.96.0.2:80/tcp'],
    );
    assert.equal(weights(node), '10.0.0.2=1 10.0.1.1=0 10.0.1.2=1');
    node.kernel.ipvs.readFault = () => undefined;
    node.now = 2 * DRAINING_CHECK;
    node.retryFailed();
    assert.deepEqual((await node.sync()).failures, []);
    assert.equal(weights(node), '10.0.0.2=1 10.0.1.2=1');
  });

  it('continues to drain after a restart', async () => {
    const node = await busy();
    await change(node, '10.0.0.1 terminating', '10.0.0.2');
    const restarted = new FakeNode(HOST, node.kernel);
    const { operations, again } = await change(restarted, '10.0.0.2');
    assert.deepEqual([operations, again], [0, DRAINING_CHECK]);
    assert.equal(weights(restarted), '10.0.0.1=0 10.0.0.2=1');
    restarted.kernel.ipvs.activeConnections.clear();
    restarted.now = DRAINING_CHECK;
    await restarted.sync();
    assert.equal(weights(restarted), '10.0.0.2=1');
  });

  it('is used again if a plan needs it after a restart', async () => {
    const node = await busy();
    await change(node, '10.0.0.1 terminating', '10.0.0.2');
    const restarted = new FakeNode(HOST, node.kernel);
    await change(restarted, '10.0.0.1', '10.0.0.2');
    assert.equal(weights(restarted), '10.0.0.1=1 10.0.0.2=1');
  });
});
