// The Kubernetes objects that are read, with the fields that are used, checked, and in canonical spelling: addresses as
// RFC 5952 text, networks masked, protocols in lower case. No part above the sources sees other data.

import type { Family } from '../../kernel/net/address.js';
import type { Protocol } from '../../kernel/net/protocol.js';
import type { Annotations } from '../input/settingNames.js';
import type { SliceEndpoints } from './sliceEndpoints.js';

/** A value for each IP family that has one. */
export type PerFamily<T> = { readonly [family in Family]?: T };

/** core/v1 Service. */
export interface Service {
  readonly kind: 'Service';
  readonly namespace: string;
  readonly name: string;
  /** `metadata.creationTimestamp`, ms since 1970; 0 when unknown. Of two equal claims to an address, that of the older Service wins. */
  readonly createdAt: number;
  readonly type: 'ClusterIP' | 'NodePort' | 'LoadBalancer' | 'ExternalName';
  /** Label `service.kubernetes.io/service-proxy-name` assigns it to another proxy. */
  readonly notOurs: boolean;
  /**
   * Cluster IP per family; no family for a headless Service. Empty text: the family is served without a cluster IP, because that of
   * the object cannot be used.
   */
  readonly clusterIPs: PerFamily<string>;
  readonly ports: readonly ServiceObjectPort[];
  /** Seconds of client-IP affinity; 0 for none. API default 10800. */
  readonly affinitySeconds: number;
  readonly externalTrafficPolicy: TrafficPolicy;
  readonly internalTrafficPolicy: TrafficPolicy;
  readonly externalIPs: readonly string[];
  /** `spec.loadBalancerSourceRanges`, masked. */
  readonly sourceRanges: readonly string[];
  /** Ingress IPs with ipMode unset or `VIP`; traffic to others arrives through the load balancer only. */
  readonly loadBalancerIPs: readonly string[];
  /** 0 for none. */
  readonly healthCheckNodePort: number;
  /** The annotations of settings, see `src/proxy/services/settings/`. Absent: none. */
  readonly annotations?: Annotations;
}

/** `Cluster` (any endpoint) or `Local` (those of this node). */
export type TrafficPolicy = 'Cluster' | 'Local';

/** One of `spec.ports`. */
export interface ServiceObjectPort {
  /** May be empty. */
  readonly name: string;
  readonly protocol: Protocol;
  /** 1–65535. */
  readonly port: number;
  /** 0 for none. */
  readonly nodePort: number;
}

/** discovery.k8s.io/v1 EndpointSlice. */
export interface EndpointSlice {
  readonly kind: 'EndpointSlice';
  readonly namespace: string;
  readonly name: string;
  /** Name of the Service it belongs to: label `kubernetes.io/service-name`. */
  readonly serviceName: string;
  readonly family: Family;
  readonly ports: readonly SlicePort[];
  readonly endpoints: SliceEndpoints;
  /**
   * Time of the change that led to this slice, in ms since 1970: annotation
   * `endpoints.kubernetes.io/last-change-trigger-time`; undefined when absent or unreadable.
   */
  readonly triggerTime: number | undefined;
  /** The annotations of settings, see `src/proxy/services/settings/`. Absent: none. */
  readonly annotations?: Annotations;
}

/** One of `ports`; it belongs to the Service port of the same name and protocol. */
export interface SlicePort {
  readonly name: string;
  readonly protocol: Protocol;
  /** 1–65535. */
  readonly port: number;
}

/** core/v1 Node. */
export interface Node {
  readonly kind: 'Node';
  readonly name: string;
  /** `metadata.uid`; empty when absent. */
  readonly uid: string;
  /** `metadata.deletionTimestamp` is set. */
  readonly deleting: boolean;
  /** May take traffic from load balancers: is not being deleted, and the cluster autoscaler is not about to. */
  readonly eligible: boolean;
  /** Label `topology.kubernetes.io/zone`; empty when absent. */
  readonly zone: string;
  /** All InternalIPs in order, then all ExternalIPs. */
  readonly addresses: readonly string[];
  /** `spec.podCIDRs`, masked. */
  readonly podCIDRs: readonly string[];
}

/** networking.k8s.io/v1 ServiceCIDR: a range of cluster IPs. */
export interface ServiceCIDR {
  readonly kind: 'ServiceCIDR';
  readonly name: string;
  /** `spec.cidrs`, masked. */
  readonly cidrs: readonly string[];
}

/** Any object that is read. */
export type KubernetesObject = Service | EndpointSlice | Node | ServiceCIDR;

/** Whether objects of a kind have no namespace. */
export function isClusterScoped(kind: string): boolean {
  return kind === 'Node' || kind === 'ServiceCIDR';
}

/** Name and namespace of an object, `default` where none is given, as kubectl does. */
export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

/** A source's report of one object. */
export interface ObjectChange {
  /** `set`: the object is new or changed; `delete`: it was deleted. */
  readonly type: 'set' | 'delete';
  /** The object now, or as last known. */
  readonly object: KubernetesObject;
}

/** `namespace/name` of a Service: the name by which everything about it is keyed. */
export function serviceKey(object: Service | EndpointSlice): string {
  return `${object.namespace}/${object.kind === 'Service' ? object.name : object.serviceName}`;
}
