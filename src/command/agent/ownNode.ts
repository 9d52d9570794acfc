// Follows this node's own Node object: whether load balancers may use the node, and changes of what rules depend on.
import { type Family, familyOf } from '../../kernel/net/address.js';
import type { ObjectChange } from '../../proxy/objects/types.js';

/** The Node object as the agent found it at its start. */
interface KnownNode {
  /** Its podCIDRs; if empty, the first ones of the Node object are adopted. */
  readonly podCIDRs: readonly string[];
  /** Its addresses, internal ones first; undefined if it was not read: its changes are then not reported. */
  readonly addresses: readonly string[] | undefined;
}

/** Receivers of the reports. */
interface OwnNodeEvents {
  /** Called for each change of the Node object: whether load balancers may use this node. */
  eligible(eligible: boolean): void;
  /** The podCIDRs of the Node changed. Rules depend on them, so that the agent must restart. */
  podCIDRsChanged(before: readonly string[], now: readonly string[]): void;
  /** The node IPs changed: the first address, and the first one of the other family. */
  nodeIPsChanged(before: readonly string[], now: readonly string[]): void;
  /** The Node object was deleted. */
  deleted(): void;
}

/**
 * Follows a node's own object.
 *
 * @param known the Node object at the start
 */
export function followOwnNode(
  name: string,
  known: KnownNode,
  events: OwnNodeEvents,
): (changes: readonly ObjectChange[]) => void {
  let { podCIDRs } = known;
  let nodeIPs = known.addresses && nodeIPsOf(known.addresses);
  return (changes) => {
    for (const { type, object } of changes) {
      if (object.kind !== 'Node' || object.name !== name) continue;
      if (type === 'delete') {
        events.deleted();
        continue;
      }
      events.eligible(object.eligible);
      if (podCIDRs.length === 0) podCIDRs = object.podCIDRs;
      else if (podCIDRs.join() !== object.podCIDRs.join()) events.podCIDRsChanged(podCIDRs, object.podCIDRs);
      const now = nodeIPsOf(object.addresses);
      if (nodeIPs && nodeIPs.join() !== now.join()) {
        events.nodeIPsChanged(nodeIPs, now);
        nodeIPs = now;
      }
    }
  };
}

/** As kube-proxy selects them: the first address, and the first one of the other family. */
function nodeIPsOf(addresses: readonly string[]): string[] {
  const [first] = addresses;
  if (first === undefined) return [];
  const other: Family = familyOf(first) === 4 ? 6 : 4;
  const second = addresses.find((address) => familyOf(address) === other);
  return second === undefined ? [first] : [first, second];
}
