// The node ports that Services want on localhost, from their plans.
import type { Family } from '../../kernel/net/address.js';
import type { ServicePlanInput } from '../../proxy/services/types.js';
import type { PlannedPorts, WantedPort } from './localhostPorts.js';

/** The plans of a pass. */
export class LocalhostPlans {
  readonly #families: ReadonlySet<Family>;
  #planned = new Map<string, readonly WantedPort[]>();
  /** Services whose last plan has node ports. */
  readonly #withPorts = new Set<string>();

  constructor(families: Iterable<Family>) {
    this.#families = new Set(families);
  }

  /** A Service was planned; undefined if it was deleted. */
  planned(service: string, input: ServicePlanInput | undefined): void {
    const wanted = input ? this.#wantedOf(input) : [];
    const hadPorts = wanted.length > 0 || this.#withPorts.delete(service);
    if (wanted.length > 0) this.#withPorts.add(service);
    // Most Services have no node port.
    if (hadPorts) this.#planned.set(service, wanted);
  }

  /** The plans since the last call. */
  take(): PlannedPorts {
    const planned = this.#planned;
    this.#planned = new Map();
    return planned;
  }

  #wantedOf({ ports }: ServicePlanInput): WantedPort[] {
    const wanted: WantedPort[] = [];
    for (const { family, protocol, frontends, affinitySeconds, ...lists } of ports) {
      if (protocol !== 'tcp' || !this.#families.has(family)) continue;
      for (const { kind, port, localPolicy } of frontends) {
        if (kind !== 'nodePort') continue;
        const endpoints = localPolicy ? lists.localEndpoints : lists.clusterEndpoints;
        if (endpoints.size > 0)
          wanted.push({ nodePort: { family, port }, target: { endpoints, affinitySeconds } });
      }
    }
    return wanted;
  }
}
