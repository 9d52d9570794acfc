// An EndpointSlice with a trigger time.
import type { ObjectChange } from '../../../src/proxy/objects/types.js';
import { decodedSlice } from './decodedSlice.js';

/** A change of an IPv6 slice; `triggered` is the value of its annotation. */
export function triggeredSlice(
  name: string,
  triggered: string,
  type: 'set' | 'delete' = 'set',
): ObjectChange {
  const annotations = { 'endpoints.kubernetes.io/last-change-trigger-time': triggered };
  return { type, object: decodedSlice(name, annotations, { addressType: 'IPv6', ports: [], endpoints: [] }) };
}
