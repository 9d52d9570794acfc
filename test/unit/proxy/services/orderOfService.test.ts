// The order in which Services are programmed at the start.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { decodeObject } from '../../../../src/proxy/objects/decode.js';
import { type Service, serviceKey } from '../../../../src/proxy/objects/types.js';
import { isVital, orderOfService } from '../../../../src/proxy/services/orderOfService.js';

function service(name: string, createdAt: string, spec: object = { ports: [{ port: 80 }] }): Service {
  const [namespace, ownName] = name.split('/');
  const { object } = decodeObject({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace, name: ownName, creationTimestamp: createdAt },
    spec: { clusterIP: '10.96.0.1', ...spec },
  });
  assert.ok(object?.kind === 'Service');
  return object;
}

const udp = (port: number) => ({ ports: [{ port, protocol: 'UDP' }] });

for (const [name, spec, vital] of [
  ['default/kubernetes', undefined, true],
  ['demo/kubernetes', undefined, false],
  ['default/web', undefined, false],
  ['kube-system/kube-dns', udp(53), true],
  ['kube-system/rke2-coredns', udp(53), true],
  ['kube-system/metrics-server', undefined, false],
  ['kube-system/tcp', { ports: [{ port: 53, protocol: 'TCP' }] }, false],
  ['kube-system/ntp', udp(123), false],
  ['kube-system/headless', { ...udp(53), clusterIP: 'None' }, false],
  ['demo/kube-dns', udp(53), false],
] as const) {
  it(`${name}${spec ? ` ${JSON.stringify(spec)}` : ''} is ${vital ? '' : 'not '}vital`, () => {
    assert.equal(isVital(service(name, '2026-01-01T00:00:00Z', spec)), vital);
  });
}

it('vital Services are apart, the others are ordered by age, and those of equal age keep their order', () => {
  const services = [
    service('demo/young', '2026-03-01T00:00:00Z'),
    service('demo/b', '2026-02-01T00:00:00Z'),
    service('kube-system/kube-dns', '2026-05-01T00:00:00Z', udp(53)),
    service('demo/a', '2026-02-01T00:00:00Z'),
    service('demo/old', '2026-01-01T00:00:00Z'),
  ];
  const keyed = services.map((object) => ({ service: serviceKey(object), object }));
  assert.deepEqual(orderOfService(keyed), {
    vital: ['kube-system/kube-dns'],
    others: ['demo/old', 'demo/b', 'demo/a', 'demo/young'],
  });
});
