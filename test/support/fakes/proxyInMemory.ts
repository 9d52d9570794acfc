// A proxy on a kernel in memory, with a source that the test controls.
import assert from 'node:assert/strict';
import { afterEach } from 'node:test';
import type { LinkAddress } from '../../../src/kernel/rtnetlink/types.js';
import { FakeKernel } from '../../../src/kernel/testing/index.js';
import { createIpvsMode, IPVS_DEFAULTS } from '../../../src/proxy/modes/ipvs/index.js';
import { decodeObject } from '../../../src/proxy/objects/decode.js';
import type { ObjectChange } from '../../../src/proxy/objects/types.js';
import {
  createProxy,
  type ProxyEvents,
  type ProxyParts,
  type ServiceProxy,
} from '../../../src/proxy/proxy.js';
import type { SyncSummary } from '../../../src/proxy/reconcile/summary.js';
import type { SourceEvents } from '../../../src/proxy/source/source.js';
import { PATIENCE } from '../../laboratory/patience.js';
import { HostNotifications } from './hostNotifications.js';

/** A Service with a node port, and these fields of its spec. */
export function service(name: string, clusterIP: string, extra: object = {}): ObjectChange {
  const metadata = { namespace: 'demo', name };
  const spec = { clusterIP, ports: [{ port: 80, nodePort: 30080 }], type: 'NodePort', ...extra };
  const { object } = decodeObject({ apiVersion: 'v1', kind: 'Service', metadata, spec });
  assert.ok(object);
  return { type: 'set', object };
}

const running: ServiceProxy[] = [];

// A proxy that still runs after a failed test prevents the end of this process.
afterEach(async () => {
  for (const proxy of running.splice(0)) await proxy.stop();
});

/** A proxy on a kernel in memory. Its source has these objects at the start; the test then reports changes. */
export function setUp(...initial: ObjectChange[]) {
  return setUpWith({}, ...initial);
}

/** The same, with more parts. */
export function setUpWith(
  parts: Pick<ProxyParts<unknown, never>, 'settingRules' | 'watchNodes'>,
  ...initial: ObjectChange[]
) {
  const kernel = new FakeKernel();
  const source: { events?: SourceEvents; stopped: boolean } = { stopped: false };
  const passes: SyncSummary[] = [];
  const notifications = new HostNotifications();
  const host: {
    addresses: LinkAddress[];
    /** Called before each listing of addresses. */
    beforeListing?: () => Promise<void>;
  } = {
    addresses: [{ link: 'eth0', address: '192.168.50.10', prefix: 24, scope: 'global', flags: [] }],
  };
  const told: string[] = [];
  const latencies: number[] = [];
  const events: ProxyEvents = {
    synced: (summary, latency) => {
      passes.push(summary);
      latencies.push(latency);
    },
    problems: (problems) => told.push(...problems.map(({ rule }) => rule)),
    mended: (problems) => told.push(...problems.map(({ rule }) => `mended: ${rule}`)),
    failed: (error) => told.push(String(error)),
    retrying: (milliseconds) => told.push(`retry in ${milliseconds}`),
  };
  const mode = createIpvsMode(Object.assign(kernel, { watchHost: notifications.watchHost }), {
    ...IPVS_DEFAULTS,
    auditPeriod: 60_000,
    kernelRelease: '6.1.0',
  });
  const proxy = createProxy({
    source: {
      async start(sourceEvents) {
        source.events = sourceEvents;
        sourceEvents.changed(initial);
      },
      stop() {
        source.stopped = true;
      },
    },
    mode,
    rtnetlink: {
      listAddresses: async () => {
        await host.beforeListing?.();
        return [...host.addresses, ...(await kernel.rtnetlink.listAddresses())];
      },
      listLinks: () => kernel.rtnetlink.listLinks(),
    },
    conntrack: kernel.conntrack,
    watchHost: notifications.watchHost,
    nodeName: 'node-a',
    events,
    ...parts,
  });
  running.push(proxy);
  const pass = async () => {
    const deadline = Date.now() + PATIENCE;
    while (passes.length === 0) {
      assert.ok(Date.now() < deadline, 'no pass was made');
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    return passes.shift() as SyncSummary;
  };
  const tell = (): SourceEvents => {
    assert.ok(source.events);
    return source.events;
  };
  return { kernel, mode, source, proxy, pass, tell, told, passes, latencies, host, notifications };
}
