// Plans of nftables mode for objects that are written in tests.
import type { Item } from '../../../src/proxy/modes/nftables/plan/items.js';
import { NFTABLES_DEFAULTS, type NftablesOptions } from '../../../src/proxy/modes/nftables/plan/options.js';
import { decodeObject } from '../../../src/proxy/objects/decode.js';
import type { KubernetesObject } from '../../../src/proxy/objects/types.js';
import type { DesiredState } from '../../../src/proxy/reconcile/desiredState.js';
import { nodeFacts } from '../../../src/proxy/services/nodeFacts.js';
import { ServiceCache } from '../../../src/proxy/services/serviceCache.js';
import { desiredOf } from '../oracle/plannedNftables.js';

/** A Service `demo/NAME` with one TCP port 80, which `spec` may replace. */
export function service(name: string, clusterIP: string, spec: object = {}, more: object = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'demo', name, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { clusterIP, ports: [{ port: 80 }], ...spec },
    ...more,
  };
}

/** A slice of a Service `demo/NAME`, with port 8080 of these addresses; those with `@` are on this node. */
export function slice(name: string, ...addresses: readonly string[]): object {
  const first = addresses[0] ?? '';
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace: 'demo', name: `${name}-1`, labels: { 'kubernetes.io/service-name': name } },
    addressType: first.includes(':') ? 'IPv6' : 'IPv4',
    ports: [{ port: 8080 }],
    endpoints: addresses.map((address) => ({
      addresses: [address.replace('@', '')],
      ...(address.startsWith('@') && { nodeName: 'node-a' }),
    })),
  };
}

/** What the mode wants for these objects. */
export function planned(
  objects: readonly object[],
  options: Partial<NftablesOptions> = {},
): DesiredState<Item> {
  const cache = new ServiceCache({ sharesEndpoints: true });
  for (const each of objects) {
    const object = decodeObject(each).object as KubernetesObject;
    for (const _ of cache.apply({ type: 'set', object }));
  }
  return desiredOf(cache, nodeFacts('node-a'), { ...NFTABLES_DEFAULTS, ...options });
}
