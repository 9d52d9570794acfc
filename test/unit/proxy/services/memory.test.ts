// The memory of objects: bytes for each Service, and for each of its endpoints.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { decodeObject } from '../../../../src/proxy/objects/decode.js';
import { Interning } from '../../../../src/proxy/objects/interning.js';
import { ServiceCache } from '../../../../src/proxy/services/serviceCache.js';
import { heapInUse } from '../../../support/measures/garbage.js';

const SERVICES = 2000;

/** As the API server sends it: no object shares a text with another one. */
function received(raw: object): unknown {
  return JSON.parse(JSON.stringify(raw));
}

function service(n: number): unknown {
  const clusterIP = `10.96.${n >> 8}.${n & 255}`;
  return received({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'demo', name: `service-${n}`, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: {
      type: 'ClusterIP',
      clusterIP,
      clusterIPs: [clusterIP],
      ipFamilies: ['IPv4'],
      ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }],
    },
    status: { loadBalancer: {} },
  });
}

function slice(n: number, endpoints: number): unknown {
  return received({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      namespace: 'demo',
      name: `service-${n}-abcde`,
      labels: { 'kubernetes.io/service-name': `service-${n}` },
    },
    addressType: 'IPv4',
    ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
    endpoints: Array.from({ length: endpoints }, (_, i) => ({
      addresses: [`10.${128 + i}.${n >> 8}.${n & 255}`],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: `node-${(n + i) % 100}`,
      zone: `zone-${((n * 7 + i * 3) % 5) % 3}`,
    })),
  });
}

/** The bytes of a Service with this number of endpoints. */
async function bytesOf(endpoints: number): Promise<number> {
  const before = await heapInUse();
  const cache = new ServiceCache();
  const interning = new Interning();
  for (let n = 0; n < SERVICES; n++) {
    for (const raw of [service(n), slice(n, endpoints)]) {
      const { object } = decodeObject(raw, undefined, interning);
      assert.ok(object);
      cache.apply({ type: 'set', object });
    }
  }
  const bytes = ((await heapInUse()) - before) / SERVICES;
  assert.equal([...cache.serviceNames()].length, SERVICES);
  return bytes;
}

it('an endpoint takes at most 24 bytes, and a Service with its slice 1400', async () => {
  await bytesOf(1); // compiles the code
  const [few, many] = [await bytesOf(10), await bytesOf(50)];
  const endpoint = (many - few) / 40;
  assert.ok(endpoint <= 24, `${endpoint} bytes for an endpoint`);
  const rest = few - 10 * endpoint;
  assert.ok(rest <= 1400, `${rest} bytes for a Service`);
});
