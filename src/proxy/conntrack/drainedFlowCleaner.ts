// Deletes the TCP flows to endpoints that have been draining for longer than the setting drain-timeout of their Service, in the modes
// that do not end such connections themselves.
import { joinEndpoints, withoutEndpoints } from '../services/leftEndpoints.js';
import type { ServicePlanInput } from '../services/types.js';
import { DrainingEndpoints, statesOf } from './drainingEndpoints.js';
import { type FailedEndpoints, failedFlows, selectFailed, type TcpPort } from './failedFlows.js';
import { type CheckedFlows, FlowChecks, type FlowResult, type Unfinished } from './flowChecks.js';
import type { FrontendLookup } from './frontendLookup.js';

/** Longest time until a check, in ms: timers have no longer ones than 24 days. */
const LONGEST_WAIT = 3_600_000;

/** A Service with the setting, and draining endpoints. */
interface Draining {
  readonly endpoints: DrainingEndpoints;
  readonly ports: readonly TcpPort[];
  /** In ms. */
  readonly bound: number;
}

/** Records the endpoints that drain, and checks the flows to them when their time is over. */
export class DrainedFlowCleaner {
  /** By Service. */
  readonly #checks: FlowChecks<FailedEndpoints>;
  /** Only Services that have draining endpoints. */
  readonly #draining = new Map<string, Draining>();
  /** The time of no endpoint is over before this one, in ms. A Service that drains no more may leave it too early. */
  #next = Number.POSITIVE_INFINITY;
  readonly #now: () => number;

  /**
   * @param now a clock that never goes back, in ms
   */
  constructor(conntrack: CheckedFlows, lookup: FrontendLookup, now: () => number) {
    this.#checks = new FlowChecks(conntrack, {
      select: selectFailed,
      choose: (flows, drained) => failedFlows(flows, drained, lookup),
    });
    this.#now = now;
  }

  /** Time until the next check is due without a change, in ms; undefined if no endpoint is draining. */
  get dueIn(): number | undefined {
    const checks = this.#checks.dueIn;
    if (this.#draining.size === 0 || this.#next === Number.POSITIVE_INFINITY) return checks;
    const wait = Math.min(Math.max(this.#next - this.#now(), 0), LONGEST_WAIT);
    return Math.min(wait, checks ?? wait);
  }

  /** Records the input of a Service's plan; undefined if the Service was deleted. */
  planned(service: string, input: ServicePlanInput | undefined): void {
    const drainTimeout = input?.settings?.drainTimeout;
    if (!input || drainTimeout === undefined) {
      this.#checks.delete(service);
      this.#draining.delete(service);
      return;
    }
    const ports = input.ports.filter(({ protocol }) => protocol === 'tcp');
    const endpoints = this.#draining.get(service)?.endpoints ?? new DrainingEndpoints();
    endpoints.planned(input, this.#now());
    const bound = drainTimeout * 1000;
    if (endpoints.isEmpty) this.#draining.delete(service);
    else this.#draining.set(service, { endpoints, ports, bound });
    this.#next = Math.min(this.#next, endpoints.dueAt(bound) ?? this.#next);
    const pending = this.#checks.get(service);
    if (!pending) return;
    const still = withoutEndpoints(pending.endpoints, statesOf(input).used);
    if (still) this.#checks.replace(service, { ports, endpoints: still });
    else this.#checks.delete(service);
  }

  /** Deletes the flows to the endpoints whose time is over. */
  run(unfinished?: Unfinished): Promise<FlowResult> {
    const now = this.#now();
    if (now >= this.#next) this.#takeDue(now);
    return this.#checks.run(unfinished);
  }

  #takeDue(now: number): void {
    this.#next = Number.POSITIVE_INFINITY;
    for (const [service, { endpoints, ports, bound }] of this.#draining) {
      const due = endpoints.takeDue(now, bound);
      this.#next = Math.min(this.#next, endpoints.dueAt(bound) ?? this.#next);
      if (!due) continue;
      const pending = this.#checks.get(service)?.endpoints;
      this.#checks.add(service, service, { ports, endpoints: joinEndpoints(pending, due) ?? due });
    }
  }
}
