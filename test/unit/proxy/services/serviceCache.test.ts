import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeObject } from '../../../../src/proxy/objects/decode.js';
import type { KubernetesObject } from '../../../../src/proxy/objects/types.js';
import { nodeFacts } from '../../../../src/proxy/services/nodeFacts.js';
import { ServiceCache } from '../../../../src/proxy/services/serviceCache.js';

const NODE = nodeFacts('node-a');

function service(name: string): KubernetesObject {
  const raw = { clusterIP: '10.96.0.1', ports: [{ port: 80 }] };
  return decoded({ apiVersion: 'v1', kind: 'Service', metadata: { namespace: 'demo', name }, spec: raw });
}

/** An endpoint is an address, or an address and `terminating`. */
function slice(name: string, serviceName: string, ...endpoints: string[]): KubernetesObject {
  return decoded({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace: 'demo', name, labels: { 'kubernetes.io/service-name': serviceName } },
    addressType: 'IPv4',
    ports: [{ port: 8080 }],
    endpoints: endpoints.map((text) => {
      const [address = '', state] = text.split(' ');
      return {
        addresses: [address],
        conditions: { ready: state === undefined, terminating: state !== undefined },
      };
    }),
  });
}

function decoded(raw: unknown): KubernetesObject {
  const { object, problems } = decodeObject(raw);
  assert.deepEqual(problems, []);
  assert.ok(object);
  return object;
}

function addressesOf(cache: ServiceCache, name: string): string[] {
  const frontends = cache.planInput(`demo/${name}`, NODE);
  return Array.from(frontends?.ports[0]?.endpoints ?? [], ({ address }) => address);
}

describe('ServiceCache', () => {
  it('lists the endpoints that left while they were terminating, and not those that left before', () => {
    const cache = new ServiceCache();
    const set = (...endpoints: string[]) =>
      cache.apply({ type: 'set', object: slice('a', 'web', ...endpoints) });
    const input = () => cache.planInput('demo/web', NODE);
    const left = () => [...(input()?.left?.[4] ?? [])];
    cache.apply({ type: 'set', object: service('web') });
    set('10.0.0.1', '10.0.0.2');
    cache.planned('demo/web');
    set('10.0.0.1 terminating', '10.0.0.2');
    set('10.0.0.2');
    assert.deepEqual(left(), ['10.0.0.1:8080']);
    cache.planned('demo/web');
    assert.deepEqual(left(), []);
    set();
    assert.deepEqual(left(), [], 'it was ready');
  });

  it('merges slices, in any order, before or after their Service', () => {
    const cache = new ServiceCache();
    assert.deepEqual(cache.apply({ type: 'set', object: slice('b', 'web', '10.0.0.2', '10.0.0.1') }), [
      { service: 'demo/web' },
    ]);
    assert.equal(cache.planInput('demo/web', NODE), undefined);
    cache.apply({ type: 'set', object: service('web') });
    cache.apply({ type: 'set', object: slice('a', 'web', '10.0.0.3', '10.0.0.1') });
    assert.deepEqual(addressesOf(cache, 'web'), ['10.0.0.1', '10.0.0.2', '10.0.0.3']);
    cache.apply({ type: 'delete', object: slice('b', 'web') });
    assert.deepEqual(addressesOf(cache, 'web'), ['10.0.0.1', '10.0.0.3']);
  });

  it('moves a slice whose label changes to another Service, and returns both', () => {
    const cache = new ServiceCache();
    for (const name of ['web', 'api']) cache.apply({ type: 'set', object: service(name) });
    cache.apply({ type: 'set', object: slice('a', 'web', '10.0.0.1') });
    assert.deepEqual(cache.apply({ type: 'set', object: slice('a', 'api', '10.0.0.1') }), [
      { service: 'demo/web' },
      { service: 'demo/api' },
    ]);
    assert.deepEqual(addressesOf(cache, 'web'), []);
    assert.deepEqual(addressesOf(cache, 'api'), ['10.0.0.1']);
  });

  it('removes a deleted slice by its name, even if its label has changed', () => {
    const cache = new ServiceCache();
    cache.apply({ type: 'set', object: service('web') });
    cache.apply({ type: 'set', object: slice('a', 'web', '10.0.0.1') });
    cache.apply({ type: 'delete', object: slice('a', 'other') });
    assert.deepEqual(addressesOf(cache, 'web'), []);
  });

  it('has no input for a deleted Service, and the complete input after it is created again', () => {
    const cache = new ServiceCache();
    cache.apply({ type: 'set', object: service('web') });
    cache.apply({ type: 'set', object: slice('a', 'web', '10.0.0.1') });
    cache.apply({ type: 'delete', object: service('web') });
    assert.equal(cache.planInput('demo/web', NODE), undefined);
    assert.deepEqual([...cache.serviceNames()], []);
    cache.apply({ type: 'set', object: service('web') });
    assert.deepEqual(addressesOf(cache, 'web'), ['10.0.0.1']);
  });

  it('an older external IP does not take the cluster IP of a younger Service', () => {
    const cache = new ServiceCache();
    const made = (namespace: string, year: number, spec: object) =>
      decoded({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { namespace, name: 'web', creationTimestamp: `${year}-01-01T00:00:00Z` },
        spec: { ports: [{ port: 80 }], ...spec },
      });
    cache.apply({
      type: 'set',
      object: made('squatter', 2020, { clusterIP: '10.96.0.9', externalIPs: ['10.96.0.1'] }),
    });
    cache.apply({ type: 'set', object: made('demo', 2026, { clusterIP: '10.96.0.1' }) });
    const frontends = (name: string) =>
      cache.planInput(name, NODE)?.ports.flatMap((port) => port.frontends.map(({ address }) => address));
    assert.deepEqual(frontends('demo/web'), ['10.96.0.1']);
    assert.deepEqual(frontends('squatter/web'), ['10.96.0.9']);
    const { first, more } = cache.lostClaims('squatter/web');
    const winner = { service: 'demo/web', why: 'as its cluster IP' };
    assert.deepEqual([[...first], more], [[['10.96.0.1:80/tcp', winner]], 0]);
  });

  it('serves no external IPs if they are not allowed, and everything else', () => {
    const cache = new ServiceCache({ externalIPs: false });
    const object = decoded({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace: 'demo', name: 'web' },
      spec: {
        type: 'NodePort',
        clusterIP: '10.96.0.1',
        externalIPs: ['192.0.2.1'],
        ports: [{ port: 80, nodePort: 30080 }],
      },
    });
    cache.apply({ type: 'set', object });
    const kinds = () => cache.planInput('demo/web', NODE)?.ports[0]?.frontends.map(({ kind }) => kind);
    assert.deepEqual(kinds(), ['clusterIP', 'nodePort']);
    // The same object again: its claims are those that were stored.
    cache.apply({ type: 'set', object });
    cache.apply({ type: 'delete', object });
    assert.equal(kinds(), undefined);
  });

  it('counts the strongest of several claims of a Service to the same address', () => {
    const cache = new ServiceCache();
    const made = (name: string, year: number, spec: object, status = {}) =>
      decoded({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { namespace: 'demo', name, creationTimestamp: `${year}-01-01T00:00:00Z` },
        spec: { ports: [{ port: 80 }], ...spec },
        status,
      });
    const set = (object: KubernetesObject) => cache.apply({ type: 'set', object });
    const lost = (name: string) => [...cache.lostClaims(`demo/${name}`).first];
    set(made('old', 2020, { clusterIP: '10.96.0.1', externalIPs: ['192.0.2.1'] }));
    const ingress = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } };
    const both = { clusterIP: '10.96.0.2', type: 'LoadBalancer', externalIPs: ['192.0.2.1'] };
    const young = { service: 'demo/young', why: 'as its load-balancer IP' };
    const old = { service: 'demo/old', why: 'which is older' };
    set(made('young', 2026, both, ingress));
    assert.deepEqual([lost('old'), lost('young')], [[['192.0.2.1:80/tcp', young]], []]);
    set(made('young', 2026, both));
    assert.deepEqual([lost('old'), lost('young')], [[], [['192.0.2.1:80/tcp', old]]]);
  });

  it('lists the first lost claims, and counts the others once each', () => {
    const cache = new ServiceCache();
    const names = Array.from({ length: 1000 }, (_, i) => `192.0.${2 + (i >> 8)}.${i & 255}`);
    const made = (name: string, externalIPs: string[]) =>
      decoded({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { namespace: 'demo', name },
        spec: { clusterIP: name === 'a' ? '10.96.0.1' : '10.96.0.2', externalIPs, ports: [{ port: 80 }] },
      });
    cache.apply({ type: 'set', object: made('a', names) });
    cache.apply({ type: 'set', object: made('b', [...names, ...names]) });
    const { first, more } = cache.lostClaims('demo/b');
    assert.deepEqual([first.size, more], [20, 980]);
    assert.equal(first.get('192.0.2.19:80/tcp')?.service, 'demo/a');
  });
});

it('the ranges of cluster IPs are those of all ServiceCIDRs, each once', () => {
  const cache = new ServiceCache();
  const range = (name: string, ...cidrs: string[]) => ({ kind: 'ServiceCIDR', name, cidrs }) as const;
  const touched = cache.apply({ type: 'set', object: range('b', 'fd00::/112', '10.96.0.0/12') });
  assert.deepEqual(touched, [{ serviceCIDR: 'b' }]);
  cache.apply({ type: 'set', object: range('a', '10.96.0.0/12', '10.112.0.0/16') });
  assert.deepEqual(cache.serviceCIDRs, ['10.112.0.0/16', '10.96.0.0/12', 'fd00::/112']);
  cache.apply({ type: 'delete', object: range('b') });
  assert.deepEqual(cache.serviceCIDRs, ['10.112.0.0/16', '10.96.0.0/12']);
});
