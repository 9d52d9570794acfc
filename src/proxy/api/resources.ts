// The resources that are watched, with kube-proxy 1.36's selectors.
import type { KubernetesObject } from '../objects/types.js';

/** A resource of the API, or the part of it that is used. */
export interface Resource {
  /** Plural, as in URLs. */
  readonly name: 'services' | 'endpointslices' | 'nodes' | 'servicecidrs';
  readonly path: string;
  /** Items of a list have neither: it is the list's. */
  readonly apiVersion: string;
  readonly kind: KubernetesObject['kind'];
  /** The version of Kubernetes that has it first; absent: every version has it. */
  readonly since?: string;
  readonly selectors: { readonly labelSelector?: string; readonly fieldSelector?: string };
}

/** Services with a cluster IP that are not another proxy's. */
export const SERVICES: Resource = {
  name: 'services',
  path: '/api/v1/services',
  apiVersion: 'v1',
  kind: 'Service',
  selectors: {
    labelSelector: '!service.kubernetes.io/service-proxy-name',
    fieldSelector: 'spec.clusterIP!=None',
  },
};

/** Slices that do not belong to a headless Service. */
export const ENDPOINT_SLICES: Resource = {
  name: 'endpointslices',
  path: '/apis/discovery.k8s.io/v1/endpointslices',
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  selectors: { labelSelector: '!service.kubernetes.io/headless' },
};

/** The ranges of cluster IPs. */
export const SERVICE_CIDRS: Resource = {
  name: 'servicecidrs',
  path: '/apis/networking.k8s.io/v1/servicecidrs',
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  since: '1.33',
  selectors: {},
};

/** One node by its name, or all. */
export function nodes(name?: string): Resource {
  const selectors = name === undefined ? {} : { fieldSelector: `metadata.name=${name}` };
  return { name: 'nodes', path: '/api/v1/nodes', apiVersion: 'v1', kind: 'Node', selectors };
}
