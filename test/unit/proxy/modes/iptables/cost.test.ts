// The cost of a change does not grow with the cluster, and neither does the text that iptables-restore reads.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  atEachSize,
  cluster,
  hostChange,
  LARGE_SIZES,
  node,
  service,
  slice,
} from '../../../../support/clusters/countedCluster.js';

describe(`with ${LARGE_SIZES.join(' Services and with ')} the cost is the same`, () => {
  const inIptables = { mode: 'iptables' } as const;

  it('of one endpoint: one plan, one restore, of its chains only', async () => {
    const { plans, calls, bytes } = await atEachSize(
      ({ change }) => change(slice(50, 'ready', 'ready', 'ready')),
      inIptables,
    );
    assert.deepEqual({ plans, calls }, { plans: 1, calls: 1 });
    assert.ok(bytes < 1000, `${bytes} bytes`);
  });

  it('of a new Service and its first endpoint: one restore', async () => {
    const { plans, calls, bytes } = await atEachSize(
      ({ change }) => change(service(20_000), slice(20_000, 'ready')),
      inIptables,
    );
    // The restore, and the call and the reading of a listing: of flows to the new frontend that no rule translated.
    assert.deepEqual({ plans, calls }, { plans: 1, calls: 3 });
    assert.ok(bytes < 1000, `${bytes} bytes`);
  });

  it('of a Service that loses its endpoints, with policy Local and a node port: one restore', async () => {
    const { plans, calls } = await atEachSize(({ change }) => change(slice(5)), inIptables);
    assert.deepEqual({ plans, calls }, { plans: 1, calls: 1 });
  });

  it("of a change of the node's pod networks, if they detect local traffic: plans of all Services", async () => {
    const detector = { localDetector: { by: 'nodeNetwork' }, ...inIptables } as const;
    const { change, stop } = await cluster(100, detector);
    const { plans } = await change(node('zone-a', { spec: { podCIDRs: ['10.244.0.0/24'] } }));
    assert.equal(plans, 101, 'those of the Services, and the node');
    await stop();
  });

  it('of an address of the host: none', async () => {
    const cost = await atEachSize(
      async ({ costOf, hostChanged, tell }) =>
        costOf(() => {
          hostChanged(hostChange('eth0', '192.168.50.77'));
          tell.changed([slice(50, 'ready')]);
        }),
      inIptables,
    );
    const { plans, calls } = cost;
    assert.deepEqual({ plans, calls }, { plans: 1, calls: 1 }, 'those of the endpoint');
  });
});
