// An EndpointSlice with a trigger time.
import assert from 'node:assert/strict';
import { decodeObject } from '../../../src/objects/decode.js';
import type { ObjectChange } from '../../../src/objects/types.js';

/** A change of an IPv6 slice; `triggered` is the value of its annotation. */
export function triggeredSlice(
  name: string,
  triggered: string,
  type: 'set' | 'delete' = 'set',
): ObjectChange {
  const { object } = decodeObject({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      namespace: 'demo',
      name,
      labels: { 'kubernetes.io/service-name': 'web' },
      annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': triggered },
    },
    addressType: 'IPv6',
    ports: [],
    endpoints: [],
  });
  assert.ok(object);
  return { type, object };
}
