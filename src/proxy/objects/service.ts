// core/v1 Service → Service. Fields: https://kubernetes.io/docs/reference/kubernetes-api/service-resources/service-v1/

import type { V1LoadBalancerStatus, V1Service, V1ServicePort, V1ServiceSpec } from '@kubernetes/client-node';
import { type Family, familyOf, specialUse } from '../../kernel/net/address.js';
import type { Fields } from '../input/fields.js';
import { DNS_LABEL } from '../input/names.js';
import { decodeAnnotations } from './annotations.js';
import type { Interning } from './interning.js';
import { formerPorts, readPorts } from './portsByName.js';
import type { ObjectName, PerFamily, Service, ServiceObjectPort } from './types.js';

const TYPES = ['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'] as const;
const POLICIES = ['Cluster', 'Local'] as const;
/** API default of `sessionAffinityConfig.clientIP.timeoutSeconds`, and its maximum (a day). */
const AFFINITY_SECONDS = { default: 10_800, max: 86_400 };

/** Reads a Service; undefined when its type is unknown. `former`: the Service as it was last readable. */
export function decodeService(
  { namespace, name }: ObjectName,
  fields: Fields<V1Service>,
  former: Service | undefined,
  interning: Interning,
): Service | undefined {
  const metadata = fields.child('metadata');
  const labels = metadata.child('labels');
  const spec = fields.child('spec');
  const type = spec.word('type', TYPES, 'ClusterIP');
  if (!type) return undefined;
  const status = fields.child('status');
  const annotations = decodeAnnotations(metadata.child('annotations'), 'Service');
  const policy = (field: 'externalTrafficPolicy' | 'internalTrafficPolicy') =>
    spec.orFormer(() => spec.word(field, POLICIES, 'Cluster'), former?.[field]) ?? 'Cluster';
  return {
    kind: 'Service',
    namespace,
    name,
    createdAt:
      metadata.orFormer(() => metadata.time('creationTimestamp'), former?.createdAt || undefined) ?? 0,
    type,
    notOurs: labels.has('service.kubernetes.io/service-proxy-name'),
    clusterIPs: unicastClusterIPs(
      spec,
      spec.restoring(
        () => decodeClusterIPs(spec),
        (read) => withFamiliesOf(former?.clusterIPs ?? {}, read),
      ),
    ),
    ports: shared(
      spec.orFormer(() => readPorts(spec.children('ports'), former?.ports, decodePort), former?.ports),
      interning,
    ),
    affinitySeconds: decodeAffinity(spec, former?.affinitySeconds),
    externalTrafficPolicy: policy('externalTrafficPolicy'),
    internalTrafficPolicy: policy('internalTrafficPolicy'),
    externalIPs: spec.orFormer(() => spec.unicastAddresses('externalIPs'), former?.externalIPs),
    sourceRanges: spec.orFormer(() => spec.networks('loadBalancerSourceRanges'), former?.sourceRanges),
    loadBalancerIPs: status.orFormer(
      () => decodeIngress(status.child('loadBalancer')),
      former?.loadBalancerIPs,
    ),
    healthCheckNodePort:
      spec.orFormer(() => spec.integer('healthCheckNodePort', 0, 65_535, 0), former?.healthCheckNodePort) ??
      0,
    ...(annotations && { annotations }),
  };
}

/** Many Services have equal ports. A node port is that of one Service only. */
function shared(ports: readonly ServiceObjectPort[], interning: Interning): readonly ServiceObjectPort[] {
  return ports.some(({ nodePort }) => nodePort !== 0) ? ports : interning.list(ports);
}

/** A port is identified by its name: an unreadable port keeps its last readable value. */
function decodePort(
  fields: Fields<V1ServicePort>,
  former: (name: string) => readonly ServiceObjectPort[],
): readonly ServiceObjectPort[] {
  const name = fields.name('name', DNS_LABEL);
  if (name === undefined) return [];
  return fields.restoring(
    (): readonly ServiceObjectPort[] => {
      const protocol = fields.protocol('protocol');
      const port = fields.integer('port', 1, 65_535);
      const nodePort = fields.restoring(
        () => fields.integer('nodePort', 0, 65_535, 0),
        () => former(name)[0]?.nodePort,
      );
      if (protocol === undefined || port === undefined) return [];
      return [{ name, protocol, port, nodePort: nodePort ?? 0 }];
    },
    (read) => formerPorts(read, former(name)),
  );
}

/**
 * With `ipFamilies`, the cluster IPs are those of `clusterIPs` whose family is listed; without, `clusterIP` is the only
 * one.
 */
function decodeClusterIPs(spec: Fields<V1ServiceSpec>): PerFamily<string> {
  const only = spec.text('clusterIP');
  const { clusterIPs: list } = spec.values;
  const given: unknown = Array.isArray(list) ? list[0] : (list ?? undefined);
  if (only === 'None' || given === 'None') return NO_ADDRESSES;
  const families = spec.words('ipFamilies', ['IPv4', 'IPv6'] as const);
  const first = only === '' ? undefined : spec.address('clusterIP');
  if (families.length === 0 || given === undefined) return byFamily(first === undefined ? [] : [first]);
  const clusterIPs = spec.addresses('clusterIPs');
  const wanted = new Set<Family>(families.map((family) => (family === 'IPv4' ? 4 : 6)));
  return byFamily(clusterIPs.filter((address) => wanted.has(familyOf(address))));
}

/**
 * Replaces a cluster IP of a special use by none: its family is served on the other addresses. A link-local IPv4 address is allowed,
 * because whoever configures the range of cluster IPs selects it.
 */
function unicastClusterIPs(spec: Fields<V1ServiceSpec>, clusterIPs: PerFamily<string>): PerFamily<string> {
  const { 4: four, 6: six } = clusterIPs;
  if (!specialUse(four ?? '') && !specialUse(six ?? '')) return clusterIPs;
  const field = spec.has('clusterIPs') ? 'clusterIPs' : 'clusterIP';
  return {
    ...(four !== undefined && { 4: spec.unicast(field, four, 'link-local') ?? '' }),
    ...(six !== undefined && { 6: spec.unicast(field, six) ?? '' }),
  };
}

const NO_ADDRESSES: PerFamily<string> = Object.freeze({});

/** The last address of each family. Literals: an object that is filled later reserves room for many more families. */
function byFamily(addresses: readonly string[]): PerFamily<string> {
  const four = addresses.findLast((address) => familyOf(address) === 4);
  const six = addresses.findLast((address) => familyOf(address) === 6);
  if (four === undefined) return six === undefined ? NO_ADDRESSES : { 6: six };
  return six === undefined ? { 4: four } : { 4: four, 6: six };
}

/** Adds the families that were readable before and are not now; undefined if there are none. */
function withFamiliesOf(former: PerFamily<string>, read: PerFamily<string>): PerFamily<string> | undefined {
  return Object.keys(former).every((family) => family in read) ? undefined : { ...former, ...read };
}

function decodeAffinity(spec: Fields<V1ServiceSpec>, former: number | undefined): number {
  const affinity = spec.orFormer(
    () => spec.word('sessionAffinity', ['None', 'ClientIP'], 'None'),
    former === undefined ? undefined : former > 0 ? 'ClientIP' : 'None',
  );
  if (affinity !== 'ClientIP') return 0;
  const clientIP = spec.child('sessionAffinityConfig').child('clientIP');
  const { max, default: absent } = AFFINITY_SECONDS;
  return (
    clientIP.orFormer(() => clientIP.integer('timeoutSeconds', 1, max, absent), former || undefined) ?? absent
  );
}

const IP_MODES = ['VIP', 'Proxy'] as const;

const NO_INGRESS: readonly string[] = Object.freeze([]);

function decodeIngress(loadBalancer: Fields<V1LoadBalancerStatus>): readonly string[] {
  const found: string[] = [];
  for (const ingress of loadBalancer.children('ingress')) {
    const ip = ingress.address('ip');
    if (ip === undefined || ingress.word('ipMode', IP_MODES, 'VIP') !== 'VIP') continue;
    if (ingress.unicast('ip', ip) !== undefined) found.push(ip);
  }
  // An array that grew by push() has unused space, and these arrays stay.
  return found.length === 0 ? NO_INGRESS : found.slice();
}
