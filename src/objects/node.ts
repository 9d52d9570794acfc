// core/v1 Node → Node.

import type { Fields } from '../fields.js';
import type { ObjectName } from './decode.js';
import type { Node } from './types.js';

/** Key of the taint by which the cluster autoscaler says that it will remove the node. */
const DOOMED = 'ToBeDeletedByClusterAutoscaler';

/** Reads a Node. */
export function decodeNode({ name }: ObjectName, fields: Fields): Node {
  const addresses = fields.child('status').children('addresses');
  const ofType = (type: string) =>
    addresses
      .filter((address) => address.text('type') === type)
      .flatMap((address) => address.address('address') ?? []);
  const metadata = fields.child('metadata');
  const deleting = metadata.has('deletionTimestamp');
  const taints = fields.child('spec').children('taints');
  return {
    kind: 'Node',
    name,
    uid: metadata.text('uid'),
    deleting,
    eligible: !deleting && !taints.some((taint) => taint.text('key') === DOOMED),
    zone: metadata.child('labels').text('topology.kubernetes.io/zone'),
    addresses: [...ofType('InternalIP'), ...ofType('ExternalIP')],
    podCIDRs: fields.child('spec').networks('podCIDRs'),
  };
}
