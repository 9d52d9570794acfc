// core/v1 Node → Node.

import type { Fields } from '../input/fields.js';
import type { Node, ObjectName } from './types.js';

/** Key of the taint by which the cluster autoscaler says that it will remove the node. */
const DOOMED = 'ToBeDeletedByClusterAutoscaler';

/** Reads a Node. `former`: the Node as it could last be read. */
export function decodeNode({ name }: ObjectName, fields: Fields, former?: Node): Node {
  const status = fields.child('status');
  const spec = fields.child('spec');
  const metadata = fields.child('metadata');
  const labels = metadata.child('labels');
  return {
    ...decodeEligibility(metadata, spec),
    kind: 'Node',
    name,
    uid: metadata.text('uid'),
    zone: labels.orFormer(() => labels.text('topology.kubernetes.io/zone'), former?.zone),
    addresses: status.orFormer(() => decodeAddresses(status), former?.addresses),
    podCIDRs: spec.orFormer(() => spec.networks('podCIDRs'), former?.podCIDRs),
  };
}

/** All InternalIPs in order, then all ExternalIPs. */
function decodeAddresses(status: Fields): string[] {
  const addresses = status
    .children('addresses')
    .map((fields) => ({ type: fields.text('type'), fields }))
    .filter(({ type }) => type === 'InternalIP' || type === 'ExternalIP')
    .map(({ type, fields }) => ({ type, address: fields.address('address') }));
  const ofType = (wanted: string) =>
    addresses.flatMap(({ type, address }) => (type === wanted && address !== undefined ? [address] : []));
  return [...ofType('InternalIP'), ...ofType('ExternalIP')];
}

function decodeEligibility(metadata: Fields, spec: Fields): Pick<Node, 'deleting' | 'eligible'> {
  const deleting = metadata.has('deletionTimestamp');
  const taints = spec.children('taints');
  return { deleting, eligible: !deleting && !taints.some((taint) => taint.text('key') === DOOMED) };
}
