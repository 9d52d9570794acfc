// core/v1 Node → Node.

import type { Fields } from '../fields.js';
import type { ObjectName } from './decode.js';
import type { Node } from './types.js';

/** Reads a Node. */
export function decodeNode({ name }: ObjectName, fields: Fields): Node {
  const addresses = fields.child('status').children('addresses');
  const ofType = (type: string) =>
    addresses
      .filter((address) => address.text('type') === type)
      .flatMap((address) => address.address('address') ?? []);
  return {
    kind: 'Node',
    name,
    zone: fields.child('metadata').child('labels').text('topology.kubernetes.io/zone'),
    addresses: [...ofType('InternalIP'), ...ofType('ExternalIP')],
    podCIDRs: fields.child('spec').networks('podCIDRs'),
  };
}
