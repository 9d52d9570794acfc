// Objects that a tenant may create, with many parts in one list: a single large object, or the same parts in ordinary ones.
import type { RawObject } from '../../../bench/apiServer/store.js';

/**
 * The objects of one Service with `count` parts, from part `first` on. The name contains the number of its cluster IP.
 *
 * Two consecutive versions differ in one part, or in text that has no meaning for a proxy.
 */
type Make = (name: string, count: number, first: number, version?: number) => RawObject[];

const list = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

/** The list without its last part in every second version. */
const changed = <T>(parts: T[], version: number): T[] => (version % 2 === 0 ? parts : parts.slice(0, -1));

const outside = (i: number) => `192.${i >> 16}.${(i >> 8) & 255}.${i & 255}`;
const pod = (i: number) => `10.${128 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}`;

/** Services that share a cluster IP would compete for it. */
function clusterIP(name: string): string {
  const number = Number(name.replace(/\D/g, ''));
  return `10.${96 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`;
}

function service(name: string, spec: object, { status = {}, metadata = {} } = {}): RawObject {
  const address = clusterIP(name);
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'demo', ...metadata, name },
    spec: { clusterIP: address, clusterIPs: [address], ports: [{ port: 80 }], ...spec },
    status,
  };
}

function slice(name: string, owner: string, spec: object, metadata: { labels?: object } = {}): RawObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      namespace: 'demo',
      ...metadata,
      name,
      labels: { ...metadata.labels, 'kubernetes.io/service-name': owner },
    },
    addressType: 'IPv4',
    ports: [{ port: 8080 }],
    endpoints: [{ addresses: [pod(0)] }],
    ...spec,
  };
}

/** Two Services with the same external IPs. The first one is older, and wins them. */
function contested(name: string, count: number, first: number): RawObject[] {
  const other = name.replace(/\d+/, (number) => `${Number(number) + 2 ** 17}`);
  return [name, other].map((each, i) =>
    service(
      each,
      { externalIPs: addresses(count, first) },
      { metadata: { creationTimestamp: `${2020 + i}-01-01T00:00:00Z` } },
    ),
  );
}

const namedPorts = (count: number) => list(count, (i) => ({ name: `p${i}`, port: i + 1 }));
const addresses = (count: number, first: number) => list(count, (i) => outside(first + i));
const endpoints = (count: number, first: number, more = {}) =>
  list(count, (i) => ({ addresses: [pod(first + i)], ...more }));

/** The most endpoints that the API server accepts in a slice (`maxEndpoints`). */
const FULL = 1000;

/** The slices of a Service with so many endpoints. */
function slices(name: string, count: number, first: number, version: number, more = {}): RawObject[] {
  return list(Math.ceil(count / FULL), (n) => {
    const size = Math.min(FULL, count - n * FULL);
    const parts = endpoints(size, first + n * FULL, more);
    return slice(`${name}-${n}`, name, { endpoints: n === 0 ? changed(parts, version) : parts });
  });
}

/** Text of metadata that the proxy does not use, about 60 bytes for each part. */
const keys = (count: number, version: number, value: string) =>
  Object.fromEntries(list(count, (i) => [`example.com/part-${i}`, `${value}-${i === 0 ? version : i}`]));

const fields = (count: number, version: number) => [
  { manager: 'test', fieldsV1: { 'f:metadata': { 'f:labels': keys(count, version, '{}') } } },
];

/** A name as long as a node's may be. */
const LONG_NAME = list(4, (i) => `${i}`.padEnd(62, 'x')).join('.');

/** One Service whose metadata, and that of its slice, have many parts. */
const withMetadata =
  (metadata: (count: number, version: number) => object): Make =>
  (name, count, first, version = 0) => [
    service(name, {}, { metadata: metadata(count, version) }),
    slice(name, name, { endpoints: endpoints(1, first) }, metadata(count, version)),
  ];

/** The lists that a tenant can lengthen, by name. */
export const LARGE_OBJECTS: Readonly<Record<string, Make>> = {
  ports: (name, count, first, version = 0) => {
    const ports = namedPorts(count);
    return [
      service(name, { ports: changed(ports, version) }),
      slice(name, name, { ports, endpoints: endpoints(1, first) }),
    ];
  },
  'ports, terminating endpoints': (name, count, first, version = 0) => {
    const ports = namedPorts(count);
    const ends = { conditions: { ready: false, serving: true, terminating: true } };
    return [
      service(name, { ports: changed(ports, version) }),
      slice(name, name, { ports, endpoints: [...endpoints(1, first), ...endpoints(2, first + 1, ends)] }),
    ];
  },
  'nil ports': (name, count, _, version = 0) => [
    service(name, {}),
    slice(name, name, { ports: list(count, (i) => ({ name: `p${i === 0 ? version : i}` })) }),
  ],
  'new ports': (name, count, first, version = 0) => [
    service(name, { ports: [{ name: 'p0', port: 80 }] }),
    slice(name, name, {
      ports: list(count, (i) => ({ name: `p${i}`, port: 1 + ((version + i) % 60_000) })),
      endpoints: endpoints(1, first),
    }),
  ],
  externalIPs: (name, count, first, version = 0) => [
    service(name, { externalIPs: changed(addresses(count, first), version) }),
    slice(name, name, { endpoints: endpoints(1, first) }),
  ],
  'externalIPs of four ports': (name, count, first, version = 0) => [
    service(name, { ports: namedPorts(4), externalIPs: changed(addresses(count, first), version) }),
    slice(name, name, { ports: namedPorts(4), endpoints: endpoints(1, first) }),
  ],
  'contested externalIPs, the winner first': (name, count, first, version = 0) =>
    contested(name, count, first).slice(version % 2),
  'contested externalIPs, the winner last': (name, count, first, version = 0) =>
    contested(name, count, first)
      .slice(version % 2)
      .toReversed(),
  'equal externalIPs': (name, count, first, version = 0) => [
    service(name, {
      externalIPs: changed(
        list(count, () => outside(first)),
        version,
      ),
    }),
    slice(name, name, { endpoints: endpoints(1, first) }),
  ],
  'load-balancer ingress': (name, count, first, version = 0) => [
    service(
      name,
      { type: 'LoadBalancer' },
      {
        status: {
          loadBalancer: { ingress: changed(addresses(count, first), version).map((ip) => ({ ip })) },
        },
      },
    ),
    slice(name, name, { endpoints: endpoints(1, first) }),
  ],
  'source ranges': (name, count, first, version = 0) => [
    service(
      name,
      {
        type: 'LoadBalancer',
        loadBalancerSourceRanges: changed(addresses(count, first), version).map((ip) => `${ip}/32`),
      },
      { status: { loadBalancer: { ingress: [{ ip: outside(2 ** 20 + first) }] } } },
    ),
    slice(name, name, { endpoints: endpoints(1, first) }),
  ],
  endpoints: (name, count, first, version = 0) => [service(name, {}), ...slices(name, count, first, version)],
  'endpoints with long names and hints': (name, count, first, version = 0) => [
    service(name, {}),
    ...slices(name, count, first, version, {
      nodeName: LONG_NAME,
      hints: { forZones: list(8, (i) => ({ name: `zone-${i}` })), forNodes: [{ name: LONG_NAME }] },
    }),
  ],
  'endpoints with invalid node names': (name, count, first, version = 0) => [
    service(name, {}),
    ...slices(name, count, first, version, { nodeName: 'not a name' }),
  ],
  'slices of one Service': (name, count, first, version = 0) => [
    service(name, {}),
    ...list(count, (i) =>
      slice(`${name}-${i}`, name, {
        endpoints: endpoints(1, first + (i === 0 && version % 2 ? 2 ** 20 : i)),
      }),
    ),
  ],
  labels: withMetadata((count, version) => ({ labels: keys(count, version, 'value') })),
  annotations: withMetadata((count, version) => ({ annotations: keys(count, version, 'value') })),
  managedFields: withMetadata((count, version) => ({ managedFields: fields(count, version) })),
};

/** A Service with this number of ports, and a slice with all of them and this number of endpoints. */
export function portsAndEndpoints(ports: number, count: number, version = 0): RawObject[] {
  return [
    service('large-1', { ports: namedPorts(ports) }),
    slice('large-1', 'large-1', {
      ports: namedPorts(ports),
      endpoints: changed(endpoints(count, 0), version),
    }),
  ];
}
