// The number of endpoints of all Services, which is kept while they change.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { decodeObject } from '../../../../src/proxy/objects/decode.js';
import { nodeFacts } from '../../../../src/proxy/services/nodeFacts.js';
import { ServiceCache } from '../../../../src/proxy/services/serviceCache.js';

const service = (name: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'demo', name },
  spec: { clusterIP: '10.96.0.1', ports: [{ name: 'a', port: 80 }], ...spec },
});

const slice = (serviceName: string, count: number, more: object = {}) => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { namespace: 'demo', name: 'slice', labels: { 'kubernetes.io/service-name': serviceName } },
  addressType: 'IPv4',
  ports: [{ name: 'a', port: 8080 }],
  endpoints: Array.from({ length: count }, (_, i) => ({ addresses: [`10.244.0.${i}`] })),
  ...more,
});

const TWO_PORTS = {
  ports: [
    { name: 'a', port: 80 },
    { name: 'b', port: 81 },
  ],
};

/** Changes, one after the other, with the number of IPv4 endpoints after each. */
const CHANGES: readonly (readonly [type: 'set' | 'delete', raw: object, total: number])[] = [
  ['set', service('watched'), 0],
  ['set', slice('web', 3), 0],
  ['set', service('web'), 3],
  ['set', slice('web', 5), 5],
  ['set', service('web', TWO_PORTS), 5],
  ['set', slice('web', 5, TWO_PORTS), 10],
  ['set', service('web', { clusterIP: 'None' }), 0],
  ['set', service('web', TWO_PORTS), 10],
  ['set', slice('web', 0, { addressType: 'IPv6', endpoints: [{ addresses: ['fd00::1'] }] }), 0],
  ['set', slice('watched', 4), 4],
  ['set', slice('web', 2), 2],
  ['delete', service('web'), 0],
  ['set', service('web'), 2],
  ['delete', slice('web', 2), 0],
];

it('after each change', () => {
  const cache = new ServiceCache();
  const node = nodeFacts('node-a');
  for (const [i, [type, raw, total]] of CHANGES.entries()) {
    const { object } = decodeObject(raw);
    assert.ok(object, `change ${i}`);
    cache.apply({ type, object });
    const input = cache.planInput('demo/watched', node);
    assert.deepEqual(input?.totalEndpoints, { 4: total, 6: 0 }, `change ${i}`);
  }
});
