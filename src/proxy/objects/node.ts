// core/v1 Node → Node.

import type { V1Node, V1NodeSpec, V1NodeStatus, V1ObjectMeta } from '@kubernetes/client-node';
import type { Fields } from '../input/fields.js';
import { LABEL_VALUE, UID } from '../input/names.js';
import type { Node, ObjectName } from './types.js';

/** Key of the taint by which the cluster autoscaler announces that it will remove the node. */
const REMOVAL_TAINT = 'ToBeDeletedByClusterAutoscaler';

/** Reads a Node. `former`: the Node as it was last readable. */
export function decodeNode({ name }: ObjectName, fields: Fields<V1Node>, former?: Node): Node {
  const status = fields.child('status');
  const spec = fields.child('spec');
  const metadata = fields.child('metadata');
  const labels = metadata.child('labels');
  return {
    ...decodeEligibility(metadata, spec),
    kind: 'Node',
    name,
    uid: metadata.name('uid', UID) ?? '',
    zone: labels.orFormer(() => labels.name('topology.kubernetes.io/zone', LABEL_VALUE) ?? '', former?.zone),
    addresses: status.orFormer(() => decodeAddresses(status), former?.addresses),
    podCIDRs: spec.orFormer(() => spec.networks('podCIDRs'), former?.podCIDRs),
  };
}

/** All InternalIPs in order, then all ExternalIPs. */
function decodeAddresses(status: Fields<V1NodeStatus>): string[] {
  const addresses = [...status.children('addresses')]
    .map((fields) => ({ type: fields.text('type'), fields }))
    .filter(({ type }) => type === 'InternalIP' || type === 'ExternalIP')
    .map(({ type, fields }) => ({ type, address: fields.address('address') }));
  const ofType = (wanted: string) =>
    addresses.flatMap(({ type, address }) => (type === wanted && address !== undefined ? [address] : []));
  return [...ofType('InternalIP'), ...ofType('ExternalIP')];
}

function decodeEligibility(
  metadata: Fields<V1ObjectMeta>,
  spec: Fields<V1NodeSpec>,
): Pick<Node, 'deleting' | 'eligible'> {
  const deleting = metadata.has('deletionTimestamp');
  const taints = [...spec.children('taints')];
  return { deleting, eligible: !deleting && !taints.some((taint) => taint.text('key') === REMOVAL_TAINT) };
}
