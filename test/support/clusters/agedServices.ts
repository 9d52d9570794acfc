// A large cluster whose Services have all ages.
import assert from 'node:assert/strict';
import { decodeObject } from '../../../src/proxy/objects/decode.js';
import type { KubernetesObject } from '../../../src/proxy/objects/types.js';
import { PIECE } from '../../../src/proxy/reconcile/planner.js';

/** Number of Services that are not vital: they are several pieces of a pass. */
export const SERVICES = 3 * PIECE + 10;

/** A Service of a cluster. */
export interface Wanted {
  readonly name: string;
  readonly namespace?: string;
  readonly ip: string;
  /** Age, in days. */
  readonly age: number;
  readonly port?: number;
  readonly spec?: object;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Those of its slice; default: two, which only this Service has, on no known node. */
  readonly endpoints?: readonly { readonly addresses: readonly string[]; readonly nodeName: string }[];
}

/** A Service and its slice. */
export function objectsOf(wanted: Wanted) {
  const { name, namespace = 'demo', ip, age, port = 80, spec = {}, annotations, endpoints } = wanted;
  const protocol = port === 53 ? 'UDP' : 'TCP';
  const createdAt = new Date(Date.UTC(2026, 0, 1) - age * 86_400_000).toISOString();
  const raws = [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace, name, creationTimestamp: createdAt, ...(annotations && { annotations }) },
      spec: { clusterIP: ip, ports: [{ port, protocol }], ...spec },
    },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { namespace, name, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      ports: [{ port: 8080, protocol }],
      endpoints:
        endpoints ?? ['10.128', '10.129'].map((network) => ({ addresses: [ip.replace('10.96', network)] })),
    },
  ];
  return raws.map((raw): [string, KubernetesObject] => {
    const { object, problems } = decodeObject(raw);
    assert.deepEqual(problems, []);
    assert.ok(object);
    return [`${raw.kind} ${namespace}/${name}`, object];
  });
}

/** The cluster IP of a Service by its number. */
export const ipOf = (n: number) => `10.96.${n >> 8}.${n & 255}`;

/** Services of all ages, the oldest is not the first. */
export const ageOf = (n: number) => (n * 7919) % 1000;

/** The cluster's own Services are the youngest. */
export const VITAL = [
  { name: 'kubernetes', namespace: 'default', ip: '10.96.255.1', port: 443, age: 0 },
  { name: 'kube-dns', namespace: 'kube-system', ip: '10.96.255.10', port: 53, age: 0 },
];

/** The objects of the cluster, with more Services. */
export function cluster(...more: Wanted[]): Map<string, KubernetesObject> {
  const plain = Array.from({ length: SERVICES }, (_, n) => ({ name: `s${n}`, ip: ipOf(n), age: ageOf(n) }));
  return new Map([...plain, ...VITAL, ...more].flatMap(objectsOf));
}
