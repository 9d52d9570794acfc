// The whole proxy: it changes nothing before the source has reported all objects, and then applies every change.
import assert from 'node:assert/strict';
import { performance } from 'node:perf_hooks';
import { describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { failNth } from '../../../src/kernel/testing/index.js';
import { decodeObject } from '../../../src/proxy/objects/decode.js';
import type { ObjectChange } from '../../../src/proxy/objects/types.js';
import { createProxy } from '../../../src/proxy/proxy.js';
import type { HostChange } from '../../../src/proxy/services/types.js';
import type { SourceEvents } from '../../../src/proxy/source/source.js';
import { WHOLE } from '../../support/extent.js';
import { service, setUp } from '../../support/fakes/proxyInMemory.js';
import { MapKernel } from '../../support/mapMode/mapKernel.js';
import { createMapMode } from '../../support/mapMode/mapMode.js';

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

const NO_CHANGE: HostChange = { addresses: [], links: [], lost: false };

/** Notifications of addresses: `+eth0 192.0.2.1/24` for an added one, `-` for a deleted one. */
function addresses(...changes: string[]): HostChange {
  const parsed = changes.map((change) => {
    const [link = '', address = '', prefix] = change.slice(1).split(/[ /]/);
    return { link, address, prefix: Number(prefix), deleted: change.startsWith('-') };
  });
  return { ...NO_CHANGE, addresses: parsed };
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
    notifications.send({
      ...NO_CHANGE,
      links: [{ name: 'kube-ipvs0', isLoopback: false, deleted: true }],
    });
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
    const begun = performance.now();
    tell().changed([service('a', '10.96.0.1')]);
    tell().synced();
    assert.ok((await pass()).failures.length > 0);
    const [, left] = /^retry in (\d+)$/.exec(told.join()) ?? [];
    // 500 to 600 ms after the failure, of which a part has passed when it is told.
    const passed = performance.now() - begun;
    assert.ok(Number(left) >= 500 - passed && Number(left) <= 600, told.join());
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

it('a whole cluster that is reported at once is planned in one pass', async () => {
  const kernel = new MapKernel();
  const { conntrack, rtnetlink, watchHost } = kernel.host;
  let report: SourceEvents | undefined;
  let stored = 0;
  const planned: number[] = [];
  const proxy = createProxy({
    source: {
      async start(events) {
        report = events;
      },
      stop() {},
    },
    mode: createMapMode(kernel, 60_000),
    ...{ conntrack, rtnetlink, watchHost, nodeName: 'node-a' },
    events: {
      changed: (changes) => {
        stored += changes.length;
      },
      synced: ({ services }) => planned.push(services),
      problems() {},
      failed() {},
      retrying() {},
    },
  });
  const address = (i: number) => `10.96.${i >> 8}.${i & 255}`;
  const all = Array.from({ length: WHOLE ? 20_000 : 5000 }, (_, i) => service(`s${i}`, address(i)));
  try {
    await proxy.start();
    report?.changed(all);
    report?.synced();
    for (let i = 0; planned.length === 0 && i < 3000; i++) await wait(10);
    assert.deepEqual([stored, planned], [all.length, [all.length]]);
  } finally {
    await proxy.stop();
  }
});

it('the plan of the node follows the ranges of cluster IPs, and no Service is planned again', async () => {
  const kernel = new MapKernel();
  const mode = createMapMode(kernel, 60_000);
  const seen: string[] = [];
  let planned = 0;
  let report: SourceEvents | undefined;
  const { conntrack, rtnetlink, watchHost } = kernel.host;
  const proxy = createProxy({
    source: {
      async start(events) {
        report = events;
        events.changed([service('web', '10.96.0.1')]);
        events.synced();
      },
      stop() {},
    },
    mode: {
      ...mode,
      planNode: (desired, node) => {
        seen.push(node.serviceCIDRs.join());
        return mode.planNode(desired, node);
      },
      planService: (input, node) => {
        planned++;
        return mode.planService(input, node);
      },
    },
    ...{ conntrack, rtnetlink, watchHost, nodeName: 'node-a' },
    events: { synced() {}, problems() {}, failed() {}, retrying() {} },
  });
  try {
    await proxy.start();
    for (let i = 0; !kernel.table?.size && i < 500; i++) await wait(10);
    const before = planned;
    assert.equal(before, 1);
    report?.changed([{ type: 'set', object: { kind: 'ServiceCIDR', name: 'a', cidrs: ['10.96.0.0/12'] } }]);
    for (let i = 0; seen.at(-1) !== '10.96.0.0/12' && i < 500; i++) await wait(10);
    assert.equal(seen.at(-1), '10.96.0.0/12');
    assert.equal(planned, before);
  } finally {
    await proxy.stop();
  }
});
