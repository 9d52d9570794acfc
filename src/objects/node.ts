// core/v1 Node → Node.

import type { Fields } from '../fields.js';
import type { Node, ObjectName } from './types.js';

/** Key of the taint by which the cluster autoscaler says that it will remove the node. */
const DOOMED = 'ToBeDeletedByClusterAutoscaler';

/** Reads a Node. `former`: the Node as it could last be read. */
export function decodeNode({ name }: ObjectName, fields: Fields, former?: Node): Node {
  const status = fields.child('status');
  const spec = fields.child('spec');
  const labels = fields.child('metadata').child('labels');
  return {
    ...decodeEligibility(fields),
    kind: 'Node',
    name,
    uid: fields.child('metadata').text('uid'),
    zone: labels.orFormer(() => labels.text('topology.kubernetes.io/zone'), former?.zone),
    addresses: status.orFormer(() => decodeAddresses(status), former?.addresses),
    podCIDRs: spec.orFormer(() => spec.networks('podCIDRs'), former?.podCIDRs),
  };
}

/** All InternalIPs in order, then all ExternalIPs. */
function decodeAddresses(status: Fields): string[] {
  const addresses = status.children('addresses');
  const ofType = (type: string) =>
    addresses
      .filter((address) => address.text('type') === type)
      .flatMap((address) => address.address('address') ?? []);
  return [...ofType('InternalIP'), ...ofType('ExternalIP')];
}

function decodeEligibility(fields: Fields): Pick<Node, 'deleting' | 'eligible'> {
  const deleting = fields.child('metadata').has('deletionTimestamp');
  const taints = fields.child('spec').children('taints');
  return { deleting, eligible: !deleting && !taints.some((taint) => taint.text('key') === DOOMED) };
}
