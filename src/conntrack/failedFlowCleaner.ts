// Deletes the TCP flows to endpoints that failed, of Services with the setting fail-fast. The same in every mode.
import { type EndpointsByFamily, joinEndpoints } from '../services/leftEndpoints.js';
import type { ServicePlanInput } from '../services/types.js';
import {
  type FailedEndpoints,
  failedFlows,
  type IsTcpFrontend,
  newlyFailed,
  notServingOf,
  selectFailed,
  stillFailed,
} from './failedFlows.js';
import {
  type CheckedFlows,
  deleteFlows,
  FLOW_CHECK,
  type FlowResult,
  listFlows,
  MOST_CHECKS,
  NOTHING,
} from './flowChecks.js';

/** A Service whose flows to failed endpoints are to be checked. */
interface PendingService extends FailedEndpoints {
  /** Number of checks since the kernel has the items of the Service. */
  checks: number;
  /** The kernel does not have all items of the Service: the pass that programs them checks again. */
  waits: boolean;
}

/** Records the endpoints that fail, and checks the flows to them. */
export class FailedFlowCleaner {
  readonly #conntrack: CheckedFlows;
  readonly #isFrontend: IsTcpFrontend;
  /** Service → its endpoints that did not serve in the last plan, and whose flows were checked. */
  readonly #notServing = new Map<string, EndpointsByFamily>();
  readonly #pending = new Map<string, PendingService>();

  /** @param isFrontend whether an address and port is a cluster, external or load-balancer IP with a TCP port of a Service */
  constructor(conntrack: CheckedFlows, isFrontend: IsTcpFrontend) {
    this.#conntrack = conntrack;
    this.#isFrontend = isFrontend;
  }

  /** Time until the next check is due without a change, in ms; undefined if no Service is pending that the kernel has. */
  get dueIn(): number | undefined {
    for (const { waits } of this.#pending.values()) if (!waits) return FLOW_CHECK;
    return undefined;
  }

  /** Records the input of a Service's plan; undefined if the Service was deleted. */
  planned(service: string, input: ServicePlanInput | undefined): void {
    const pending = this.#pending.get(service);
    this.#pending.delete(service);
    if (input?.settings?.failFast === undefined) {
      this.#notServing.delete(service);
      return;
    }
    const failed = newlyFailed(input, this.#notServing.get(service));
    const former = pending && stillFailed(pending.endpoints, input);
    const notServing = notServingOf(input);
    if (notServing) this.#notServing.set(service, notServing);
    else this.#notServing.delete(service);
    const endpoints = joinEndpoints(former, failed);
    if (!endpoints) return;
    const ports = input.ports.filter(({ protocol }) => protocol === 'tcp');
    const checks = failed ? 0 : (pending?.checks ?? 0);
    this.#pending.set(service, { ports, endpoints, checks, waits: false });
  }

  /**
   * Deletes the flows to the failed endpoints of all pending Services. A Service stays pending until the kernel has its items and a check
   * finds no such flow.
   *
   * @param unfinished Services of which the kernel refused an item
   */
  async run(unfinished: Pick<ReadonlySet<string>, 'has'> = new Set()): Promise<FlowResult> {
    if (this.#pending.size === 0) return NOTHING;
    // First: if the flows cannot be listed, the Services that do not wait are due again.
    for (const [service, pending] of this.#pending) pending.waits = unfinished.has(service);
    const pending = [...this.#pending.values()];
    const listed = await listFlows(this.#conntrack, selectFailed(pending));
    if ('failed' in listed) return listed.failed;
    const flows = failedFlows(listed.flows, pending, this.#isFrontend);
    for (const [service, each] of this.#pending) {
      if (each.waits) continue;
      if (flows.length === 0 || ++each.checks === MOST_CHECKS) this.#pending.delete(service);
    }
    return deleteFlows(this.#conntrack, flows);
  }
}
