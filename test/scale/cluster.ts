// A large cluster on the test's API server, in a separate process for separate memory and time.
//
// node dist/test/scale/cluster.js SERVICES ENDPOINTS [CHANGES]
//
// Prints the server's URL. Each line on standard input removes an endpoint, or adds it again.
import { createInterface } from 'node:readline';
import type { RawObject } from '../../bench/apiServer/store.js';
import { ApiServer } from '../support/apiServer/server.js';

/** The nth Service: a cluster IP with two ports, every tenth a node port. */
function service(n: number): RawObject {
  const nodePort = n % 10 === 0 ? { nodePort: 30_000 + n / 10 } : {};
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadata(n, { labels: { app: `app-${n}` } }),
    spec: {
      type: n % 10 === 0 ? 'NodePort' : 'ClusterIP',
      clusterIP: `10.96.${n >> 8}.${n & 255}`,
      clusterIPs: [`10.96.${n >> 8}.${n & 255}`],
      ipFamilies: ['IPv4'],
      selector: { app: `app-${n}` },
      internalTrafficPolicy: 'Cluster',
      ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, ...nodePort }],
    },
    status: { loadBalancer: {} },
  };
}

/** Its slice with this number of endpoints, in the format of the control plane. */
function slice(n: number, endpoints: number, without?: number): RawObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: metadata(n, {
      labels: {
        'kubernetes.io/service-name': `service-${n}`,
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      },
      annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T00:00:00Z' },
    }),
    addressType: 'IPv4',
    ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
    endpoints: Array.from({ length: endpoints }, (_, i) => endpoint(n * endpoints + i)).filter(
      (_, i) => i !== without,
    ),
  };
}

function endpoint(n: number): object {
  return {
    addresses: [`10.${128 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`],
    conditions: { ready: true, serving: true, terminating: false },
    nodeName: `node-${n % 500}`,
    zone: `zone-${n % 3}`,
    targetRef: {
      kind: 'Pod',
      namespace: 'demo',
      name: `app-${n}-5d8c7b9f6-abcde`,
      uid: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    },
  };
}

function metadata(n: number, rest: object) {
  return {
    namespace: 'demo',
    name: `service-${n}`,
    uid: `11111111-0000-4000-8000-${String(n).padStart(12, '0')}`,
    creationTimestamp: '2026-01-01T00:00:00Z',
    managedFields: [{ manager: 'kube-controller-manager', operation: 'Update', fieldsType: 'FieldsV1' }],
    ...rest,
  };
}

const [services = 0, endpoints = 0] = process.argv.slice(2).map(Number);
const each = Math.round(endpoints / services);
const server = await new ApiServer().start();
for (let n = 0; n < services; n++) {
  server.store.set(service(n));
  server.store.set(slice(n, each));
}
server.store.set({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'node-0' },
  status: { addresses: [{ type: 'InternalIP', address: '192.168.50.10' }] },
});
process.stdout.write(`${server.url}\n`);
let change = 0;
for await (const _ of createInterface({ input: process.stdin })) {
  const n = (change >> 1) % services;
  server.store.set(change % 2 === 0 ? slice(n, each, 0) : slice(n, each));
  change++;
}
await server.close();
