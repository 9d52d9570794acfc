// A running proxy on a kernel in memory, of which plans, comparisons and calls are counted, with clusters of several sizes.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { pino } from 'pino';
import { inOrder } from '../../../src/command/agent/listeners.js';
import { logEvents } from '../../../src/command/agent/logEvents.js';
import { telemetry } from '../../../src/command/agent/telemetry.js';
import { ProxyHealth } from '../../../src/command/health/proxyHealth.js';
import { openMetrics } from '../../../src/command/servers/metrics.js';
import { FakeKernel } from '../../../src/kernel/testing/index.js';
import { createIptablesMode, IPTABLES_DEFAULTS } from '../../../src/proxy/modes/iptables/index.js';
import {
  createIpvsMode,
  IPVS_DEFAULTS,
  type IpvsKernel,
  type IpvsOptions,
} from '../../../src/proxy/modes/ipvs/index.js';
import type { KeyedOperation, Mode } from '../../../src/proxy/modes/mode.js';
import { decodeObject } from '../../../src/proxy/objects/decode.js';
import type { ObjectChange } from '../../../src/proxy/objects/types.js';
import { createProxy, type ProxyEvents, type ServiceProxy } from '../../../src/proxy/proxy.js';
import type { SyncSummary } from '../../../src/proxy/reconcile/summary.js';
import type { HostChange } from '../../../src/proxy/services/types.js';
import type { SourceEvents } from '../../../src/proxy/source/source.js';
import { WHOLE } from '../extent.js';
import { HostNotifications } from '../fakes/hostNotifications.js';
import { Counters, type Counts } from './counts.js';

/** The numbers of Services of the clusters. */
export const SIZES = WHOLE ? [100, 10_000] : [100, 500];
/** Both have so many endpoints that kube-proxy omits their comments: bytes can be compared. */
export const LARGE_SIZES = WHOLE ? [600, 10_000] : [600, 900];
/** Number of Services that a change of the node may affect. It is the same in every cluster. */
export const SPECIAL = 20;

/** The counts of all clusters of this process. */
export const counters = new Counters();
after(() => counters.stop());

/** The proxies that run: those of a failed test would keep its process. */
const running = new Set<Pick<ServiceProxy, 'stop'>>();
after(async () => {
  for (const proxy of running) await proxy.stop();
});

/** The longest time until a pass ends, in ms. */
const PASS_LIMIT = 120_000;

function set(raw: Record<string, unknown>): ObjectChange {
  const { object, problems } = decodeObject(raw);
  assert.deepEqual(problems, []);
  assert.ok(object);
  return { type: 'set', object };
}

/** The cluster IP of the Service with this number. */
export const clusterIP = (n: number) => `10.96.${n >> 8}.${n & 255}`;

/** The Service with this number. */
export function service(n: number): ObjectChange {
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
export function slice(n: number, ...states: ('ready' | 'terminating' | '')[]): ObjectChange {
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

/** A Node, by default this one. */
export const node = (
  zone: string,
  { name = 'node-a', address = '192.168.50.10', labels = {}, spec = {} } = {},
) =>
  set({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { ...labels, 'topology.kubernetes.io/zone': zone } },
    spec,
    status: { addresses: [{ type: 'InternalIP', address }] },
  });

/** An address that is added to the host. */
export const hostChange = (link: string, address: string): HostChange => ({
  addresses: [{ link, address, prefix: address.includes(':') ? 64 : 32, deleted: false }],
  links: [],
  lost: false,
});

/** The parts of an agent that handle the events of each pass. */
function agentEvents(): ProxyEvents {
  const told = telemetry({
    families: [4, 6],
    metrics: openMetrics({ version: '0', kubernetesVersion: 'v0', startedAt: 0 }),
    health: new ProxyHealth({ now: () => 0, elapsed: () => 0 }, () => {}),
    serviceHealth: { update() {} },
    leftOut: { found: () => {}, mended: () => {} },
  });
  return inOrder([logEvents(pino({ level: 'silent' })), told]);
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

/** Functions of a test that run in the middle of a pass. */
interface Hooks {
  /** Runs after each observed part of the kernel's state. */
  piece?: (() => void) | undefined;
  /** Runs when the pass has read the changes. */
  taken?: (() => void) | undefined;
}

function withHooks<Observed extends Mode<unknown, KeyedOperation>>(mode: Observed, hooks: Hooks): Observed {
  return {
    ...mode,
    async *observe() {
      for await (const piece of mode.observe()) {
        hooks.piece?.();
        yield piece;
      }
    },
  };
}

/** The events of an agent, and the summaries of all passes. */
function recordingEvents(hooks: Hooks, passes: SyncSummary[]): ProxyEvents {
  const events = agentEvents();
  return {
    ...events,
    taken() {
      hooks.taken?.();
      events.taken?.();
    },
    synced(summary, latency) {
      events.synced(summary, latency);
      passes.push(summary);
    },
  };
}

/** A running proxy with this number of Services. */
export async function cluster(
  size: number,
  { audit = 3_600_000, mode: name = 'ipvs', ...options }: ClusterOptions = {},
) {
  const kernel = new FakeKernel();
  const passes: SyncSummary[] = [];
  const hooks: Hooks = {};
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
    mode: withHooks(mode, hooks),
    rtnetlink: {
      listAddresses: async () => [
        { link: 'eth0', address: '192.168.50.10', prefix: 24, scope: 'global', flags: [] },
        ...(await kernel.rtnetlink.listAddresses()),
      ],
      listLinks: () => kernel.rtnetlink.listLinks(),
    },
    conntrack: kernel.conntrack,
    watchHost,
    nodeName: 'node-a',
    events: recordingEvents(hooks, passes),
  });
  running.add(proxy);
  await proxy.start();
  assert.ok(source);
  const tell = source;
  const hostChanged = (change: HostChange) => host.send(change);
  const all = Array.from({ length: size }, (_, n) => n);
  tell.changed([node('zone-a'), ...all.map(service), ...all.map((n) => slice(n, 'ready', 'ready'))]);
  tell.synced();
  const pass = async () => {
    const end = performance.now() + PASS_LIMIT;
    while (passes.length === 0) {
      assert.ok(performance.now() < end, `no pass ended within ${PASS_LIMIT} ms`);
      await new Promise((resolve) => setImmediate(resolve));
    }
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
  const stop = async () => {
    await proxy.stop();
    running.delete(proxy);
  };
  return { kernel, stop, tell, pass, passes, costOf, change, hostChanged, hooks };
}

export type Cluster = Awaited<ReturnType<typeof cluster>>;

/** The counts of a scenario in a cluster of each size. */
export async function atEachSize(
  scenario: (cluster: Cluster) => Promise<Counts>,
  options?: Parameters<typeof cluster>[1],
): Promise<Counts> {
  const costs: Counts[] = [];
  for (const size of options?.mode === 'iptables' ? LARGE_SIZES : SIZES) {
    const one = await cluster(size, options);
    costs.push(await scenario(one));
    await one.stop();
  }
  assert.deepEqual(costs[1], costs[0]);
  return costs[0] as Counts;
}
