// Objects for tests, in the format of the API server.
import type { RawObject } from '../../../bench/apiServer/store.js';

/** A Service in namespace demo. */
export function service(name: string, clusterIP: string, labels: Record<string, string> = {}): RawObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'demo', labels, managedFields: [{ manager: 'test' }] },
    spec: {
      clusterIP,
      clusterIPs: [clusterIP],
      ipFamilies: ['IPv4'],
      ports: [{ port: 80, protocol: 'TCP' }],
    },
  };
}

/** A slice of a Service of the same name, with an endpoint for each address. */
export function slice(
  name: string,
  addresses: readonly string[],
  labels: Record<string, string> = {},
): RawObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, namespace: 'demo', labels: { 'kubernetes.io/service-name': name, ...labels } },
    addressType: 'IPv4',
    ports: [{ name: '', port: 8080, protocol: 'TCP' }],
    endpoints: addresses.map((address) => ({
      addresses: [address],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: 'node-a',
      zone: 'zone-a',
    })),
  };
}

/** A Node. */
export function node(
  name: string,
  { address = '192.168.50.10', podCIDRs = [] as string[], zone = 'zone-a' } = {},
): RawObject {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: `uid-of-${name}`, labels: { 'topology.kubernetes.io/zone': zone } },
    spec: { podCIDRs },
    status: { addresses: address ? [{ type: 'InternalIP', address }] : [] },
  };
}
