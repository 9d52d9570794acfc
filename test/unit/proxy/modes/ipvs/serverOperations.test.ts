// A virtual service and its real servers are changed by one operation in each phase.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NetlinkError } from '../../../../../src/kernel/errors.js';
import { HOST, service, slice } from '../../../../support/clusters/manifests.js';
import { FakeNode } from '../../../../support/oracle/testNode.js';

const WEB = service('web', '10.96.0.1');
const KEY = 'virtual service 10.96.0.1:80/tcp';

const addresses = (count: number, network = '10.0') =>
  Array.from({ length: count }, (_, i) => `${network}.${i >> 8}.${i & 255}`);

/** A node that records the operations that its mode applies, as `phase size`, and the kernel's operations of each call. */
function setUp() {
  const node = new FakeNode(HOST);
  const applied: string[] = [];
  const batches: number[] = [];
  const { apply } = node.mode;
  node.mode.apply = (operations) => {
    for (const { key, phase, size } of operations) if (key === KEY) applied.push(`${phase} ${size}`);
    return apply(operations);
  };
  node.kernel.ipvs.onBatch = ({ operations }) => void batches.push(operations.length);
  const change = async (...endpoints: string[]) => {
    applied.length = 0;
    batches.length = 0;
    await node.loadText(WEB + slice('web', ...endpoints));
    return node.sync();
  };
  return { node, applied, batches, change };
}

/** Makes the additions of these real servers fail, once each. */
function failing(node: FakeNode, ...servers: string[]): void {
  const names = new Set(servers.map((address) => `tcp 10.96.0.1:80 -> ${address}:8080`));
  node.kernel.ipvs.fault = (operation, target) =>
    names.delete(target) ? new NetlinkError({ code: 'ENOMEM', errno: 12, operation, target }) : undefined;
}

const present = (node: FakeNode) =>
  [...node.kernel.ipvs.dump().matchAll(/-r (\S+):8080/g)].map(([, address]) => address);

describe('one operation for each phase', () => {
  it('adds a virtual service with all its real servers', async () => {
    const { applied, change } = setUp();
    const { phases } = await change('10.0.0.1', '10.0.0.2', '10.0.0.3');
    assert.deepEqual(applied, ['addServers 4']);
    assert.equal(phases.get('addServers'), 4);
  });

  it('adds new real servers, then removes the former ones', async () => {
    const { node, applied, change } = setUp();
    await change('10.0.0.1', '10.0.0.2', '10.0.0.3');
    const { operations } = await change('10.0.0.3', '10.0.0.4');
    assert.deepEqual(applied, ['addServers 1', 'deleteServers 2']);
    assert.equal(operations, 3);
    assert.deepEqual(present(node), ['10.0.0.3', '10.0.0.4']);
    assert.equal((await node.sync()).operations, 0);
  });

  it('drains some real servers and deletes others at once', async () => {
    const { node, applied, change } = setUp();
    await change('10.0.0.1', '10.0.0.2', '10.0.0.3');
    node.kernel.ipvs.activeConnections.set('10.0.0.1:8080', 1);
    await change('10.0.0.1 terminating', '10.0.0.3');
    assert.deepEqual(applied, ['deleteServers 2']);
    assert.match(node.kernel.ipvs.dump(), /-r 10\.0\.0\.1:8080 -m -w 0/);
    assert.deepEqual(present(node), ['10.0.0.1', '10.0.0.3']);
  });

  it('gives a real server that another program changed its settings back', async () => {
    const { node, applied, change } = setUp();
    await change('10.0.0.1', '10.0.0.2');
    const web = { address: '10.96.0.1', port: 80, protocol: 'tcp' } as const;
    const changed = { address: '10.0.0.1', port: 8080, forwarding: 'masquerade' } as const;
    await node.kernel.ipvs.updateRealServer(web, { ...changed, weight: 9, upperThreshold: 5 });
    await node.kernel.ipvs.addRealServer(web, { address: 'fd00::1', port: 1, forwarding: 'tunnel' });
    node.reconciler.requestFullSync();
    applied.length = 0;
    await node.sync();
    assert.deepEqual(applied, ['addServers 1', 'deleteServers 1']);
    assert.match(node.kernel.ipvs.dump(), /-r 10\.0\.0\.1:8080 -m -w 1\n/);
    assert.doesNotMatch(node.kernel.ipvs.dump(), /fd00/);
    assert.equal((await node.sync()).operations, 0);
  });
});

describe('an operation that is larger than a batch', () => {
  it('is sent in several batches', async () => {
    const { node, batches, change } = setUp();
    await change(...addresses(4000));
    assert.deepEqual(batches, [1024, 1024, 1024, 929]);
    assert.equal(present(node).length, 4000);
    await change(...addresses(2000, '10.1'));
    assert.deepEqual(batches, [1024, 976, 1024, 1024, 1024, 928]);
    assert.equal(present(node).length, 2000);
  });

  it('has its first error as result; every other real server is added, and only the failed ones are retried', async () => {
    const { node, applied, batches, change } = setUp();
    failing(node, '10.0.1.200', '10.0.0.7');
    const { failures, unknown } = await change(...addresses(1000));
    assert.deepEqual(
      failures.map(({ key, error }) => [key, error.code, error.target]),
      [[KEY, 'ENOMEM', 'tcp 10.96.0.1:80 -> 10.0.0.7:8080']],
    );
    assert.equal(unknown, 1);
    assert.equal(present(node).length, 998);
    applied.length = 0;
    batches.length = 0;
    node.retryFailed();
    assert.deepEqual((await node.sync()).failures, []);
    assert.deepEqual([applied, batches], [['addServers 2'], [2]]);
    assert.equal(present(node).length, 1000);
  });
});

it('real servers that another program has already deleted are not a failure', async () => {
  const { node, change } = setUp();
  await change('10.0.0.1', '10.0.0.2', '10.0.0.3');
  const web = { address: '10.96.0.1', port: 80, protocol: 'tcp' } as const;
  await node.kernel.ipvs.deleteRealServer(web, { address: '10.0.0.1', port: 8080 });
  const { failures } = await change('10.0.0.3');
  assert.deepEqual(failures, []);
  assert.deepEqual(present(node), ['10.0.0.3']);
});

it('an operation has the lines of all the operations of the kernel', async () => {
  const { node } = setUp();
  await node.loadText(WEB + slice('web', '10.0.0.1', '10.0.0.2'));
  const planned = (await node.reconciler.preview()).filter(({ key }) => key === KEY);
  assert.deepEqual(
    planned.map(({ lines }) => lines),
    [
      ['+ virtual service 10.96.0.1:80/tcp rr'],
      ['+ real server 10.96.0.1:80/tcp -> 10.0.0.1:8080 weight 1'],
      ['+ real server 10.96.0.1:80/tcp -> 10.0.0.2:8080 weight 1'],
    ],
  );
});
