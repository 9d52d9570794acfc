// The endpoints of a Service with more frontends × endpoints than are programmed.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeObject } from '../../../../src/proxy/objects/decode.js';
import type { EndpointSlice, Service } from '../../../../src/proxy/objects/types.js';
import { limitSlices, MOST_PAIRS } from '../../../../src/proxy/services/endpointLimit.js';
import { nodeFacts } from '../../../../src/proxy/services/nodeFacts.js';
import { ServiceCache } from '../../../../src/proxy/services/serviceCache.js';

const list = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

const ports = (count: number) => list(count, (i) => ({ name: `p${i}`, port: i + 1 }));

function service(portCount: number, externalIPs = 0): Service {
  const addresses = list(externalIPs, (i) => `192.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
  const { object } = decodeObject({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'demo', name: 'web' },
    spec: { clusterIP: '10.96.0.1', ports: ports(portCount), externalIPs: addresses },
  });
  return object as Service;
}

function slice(name: string, portCount: number, endpoints: number, family = 4): EndpointSlice {
  const address = (i: number) => `${i >> 8}.${i & 255}`;
  const { object } = decodeObject({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace: 'demo', name, labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: `IPv${family}`,
    ports: ports(portCount),
    endpoints: list(endpoints, (i) => ({
      addresses: [family === 4 ? `10.128.${address(i)}` : `fd00::${i + 1}`],
      nodeName: `node-${i % 10}`,
    })),
  });
  return object as EndpointSlice;
}

const sizes = (slices: readonly EndpointSlice[]) =>
  slices.map(({ name, endpoints }) => [name, endpoints.size]);

describe('the limit of frontends × endpoints', () => {
  it('allows 500 ports with 1000 endpoints, and 20 000 external IPs with four ports and six endpoints', () => {
    for (const [object, slices] of [
      [service(500), [slice('a', 500, 1000)]],
      [service(4, 20_000), [slice('a', 4, 6)]],
    ] as const) {
      for (const isShared of [true, false]) {
        const limited = limitSlices(object, slices, isShared);
        assert.deepEqual([limited.slices, limited.beyond], [slices, undefined]);
      }
    }
  });

  it('uses the first endpoints, by the names of slices, whatever the order in which slices were reported', () => {
    const slices = [slice('c', 400, 1), slice('a', 400, 1000), slice('b', 400, 900)];
    for (const order of [slices, slices.toReversed()]) {
      const limited = limitSlices(service(400), order, true);
      assert.deepEqual(sizes(limited.slices), [
        ['a', 1000],
        ['b', 250],
        ['c', 0],
      ]);
      assert.deepEqual(limited.beyond, { counted: 'ports', pairs: 400 * 1901, unused: 651 });
    }
  });

  it('counts the frontends of a port where each has endpoints of its own, and ports where they share them', () => {
    const slices = [slice('a', 4, 1000)];
    assert.equal(limitSlices(service(4, 1000), slices, true).beyond, undefined);
    const limited = limitSlices(service(4, 1000), slices, false);
    assert.deepEqual(sizes(limited.slices), [['a', Math.floor(MOST_PAIRS / 4004)]]);
    assert.deepEqual(limited.beyond, { counted: 'frontends', pairs: 4_004_000, unused: 876 });
  });

  it('counts only ports of the Service, in its families', () => {
    const slices = [slice('a', 20_000, 1000), slice('b', 500, 1000, 6)];
    assert.equal(limitSlices(service(500), slices, true).beyond, undefined);
  });

  it('keeps the states of endpoints in order', () => {
    const cut = slice('a', 1, 10).endpoints.first(3);
    assert.deepEqual(
      [...cut].map(({ address, nodeName, ready }) => [address, nodeName, ready]),
      [
        ['10.128.0.0', 'node-0', true],
        ['10.128.0.1', 'node-1', true],
        ['10.128.0.2', 'node-2', true],
      ],
    );
  });

  it('applies to the input of a plan, until the Service has fewer', () => {
    const cache = new ServiceCache({ sharesEndpoints: true });
    const input = () => cache.planInput('demo/web', nodeFacts('node-1'));
    cache.apply({ type: 'set', object: service(1000) });
    cache.apply({ type: 'set', object: slice('a', 1000, 1000) });
    assert.deepEqual(input()?.beyond, { counted: 'ports', pairs: 1_000_000, unused: 500 });
    assert.deepEqual(new Set(input()?.ports.map(({ endpoints }) => endpoints.size)), new Set([500]));
    cache.apply({ type: 'set', object: slice('a', 1000, 400) });
    assert.equal(input()?.beyond, undefined);
    assert.equal(input()?.ports[0]?.endpoints.size, 400);
  });
});
