// The objects of a state, as the API server stores them.
import type { ClusterState } from './cluster.js';
import { addressOf, healthPortOf, nodePortOf } from './frontends.js';
import type { EndpointSpec, ServiceSpec } from './history.js';
import {
  addressIn,
  ENDPOINT_PORT,
  FAMILIES,
  type Family,
  JUDGED_NODE,
  podNamed,
  SERVICE_PORT,
  SOURCE_RANGES,
} from './world.js';

/** An object of the API. */
export interface JudgedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: object };
  readonly [field: string]: unknown;
}

const NAMESPACE = 'judge';

/** All objects of a state, by kind and name. */
export function objectsOf(state: ClusterState): Map<string, JudgedObject> {
  const services = [...state.services].map(([name, spec]) => serviceObject(name, spec));
  const slices = [...state.endpoints].flatMap(([name, endpoints]) => {
    return FAMILIES.map((family) => sliceObject(name, family, endpoints));
  });
  const all = [nodeObject(state.zone), ...services, ...slices];
  return new Map(all.map((object) => [`${object.kind} ${object.metadata.name}`, object]));
}

function nodeObject(zone: string): JudgedObject {
  return {
    ...{ apiVersion: 'v1', kind: 'Node' },
    metadata: {
      name: JUDGED_NODE.name,
      labels: zone === '' ? {} : { 'topology.kubernetes.io/zone': zone },
    },
    status: {
      addresses: FAMILIES.map((family) => ({ type: 'InternalIP', address: addressIn(JUDGED_NODE, family) })),
    },
  };
}

function serviceObject(name: string, spec: ServiceSpec): JudgedObject {
  const at = (kind: 'clusterIP' | 'externalIP' | 'loadBalancer') =>
    spec.families.map((family) => addressOf(kind, spec.number, family));
  const isExternal = spec.nodePort || spec.loadBalancer || spec.externalIP;

  return {
    ...{ apiVersion: 'v1', kind: 'Service', metadata: { namespace: NAMESPACE, name } },
    spec: {
      type: spec.loadBalancer ? 'LoadBalancer' : spec.nodePort ? 'NodePort' : 'ClusterIP',
      clusterIP: at('clusterIP')[0],
      clusterIPs: at('clusterIP'),
      ipFamilies: spec.families.map((family) => `IPv${family}`),
      ipFamilyPolicy: spec.families.length > 1 ? 'RequireDualStack' : 'SingleStack',
      ports: spec.protocols.map((protocol) => ({
        ...{ name: protocol.toLowerCase(), protocol, port: SERVICE_PORT, targetPort: ENDPOINT_PORT },
        ...(spec.nodePort ? { nodePort: nodePortOf(spec.number) } : {}),
      })),
      internalTrafficPolicy: spec.internalPolicy,
      ...(isExternal ? { externalTrafficPolicy: spec.externalPolicy } : {}),
      ...(spec.externalIP ? { externalIPs: at('externalIP') } : {}),
      ...(spec.loadBalancer && spec.externalPolicy === 'Local'
        ? { healthCheckNodePort: healthPortOf(spec.number) }
        : {}),
      ...(spec.loadBalancer ? { allocateLoadBalancerNodePorts: spec.nodePort } : {}),
      ...(spec.ranges && spec.loadBalancer ? { loadBalancerSourceRanges: SOURCE_RANGES } : {}),
      sessionAffinity: spec.affinity > 0 ? 'ClientIP' : 'None',
      ...(spec.affinity > 0
        ? { sessionAffinityConfig: { clientIP: { timeoutSeconds: spec.affinity } } }
        : {}),
    },
    status: { loadBalancer: spec.loadBalancer ? { ingress: at('loadBalancer').map((ip) => ({ ip })) } : {} },
  };
}

/** A slice has the ports of every protocol: a proxy uses those that the Service has. */
function sliceObject(service: string, family: Family, endpoints: readonly EndpointSpec[]): JudgedObject {
  return {
    ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' },
    metadata: {
      namespace: NAMESPACE,
      name: `${service}-ipv${family}`,
      labels: { 'kubernetes.io/service-name': service },
    },
    addressType: `IPv${family}`,
    ports: ['TCP', 'UDP', 'SCTP'].map((protocol) => {
      return { name: protocol.toLowerCase(), protocol, port: ENDPOINT_PORT };
    }),
    endpoints: endpoints.map(({ pod, condition, hint }) => ({
      addresses: [addressIn(podNamed(pod), family)],
      nodeName: podNamed(pod).node,
      conditions: {
        ready: condition === 'ready',
        serving: condition === 'ready' || condition === 'terminating',
        terminating: condition === 'terminating' || condition === 'ended',
      },
      ...(hint === undefined ? {} : { hints: { forZones: [{ name: hint }] } }),
    })),
  };
}
