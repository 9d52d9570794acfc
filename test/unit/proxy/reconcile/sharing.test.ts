// Memory: known and desired items that are equal are the same objects, and so are their keys.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FakeKernel } from '../../../../src/kernel/testing/index.js';
import type { Item } from '../../../../src/proxy/modes/ipvs/index.js';
import type { Desired } from '../../../../src/proxy/modes/mode.js';
import { HOST, service, slice } from '../../../support/clusters/manifests.js';
import { FakeNode } from '../../../support/oracle/testNode.js';

const WEB = service('web', '10.96.0.1', '  externalIPs: [192.0.2.1]');

/** A node, and the known and desired items that its passes compare. */
function setUp(kernel?: FakeKernel) {
  const node = new FakeNode(HOST, kernel);
  const maps: { desired?: Desired<Item>; known?: ReadonlyMap<string, Item> } = {};
  const { compare } = node.mode;
  node.mode.compare = (desired, known) => {
    Object.assign(maps, { desired, known });
    return compare(desired, known);
  };
  /** Keys of virtual services, addresses and entries that have two copies. */
  const copied = async () => {
    // Captures the maps as they are after the previous pass.
    await node.sync();
    const { desired, known } = maps;
    assert.ok(desired && known);
    return [...desired.keys()].filter((key) => {
      const want = desired.get(key) as Item;
      const counts = ['virtualService', 'address', 'entry'].includes(want.kind);
      return counts && known.get(key) !== want;
    });
  };
  return { node, copied };
}

describe('known and desired items are the same objects', () => {
  it('after they were programmed, and after a change', async () => {
    const { node, copied } = setUp();
    await node.loadText(WEB + slice('web', '10.0.0.1', '10.0.0.2'));
    await node.sync();
    assert.deepEqual(await copied(), []);
    await node.loadText(WEB + slice('web', '10.0.0.2', '10.0.0.3'));
    await node.sync();
    assert.deepEqual(await copied(), []);
  });

  it('after a restart, and after an audit', async () => {
    const { node: first } = setUp();
    await first.loadText(WEB + slice('web', '10.0.0.1', '10.0.0.2'));
    await first.sync();
    const { node, copied } = setUp(first.kernel);
    await node.loadText(WEB + slice('web', '10.0.0.1', '10.0.0.2'));
    assert.equal((await node.sync()).operations, 0);
    assert.deepEqual(await copied(), []);
    node.reconciler.startAudit();
    for (let over = false; !over; ) over = (await node.reconciler.auditSlice()) !== undefined;
    assert.deepEqual(await copied(), []);
  });

  it('but not while a real server that is in no plan is draining', async () => {
    const { node, copied } = setUp();
    node.kernel.ipvs.activeConnections.set('10.0.0.1:8080', 1);
    await node.loadText(WEB + slice('web', '10.0.0.1', '10.0.0.2'));
    await node.sync();
    await node.loadText(WEB + slice('web', '10.0.0.1 terminating', '10.0.0.2'));
    await node.sync();
    assert.deepEqual(await copied(), [
      'virtual service 10.96.0.1:80/tcp',
      'virtual service 192.0.2.1:80/tcp',
    ]);
  });
});

it('`drainable` of a virtual service has only endpoints that are not its real servers', async () => {
  const { node, copied } = setUp();
  const items: Item[] = [];
  const { planService } = node.mode;
  node.mode.planService = (...args) => {
    const plan = planService(...args);
    items.push(...plan.values());
    return plan;
  };
  await node.loadText(WEB + slice('web', '10.0.0.1', '10.0.0.2 unready'));
  await node.sync();
  await copied();
  const drainable = items.flatMap((item) =>
    item.kind === 'virtualService' ? [[...(item.drainable ?? [])]] : [],
  );
  assert.deepEqual(drainable, [['10.0.0.2:8080'], ['10.0.0.2:8080']]);
});
