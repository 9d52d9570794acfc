// TCP flows to endpoints that drain for longer than drain-timeout, in iptables and nftables mode: which are deleted, and when.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HOST, service, slice } from '../../../support/clusters/manifests.js';
import { FakeIptablesNode, FakeNftablesNode, FakeNode } from '../../../support/oracle/testNode.js';

const NODE = { ...HOST, configuration: { serviceSettings: ['drain-timeout', 'fail-fast'] } };
const MODES = { iptables: FakeIptablesNode, nftables: FakeNftablesNode };
type AnyNode = FakeNode | FakeIptablesNode | FakeNftablesNode;

/** A Service, with the setting if it has one, in s. */
function web(bound?: number, name = 'web', ip = '10.96.0.1'): string {
  const setting = `annotations: {kube-netlink-proxy.io/drain-timeout: "${bound}"}`;
  return service(name, ip).replace(
    `name: ${name}`,
    bound === undefined ? `name: ${name}` : `name: ${name}, ${setting}`,
  );
}

/** A pass with the Service and these endpoints. */
async function change(node: AnyNode, bound: number | undefined, ...endpoints: string[]) {
  await node.loadText(web(bound) + slice('web', ...endpoints));
  const summary = await node.sync();
  assert.deepEqual(summary.failures, []);
  return summary;
}

/** A pass after some time, in s. */
function later(node: AnyNode, seconds: number) {
  node.now += seconds * 1000;
  return node.sync();
}

let lastPort = 1024;

/** A client's flow to an endpoint, through an address of a Service. */
function track({ kernel }: AnyNode, endpoint: string, destination = '10.96.0.1') {
  const client = { address: '10.244.9.9', port: ++lastPort };
  kernel.conntrack.track({
    protocol: 'tcp',
    original: { source: client.address, sourcePort: client.port, destination, destinationPort: 80 },
    reply: { source: endpoint, sourcePort: 8080, destination: client.address, destinationPort: client.port },
  });
}

/** The endpoints of the flows that are left, by the last number of their addresses. */
const left = async ({ kernel }: AnyNode) =>
  (await kernel.conntrack.list().toArray())
    .map(({ reply }) => reply.source.at(-1))
    .sort()
    .join(' ');

async function connected(Mode: (typeof MODES)[keyof typeof MODES] | typeof FakeNode, bound?: number) {
  const node = new Mode(NODE);
  await change(node, bound, '10.0.0.1', '10.0.0.2');
  for (const endpoint of ['10.0.0.1', '10.0.0.2']) track(node, endpoint);
  return node;
}

for (const [name, Mode] of Object.entries(MODES)) {
  describe(`flows in ${name} mode`, () => {
    it('to an endpoint that is terminating are deleted when the time is over, and not before', async () => {
      const node = await connected(Mode, 30);
      const { again } = await change(node, 30, '10.0.0.1 terminating', '10.0.0.2');
      assert.equal(again, 30_000);
      assert.equal((await later(node, 29)).again, 1000);
      assert.equal(await left(node), '1 2');
      const summary = await later(node, 1);
      assert.equal(await left(node), '2');
      assert.equal(summary.operations, 1);
      assert.equal(summary.again, 1000, 'a packet may have made a flow meanwhile');
      assert.equal((await later(node, 1)).again, undefined);
      track(node, '10.0.0.1');
      await later(node, 100);
      assert.equal(await left(node), '1 2', 'it is checked once');
    });

    it('to one that leaves while it is terminating, too, from the time at which it began', async () => {
      const node = await connected(Mode, 30);
      await change(node, 30, '10.0.0.1 terminating', '10.0.0.2');
      node.now += 20_000;
      assert.equal((await change(node, 30, '10.0.0.2')).again, 10_000);
      await later(node, 10);
      assert.equal(await left(node), '2');
    });

    it('to one that leaves between two passes, too', async () => {
      const node = await connected(Mode, 30);
      await node.loadText(web(30) + slice('web', '10.0.0.1 terminating', '10.0.0.2'));
      await change(node, 30, '10.0.0.2');
      await later(node, 30);
      assert.equal(await left(node), '2');
    });

    it('to one that is ready again stay, and its time begins anew', async () => {
      const node = await connected(Mode, 30);
      await change(node, 30, '10.0.0.1 terminating', '10.0.0.2');
      node.now += 20_000;
      assert.equal((await change(node, 30, '10.0.0.1', '10.0.0.2')).again, undefined);
      await later(node, 100);
      assert.equal((await change(node, 30, '10.0.0.1 terminating', '10.0.0.2')).again, 30_000);
      assert.equal(await left(node), '1 2');
    });

    it('to one that still gets new connections, because no other is ready, stay', async () => {
      const node = await connected(Mode, 30);
      assert.equal((await change(node, 30, '10.0.0.1 terminating')).again, undefined);
      await later(node, 100);
      assert.equal(await left(node), '1 2', 'the second one left while it was ready');
      assert.equal((await change(node, 30, '10.0.0.1 terminating', '10.0.0.3')).again, 30_000);
      await later(node, 30);
      assert.equal(await left(node), '2');
    });

    it('through other Services, to not-ready endpoints, and without the setting stay', async () => {
      const node = await connected(Mode, 30);
      track(node, '10.0.0.1', '10.96.0.2');
      await node.loadText(
        web(30) +
          slice('web', '10.0.0.1 terminating', '10.0.0.2 unready', '10.0.0.3') +
          web(undefined, 'other', '10.96.0.2') +
          slice('other', '10.0.0.1 terminating', '10.0.0.3'),
      );
      await node.sync();
      await later(node, 30);
      assert.equal(await left(node), '1 2');
      const plain = await connected(Mode);
      assert.equal((await change(plain, undefined, '10.0.0.1 terminating', '10.0.0.2')).again, undefined);
      await later(plain, 100_000);
      assert.equal(await left(plain), '1 2');
    });

    it('are deleted at once with 0, and when a changed time is over', async () => {
      const node = await connected(Mode, 0);
      await change(node, 0, '10.0.0.1 terminating', '10.0.0.2');
      assert.equal(await left(node), '2');
      const other = await connected(Mode, 4_294_967);
      const { again } = await change(other, 4_294_967, '10.0.0.1 terminating', '10.0.0.2');
      assert.equal(again, 3_600_000, 'no longer than an hour, for timers');
      other.now += 40_000;
      await change(other, 50, '10.0.0.1 terminating', '10.0.0.2');
      assert.equal(await left(other), '1 2');
      other.now += 1000;
      await change(other, 40, '10.0.0.1 terminating', '10.0.0.2');
      assert.equal(await left(other), '2');
    });

    it('are kept when the setting ends, or the Service', async () => {
      for (const text of [web(undefined) + slice('web', '10.0.0.1 terminating', '10.0.0.2'), '']) {
        const node = await connected(Mode, 30);
        await change(node, 30, '10.0.0.1 terminating', '10.0.0.2');
        await node.loadText(text);
        assert.equal((await node.sync()).again, undefined);
        await later(node, 100);
        assert.equal(await left(node), '1 2');
      }
    });

    it('of a thousand endpoints that come and go leave nothing behind', async () => {
      const node = new Mode(NODE);
      for (let round = 0; round < 20; round++) {
        const addresses = Array.from({ length: 50 }, (_, i) => `10.0.${round}.${i}`);
        await change(node, 5, '10.1.0.1', ...addresses);
        await change(node, 5, '10.1.0.1', ...addresses.map((address) => `${address} terminating`));
        await change(node, 5, '10.1.0.1');
        for (let i = 0; i < 3; i++) await later(node, 6);
        assert.equal((await node.sync()).again, undefined);
      }
    });
  });
}

it('in ipvs mode, the real servers drain, and no flow is asked for', async () => {
  const node = await connected(FakeNode, 1);
  await change(node, 1, '10.0.0.1 terminating', '10.0.0.2');
  await later(node, 100);
  assert.equal(await left(node), '1 2');
});
