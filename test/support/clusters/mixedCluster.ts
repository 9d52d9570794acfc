// A small cluster that has a rule of every kind of nftables mode, in both families, and its life: step by step, until it is empty.
import { decodeObject } from '../../../src/proxy/objects/decode.js';
import type { KubernetesObject } from '../../../src/proxy/objects/types.js';
import { identityOf } from '../../../src/proxy/source/manifestFile.js';
import { service, slice } from './nftablesPlans.js';

/** A step in the life of the cluster. */
export interface LifeStep {
  readonly what: string;
  readonly objects: ReadonlyMap<string, KubernetesObject>;
}

const AFFINITY = { sessionAffinity: 'ClientIP', type: 'NodePort', ports: [{ port: 80, nodePort: 30080 }] };
const BALANCED = {
  type: 'LoadBalancer',
  externalTrafficPolicy: 'Local',
  loadBalancerSourceRanges: ['198.51.100.0/24', '203.0.113.0/25'],
  ports: [{ port: 443, targetPort: 8080, nodePort: 30443 }],
};
const INGRESS = { status: { loadBalancer: { ingress: [{ ip: '203.0.113.7' }] } } };
const DUAL = {
  clusterIPs: ['10.96.0.4', 'fd00:10:96::4'],
  ipFamilies: ['IPv4', 'IPv6'],
  ipFamilyPolicy: 'RequireDualStack',
  externalIPs: ['203.0.113.8', '2001:db8::8'],
};
const UDP = { ports: [{ port: 53, protocol: 'UDP', name: 'dns' }] };

/** A slice of IPv6 beside that of IPv4, with another name. */
function slice6(name: string, ...addresses: readonly string[]): object {
  const of4 = slice(name, ...addresses) as { metadata: object };
  return { ...of4, metadata: { ...of4.metadata, name: `${name}-6` } };
}

/** A slice with a UDP port that has a name. */
function udpSlice(name: string, ...addresses: readonly string[]): object {
  return { ...slice(name, ...addresses), ports: [{ name: 'dns', port: 5353, protocol: 'UDP' }] };
}

/** Objects as the source has them, by identity. */
export function objectsOf(...raw: readonly object[]): LifeStep['objects'] {
  const decoded = raw.map((each) => decodeObject(each).object as KubernetesObject);
  return new Map(decoded.map((object) => [identityOf(object), object]));
}

function step(what: string, ...raw: readonly object[]): LifeStep {
  return { what, objects: objectsOf(...raw) };
}

const WEB = service('web', '10.96.0.1', AFFINITY);
const BALANCER = service('balanced', '10.96.0.2', BALANCED, INGRESS);
const IDLE = service('idle', '10.96.0.3', { externalIPs: ['203.0.113.9'] });
const BOTH = service('both', '10.96.0.4', DUAL);
const DNS = service('dns', '10.96.0.5', UDP);

/** Its first step has the rules of every kind. */
export const MIXED_LIFE: readonly [LifeStep, ...LifeStep[]] = [
  step(
    'first sync',
    ...[WEB, slice('web', '@10.244.0.1', '10.244.1.2')],
    ...[BALANCER, slice('balanced', '@10.244.0.3', '10.244.1.4')],
    IDLE,
    ...[BOTH, slice('both', '10.244.1.5'), slice6('both', 'fd00:244::5', 'fd00:244::6')],
    ...[DNS, udpSlice('dns', '10.244.1.53', '10.244.2.53')],
  ),
  step(
    'endpoints change',
    ...[WEB, slice('web', '@10.244.0.1', '10.244.1.12', '10.244.1.13')],
    ...[BALANCER, slice('balanced', '10.244.1.4')],
    ...[IDLE, slice('idle', '10.244.1.9')],
    ...[BOTH, slice('both', '10.244.1.5', '10.244.1.6'), slice6('both')],
    ...[DNS, udpSlice('dns', '10.244.2.53')],
  ),
  step(
    'a Service is added, one changes its ports, and one is removed',
    ...[service('new', '10.96.0.6'), slice('new', '10.244.1.60')],
    ...[
      service('web', '10.96.0.1', { ...AFFINITY, ports: [{ port: 81, nodePort: 30081 }] }),
      slice('web', '@10.244.0.1'),
    ],
    ...[IDLE, slice('idle', '10.244.1.9')],
    ...[BOTH, slice('both', '10.244.1.5', '10.244.1.6'), slice6('both', 'fd00:244::7')],
    ...[DNS, udpSlice('dns', '10.244.2.53')],
  ),
  step('all but one are removed', IDLE),
];
