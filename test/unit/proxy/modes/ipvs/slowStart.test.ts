// Settings with times, on a node with a clock: the slow start of new endpoints, and the bound of draining.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DRAINING_CHECK } from '../../../../../src/proxy/modes/ipvs/program/draining.js';
import { HOST, service, slice } from '../../../../support/clusters/manifests.js';
import { FakeNode } from '../../../../support/oracle/testNode.js';

const NODE = {
  ...HOST,
  configuration: { serviceSettings: ['scheduler', 'slow-start', 'drain-timeout', 'weight'] },
};

/** The manifest of a Service with these annotations, as YAML. */
const web = (settings: string) => {
  const annotations = `annotations: {${settings.replace(/([\w-]+):/g, 'kube-netlink-proxy.io/$1:')}}`;
  return service('web', '10.96.0.1').replace('name: web', `name: web, ${annotations}`);
};
const SLOW = web('scheduler: wrr, slow-start: "90"');

async function change(node: FakeNode, settings: string, ...endpoints: string[]) {
  await node.loadText(settings + slice('web', ...endpoints));
  return node.sync();
}

/** A node with an endpoint that has its whole weight, and one that is starting. */
async function starting(): Promise<FakeNode> {
  const node = new FakeNode(NODE);
  await change(node, SLOW, '10.0.0.1');
  await change(node, SLOW, '10.0.0.1', '10.0.0.2');
  return node;
}

/** Weights of the real servers: `1=10 2=1`, by the last number of their addresses. */
function weights(node: FakeNode): string {
  const lines = [...node.kernel.ipvs.dump().matchAll(/-r 10\.0\.0\.(\d):8080 -m -w (\d+)/g)];
  return lines.map(([, address, weight]) => `${address}=${weight}`).join(' ');
}

describe('slow start', () => {
  it('raises the weight of a new endpoint in nine steps, with one operation for each', async () => {
    const node = new FakeNode(NODE);
    const first = await change(node, SLOW, '10.0.0.1', '10.0.0.2');
    assert.equal(weights(node), '1=10 2=10', 'all are new');
    assert.equal(first.again, undefined);
    const { again } = await change(node, SLOW, '10.0.0.1', '10.0.0.2', '10.0.0.3');
    assert.equal(weights(node), '1=10 2=10 3=1');
    assert.equal(again, 10_000);
    for (let part = 2; part <= 10; part++) {
      node.now += 9_999;
      assert.equal((await node.sync()).operations, 0);
      node.now += 1;
      const { operations, failures } = await node.sync();
      assert.deepEqual([operations, failures], [1, []]);
      assert.equal(weights(node), `1=10 2=10 3=${part}`);
    }
    assert.equal(node.now, 90_000);
    node.now += 10_000;
    const { operations, again: after } = await node.sync();
    assert.deepEqual([operations, after], [0, undefined]);
  });

  it('is not disturbed by audits and other changes', async () => {
    const node = await starting();
    node.now += 10_000;
    await node.sync();
    assert.equal((await node.audit()).operations, 0);
    await change(node, SLOW, '10.0.0.1', '10.0.0.2', '10.0.0.3');
    assert.equal(weights(node), '1=10 2=2 3=1');
    node.now += 10_000;
    assert.equal((await node.sync()).operations, 2);
    assert.equal(weights(node), '1=10 2=3 3=2');
  });

  it('continues after a restart of the agent', async () => {
    const node = await starting();
    node.now += 10_000;
    await node.sync();
    await change(node, SLOW, '10.0.0.1', '10.0.0.2', '10.0.0.3');
    const next = new FakeNode(NODE, node.kernel);
    const { operations, again } = await change(next, SLOW, '10.0.0.1', '10.0.0.2', '10.0.0.3');
    assert.deepEqual([operations, again], [0, 10_000]);
    assert.equal(weights(next), '1=10 2=2 3=1');
    next.now += 10_000;
    await next.sync();
    assert.equal(weights(next), '1=10 2=3 3=2');
    assert.equal((await next.audit()).operations, 0, 'what is known is what the kernel has');
  });

  it('ends if no other endpoint has its whole weight, if it is unset, and with the endpoint', async () => {
    const node = await starting();
    await change(node, SLOW, '10.0.0.2');
    assert.equal(weights(node), '2=10');
    await change(node, SLOW, '10.0.0.2', '10.0.0.3');
    assert.equal(weights(node), '2=10 3=1');
    const { operations } = await change(node, web('scheduler: wrr'), '10.0.0.2', '10.0.0.3');
    assert.equal(operations, 1, 'the weight of the new one is 1 already');
    assert.equal(weights(node), '2=1 3=1');
    await change(node, SLOW, '10.0.0.2', '10.0.0.3');
    assert.equal(weights(node), '2=10 3=10', 'set, with endpoints that are there');
    await change(node, SLOW, '10.0.0.2', '10.0.0.3', '10.0.0.4');
    await change(node, SLOW, '10.0.0.2', '10.0.0.3');
    node.now += 100_000;
    const { operations: last, again } = await node.sync();
    assert.deepEqual([last, again], [0, undefined]);
  });

  it('takes its step although draining real servers of the same Service are removed', async () => {
    const node = new FakeNode(NODE);
    node.kernel.ipvs.activeConnections.set('10.0.0.9:8080', 1);
    await change(node, SLOW, '10.0.0.1', '10.0.0.9');
    await change(node, SLOW, '10.0.0.1', '10.0.0.9 terminating', '10.0.0.2');
    assert.equal(weights(node), '1=10 2=1 9=0');
    node.kernel.ipvs.activeConnections.clear();
    node.now += 10_000;
    const removed = await node.sync();
    assert.equal(removed.again, 0);
    await node.sync();
    assert.equal(weights(node), '1=10 2=2');
    assert.equal((await node.audit()).operations, 0, 'what is known is what the kernel has');
  });
});

describe('bound of draining of a Service', () => {
  for (const [seconds, title] of [
    ['0', 'none'],
    ['60', 'a minute'],
  ] as const) {
    it(`of ${title}`, async () => {
      const node = new FakeNode(NODE);
      node.kernel.ipvs.activeConnections.set('10.0.0.1:8080', 1);
      const settings = web(`drain-timeout: "${seconds}"`);
      await change(node, settings, '10.0.0.1', '10.0.0.2');
      await change(node, settings, '10.0.0.1 terminating', '10.0.0.2');
      for (; node.now < 1000 * Number(seconds); node.now += DRAINING_CHECK) {
        await node.sync();
        assert.equal(weights(node), '1=0 2=1');
      }
      await node.sync();
      assert.equal(weights(node), '2=1');
    });
  }

  it('counts for endpoints that are terminating already', async () => {
    const node = new FakeNode(NODE);
    node.kernel.ipvs.activeConnections.set('10.0.0.1:8080', 1);
    await change(node, web('scheduler: rr'), '10.0.0.1', '10.0.0.2');
    await change(node, web('scheduler: rr'), '10.0.0.1 terminating', '10.0.0.2');
    node.now += DRAINING_CHECK;
    await change(node, web('drain-timeout: "5"'), '10.0.0.1 terminating', '10.0.0.2');
    assert.equal(weights(node), '2=1');
  });
});
