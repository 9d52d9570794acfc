// core/v1 Service → Service. Kubernetes field: https://kubernetes.io/docs/reference/kubernetes-api/service-resources/service-v1/

import type { Fields } from '../fields.js';
import { type Family, familyOf } from '../net/address.js';
import type { ObjectName } from './decode.js';
import type { PerFamily, Service, ServiceObjectPort } from './types.js';

const TYPES = ['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'] as const;
const POLICIES = ['Cluster', 'Local'] as const;
/** API default of `sessionAffinityConfig.clientIP.timeoutSeconds`, and its maximum (a day). */
const AFFINITY_SECONDS = { default: 10_800, max: 86_400 };

/** Reads a Service; undefined when its type is none we know. */
export function decodeService({ namespace, name }: ObjectName, fields: Fields): Service | undefined {
  const metadata = fields.child('metadata');
  const labels = metadata.child('labels');
  const spec = fields.child('spec');
  const type = spec.word('type', TYPES, 'ClusterIP');
  if (!type) return undefined;
  return {
    kind: 'Service',
    namespace,
    name,
    createdAt: Date.parse(metadata.text('creationTimestamp')) || 0,
    type,
    notOurs:
      labels.has('service.kubernetes.io/service-proxy-name') || labels.has('service.kubernetes.io/headless'),
    clusterIPs: decodeClusterIPs(spec),
    ports: spec.children('ports').flatMap(decodePort),
    affinitySeconds: decodeAffinity(spec),
    externalTrafficPolicy: spec.word('externalTrafficPolicy', POLICIES, 'Cluster') ?? 'Cluster',
    internalTrafficPolicy: spec.word('internalTrafficPolicy', POLICIES, 'Cluster') ?? 'Cluster',
    externalIPs: spec.addresses('externalIPs'),
    sourceRanges: spec.networks('loadBalancerSourceRanges'),
    loadBalancerIPs: decodeIngress(fields.child('status').child('loadBalancer')),
    healthCheckNodePort: spec.integer('healthCheckNodePort', 0, 65_535, 0) ?? 0,
  };
}

function decodePort(fields: Fields): ServiceObjectPort[] {
  const protocol = fields.protocol('protocol');
  const port = fields.integer('port', 1, 65_535);
  const nodePort = fields.integer('nodePort', 0, 65_535, 0);
  if (protocol === undefined || port === undefined) return [];
  return [{ name: fields.text('name'), protocol, port, nodePort: nodePort ?? 0 }];
}

/**
 * With `ipFamilies`, the cluster IP of a family is the one at the family's place in `clusterIPs`; without, it is
 * `clusterIP` for the family that has it.
 */
function decodeClusterIPs(spec: Fields): PerFamily<string> {
  if (spec.text('clusterIP') === 'None') return {};
  const byFamily = (addresses: readonly string[]) =>
    Object.fromEntries(addresses.map((address) => [familyOf(address), address])) as PerFamily<string>;
  const families = spec.words('ipFamilies', ['IPv4', 'IPv6'] as const);
  const first = spec.address('clusterIP');
  if (families.length === 0 || !spec.has('clusterIPs')) return byFamily(first === undefined ? [] : [first]);
  const clusterIPs = spec.addresses('clusterIPs');
  const wanted = new Set<Family>(families.map((family) => (family === 'IPv4' ? 4 : 6)));
  return byFamily(clusterIPs.filter((address) => wanted.has(familyOf(address))));
}

function decodeAffinity(spec: Fields): number {
  if (spec.word('sessionAffinity', ['None', 'ClientIP'], 'None') !== 'ClientIP') return 0;
  const clientIP = spec.child('sessionAffinityConfig').child('clientIP');
  const seconds = clientIP.integer('timeoutSeconds', 1, AFFINITY_SECONDS.max, AFFINITY_SECONDS.default);
  return seconds ?? AFFINITY_SECONDS.default;
}

function decodeIngress(loadBalancer: Fields): string[] {
  return loadBalancer.children('ingress').flatMap((ingress) => {
    const ip = ingress.address('ip');
    return ip !== undefined && ingress.word('ipMode', ['VIP', 'Proxy'], 'VIP') === 'VIP' ? [ip] : [];
  });
}
