// A Service with more frontends than are programmed is left out before any of them is made.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeProblem } from '../../../../src/kernel/errors.js';
import { decodeObject } from '../../../../src/proxy/objects/decode.js';
import { frontendCount, MOST_FRONTENDS } from '../../../../src/proxy/objects/frontendCount.js';
import type { KubernetesObject, Service } from '../../../../src/proxy/objects/types.js';
import { frontendsOf } from '../../../../src/proxy/services/frontends.js';
import { threadTimes } from '../../../support/measures/threadTimes.js';

const list = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

const ports = (count: number, more = {}) => list(count, (i) => ({ name: `p${i}`, port: i + 1, ...more }));
const addresses = (count: number) => list(count, (i) => `192.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
const ranges = (count: number) => addresses(count).map((address) => `${address}/32`);

const raw = (spec: object, { status = {}, labels = {} } = {}) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'demo', name: 'web', labels },
  spec: { clusterIP: '10.96.0.1', ...spec },
  status,
});

const balanced = (...ips: string[]) => ({ status: { loadBalancer: { ingress: ips.map((ip) => ({ ip })) } } });
const BOTH = { ipFamilies: ['IPv4', 'IPv6'], clusterIPs: ['10.96.0.1', 'fd00:96::1'] };

/** A Service with 17 644 200 frontends, in 300 KB of JSON. */
const PRODUCT = raw({ ports: ports(4200), externalIPs: addresses(4200) });

describe('the number of frontends', () => {
  it('is that of the frontends that are made', () => {
    for (const spec of [
      {},
      BOTH,
      { externalIPs: ['192.0.2.1', '2001:db8::1'] },
      { ...BOTH, externalIPs: ['192.0.2.1', '192.0.2.2', '2001:db8::1'] },
      { type: 'NodePort', ports: ports(3, { nodePort: 30_000 }) },
      { clusterIP: 'None' },
      { type: 'ExternalName' },
    ]) {
      const { object } = decodeObject(raw({ ports: ports(3), ...spec }, balanced('203.0.113.1')));
      const made = [...frontendsOf(object as Service)].flatMap(({ frontends }) => [...frontends]);
      assert.equal(frontendCount(object as Service), made.length, JSON.stringify(spec));
    }
  });

  it('counts a load-balancer IP once for each source range of its family', () => {
    const { object } = decodeObject(
      raw(
        { ...BOTH, ports: ports(2), loadBalancerSourceRanges: [...ranges(10), 'fd00::/8'] },
        balanced('203.0.113.1', '203.0.113.2', '2001:db8::1'),
      ),
    );
    assert.equal(frontendCount(object as Service), 2 * (1 + 2 * 10) + 2 * (1 + 1));
  });
});

describe('a Service with too many frontends', () => {
  const said = (value: unknown, former?: KubernetesObject) => {
    const { object, problems } = decodeObject(value, () => former);
    return { object, lines: problems.map(describeProblem), reasons: problems.map(({ reason }) => reason) };
  };

  it('is left out, with the number that it has, in the time that its lists take', () => {
    const before = threadTimes().ran;
    const { object, lines, reasons } = said(PRODUCT);
    assert.ok(threadTimes().ran - before < 500, 'the product is not made');
    assert.equal(object, undefined);
    assert.deepEqual(lines, [
      'Service demo/web: spec: must have at most 100000 frontends: ports × addresses, where a load-balancer IP counts once ' +
        'for each source range, found 17644200',
    ]);
    assert.deepEqual(reasons, ['ObjectLeftOut']);
  });

  it('keeps its last value, as it was', () => {
    const former = said(raw({ ports: ports(2) })).object;
    assert.ok(former);
    const { object, lines, reasons } = said(PRODUCT, former);
    assert.equal(object, former);
    assert.match(lines[0] ?? '', /\(the last readable value stays in use\), found 17644200$/);
    assert.deepEqual(reasons, ['LastReadableKept']);
  });

  it('has this problem first, however many others it has', () => {
    const { lines } = said(
      raw({ ports: [...ports(4200), ...list(100, () => ({ port: 0 }))], externalIPs: addresses(4200) }),
    );
    assert.match(lines[0] ?? '', /must have at most 100000 frontends/);
    assert.match(lines.at(-1) ?? '', /has 81 more problems/);
  });

  it('has more than the limit; 20 000 external IPs with four ports, and 20 000 source ranges, are served', () => {
    const fits = raw({ ports: ports(4), externalIPs: addresses(MOST_FRONTENDS / 4 - 1) });
    const exceeds = raw({ ports: ports(4), externalIPs: addresses(MOST_FRONTENDS / 4) });
    assert.deepEqual(said(fits).lines, []);
    assert.equal(said(exceeds).lines.length, 1);
    assert.deepEqual(said(raw({ ports: ports(4), externalIPs: addresses(20_000) })).lines, []);
    const spec = { type: 'LoadBalancer', loadBalancerSourceRanges: ranges(20_000) };
    assert.deepEqual(said(raw({ ...spec, ports: ports(1) }, balanced('203.0.113.1'))).lines, []);
    assert.equal(said(raw({ ...spec, ports: ports(5) }, balanced('203.0.113.1'))).lines.length, 1);
  });

  it('is one that the proxy serves: a headless Service, or one of another proxy, has none', () => {
    const lists = { ports: ports(4200), externalIPs: addresses(4200) };
    assert.deepEqual(said(raw({ ...lists, clusterIP: 'None' })).lines, []);
    const labels = { 'service.kubernetes.io/service-proxy-name': 'other' };
    assert.deepEqual(said(raw(lists, { labels })).lines, []);
    assert.deepEqual(said(raw({ ...lists, type: 'ExternalName' })).lines, []);
  });
});
