// The endpoints of a Service whose connections are draining, and since when: those that are terminating, or were when they left the
// slices. For the modes without real servers. Pure.
import { AddressPorts } from '../../kernel/net/addressPorts.js';
import { type EndpointsByFamily, joinEndpoints, withoutEndpoints } from '../services/leftEndpoints.js';
import type { ServicePlanInput } from '../services/types.js';

/** Endpoints that began to drain in one pass. */
interface Group {
  readonly endpoints: EndpointsByFamily;
  /** In ms. */
  readonly since: number;
  /** Their flows were deleted, or are being so. Such endpoints are remembered while they are in the slices. */
  readonly ended: boolean;
}

/** The draining endpoints of one Service. Their number is bounded by those of its slices and those that left within the bound. */
export class DrainingEndpoints {
  #groups: readonly Group[] = [];

  /** No endpoint is draining. */
  get isEmpty(): boolean {
    return this.#groups.length === 0;
  }

  /** Records a plan. Endpoints that were not draining in the last one begin now. */
  planned(input: ServicePlanInput, now: number): void {
    const { terminating, used } = statesOf(input);
    const groups: Group[] = [];
    let known: EndpointsByFamily | undefined;
    for (const group of this.#groups) {
      const draining = withoutEndpoints(group.endpoints, used);
      // Those that left and have ended need not be remembered: nothing reports them again.
      const gone = group.ended && draining ? withoutEndpoints(draining, terminating) : undefined;
      const endpoints = draining && withoutEndpoints(draining, gone);
      if (!endpoints) continue;
      groups.push({ ...group, endpoints });
      known = joinEndpoints(known, endpoints);
    }
    const all = joinEndpoints(terminating, input.left);
    const fresh = all && withoutEndpoints(all, joinEndpoints(known, used));
    if (fresh) groups.push({ endpoints: fresh, since: now, ended: false });
    this.#groups = groups;
  }

  /** When the first endpoints have drained for the bound; undefined if no endpoint is draining. In ms. */
  dueAt(bound: number): number | undefined {
    // Groups are in the order of their times.
    const next = this.#groups.find(({ ended }) => !ended);
    return next && next.since + bound;
  }

  /** The endpoints that have drained for the bound, each once; undefined if there are none. */
  takeDue(now: number, bound: number): EndpointsByFamily | undefined {
    let due: EndpointsByFamily | undefined;
    this.#groups = this.#groups.map((group) => {
      if (group.ended || now - group.since < bound) return group;
      due = joinEndpoints(due, group.endpoints);
      return { ...group, ended: true };
    });
    return due;
  }
}

/**
 * The endpoints of a Service's TCP ports that are terminating, and those that are used: they are not terminating, or get new connections
 * although they are, because no other endpoint is ready.
 */
export function statesOf({ ports }: Pick<ServicePlanInput, 'ports'>): {
  readonly terminating: EndpointsByFamily | undefined;
  readonly used: EndpointsByFamily | undefined;
} {
  let terminating: EndpointsByFamily | undefined;
  let used: EndpointsByFamily | undefined;
  for (const { family, protocol, endpoints, clusterEndpoints, localEndpoints } of ports) {
    if (protocol !== 'tcp') continue;
    const ending = endpoints.terminating;
    const others = ending.size > 0 ? endpoints.addressPorts.without(ending) : endpoints.addressPorts;
    const none = AddressPorts.none(family);
    const chosen = ending.size > 0 ? clusterEndpoints.with(localEndpoints) : none;
    if (ending.size > 0) terminating = joinEndpoints(terminating, { [family]: ending });
    used = joinEndpoints(used, { [family]: others.with(chosen) });
  }
  return { terminating: terminating && withoutEndpoints(terminating, used), used };
}
