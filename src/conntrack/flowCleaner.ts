// Deletes the flows that changes of Services leave behind: stale ones of UDP, and with fail-fast those of TCP to endpoints that failed.
import type { Protocol } from '../net/protocol.js';
import type { ServicePlanInput } from '../services/types.js';
import { FailedFlowCleaner } from './failedFlowCleaner.js';
import type { CheckedFlows, FlowResult, Unfinished } from './flowChecks.js';
import { StaleFlowCleaner } from './staleFlowCleaner.js';

/** Both cleaners, as one. */
export class FlowCleaner {
  readonly #stale: StaleFlowCleaner;
  readonly #failed: FailedFlowCleaner;

  /** @param isFrontend whether an address and port is a cluster, external or load-balancer IP with a port of the protocol of a Service */
  constructor(
    conntrack: CheckedFlows,
    isFrontend: (address: string, port: number, protocol: Protocol) => boolean,
  ) {
    this.#stale = new StaleFlowCleaner(conntrack, (address, port) => isFrontend(address, port, 'udp'));
    this.#failed = new FailedFlowCleaner(conntrack, (address, port) => isFrontend(address, port, 'tcp'));
  }

  /** Time until the next check is due without a change, in ms; undefined if there is none. */
  get dueIn(): number | undefined {
    return this.#stale.dueIn ?? this.#failed.dueIn;
  }

  /** Records the input of a Service's plan; undefined if the Service was deleted. */
  planned(service: string, input: ServicePlanInput | undefined): void {
    this.#stale.planned(service, input);
    this.#failed.planned(service, input);
  }

  /**
   * Deletes the flows of what is pending.
   *
   * @param unfinished Services of which the kernel refused an item
   */
  async run(unfinished?: Unfinished): Promise<FlowResult> {
    const stale = await this.#stale.run(unfinished);
    const failed = await this.#failed.run(unfinished);
    return {
      operations: [...stale.operations, ...failed.operations],
      failures: [...stale.failures, ...failed.failures],
    };
  }
}
