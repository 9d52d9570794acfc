// Objects with hostile text: for each text of a Service, an EndpointSlice and a Node, a group of objects in which it is hostile.
import type { Family } from '../../../src/kernel/net/address.js';

/** Part of each hostile text: where it shows after a line break or an escape, it came through. */
export const MARK = 'zzhostile';

/** A text; or bytes that are not UTF-8, which stand between the quotes of a JSON string as they are. */
export type Hostile = string | Buffer;

const bytes = (...parts: readonly (number | string)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.of(part))));

/** Hostile texts by what they try. */
export const HOSTILE: Readonly<Record<string, Hostile>> = {
  'another rule': `x"\n-P FORWARD DROP\n${MARK}`,
  'another table': `${MARK}\nCOMMIT\n*filter\n:FORWARD DROP [0:0]\nCOMMIT`,
  'a carriage return': `x\r${MARK}`,
  ESC: `\u001b[2J${MARK}`,
  'CSI of C1': `\u009b2J${MARK}`,
  'NEL and other controls of C1': `x\u0085\u0090${MARK}\u009c`,
  DEL: `x\u007f${MARK}`,
  NUL: `x\u0000${MARK}`,
  'the end of a comment': `x" -j DROP -m comment --comment "${MARK}`,
  'a backslash': `x\\${MARK}`,
  'a backslash at the end': `${MARK}\\`,
  'a line separator': `x\u2028${MARK}\u2029`,
  'another direction': `x\u202e${MARK}\u2066`,
  'half of a surrogate pair': `x\ud800${MARK}`,
  'a long text': `${MARK}${'y'.repeat(70_000)}`,
  'a line of the length of a buffer': `${MARK.padEnd(10_239)}-P FORWARD DROP`,
  'a byte of CSI': bytes(0x9b, `2J${MARK}`),
  'a line break in two bytes': bytes('x', 0xc0, 0x8a, `-P FORWARD DROP`, 0xc0, 0x8a, MARK),
  'a surrogate in bytes': bytes('x', 0xed, 0xa0, 0x80, MARK),
  'bytes of no character': bytes(0xff, 0xfe, 0xf8, 0x88, MARK),
  'the first byte of a character': bytes(MARK, 0xe2),
};

/** A place of a text in an object. */
type Place = readonly (string | number)[];

/** Every so many groups, from a number on: a fast test takes another part for each text. */
export interface Part {
  readonly every: number;
  readonly from: number;
}

const ALL: Part = { every: 1, from: 0 };

/** Stands for bytes in objects until they are JSON. */
const BYTES = '@@bytes@@';

/**
 * One place is hostile in each group. There may be 200 of them.
 *
 * @param family of the first address of the Service, and of its endpoints; the Service has addresses of both
 */
function group(number: number, family: Family) {
  const address = (network: string) => `${network}.${number}`;
  const name = `s${number}`;
  const clusterIPs = inOrder(address('10.96.1'), `fd00:10:96::${number}`, family);
  const isFirst = family === 4;
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      ...{ namespace: 'demo', name, uid: `uid-${number}`, creationTimestamp: '2026-01-01T00:00:00Z' },
      ...{ labels: { app: 'web' }, annotations: { note: 'text' } },
    },
    spec: {
      type: 'LoadBalancer',
      ...{ clusterIP: clusterIPs[0], clusterIPs, ipFamilies: inOrder('IPv4', 'IPv6', family) },
      ...{ sessionAffinity: 'ClientIP', externalTrafficPolicy: 'Cluster', internalTrafficPolicy: 'Cluster' },
      ...{ trafficDistribution: 'PreferClose' },
      externalIPs: inOrder(address('192.0.2'), `2001:db8:2::${number}`, family),
      loadBalancerSourceRanges: inOrder('10.0.0.0/8', 'fd00::/8', family),
      ports: [
        { name: 'http', protocol: 'TCP', port: 80, nodePort: 30_000 + number, targetPort: 'web' },
        { name: 'dns', protocol: 'UDP', port: 53, nodePort: 31_000 + number },
      ],
    },
    status: {
      loadBalancer: {
        ingress: [
          { ip: isFirst ? address('198.51.100') : `2001:db8:51::${number}`, ipMode: 'VIP', hostname: 'h' },
        ],
      },
    },
  };
  const slice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      ...{ namespace: 'demo', name: `${name}-a`, labels: { 'kubernetes.io/service-name': name } },
      annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T00:00:00Z' },
    },
    addressType: isFirst ? 'IPv4' : 'IPv6',
    ports: [
      { name: 'http', protocol: 'TCP', port: 8080, appProtocol: 'http' },
      { name: 'dns', protocol: 'UDP', port: 8053 },
    ],
    endpoints: [
      {
        ...{
          addresses: [isFirst ? address('10.244.0') : `fd00:10:244::${number}`],
          hostname: 'h',
          nodeName: 'node-a',
          zone: 'z',
        },
        hints: { forZones: [{ name: 'z' }], forNodes: [{ name: 'node-a' }] },
        targetRef: { kind: 'Pod', namespace: 'demo', name: 'p' },
      },
    ],
  };
  return [service, slice, node(`node-${number}`, number)] as const;
}

function inOrder<Value>(ipv4: Value, ipv6: Value, family: Family): Value[] {
  return family === 4 ? [ipv4, ipv6] : [ipv6, ipv4];
}

function node(name: string, number: number) {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: 'u-2', labels: { 'topology.kubernetes.io/zone': 'z' } },
    spec: { podCIDRs: [`10.245.${number}.0/24`], taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] },
    status: { addresses: [{ type: 'InternalIP', address: `192.168.50.${number}` }] },
  };
}

/** The places of all texts of a value. */
function placesOf(value: unknown, path: Place = []): Place[] {
  if (typeof value === 'string') return [path];
  if (typeof value !== 'object' || value === null) return [];
  const keys = Array.isArray(value) ? value.keys() : Object.keys(value);
  return [...keys].flatMap((key) => placesOf((value as Record<string, unknown>)[key], [...path, key]));
}

function holderAt(value: unknown, path: Place): Record<string, unknown> {
  const holder = path.slice(0, -1).reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], value);
  return holder as Record<string, unknown>;
}

/** The addresses of the Service without hostile text ({@link otherObjects}), and the name of this node. */
export const OTHER = { address: '10.96.0.2', address6: 'fd00:10:96::ffff', nodeName: 'node-a' };

/**
 * Objects with a hostile text: in each group, one place of one object has it; the names of fields, labels and annotations of one
 * more group, and all fields of this node's own Node but its name. The first family of a group changes from text to text.
 *
 * @param part which of the groups; default all
 */
export function hostileObjects(hostile: Hostile, { every, from }: Part = ALL): object[] {
  const text = typeof hostile === 'string' ? hostile : BYTES;
  const objects: object[] = [];
  let number = 0;
  const shift = Object.values(HOSTILE).indexOf(hostile);
  const familyOf = (group: number): Family => ((group + shift) % 2 === 0 ? 4 : 6);
  for (const [kind, raw] of group(0, 4).entries()) {
    for (const place of placesOf(raw)) {
      if (++number % every !== from % every) continue;
      const made = group(number, familyOf(number));
      holderAt(made[kind], place)[place.at(-1) as string] = text;
      objects.push(...made);
    }
  }
  const named = group(++number, familyOf(number));
  for (const raw of named) Object.assign(raw, { [text]: text });
  for (const { metadata } of named) Object.assign(metadata.labels, { [text]: 'x' });
  Object.assign(named[0].spec, { [text]: [{ [text]: text }] });
  return [...objects, ...named, ownNode(text)];
}

function ownNode(text: string): object {
  const own = node(OTHER.nodeName, 250);
  for (const place of placesOf(own)) {
    const path = place.join('.');
    if (!['apiVersion', 'kind', 'metadata.name'].includes(path))
      holderAt(own, place)[place.at(-1) as string] = text;
  }
  return own;
}

/** The Service without hostile text, which must be served, with its endpoints. */
export function otherObjects(): object[] {
  const [service, slice] = group(0, 4);
  const [, otherSlice] = group(0, 6);
  const ports = service.spec.ports.map(({ nodePort: _, ...port }) => port);
  Object.assign(service.metadata, { name: 'other' });
  Object.assign(service.spec, { type: 'ClusterIP', externalIPs: [], ports });
  const { address, address6 } = OTHER;
  Object.assign(service.spec, { clusterIP: address, clusterIPs: [address, address6] });
  const labels = { 'kubernetes.io/service-name': 'other' };
  Object.assign(slice.metadata, { name: 'other-a', labels });
  Object.assign(otherSlice.metadata, { name: 'other-b', labels });
  return [{ ...service, status: {} }, otherSlice, slice];
}

/** The JSON of a value, with the bytes of the hostile text. */
export function jsonBytes(value: unknown, hostile: Hostile): Buffer {
  const json = JSON.stringify(value);
  if (typeof hostile === 'string') return Buffer.from(json);
  const parts = json.split(BYTES).flatMap((part) => [Buffer.from(part), hostile]);
  return Buffer.concat(parts.slice(0, -1));
}
