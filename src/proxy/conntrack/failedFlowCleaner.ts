// Deletes the TCP flows to endpoints that failed, of Services with the setting fail-fast. The same in every mode.
import { type EndpointsByFamily, joinEndpoints } from '../services/leftEndpoints.js';
import type { ServicePlanInput } from '../services/types.js';
import {
  type FailedEndpoints,
  failedFlows,
  newlyFailed,
  notServingOf,
  selectFailed,
  stillFailed,
} from './failedFlows.js';
import { type CheckedFlows, FlowChecks, type FlowResult, type Unfinished } from './flowChecks.js';
import type { FrontendLookup } from './frontendLookup.js';

/** Records the endpoints that fail, and checks the flows to them. */
export class FailedFlowCleaner {
  /** By Service. */
  readonly #checks: FlowChecks<FailedEndpoints>;
  /** Service → its endpoints that did not serve in the last plan, and whose flows were checked. */
  readonly #notServing = new Map<string, EndpointsByFamily>();

  constructor(conntrack: CheckedFlows, lookup: FrontendLookup) {
    this.#checks = new FlowChecks(conntrack, {
      select: selectFailed,
      choose: (flows, failed) => failedFlows(flows, failed, lookup),
    });
  }

  /** Time until the next check is due without a change, in ms; undefined if no Service is pending that the kernel has. */
  get dueIn(): number | undefined {
    return this.#checks.dueIn;
  }

  /** Records the input of a Service's plan; undefined if the Service was deleted. */
  planned(service: string, input: ServicePlanInput | undefined): void {
    if (input?.settings?.failFast === undefined) {
      this.#checks.delete(service);
      this.#notServing.delete(service);
      return;
    }
    const failed = newlyFailed(input, this.#notServing.get(service));
    const pending = this.#checks.get(service);
    const former = pending && stillFailed(pending.endpoints, input);
    const notServing = notServingOf(input);
    if (notServing) this.#notServing.set(service, notServing);
    else this.#notServing.delete(service);
    const endpoints = joinEndpoints(former, failed);
    const subject = endpoints && {
      ports: input.ports.filter(({ protocol }) => protocol === 'tcp'),
      endpoints,
    };
    if (!subject) this.#checks.delete(service);
    else if (failed) this.#checks.add(service, service, subject);
    else this.#checks.replace(service, subject);
  }

  /** Deletes the flows to the failed endpoints of all pending Services. */
  run(unfinished?: Unfinished): Promise<FlowResult> {
    return this.#checks.run(unfinished);
  }
}
