// Deletes the flows that changes of Services leave behind: stale ones of UDP, with fail-fast those of TCP to endpoints that failed, and with
// drain-timeout those to endpoints that have drained for too long, and those that began while the kernel lacked the rules of their Service.
import type { ServicePlanInput } from '../services/types.js';
import { DrainedFlowCleaner } from './drainedFlowCleaner.js';
import { FailedFlowCleaner } from './failedFlowCleaner.js';
import { type CheckedFlows, type FlowResult, joined, type Unfinished } from './flowChecks.js';
import type { FrontendLookup } from './frontendLookup.js';
import { StaleFlowCleaner } from './staleFlowCleaner.js';
import { type ItemOwners, UntranslatedFlowCleaner } from './untranslatedFlowCleaner.js';

/** What a mode and a program give the cleaners. */
interface FlowCleanerOptions {
  /** A clock that never goes back, in ms. */
  readonly now: () => number;
  /** See `Upkeep.ownConnections`. */
  readonly ownConnections: boolean;
}

/** All cleaners, as one. */
export class FlowCleaner {
  readonly #stale: StaleFlowCleaner;
  readonly #untranslated: UntranslatedFlowCleaner;
  readonly #all: readonly Pick<StaleFlowCleaner, 'dueIn' | 'planned' | 'run'>[];

  constructor(conntrack: CheckedFlows, lookup: FrontendLookup, { now, ownConnections }: FlowCleanerOptions) {
    this.#stale = new StaleFlowCleaner(conntrack, lookup, ownConnections);
    this.#untranslated = new UntranslatedFlowCleaner(conntrack, lookup);
    const drained = ownConnections ? [] : [new DrainedFlowCleaner(conntrack, lookup, now)];
    this.#all = [this.#stale, new FailedFlowCleaner(conntrack, lookup), ...drained, this.#untranslated];
  }

  /** Time until the next check is due without a change, in ms; undefined if there is none. */
  get dueIn(): number | undefined {
    const times = this.#all.flatMap(({ dueIn }) => dueIn ?? []);
    return times.length > 0 ? Math.min(...times) : undefined;
  }

  /** Records the input of a Service's plan; undefined if the Service was deleted. */
  planned(service: string, input: ServicePlanInput | undefined): void {
    for (const cleaner of this.#all) cleaner.planned(service, input);
  }

  /** The kernel accepted an operation on an item. @param repaired its owners, if it repaired a change by another program */
  programmed(repaired?: ItemOwners): void {
    this.#untranslated.programmed(repaired);
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
    const results: FlowResult[] = [];
    for (const cleaner of this.#all) results.push(await cleaner.run(unfinished));
    return joined(results);
  }
}
