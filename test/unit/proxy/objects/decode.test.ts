import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeProblem } from '../../../../src/kernel/errors.js';
import { decodeObject } from '../../../../src/proxy/objects/decode.js';
import type { EndpointSlice, Node, Service, ServiceCIDR } from '../../../../src/proxy/objects/types.js';
import { frontendsOf } from '../../../../src/proxy/services/frontends.js';

const service = (spec: object, status: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'demo', name: 'web' },
  spec,
  status,
});

const dated = (creationTimestamp: unknown, ...parts: Parameters<typeof service>) => ({
  ...service(...parts),
  metadata: { namespace: 'demo', name: 'web', creationTimestamp },
});

const slice = (body: object) => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { namespace: 'demo', name: 'web-a', labels: { 'kubernetes.io/service-name': 'web' } },
  addressType: 'IPv4',
  ...body,
});

const cidrs = (list: unknown, version = 'v1') => ({
  apiVersion: `networking.k8s.io/${version}`,
  kind: 'ServiceCIDR',
  metadata: { name: 'kubernetes' },
  spec: { cidrs: list },
});

const said = (raw: unknown) => decodeObject(raw).problems.map(describeProblem);

describe('bad fields are named, and the rest is kept', () => {
  it('a port out of range leaves the other ports', () => {
    const raw = service({
      clusterIP: '10.96.0.1',
      ports: [{ port: 70000 }, { name: 'b', port: 81 }, { name: 'c', port: '82' }, { name: 'd', port: 1.5 }],
    });
    assert.deepEqual(said(raw), [
      'Service demo/web: spec.ports[0].port: must be an integer from 1 to 65535, found 70000',
      'Service demo/web: spec.ports[2].port: must be an integer from 1 to 65535, found "82"',
      'Service demo/web: spec.ports[3].port: must be an integer from 1 to 65535, found 1.5',
    ]);
    assert.deepEqual((decodeObject(raw).object as Service).ports, [
      { name: 'b', protocol: 'tcp', port: 81, nodePort: 0 },
    ]);
  });

  it('an unknown protocol', () => {
    assert.deepEqual(said(service({ ports: [{ port: 80, protocol: 'ICMP' }] })), [
      'Service demo/web: spec.ports[0].protocol: must be TCP, UDP or SCTP, found "ICMP"',
    ]);
  });

  it('addresses and networks', () => {
    const raw = service(
      {
        externalIPs: ['10.0.0.300', '', '192.0.2.1'],
        loadBalancerSourceRanges: [' 10.1.2.3/8 ', '10.0.0.0/40'],
      },
      { loadBalancer: { ingress: [{ ip: 'x' }, { ip: '192.0.2.2', ipMode: 'Proxy' }, { hostname: 'h' }] } },
    );
    assert.deepEqual(said(raw), [
      'Service demo/web: spec.externalIPs[0]: must be an IPv4 or IPv6 address, found "10.0.0.300"',
      'Service demo/web: spec.loadBalancerSourceRanges[1]: must be a network in CIDR notation, found "10.0.0.0/40"',
      'Service demo/web: status.loadBalancer.ingress[0].ip: must be an IPv4 or IPv6 address, found "x"',
    ]);
    const object = decodeObject(raw).object as Service;
    assert.deepEqual(object.externalIPs, ['192.0.2.1']);
    assert.deepEqual(object.sourceRanges, ['10.0.0.0/8']);
    assert.deepEqual(object.loadBalancerIPs, []);
  });

  it('an endpoint with a bad address leaves the other endpoints', () => {
    const raw = slice({
      ports: [{ port: 80 }],
      endpoints: [
        { addresses: ['10.0.0.300'] },
        { addresses: [] },
        { addresses: ['fd00::1'] },
        { addresses: ['10.0.0.3'] },
      ],
    });
    assert.deepEqual(said(raw), [
      'EndpointSlice demo/web-a: endpoints[0].addresses[0]: must be an IPv4 or IPv6 address, found "10.0.0.300"',
      'EndpointSlice demo/web-a: endpoints[1].addresses: must hold an address, found []',
      'EndpointSlice demo/web-a: endpoints[2].addresses[0]: must be an IPv4 address, as the slice\'s addressType says, found "fd00::1"',
    ]);
    assert.deepEqual(
      Array.from((decodeObject(raw).object as EndpointSlice).endpoints, ({ address }) => address),
      ['10.0.0.3'],
    );
  });

  it('fields of the wrong shape', () => {
    assert.deepEqual(said(service({ ports: { port: 80 }, type: 'Teapot' })), [
      'Service demo/web: spec.type: must be ClusterIP, NodePort, LoadBalancer or ExternalName, found "Teapot"',
    ]);
    assert.deepEqual(said(service({ ports: [80] })), [
      'Service demo/web: spec.ports[0]: must be an object, found 80',
    ]);
    assert.deepEqual(said({ apiVersion: 'v1', kind: 'Service', metadata: {}, spec: 7 }), [
      'nameless Service: metadata.name: must not be empty',
    ]);
  });

  it('documents that are not objects of ours', () => {
    assert.deepEqual(said('hello'), ['document: : must be an object, found "hello"']);
    assert.deepEqual(said({ apiVersion: 'apps/v1', kind: 'Deployment' }), []);
    assert.deepEqual(said({ apiVersion: 'discovery.k8s.io/v1beta1', kind: 'EndpointSlice' }), [
      'EndpointSlice: apiVersion: must be discovery.k8s.io/v1, found "discovery.k8s.io/v1beta1"',
    ]);
  });
});

const FULL = [
  dated(
    '2026-01-01T00:00:00Z',
    {
      type: 'LoadBalancer',
      clusterIP: '10.96.0.1',
      clusterIPs: ['10.96.0.1', 'fd00::1'],
      ipFamilies: ['IPv4', 'IPv6'],
      ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30080 }],
      externalIPs: ['192.0.2.1'],
      loadBalancerSourceRanges: ['192.0.2.0/24'],
      healthCheckNodePort: 32000,
      externalTrafficPolicy: 'Local',
      internalTrafficPolicy: 'Local',
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
    },
    { loadBalancer: { ingress: [{ ip: '192.0.2.2', ipMode: 'VIP' }] } },
  ),
  slice({
    ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
    endpoints: [
      {
        addresses: ['10.244.0.1'],
        conditions: { ready: true, serving: true, terminating: false },
        nodeName: 'node-a',
        zone: 'a',
        hints: { forZones: [{ name: 'a' }], forNodes: [{ name: 'node-a' }] },
      },
    ],
  }),
  {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: 'node-a',
      uid: 'u',
      deletionTimestamp: '2026-01-01T00:00:00Z',
      labels: { 'topology.kubernetes.io/zone': 'a' },
    },
    spec: { podCIDRs: ['10.244.0.0/24'], taints: [{ key: 'a' }] },
    status: { addresses: [{ type: 'InternalIP', address: '192.0.2.9' }] },
  },
];

/** Every copy of a value in which one value within it, at any depth, is replaced by an odd one. */
function* damaged(value: unknown): Generator<unknown> {
  yield* [5, -1.5, true, '', 'x', [], [5], [[]], {}, null];
  if (typeof value !== 'object' || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    for (const odd of damaged(part)) {
      yield Array.isArray(value) ? value.with(Number(key), odd) : { ...value, [key]: odd };
    }
  }
}

for (const full of FULL) {
  it(`a ${full.kind} with any odd value in any place reports each problem once`, () => {
    const { object: former, problems } = decodeObject(full);
    assert.deepEqual(problems, []);
    for (const raw of damaged(full)) {
      for (const known of [undefined, former]) {
        const lines = decodeObject(raw, () => known).problems.map(describeProblem);
        assert.deepEqual(lines, [...new Set(lines)]);
      }
    }
  });
}

/** Paths of fields of {@link FULL} that the API requires, or that are lists of the API's without a meaning when they are empty. */
const REQUIRED = /^(apiVersion|kind|metadata|metadata\.name|spec\.ports\.0\.port|endpoints\.0\.addresses)$/;

/** The paths of all fields of an object. */
function* pathsOf(value: unknown, path: readonly string[] = []): Generator<readonly string[]> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    if (!Array.isArray(value)) yield [...path, key];
    yield* pathsOf(part, [...path, key]);
  }
}

/** A copy in which a field has another value, or, without one, is absent. */
function having(value: unknown, [key = '', ...rest]: readonly string[], odd: unknown): unknown {
  const { [key]: former, ...others } = value as Record<string, unknown>;
  const part = rest.length > 0 ? having(former, rest, odd) : odd;
  if (Array.isArray(value)) return value.with(Number(key), part);
  return part === undefined ? others : { ...others, [key]: part };
}

const at = (value: unknown, path: readonly string[]) =>
  path.reduce<unknown>((part, key) => (part as Record<string, unknown>)[key], value);

describe('an absent field has its default, whatever it had before: it is not an unreadable one', () => {
  for (const full of [...FULL, cidrs(['10.96.0.0/12'])]) {
    for (const path of pathsOf(full)) {
      const name = path.join('.');
      if (REQUIRED.test(name)) continue;
      it(`${full.kind}: ${name}`, () => {
        const { object: former, problems } = decodeObject(full);
        assert.ok(former && problems.length === 0);
        const value = at(full, path);
        // A time has no zero as text.
        const isText = typeof value === 'string' && !/T.*Z$/.test(value);
        const zero = isText ? '' : Array.isArray(value) ? [] : null;
        const fresh = decodeObject(having(full, path, undefined));
        assert.deepEqual(fresh.problems, []);
        for (const odd of [undefined, null, zero]) {
          assert.deepEqual(
            decodeObject(having(full, path, odd), () => former),
            fresh,
            `${JSON.stringify(odd)}`,
          );
        }
      });
    }
  }

  it('and whatever is readable leaves nothing of the former value', () => {
    for (const full of FULL) {
      const { object: former } = decodeObject(full);
      for (const raw of damaged(full)) {
        const fresh = decodeObject(raw);
        if (fresh.problems.length === 0)
          assert.deepEqual(
            decodeObject(raw, () => former),
            fresh,
          );
      }
    }
  });

  it('the port of a slice without a number, or with 0, is not used any more', () => {
    const body = (port: unknown) =>
      slice({
        ports: [
          { name: 'http', port },
          { name: 'b', port: 1 },
        ],
        endpoints: [{ addresses: ['10.0.0.3'] }],
      });
    const { object: former } = decodeObject(body(8080));
    for (const port of [undefined, null, 0]) {
      const { object, problems } = decodeObject(body(port), () => former);
      assert.deepEqual(problems, []);
      assert.deepEqual((object as EndpointSlice).ports, [{ name: 'b', protocol: 'tcp', port: 1 }]);
    }
    assert.equal((decodeObject(body('x'), () => former).object as EndpointSlice).ports[0]?.port, 8080);
  });
});

describe('addresses that no client can use', () => {
  const SPECIAL: readonly (readonly [use: string, ...addresses: string[]])[] = [
    ['the unspecified', '0.0.0.0', '::', '::0', '::ffff:0.0.0.0'],
    [
      'a loopback',
      '127.0.0.1',
      '127.255.255.254',
      '::1',
      '0:0:0:0:0:0:0:1',
      '::ffff:127.0.0.1',
      '127.000.000.001',
    ],
    ['a link-local', '169.254.169.254', '169.254.0.1', 'fe80::1', 'FEBF::1'],
    ['a multicast', '224.0.0.1', '239.255.255.255', 'ff02::1', 'FF0E::101'],
    ['the broadcast', '255.255.255.255'],
  ];
  const ORDINARY = [
    ...[
      '0.0.0.1',
      '1.27.0.1',
      '126.255.255.255',
      '128.0.0.1',
      '169.253.255.255',
      '169.255.0.0',
      '192.168.1.255',
    ],
    ...['223.255.255.255', '240.0.0.1', '255.255.255.254', '::2', 'fe7f::1', 'fec0::1', 'ff::1', 'fd00::1'],
  ];
  const web = (spec: object, ingress: readonly object[] = []) =>
    service(
      { type: 'LoadBalancer', clusterIP: '10.96.0.1', ports: [{ port: 80, nodePort: 30080 }], ...spec },
      { loadBalancer: { ingress } },
    );
  const rule = (use: string) => `must be a unicast address that clients can use, and not ${use} address`;

  for (const [use, ...addresses] of SPECIAL) {
    it(`${use} address is left out of external and load-balancer IPs, and everything else is used`, () => {
      for (const address of addresses) {
        const raw = web({ externalIPs: ['192.0.2.1', address] }, [
          { ip: address },
          { ip: address, ipMode: 'VIP' },
          { ip: address, ipMode: 'Proxy' },
          { ip: '192.0.2.2' },
        ]);
        const former = decodeObject(web({ externalIPs: ['192.0.2.9'] }, [{ ip: '192.0.2.8' }])).object;
        for (const known of [undefined, former]) {
          const { object, problems } = decodeObject(raw, () => known);
          assert.deepEqual(
            problems.map(({ field, rule: broken, reason }) => [field, broken, reason]),
            [
              'spec.externalIPs[1]',
              'status.loadBalancer.ingress[0].ip',
              'status.loadBalancer.ingress[1].ip',
            ].map((field) => [field, rule(use), 'FieldLeftOut']),
          );
          const { externalIPs, loadBalancerIPs, clusterIPs, ports } = object as Service;
          assert.deepEqual(
            { externalIPs, loadBalancerIPs, clusterIPs, nodePort: ports[0]?.nodePort },
            {
              externalIPs: ['192.0.2.1'],
              loadBalancerIPs: ['192.0.2.2'],
              clusterIPs: { 4: '10.96.0.1' },
              nodePort: 30080,
            },
          );
        }
      }
    });

    it(`${use} address as the only one replaces the former one: it is readable`, () => {
      const former = decodeObject(web({ externalIPs: ['192.0.2.9'] }, [{ ip: '192.0.2.8' }])).object;
      for (const address of addresses) {
        const { object } = decodeObject(web({ externalIPs: [address] }, [{ ip: address }]), () => former);
        assert.deepEqual((object as Service).externalIPs, []);
        assert.deepEqual((object as Service).loadBalancerIPs, []);
      }
    });

    it(`${use} address is no cluster IP, and the family is served without one`, () => {
      for (const address of addresses) {
        const { object, problems } = decodeObject(
          web({ clusterIP: address, externalIPs: ['192.0.2.1', 'fd00::1'] }),
        );
        const family = address.includes(':') && !address.includes('.') ? 6 : 4;
        const isAllowed = use === 'a link-local' && family === 4;
        assert.deepEqual((object as Service).clusterIPs, { [family]: isAllowed ? address : '' });
        assert.deepEqual(
          problems.map((problem) => [problem.field, problem.rule]),
          isAllowed ? [] : [['spec.clusterIP', rule(use)]],
        );
        const kinds = [...frontendsOf(object as Service)].flatMap(({ frontends }) => [...frontends]);
        assert.deepEqual(
          kinds.map(({ kind }) => kind),
          [...(isAllowed ? ['clusterIP'] : []), 'externalIP', 'nodePort'],
        );
      }
    });
  }

  it('other addresses are used', () => {
    const raw = web(
      { externalIPs: ORDINARY },
      ORDINARY.map((ip) => ({ ip })),
    );
    const { object, problems } = decodeObject(raw);
    assert.deepEqual(problems, []);
    assert.deepEqual((object as Service).externalIPs, ORDINARY);
    assert.deepEqual((object as Service).loadBalancerIPs, ORDINARY);
  });
});

describe('a slice without the label of its Service', () => {
  const labelled = (labels: unknown) =>
    slice({ metadata: { namespace: 'demo', name: 'web-a', labels }, ports: [{ port: 80 }] });
  const former = () => decodeObject(labelled({ 'kubernetes.io/service-name': 'web' })).object;

  it("is none of the proxy's, also if it was a Service's before, and no problem", () => {
    const other = { 'multicluster.kubernetes.io/service-name': 'web' };
    for (const labels of [undefined, null, {}, other, { 'kubernetes.io/service-name': '' }]) {
      assert.deepEqual(decodeObject(labelled(labels)), { problems: [] });
      assert.deepEqual(decodeObject(labelled(labels), former), { problems: [] });
    }
  });

  it('whose label is unreadable stays with its Service', () => {
    for (const labels of [{ 'kubernetes.io/service-name': '-' }, { 'kubernetes.io/service-name': 7 }, 7]) {
      const { object, problems } = decodeObject(labelled(labels), former);
      assert.equal((object as EndpointSlice | undefined)?.serviceName, 'web', JSON.stringify(labels));
      assert.equal(problems.length, 1);
    }
  });
});

describe('defaults', () => {
  it("of a Service are the API server's", () => {
    const { object, problems } = decodeObject(service({ clusterIP: '10.96.0.1', ports: [{ port: 80 }] }));
    assert.deepEqual(problems, []);
    assert.deepEqual(object, {
      kind: 'Service',
      namespace: 'demo',
      name: 'web',
      createdAt: 0,
      type: 'ClusterIP',
      notOurs: false,
      clusterIPs: { 4: '10.96.0.1' },
      ports: [{ name: '', protocol: 'tcp', port: 80, nodePort: 0 }],
      affinitySeconds: 0,
      externalTrafficPolicy: 'Cluster',
      internalTrafficPolicy: 'Cluster',
      externalIPs: [],
      sourceRanges: [],
      loadBalancerIPs: [],
      healthCheckNodePort: 0,
    });
  });

  it('of conditions: ready and serving, not terminating', () => {
    const raw = slice({ ports: [{ port: 80 }], endpoints: [{ addresses: ['10.0.0.3'], conditions: {} }] });
    const [endpoint] = (decodeObject(raw).object as EndpointSlice).endpoints;
    assert.deepEqual([endpoint?.ready, endpoint?.serving, endpoint?.terminating], [true, true, false]);
  });

  it('of client-IP affinity: three hours', () => {
    const seconds = (spec: object) => (decodeObject(service(spec)).object as Service).affinitySeconds;
    assert.equal(seconds({ sessionAffinity: 'ClientIP' }), 10_800);
    assert.equal(
      seconds({ sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } } }),
      60,
    );
    assert.equal(seconds({ sessionAffinity: 'None' }), 0);
  });
});

describe('the time of creation', () => {
  it('stays as it was when it becomes unreadable, since it decides who has an address', () => {
    const { object: former } = decodeObject(dated('2026-01-01T00:00:00Z', {}));
    const { object, problems } = decodeObject(dated('soon', {}), () => former);
    assert.equal((object as Service).createdAt, Date.UTC(2026, 0, 1));
    assert.deepEqual(problems.map(describeProblem), [
      'Service demo/web: metadata.creationTimestamp: must be a time as in RFC 3339 (the last readable value stays in use), found "soon"',
    ]);
    assert.equal((decodeObject(dated('soon', {})).object as Service).createdAt, 0);
  });
});

describe('cluster IPs', () => {
  const clusterIPs = (spec: object) => (decodeObject(service(spec)).object as Service).clusterIPs;

  it('follow ipFamilies, or the one address', () => {
    assert.deepEqual(clusterIPs({ clusterIP: '10.96.0.1' }), { 4: '10.96.0.1' });
    assert.deepEqual(clusterIPs({ clusterIP: 'fd00::1' }), { 6: 'fd00::1' });
    assert.deepEqual(
      clusterIPs({
        clusterIP: 'fd00::1',
        clusterIPs: ['fd00::1', '10.96.0.1'],
        ipFamilies: ['IPv6', 'IPv4'],
      }),
      { 4: '10.96.0.1', 6: 'fd00::1' },
    );
  });

  it('are absent from headless Services', () => {
    assert.deepEqual(clusterIPs({ clusterIP: 'None', clusterIPs: ['None'], ipFamilies: ['IPv4'] }), {});
    assert.deepEqual(clusterIPs({}), {});
  });
});

it('another proxy serves a Service if a label says so; the label of headless endpoints has no effect', () => {
  const notOurs = (labels: object) =>
    (decodeObject({ ...service({}), metadata: { namespace: 'demo', name: 'web', labels } }).object as Service)
      .notOurs;
  assert.equal(notOurs({ 'service.kubernetes.io/service-proxy-name': '' }), true);
  assert.equal(notOurs({ 'service.kubernetes.io/service-proxy-name': 'other' }), true);
  assert.equal(notOurs({ 'service.kubernetes.io/headless': '' }), false);
});

it('a slice with the label of headless endpoints is not read, also if its Service has a cluster IP', () => {
  const labels = { 'kubernetes.io/service-name': 'web' };
  const read = (more: object) =>
    decodeObject(slice({ metadata: { namespace: 'demo', name: 'web-a', labels: { ...labels, ...more } } }));
  assert.equal(read({}).object?.kind, 'EndpointSlice');
  assert.deepEqual(read({ 'service.kubernetes.io/headless': '' }), { problems: [] });
});

describe('nodes', () => {
  const decoded = (metadata: object, spec: object = {}) =>
    decodeObject({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'a', ...metadata }, spec })
      .object as Node;

  it('are eligible unless they are being deleted, or about to be', () => {
    const shown = ({ uid, deleting, eligible }: Node) => ({ uid, deleting, eligible });
    const doomed = {
      taints: [{ key: 'x' }, { key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }],
    };
    assert.deepEqual(shown(decoded({ uid: 'u' })), { uid: 'u', deleting: false, eligible: true });
    assert.deepEqual(shown(decoded({}, { taints: [{ key: 'x' }] })), {
      uid: '',
      deleting: false,
      eligible: true,
    });
    assert.deepEqual(shown(decoded({}, doomed)), { uid: '', deleting: false, eligible: false });
    assert.deepEqual(shown(decoded({ deletionTimestamp: '2026-01-01T00:00:00Z' })), {
      uid: '',
      deleting: true,
      eligible: false,
    });
  });
});

describe('a ServiceCIDR', () => {
  const raw = (version: string, list: unknown) => cidrs(list, version);

  it('has its networks, masked, in each version of its API', () => {
    for (const version of ['v1', 'v1beta1']) {
      assert.deepEqual(decodeObject(raw(version, ['10.96.0.1/12', 'FD00::/112'])), {
        object: { kind: 'ServiceCIDR', name: 'kubernetes', cidrs: ['10.96.0.0/12', 'fd00::/112'] },
        problems: [],
      });
    }
  });

  it('with bad networks keeps the others, and the former ones if there is no list', () => {
    const bad = raw('v1', ['10.96.0.0/12', '10.96.0.0/33']);
    assert.deepEqual(said(bad), [
      'ServiceCIDR kubernetes: spec.cidrs[1]: must be a network in CIDR notation, found "10.96.0.0/33"',
    ]);
    const { object } = decodeObject(bad);
    assert.deepEqual((object as ServiceCIDR).cidrs, ['10.96.0.0/12']);
    const later = decodeObject(raw('v1', 7), (identity) =>
      identity === 'ServiceCIDR kubernetes' ? object : undefined,
    );
    assert.deepEqual((later.object as ServiceCIDR).cidrs, ['10.96.0.0/12']);
    assert.equal(later.problems.length, 1);
  });
});

describe('the trigger time of a slice', () => {
  const triggerTime = (annotations: object) => {
    const metadata = { name: 'a', labels: { 'kubernetes.io/service-name': 'web' }, annotations };
    return (decodeObject(slice({ metadata })).object as EndpointSlice).triggerTime;
  };

  it('is ms since 1970, and nothing when it is not a time', () => {
    const name = 'endpoints.kubernetes.io/last-change-trigger-time';
    assert.equal(
      triggerTime({ [name]: '2026-01-01T00:00:00.123456789Z' }),
      Date.UTC(2026, 0, 1, 0, 0, 0, 123),
    );
    assert.equal(triggerTime({ [name]: '2026-01-01T00:00:00Z' }), Date.UTC(2026, 0, 1));
    assert.equal(triggerTime({ [name]: 'soon' }), undefined);
    assert.equal(triggerTime({}), undefined);
  });
});
