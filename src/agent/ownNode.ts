// Follows this node's own Node object: whether load balancers may use the node, and changes of its podCIDRs.
import type { ObjectChange } from '../objects/types.js';

/** Receivers of the reports. */
export interface OwnNodeEvents {
  /** Called for each change of the Node object: whether load balancers may use this node. */
  eligible(eligible: boolean): void;
  /** The podCIDRs of the Node changed. Rules depend on them, so that the agent must restart. */
  podCIDRsChanged(before: readonly string[], now: readonly string[]): void;
}

/**
 * Follows a node's own object. Its removal is ignored: kube-proxy uses only its deletionTimestamp.
 *
 * @param known podCIDRs at the start; if empty, the first ones of the Node object are adopted
 */
export function followOwnNode(
  name: string,
  known: readonly string[],
  events: OwnNodeEvents,
): (changes: readonly ObjectChange[]) => void {
  let podCIDRs = known;
  return (changes) => {
    for (const { type, object } of changes) {
      if (object.kind !== 'Node' || object.name !== name || type === 'delete') continue;
      events.eligible(object.eligible);
      if (podCIDRs.length === 0) podCIDRs = object.podCIDRs;
      else if (podCIDRs.join() !== object.podCIDRs.join()) events.podCIDRsChanged(podCIDRs, object.podCIDRs);
    }
  };
}
