// Deletes the flows that changes of Services leave behind: stale ones of UDP, with fail-fast those of TCP to endpoints that failed, and with
// drain-timeout those to endpoints that have drained for too long.
import type { Protocol } from '../net/protocol.js';
import type { ServicePlanInput } from '../services/types.js';
import { DrainedFlowCleaner } from './drainedFlowCleaner.js';
import { FailedFlowCleaner } from './failedFlowCleaner.js';
import type { CheckedFlows, FlowResult, Unfinished } from './flowChecks.js';
import { StaleFlowCleaner } from './staleFlowCleaner.js';

/** What a mode and a program give the cleaners. */
export interface FlowCleanerOptions {
  /** A clock that never goes back, in ms. */
  readonly now: () => number;
  /** See `Mode.endsDraining`. */
  readonly modeEndsDraining: boolean;
}

/** All cleaners, as one. */
export class FlowCleaner {
  readonly #stale: StaleFlowCleaner;
  readonly #failed: FailedFlowCleaner;
  readonly #drained: DrainedFlowCleaner | undefined;

  /** @param isFrontend whether an address and port is a cluster, external or load-balancer IP with a port of the protocol of a Service */
  constructor(
    conntrack: CheckedFlows,
    isFrontend: (address: string, port: number, protocol: Protocol) => boolean,
    { now, modeEndsDraining }: FlowCleanerOptions,
  ) {
    const isTcp = (address: string, port: number) => isFrontend(address, port, 'tcp');
    this.#stale = new StaleFlowCleaner(conntrack, (address, port) => isFrontend(address, port, 'udp'));
    this.#failed = new FailedFlowCleaner(conntrack, isTcp);
    this.#drained = modeEndsDraining ? undefined : new DrainedFlowCleaner(conntrack, isTcp, now);
  }

  /** Time until the next check is due without a change, in ms; undefined if there is none. */
  get dueIn(): number | undefined {
    const times = [this.#stale, this.#failed, this.#drained].flatMap((cleaner) => cleaner?.dueIn ?? []);
    return times.length > 0 ? Math.min(...times) : undefined;
  }

  /** Records the input of a Service's plan; undefined if the Service was deleted. */
  planned(service: string, input: ServicePlanInput | undefined): void {
    this.#stale.planned(service, input);
    this.#failed.planned(service, input);
    this.#drained?.planned(service, input);
  }

  /** Has the UDP flows of all Services checked: rules of another mode may have sent them to endpoints that do not serve. */
  again(): void {
    this.#stale.again();
  }

  /**
   * Deletes the flows of what is pending.
   *
   * @param unfinished Services of which the kernel refused an item
   */
  async run(unfinished?: Unfinished): Promise<FlowResult> {
    const stale = await this.#stale.run(unfinished);
    const failed = await this.#failed.run(unfinished);
    const drained = await this.#drained?.run(unfinished);
    return {
      operations: [...stale.operations, ...failed.operations, ...(drained?.operations ?? [])],
      failures: [...stale.failures, ...failed.failures, ...(drained?.failures ?? [])],
    };
  }
}
