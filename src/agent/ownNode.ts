// What the agent itself takes from its own Node object as it changes: whether load balancers may use the node, and
// whether the pods' networks are still those that it started with.
import type { ObjectChange } from '../objects/types.js';

/** Who is told. */
export interface OwnNodeEvents {
  /** Whether load balancers may use this node, whenever the Node object says so. */
  eligible(eligible: boolean): void;
  /** The Node object has other pod networks than those known until now, which decide rules: the agent has to start anew. */
  podCIDRsChanged(before: readonly string[], now: readonly string[]): void;
}

/**
 * Follows a node's own object. That it is gone says nothing: kube-proxy heeds only its being deleted.
 *
 * @param known pod networks known at the start; the first ones told are adopted when there are none
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
