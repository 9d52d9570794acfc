// An EndpointSlice of Service `demo/web` as the decoder makes it.
import assert from 'node:assert/strict';
import { decodeObject } from '../../../src/proxy/objects/decode.js';
import type { EndpointSlice } from '../../../src/proxy/objects/types.js';

/** @param rest the fields of the slice beside its metadata */
export function decodedSlice(
  name: string,
  annotations: Readonly<Record<string, string>>,
  rest: {
    readonly addressType: 'IPv4' | 'IPv6';
    readonly ports: readonly object[];
    readonly endpoints: readonly object[];
  },
): EndpointSlice {
  const labels = { 'kubernetes.io/service-name': 'web' };
  const { object } = decodeObject({
    ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' },
    metadata: { namespace: 'demo', name, labels, annotations },
    ...rest,
  });
  assert.ok(object);
  return object as EndpointSlice;
}
