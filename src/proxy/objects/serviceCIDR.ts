// networking.k8s.io ServiceCIDR → ServiceCIDR.
import type { V1ServiceCIDR } from '@kubernetes/client-node';
import type { Fields } from '../input/fields.js';
import type { ObjectName, ServiceCIDR } from './types.js';

/** Reads a ServiceCIDR. `former`: the object as it was last readable. */
export function decodeServiceCIDR(
  { name }: ObjectName,
  fields: Fields<V1ServiceCIDR>,
  former?: ServiceCIDR,
): ServiceCIDR {
  const spec = fields.child('spec');
  return { kind: 'ServiceCIDR', name, cidrs: spec.orFormer(() => spec.networks('cidrs'), former?.cidrs) };
}
