// The order in which Services are programmed at the start: first those that the rest of the cluster needs, then the
// others by age.

import { isProxied } from '../objects/frontendCount.js';
import type { Service } from '../objects/types.js';

/** Services in the order of programming, as `namespace/name`. */
export interface OrderOfService {
  /** Those that are complete in the kernel before any other is planned. */
  readonly vital: readonly string[];
  /** The others, the oldest first. */
  readonly others: readonly string[];
}

const DNS_PORT = 53;

/**
 * Whether pods need the Service to find any other one: `default/kubernetes`, which the API server creates for itself,
 * and the cluster's DNS: Services in namespace kube-system with UDP port 53.
 */
export function isVital(service: Service): boolean {
  const { namespace, name, ports } = service;
  if (namespace === 'default') return name === 'kubernetes';
  if (namespace !== 'kube-system' || !isProxied(service)) return false;
  return ports.some(({ protocol, port }) => protocol === 'udp' && port === DNS_PORT);
}

/** A Service with its key. */
export interface KeyedService {
  /** `namespace/name`. */
  readonly service: string;
  readonly object: Service;
}

/** The order of Services. Those of equal age keep their order. */
export function orderOfService(services: Iterable<KeyedService>): OrderOfService {
  const vital: string[] = [];
  const others: KeyedService[] = [];
  for (const keyed of services) {
    if (isVital(keyed.object)) vital.push(keyed.service);
    else others.push(keyed);
  }
  others.sort((a, b) => a.object.createdAt - b.object.createdAt);
  return { vital, others: others.map(({ service }) => service) };
}
