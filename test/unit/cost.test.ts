// The cost of a change does not grow with the cluster: the same change makes the same number of plans, comparisons,
// kernel calls, messages and map entries with 100 Services and with 10 000.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NetlinkError } from '../../src/kernel/errors.js';
import {
  atEachSize,
  cluster,
  clusterIP,
  counters,
  hostChange,
  node,
  SIZES,
  SPECIAL,
  service,
  slice,
} from '../support/clusters/countedCluster.js';
import type { Counts } from '../support/clusters/counts.js';
import { VirtualTime, type VirtualTimer } from '../support/fakes/virtualTime.js';

describe(`with ${SIZES.join(' Services and with ')} the cost is the same`, () => {
  it('of one endpoint', async () => {
    const { plans, calls, messages } = await atEachSize(({ change }) => change(slice(50, 'ready')));
    assert.deepEqual({ plans, calls, messages }, { plans: 1, calls: 1, messages: 1 });
  });

  it('of a new Service and its first endpoint', async () => {
    const { plans } = await atEachSize(({ change }) => change(service(20_000), slice(20_000, 'ready')));
    assert.equal(plans, 1);
  });

  it("of a new pod's veth: none", async () => {
    const cost = await atEachSize(async ({ costOf, hostChanged, tell }) =>
      costOf(() => {
        hostChanged(hostChange('veth1', 'fe80::1'));
        tell.changed([slice(50, 'ready')]);
      }),
    );
    const { plans, calls } = cost;
    assert.deepEqual({ plans, calls }, { plans: 1, calls: 1 }, 'those of the endpoint');
  });

  it('of a new cluster IP if node ports are restricted to a network', async () => {
    const { plans, calls } = await atEachSize(
      async ({ change, costOf, hostChanged, tell }) => {
        await change(service(20_000));
        return costOf(() => {
          hostChanged(hostChange('kube-ipvs0', clusterIP(20_000)));
          tell.changed([slice(50, 'ready')]);
        });
      },
      { nodePortAddresses: ['192.168.50.0/24'] },
    );
    assert.deepEqual({ plans, calls }, { plans: 1, calls: 1 }, 'those of the endpoint');
  });

  it('of a change of zone: plans of the Services with hints', async () => {
    const { plans } = await atEachSize(({ change }) => change(node('zone-b')));
    assert.equal(plans, SPECIAL + 1, 'and the node');
  });

  it('of a label of the node that no plan depends on: none', async () => {
    const { plans, comparisons, calls } = await atEachSize(({ change }) =>
      change(node('zone-a', { labels: { disk: 'ssd' } })),
    );
    assert.deepEqual({ plans, comparisons, calls }, { plans: 0, comparisons: 0, calls: 0 });
  });

  it("of a change of the node's pod networks: one plan of the node", async () => {
    const { plans, calls } = await atEachSize(({ change }) =>
      change(node('zone-a', { spec: { podCIDRs: ['10.244.0.0/24'] } })),
    );
    assert.deepEqual({ plans, calls }, { plans: 1, calls: 0 });
  });

  it('of a label of another node, however many nodes there are', async () => {
    const costs: Counts[] = [];
    for (const size of [10, 2000]) {
      const { change, stop } = await cluster(100);
      const others = Array.from({ length: size }, (_, n) =>
        node('zone-b', { name: `node-${n}`, address: `172.16.${n >> 8}.${n & 255}` }),
      );
      const many = await change(...others);
      assert.ok(many.entries < 600 + 8 * size, `${many.entries} entries for ${size} nodes`);
      costs.push(await change(node('zone-c', { name: 'node-5', address: '172.16.0.5' })));
      await stop();
    }
    assert.deepEqual(costs[1], costs[0]);
  });

  it('of a failed operation, and of each retry', async (test) => {
    // The clock of the process would count one more timer whenever one fires early.
    const time = new VirtualTime();
    test.after(() => time.restore());
    const { plans } = await atEachSize(async ({ kernel, change, pass: nextPass, passes }) => {
      const pass = () => {
        time.fire(time.timers[0] as VirtualTimer);
        return nextPass();
      };
      kernel.ipvs.fault = (operation, target) =>
        /10\.96\.0\.50/.test(target)
          ? new NetlinkError({ code: 'ENOMEM', errno: 12, operation, target })
          : undefined;
      await change(slice(50, 'ready', 'ready', 'ready'));
      counters.take();
      const first = await pass();
      const second = await pass();
      assert.deepEqual([first.full, second.full, first.failures.length], [false, false, 1]);
      kernel.ipvs.fault = () => undefined;
      const last = await pass();
      assert.deepEqual([last.full, last.failures.length, last.unknown], [false, 0, 0]);
      assert.equal(passes.length, 0);
      return counters.take();
    });
    assert.equal(plans, 0);
  });

  it('of a change with 50 draining Services, whose connections are not counted', async () => {
    const { plans, calls } = await atEachSize(async ({ kernel, change }) => {
      for (let n = 30; n < 80; n++) kernel.ipvs.activeConnections.set(`10.129.0.${n}:8080`, 1);
      await change(...Array.from({ length: 50 }, (_, i) => slice(30 + i, 'ready', 'terminating')));
      return change(slice(90, 'ready'));
    });
    assert.deepEqual({ plans, calls }, { plans: 1, calls: 1 });
  });

  it('of a change during an audit, which compares at most 256 keys at a time', async () => {
    const { plans, calls } = await atEachSize(
      async ({ hooks, tell, pass }) => {
        const slices: Counts[] = [];
        counters.take();
        const audited = new Promise<void>((resolve) => {
          hooks.piece = () => {
            slices.push(counters.take());
            if (slices.length === 6) tell.changed([slice(50, 'ready')]);
          };
          hooks.taken = () => {
            // The counts of the previous slice.
            slices.push(counters.take());
            setImmediate(resolve);
          };
        });
        await audited;
        hooks.taken = undefined;
        const { full, operations } = await pass();
        const own = counters.take();
        assert.deepEqual([full, operations], [false, 1]);
        const audit = await pass();
        assert.deepEqual([audit.full, audit.operations], [true, 0]);
        hooks.piece = undefined;
        const most = Math.max(...slices.map(({ comparisons }) => comparisons));
        assert.ok(most <= 256, `${most} keys in one slice`);
        return own;
      },
      { audit: 300 },
    );
    assert.deepEqual({ plans, calls }, { plans: 1, calls: 1 });
  });
});
