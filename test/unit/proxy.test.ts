// The whole proxy: it changes nothing before the source has reported all objects, and then applies every change.
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import type { LinkAddress } from '../../src/kernel/rtnetlink/types.js';
import { FakeKernel, failNth } from '../../src/kernel/testing/index.js';
import { createIpvsMode, IPVS_DEFAULTS } from '../../src/modes/ipvs/index.js';
import { decodeObject } from '../../src/objects/decode.js';
import type { ObjectChange } from '../../src/objects/types.js';
import { createProxy, type ProxyEvents, type ServiceProxy } from '../../src/proxy.js';
import type { SyncSummary } from '../../src/reconcile/summary.js';
import type { HostChange } from '../../src/services/types.js';
import type { SourceEvents } from '../../src/source/source.js';
import { HostNotifications } from '../support/hostNotifications.js';

function service(name: string, clusterIP: string, extra: object = {}): ObjectChange {
  const metadata = { namespace: 'demo', name };
  const spec = { clusterIP, ports: [{ port: 80, nodePort: 30080 }], type: 'NodePort', ...extra };
  const { object } = decodeObject({ apiVersion: 'v1', kind: 'Service', metadata, spec });
  assert.ok(object);
  return { type: 'set', object };
}

/** A slice whose only endpoint has a zone hint. */
function hintedSlice(name: string): ObjectChange {
  const metadata = { namespace: 'demo', name, labels: { 'kubernetes.io/service-name': name } };
  const endpoints = [{ addresses: ['10.0.0.1'], hints: { forZones: [{ name: 'zone-a' }] } }];
  const rest = { addressType: 'IPv4', ports: [{ port: 8080 }], endpoints };
  const { object } = decodeObject({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata,
    ...rest,
  });
  assert.ok(object);
  return { type: 'set', object };
}

const NO_CHANGE: HostChange = { addresses: [], deletedLinks: [], lost: false };

/** Notifications of addresses: `+eth0 192.0.2.1/24` for an added one, `-` for a deleted one. */
function addresses(...changes: string[]): HostChange {
  const parsed = changes.map((change) => {
    const [link = '', address = '', prefix] = change.slice(1).split(/[ /]/);
    return { link, address, prefix: Number(prefix), deleted: change.startsWith('-') };
  });
  return { ...NO_CHANGE, addresses: parsed };
}

const running: ServiceProxy[] = [];

// A proxy that still runs after a failed test prevents the end of this process.
afterEach(async () => {
  for (const proxy of running.splice(0)) await proxy.stop();
});

/** A proxy on a kernel in memory. Its source has these objects at the start; the test then reports changes. */
function setUp(...initial: ObjectChange[]) {
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
    },
    conntrack: kernel.conntrack,
    watchHost: notifications.watchHost,
    nodeName: 'node-a',
    events,
  });
  running.push(proxy);
  const pass = async () => {
    const deadline = Date.now() + 2000;
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

describe('a proxy', () => {
  it('waits for all objects, then applies each change', async () => {
    const { kernel, proxy, pass, tell, passes } = setUp();
    await proxy.start();
    tell().changed([service('a', '10.96.0.1')]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(passes.length, 0);
    assert.equal(kernel.ipset.dump(), '', 'nothing is touched before the source has told all');
    tell().synced();
    const first = await pass();
    assert.equal(first.full, true);
    assert.match(
      kernel.ipvs.dump(),
      /-A -t 192\.168\.50\.10:30080 -s rr\n/,
      'node ports stand on host addresses',
    );
    tell().changed([service('b', '10.96.0.2', { type: 'ClusterIP', ports: [{ port: 81 }] })]);
    const second = await pass();
    assert.deepEqual([second.full, second.services], [false, 1]);
    assert.match(kernel.ipvs.dump(), /10\.96\.0\.2:81/);
    await proxy.stop();
  });

  it('applies a change that arrives during a pass in the next pass', async () => {
    const { kernel, proxy, pass, tell, latencies } = setUp();
    await proxy.start();
    const apply = kernel.ipvs.apply.bind(kernel.ipvs);
    kernel.ipvs.apply = async (operations) => {
      kernel.ipvs.apply = apply;
      tell().changed([service('b', '10.96.0.2', { type: 'ClusterIP', ports: [{ port: 80 }] })]);
      await new Promise((resolve) => setTimeout(resolve, 50));
      return apply(operations);
    };
    tell().changed([service('a', '10.96.0.1')]);
    tell().synced();
    await pass();
    const { services } = await pass();
    assert.equal(services, 1);
    assert.ok((latencies[1] as number) >= 45, `${latencies[1]} ms, of which 50 went by in the first pass`);
  });

  it('reports an address that an older Service has, and assigns it after that Service is deleted', async () => {
    const { kernel, proxy, pass, tell, told } = setUp();
    const age = (createdAt: string, change: ObjectChange): ObjectChange => ({
      ...change,
      object: { ...change.object, createdAt: Date.parse(createdAt) } as ObjectChange['object'],
    });
    const external = { type: 'ClusterIP', externalIPs: ['192.0.2.1'], ports: [{ port: 80 }] };
    const old = age('2020-01-01', service('old', '10.96.0.1', { ...external, sessionAffinity: 'ClientIP' }));
    await proxy.start();
    tell().changed([age('2026-01-01', service('young', '10.96.0.2', external))]);
    tell().changed([old]);
    tell().synced();
    await pass();
    assert.deepEqual(told, ['is served by Service demo/old, which is older or has a stronger claim']);
    assert.match(kernel.ipvs.dump(), /-A -t 192\.0\.2\.1:80 -s rr -p/);
    tell().changed([{ ...old, type: 'delete' }]);
    const { services } = await pass();
    assert.equal(services, 2);
    assert.equal(
      told.at(-1),
      'mended: is served by Service demo/old, which is older or has a stronger claim',
    );
    assert.match(kernel.ipvs.dump(), /-A -t 192\.0\.2\.1:80 -s rr\n/);
    await proxy.stop();
  });

  for (const order of ['the winner first', 'the winner last'])
    it(`reports the first of thousands of lost addresses, and the number of the others: ${order}`, async () => {
      const { proxy, pass, tell, told } = setUp();
      const addresses = Array.from({ length: 2000 }, (_, i) => `192.0.${i >> 8}.${i & 255}`);
      const claiming = (name: string, clusterIP: string, createdAt: number): ObjectChange => {
        const { type, object } = service(name, clusterIP, {
          type: 'ClusterIP',
          ports: [{ port: 80 }],
          externalIPs: addresses,
        });
        return { type, object: { ...object, createdAt } as ObjectChange['object'] };
      };
      const old = claiming('old', '10.96.0.1', 1);
      const young = claiming('young', '10.96.0.2', 2);
      await proxy.start();
      for (const change of order === 'the winner first' ? [old, young] : [young, old])
        tell().changed([change]);
      tell().synced();
      await pass();
      const rule = 'is served by Service demo/old, which is older or has a stronger claim';
      const lines = [...Array(20).fill(rule), 'has 1980 more addresses and ports that others serve'];
      assert.deepEqual(told.splice(0), lines);
      tell().changed([young]);
      await pass();
      assert.deepEqual(told, [], 'nothing has changed');
      tell().changed([{ ...old, type: 'delete' }]);
      await pass();
      assert.deepEqual(
        told,
        lines.map((line) => `mended: ${line}`),
      );
      await proxy.stop();
    });

  it('reports a Service with too many endpoints until it has fewer', async () => {
    const { mode, proxy, pass, tell, told } = setUp();
    // The items of this many endpoints take seconds.
    const plan = mode.planService;
    const planned: (number | undefined)[] = [];
    mode.planService = (input, node) => {
      planned.push(input.ports[0]?.endpoints.size);
      return plan({ ...input, ports: [] }, node);
    };
    const addresses = Array.from({ length: 999 }, (_, i) => `192.0.${i >> 8}.${i & 255}`);
    const slice = (endpoints: number): ObjectChange => {
      const { object } = decodeObject({
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { namespace: 'demo', name: 'web', labels: { 'kubernetes.io/service-name': 'web' } },
        addressType: 'IPv4',
        ports: [{ port: 8080 }],
        endpoints: Array.from({ length: endpoints }, (_, i) => ({
          addresses: [`10.0.${i >> 8}.${i & 255}`],
        })),
      });
      assert.ok(object);
      return { type: 'set', object };
    };
    const web = service('web', '10.96.0.1', {
      type: 'ClusterIP',
      ports: [{ port: 80 }],
      externalIPs: addresses,
    });
    await proxy.start();
    tell().changed([web, slice(501)]);
    tell().synced();
    await pass();
    const rule =
      'must have at most 500000 frontends × endpoints: 1 endpoint of its EndpointSlices is not used';
    assert.deepEqual(told.splice(0), [rule]);
    tell().changed([slice(500)]);
    await pass();
    assert.deepEqual(told.splice(0), [`mended: ${rule}`]);
    tell().changed([slice(502)]);
    await pass();
    tell().changed([{ ...web, type: 'delete' }]);
    await pass();
    const two = rule.replace('1 endpoint of', '2 endpoints of').replace('is not', 'are not');
    assert.deepEqual(told, [two, `mended: ${two}`]);
    assert.deepEqual(planned, [500, 500, 500]);
    await proxy.stop();
  });

  it('plans the Services again that a change of its node affects, and none if nothing changes', async () => {
    const { proxy, pass, passes, tell } = setUp();
    await proxy.start();
    tell().changed([service('a', '10.96.0.1'), service('b', '10.96.0.2'), hintedSlice('b')]);
    tell().synced();
    await pass();
    const node = (zone: string): ObjectChange => {
      const metadata = { name: 'node-a', labels: { 'topology.kubernetes.io/zone': zone } };
      const { object } = decodeObject({ apiVersion: 'v1', kind: 'Node', metadata });
      assert.ok(object);
      return { type: 'set', object };
    };
    tell().changed([node('zone-a')]);
    assert.equal((await pass()).services, 1);
    tell().changed([node('zone-a')]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(passes[0]?.services ?? 0, 0);
    await proxy.stop();
  });

  it('updates the addresses of node ports after changes of the host', async () => {
    const { kernel, proxy, pass, tell, notifications } = setUp(service('a', '10.96.0.1'));
    await proxy.start();
    tell().synced();
    await pass();
    notifications.send(
      addresses(
        '-eth0 192.168.50.10/24',
        '+eth1 192.168.60.10/24',
        '+veth1 fe80::1/64',
        '+kube-ipvs0 10.96.0.1/32',
      ),
    );
    assert.equal((await pass()).full, false);
    assert.match(kernel.ipvs.dump(), /192\.168\.60\.10:30080/);
    assert.doesNotMatch(kernel.ipvs.dump(), /192\.168\.50\.10:30080/);
    await proxy.stop();
    assert.equal(notifications.watches, 0);
  });

  it('keeps node ports on an address if its prefix changes', async () => {
    const { kernel, proxy, pass, tell, notifications } = setUp(service('a', '10.96.0.1'));
    await proxy.start();
    tell().synced();
    await pass();
    notifications.send(
      addresses('+eth0 192.168.50.10/32', '-eth0 192.168.50.10/24', '+eth1 192.168.60.10/24'),
    );
    await pass();
    assert.match(kernel.ipvs.dump(), /192\.168\.60\.10:30080/);
    assert.match(kernel.ipvs.dump(), /192\.168\.50\.10:30080/);
  });

  it('repairs kube-ipvs0 immediately after changes by others, and ignores its own changes', async () => {
    const { kernel, proxy, pass, passes, tell, notifications } = setUp(service('a', '10.96.0.1'));
    await proxy.start();
    tell().synced();
    await pass();
    notifications.send(addresses('+kube-ipvs0 10.96.0.1/32'));
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(passes.length, 0);
    const address = { link: 'kube-ipvs0', address: '10.96.0.1', prefix: 32 };
    await kernel.rtnetlink.apply([{ do: 'deleteAddress', address }]);
    notifications.send(addresses('-kube-ipvs0 10.96.0.1/32'));
    assert.equal((await pass()).full, true);
    assert.match(kernel.rtnetlink.dump('kube-ipvs0'), /10\.96\.0\.1\/32/);
    await kernel.rtnetlink.apply([{ do: 'deleteLink', name: 'kube-ipvs0' }]);
    notifications.send({ ...NO_CHANGE, deletedLinks: ['kube-ipvs0'] });
    await pass();
    assert.match(kernel.rtnetlink.dump('kube-ipvs0'), /10\.96\.0\.1\/32/);
  });

  it('lists the addresses of its host again if notifications were lost', async () => {
    const { kernel, proxy, pass, tell, host, notifications } = setUp(service('a', '10.96.0.1'));
    await proxy.start();
    tell().synced();
    await pass();
    host.addresses = [{ link: 'eth1', address: '192.168.60.10', prefix: 24, scope: 'global', flags: [] }];
    notifications.send({ ...NO_CHANGE, lost: true });
    await pass();
    assert.match(kernel.ipvs.dump(), /192\.168\.60\.10:30080/);
    const address = { link: 'kube-ipvs0', address: '10.96.0.1', prefix: 32 };
    await kernel.rtnetlink.apply([{ do: 'deleteAddress', address }]);
    notifications.send({ ...NO_CHANGE, lost: true });
    assert.equal((await pass()).full, true);
    assert.match(kernel.rtnetlink.dump('kube-ipvs0'), /10\.96\.0\.1\/32/);
  });

  it('forgets the addresses of a link by its former name', async () => {
    const { kernel, proxy, pass, tell, host, notifications } = setUp(service('a', '10.96.0.1'));
    await proxy.start();
    tell().synced();
    await pass();
    notifications.send(addresses('+eth1 192.168.60.10/24'));
    await pass();
    assert.match(kernel.ipvs.dump(), /192\.168\.60\.10:30080/);
    // A watch reports the new name as a loss, and a later change by that name.
    host.addresses = [{ link: 'lan1', address: '192.168.60.10', prefix: 24, scope: 'global', flags: [] }];
    notifications.send({ ...NO_CHANGE, lost: true });
    notifications.send(addresses('-lan1 192.168.60.10/24'));
    await pass();
    assert.doesNotMatch(kernel.ipvs.dump(), /192\.168\.60\.10:30080/);
  });

  it('lists the addresses of its host again if a listing failed', async () => {
    const { kernel, proxy, pass, tell, told, host, notifications } = setUp(service('a', '10.96.0.1'));
    await proxy.start();
    tell().synced();
    await pass();
    host.addresses = [{ link: 'eth1', address: '192.168.60.10', prefix: 24, scope: 'global', flags: [] }];
    host.beforeListing = async () => {
      delete host.beforeListing;
      throw new Error('no buffer space');
    };
    notifications.send({ ...NO_CHANGE, lost: true });
    await pass();
    assert.deepEqual(told, ['Error: no buffer space']);
    assert.match(kernel.ipvs.dump(), /192\.168\.60\.10:30080/);
  });

  it('stops only after its last call of the kernel has ended', async () => {
    const { proxy, pass, tell, host, notifications } = setUp(service('a', '10.96.0.1'));
    await proxy.start();
    tell().synced();
    await pass();
    let asking = false;
    host.beforeListing = async () => {
      asking = true;
      await new Promise((resolve) => setTimeout(resolve, 20));
      asking = false;
    };
    notifications.send({ ...NO_CHANGE, lost: true });
    await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(asking, true);
    await proxy.stop();
    assert.equal(asking, false);
  });

  it('retries failed operations', async () => {
    const { kernel, proxy, pass, tell, told } = setUp();
    kernel.ipvs.fault = failNth(1);
    await proxy.start();
    tell().changed([service('a', '10.96.0.1')]);
    tell().synced();
    assert.ok((await pass()).failures.length > 0);
    assert.match(told.join(), /^retry in (5\d\d|600)$/);
    // Items that failed at different times may be due in different passes.
    const isServed = () => kernel.ipvs.dump().includes('10.96.0.1:80');
    for (let passes = 0; passes === 0 || (!isServed() && passes < 3); passes++)
      assert.deepEqual((await pass()).failures, []);
    assert.ok(isServed(), kernel.ipvs.dump());
    await proxy.stop();
  });

  it('applies no changes after a stop, and does not change the kernel', async () => {
    const { kernel, source, proxy, pass, tell } = setUp();
    await proxy.start();
    tell().changed([service('a', '10.96.0.1')]);
    tell().synced();
    await pass();
    const before = kernel.ipvs.dump();
    await proxy.stop();
    assert.ok(source.stopped);
    tell().changed([service('b', '10.96.0.2')]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(kernel.ipvs.dump(), before);
  });

  it('runs one full pass with --once', async () => {
    const { kernel, proxy } = setUp(service('a', '10.96.0.1'));
    const summary = await proxy.once();
    assert.equal(summary.full, true);
    assert.deepEqual(summary.failures, []);
    assert.match(kernel.ipvs.dump(), /10\.96\.0\.1:80/);
  });
});
