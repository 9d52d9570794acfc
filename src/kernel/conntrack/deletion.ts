// The deletion of the flows that a filter selects: listed, and then deleted by their names.
import type { NativeFailure, NativeNetlinkClient, NativeStatus } from '../shared/addon.js';
import { toNetlinkError, withoutStack } from '../shared/failures.js';
import type { NetlinkError } from '../errors.js';
import { TimeSlice } from '../timeSlice.js';
import { FlowWriter } from './encode/batch.js';
import { listFlows, readFlows } from './listing.js';
import { attemptOn, nameFlow } from './names.js';
import { deletionOf } from './packing.js';
import type { ListingPlan } from './plans.js';
import type { Flow, FlowDeletion } from './types.js';
import { constants } from 'node:os';

const OPERATION = 'conntrack.delete';
const { ENOENT } = constants.errno;

/** The most flows that are deleted together. */
const PORTION = 1024;

/**
 * Deletes the flows of a listing. Linux 6.11 can delete by a filter. That is not used: it does not return the number of deleted flows,
 * and may compare IPv6 addresses wrongly (see `kernelPart()`).
 */
export async function deleteFlows(client: NativeNetlinkClient, plan: ListingPlan): Promise<FlowDeletion> {
  const listed = readFlows(await listFlows(client, plan, OPERATION), OPERATION);
  const deletion = new Deletion(client);
  const slice = new TimeSlice();
  for (const flow of listed) {
    if (slice.spend(1)) await slice.yield();
    if (flow) await deletion.add(flow);
  }
  return deletion.finish();
}

class Deletion {
  readonly #client: NativeNetlinkClient;
  readonly #writer = new FlowWriter();
  readonly #failures: NetlinkError[] = [];
  #portion: Flow[] = [];
  #deleted = 0;
  /** The failure of all flows that are still to be deleted. */
  #rest: NativeStatus | undefined;

  constructor(client: NativeNetlinkClient) {
    this.#client = client;
  }

  async add(flow: Flow): Promise<void> {
    if (this.#portion.length === PORTION) await this.#send();
    if (this.#portion.length === 0) this.#writer.begin();
    this.#writer.write(deletionOf(flow));
    this.#portion.push(flow);
  }

  async finish(): Promise<FlowDeletion> {
    await this.#send();
    return { deleted: this.#deleted, failures: this.#failures };
  }

  async #send(): Promise<void> {
    const flows = this.#portion;
    this.#portion = [];
    const rest = this.#rest;
    const failures: readonly NativeFailure[] = rest
      ? flows.map((_, index) => ({ ...rest, index }))
      : flows.length > 0
        ? await this.#writer.sendAll(this.#client)
        : [];
    this.#deleted += flows.length - failures.length;
    for (const failure of failures) this.#note(flows[failure.index], failure);
  }

  /** A flow that ended by itself meanwhile is neither deleted nor a failure. */
  #note(flow: Flow | undefined, failure: NativeFailure): void {
    this.#rest ??= failure.rest;
    if (!flow || failure.errno === ENOENT) return;
    this.#failures.push(withoutStack(() => toNetlinkError(failure, attemptOn('delete', nameFlow(flow)))));
  }
}
