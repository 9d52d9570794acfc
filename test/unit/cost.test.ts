// The cost of a change does not grow with the cluster: the same change makes the same number of plans, comparisons,
// kernel calls, messages and map entries with 100 Services and with 10 000.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { pino } from 'pino';
import { telemetry } from '../../src/agent/telemetry.js';
import { NetlinkError } from '../../src/errors.js';
import { FakeKernel } from '../../src/kernel/testing/index.js';
import { createIptablesMode, IPTABLES_DEFAULTS } from '../../src/modes/iptables/index.js';
import {
  createIpvsMode,
  IPVS_DEFAULTS,
  type IpvsKernel,
  type IpvsOptions,
} from '../../src/modes/ipvs/index.js';
import type { KeyedOperation, Mode } from '../../src/modes/mode.js';
import { decodeObject } from '../../src/objects/decode.js';
import type { ObjectChange } from '../../src/objects/types.js';
import { createProxy, type ProxyEvents } from '../../src/proxy.js';
import type { SyncSummary } from '../../src/reconcile/summary.js';
import { ProxyHealth } from '../../src/servers/health.js';
import { openMetrics } from '../../src/servers/metrics.js';
import type { HostChange } from '../../src/services/types.js';
import type { SourceEvents } from '../../src/source/source.js';
import { Counters, type Counts } from '../support/counts.js';
import { HostNotifications } from '../support/hostNotifications.js';

const SIZES = [100, 10_000];
/** Both have so many endpoints that kube-proxy omits their comments: bytes can be compared. */
const LARGE_SIZES = [600, 10_000];
/** Number of Services that a change of the node may affect. It is the same in every cluster. */
const SPECIAL = 20;

const counters = new Counters();
after(() => counters.stop());

function set(raw: Record<string, unknown>): ObjectChange {
  const { object, problems } = decodeObject(raw);
  assert.deepEqual(problems, []);
  assert.ok(object);
  return { type: 'set', object };
}

const clusterIP = (n: number) => `10.96.${n >> 8}.${n & 255}`;

function service(n: number): ObjectChange {
  const special = n < SPECIAL;
  return set({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'demo', name: `s${n}` },
    spec: {
      type: special ? 'LoadBalancer' : 'ClusterIP',
      clusterIP: clusterIP(n),
      ports: [{ port: 80, ...(special ? { nodePort: 30_000 + n } : {}) }],
      ...(special ? { externalTrafficPolicy: 'Local', healthCheckNodePort: 31_000 + n } : {}),
    },
  });
}

/** A Service's slice. `states` has one state per endpoint: `ready`, `terminating`, or empty for an absent endpoint. */
function slice(n: number, ...states: ('ready' | 'terminating' | '')[]): ObjectChange {
  const endpoints = states.flatMap((state, i) =>
    state === ''
      ? []
      : [
          {
            addresses: [`10.${128 + i}.${n >> 8}.${n & 255}`],
            conditions: { ready: state === 'ready', serving: true, terminating: state === 'terminating' },
            ...(n < SPECIAL ? { hints: { forZones: [{ name: 'zone-a' }] } } : {}),
          },
        ],
  );
  return set({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace: 'demo', name: `s${n}`, labels: { 'kubernetes.io/service-name': `s${n}` } },
    addressType: 'IPv4',
    ports: [{ port: 8080 }],
    endpoints,
  });
}

const node = (zone: string, { name = 'node-a', address = '192.168.50.10', labels = {}, spec = {} } = {}) =>
  set({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { ...labels, 'topology.kubernetes.io/zone': zone } },
    spec,
    status: { addresses: [{ type: 'InternalIP', address }] },
  });

const hostChange = (link: string, address: string): HostChange => ({
  addresses: [{ link, address, prefix: address.includes(':') ? 64 : 32, deleted: false }],
  deletedLinks: [],
  lost: false,
});

/** The parts of an agent that handle the events of each pass. */
function agentEvents(): ProxyEvents {
  return telemetry({
    log: pino({ level: 'silent' }),
    families: [4, 6],
    metrics: openMetrics({ version: '0', kubernetesVersion: 'v0', startedAt: 0, now: () => 0 }),
    health: new ProxyHealth(60_000, { now: () => 0, elapsed: () => 0 }),
    serviceHealth: { update: async () => {} },
    leftOut: { found: () => {}, mended: () => {} },
  });
}

interface ClusterOptions extends Partial<IpvsOptions> {
  readonly audit?: number;
  /** Default `ipvs`. */
  readonly mode?: 'ipvs' | 'iptables';
}

/** A mode on a kernel, with counts. */
function countedMode(
  kernel: FakeKernel & Pick<IpvsKernel, 'watchHost'>,
  name: 'ipvs' | 'iptables',
  options: Partial<IpvsOptions> & { readonly auditPeriod: number },
): Mode<unknown, KeyedOperation> {
  const mode =
    name === 'ipvs'
      ? counters.ofMode(createIpvsMode(kernel, { ...IPVS_DEFAULTS, kernelRelease: '6.1.0', ...options }))
      : counters.ofMode(createIptablesMode(kernel, { ...IPTABLES_DEFAULTS, ...options }));
  return mode as unknown as Mode<unknown, KeyedOperation>;
}

/** A running proxy with this number of Services. */
async function cluster(
  size: number,
  { audit = 3_600_000, mode: name = 'ipvs', ...options }: ClusterOptions = {},
) {
  const kernel = new FakeKernel();
  const passes: SyncSummary[] = [];
  const events = agentEvents();
  const hooks: { piece?: (() => void) | undefined; taken?: (() => void) | undefined } = {};
  let source: SourceEvents | undefined;
  const host = new HostNotifications();
  const { watchHost } = host;
  const mode = countedMode(Object.assign(kernel, { watchHost }), name, { auditPeriod: audit, ...options });
  const proxy = createProxy({
    source: {
      async start(to) {
        source = to;
      },
      stop() {},
    },
    mode: {
      ...mode,
      async *observe() {
        for await (const piece of mode.observe()) {
          hooks.piece?.();
          yield piece;
        }
      },
    },
    rtnetlink: {
      listAddresses: async () => [
        { link: 'eth0', address: '192.168.50.10', prefix: 24, scope: 'global', flags: [] },
        ...(await kernel.rtnetlink.listAddresses()),
      ],
    },
    conntrack: kernel.conntrack,
    watchHost,
    nodeName: 'node-a',
    events: {
      ...events,
      taken() {
        hooks.taken?.();
        events.taken?.();
      },
      synced(summary, latency) {
        events.synced(summary, latency);
        passes.push(summary);
      },
    },
  });
  await proxy.start();
  assert.ok(source);
  const tell = source;
  const hostChanged = (change: HostChange) => host.send(change);
  const all = Array.from({ length: size }, (_, n) => n);
  tell.changed([node('zone-a'), ...all.map(service), ...all.map((n) => slice(n, 'ready', 'ready'))]);
  tell.synced();
  const pass = async () => {
    while (passes.length === 0) await new Promise((resolve) => setImmediate(resolve));
    return passes.shift() as SyncSummary;
  };
  assert.deepEqual((await pass()).failures, []);
  counters.ofKernel(kernel);
  /** The counts from an action until the end of the pass that it causes. */
  const costOf = async (act: () => void): Promise<Counts> => {
    counters.take();
    act();
    await pass();
    return counters.take();
  };
  const change = (...changes: ObjectChange[]) => costOf(() => tell.changed(changes));
  return { kernel, proxy, tell, pass, passes, costOf, change, hostChanged, hooks };
}

type Cluster = Awaited<ReturnType<typeof cluster>>;

/** The counts of a scenario in a cluster of each size. */
async function atEachSize(
  scenario: (cluster: Cluster) => Promise<Counts>,
  options?: Parameters<typeof cluster>[1],
): Promise<Counts> {
  const costs: Counts[] = [];
  for (const size of options?.mode === 'iptables' ? LARGE_SIZES : SIZES) {
    const one = await cluster(size, options);
    costs.push(await scenario(one));
    await one.proxy.stop();
  }
  assert.deepEqual(costs[1], costs[0]);
  return costs[0] as Counts;
}

describe('with 100 Services and with 10 000 the cost is the same', () => {
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
      const { change, proxy } = await cluster(100);
      const others = Array.from({ length: size }, (_, n) =>
        node('zone-b', { name: `node-${n}`, address: `172.16.${n >> 8}.${n & 255}` }),
      );
      const many = await change(...others);
      assert.ok(many.entries < 600 + 8 * size, `${many.entries} entries for ${size} nodes`);
      costs.push(await change(node('zone-c', { name: 'node-5', address: '172.16.0.5' })));
      await proxy.stop();
    }
    assert.deepEqual(costs[1], costs[0]);
  });

  it('of a failed operation, and of each retry', async () => {
    const { plans } = await atEachSize(async ({ kernel, change, pass, passes }) => {
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

describe('in iptables mode, with 600 Services and with 10 000 the cost is the same', () => {
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
    assert.deepEqual({ plans, calls }, { plans: 1, calls: 1 });
    assert.ok(bytes < 1000, `${bytes} bytes`);
  });

  it('of a Service that loses its endpoints, with policy Local and a node port: one restore', async () => {
    const { plans, calls } = await atEachSize(({ change }) => change(slice(5)), inIptables);
    assert.deepEqual({ plans, calls }, { plans: 1, calls: 1 });
  });

  it("of a change of the node's pod networks, if they detect local traffic: plans of all Services", async () => {
    const detector = { localDetector: { by: 'nodeNetwork' }, ...inIptables } as const;
    const { change, proxy } = await cluster(100, detector);
    const { plans } = await change(node('zone-a', { spec: { podCIDRs: ['10.244.0.0/24'] } }));
    assert.equal(plans, 101, 'those of the Services, and the node');
    await proxy.stop();
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
