// The deletion of the flows that a filter selects: listed, and then deleted by their names.
import { constants } from 'node:os';
import type { NetlinkError } from '../errors.js';
import type { NativeFailure, NativeNetlinkClient, NativeStatus } from '../shared/addon.js';
import { toNetlinkError, withoutStack } from '../shared/failures.js';
import { MESSAGE_HEADER } from '../shared/wire/messages.js';
import { TimeSlice } from '../timeSlice.js';
import { type FlowReader, firstFlow } from './decode/flows.js';
import { MessageWriter } from './encode/message.js';
import { putFoundDeletion } from './encode/requests.js';
import { listFlows, readersOf } from './listing.js';
import { attemptOn, nameFlow } from './names.js';
import type { ListingPlan } from './plans.js';
import type { FlowDeletion } from './types.js';

const OPERATION = 'conntrack.delete';
const { ENOENT } = constants.errno;

/** The most flows that are deleted together. */
const PORTION = 1024;

/**
 * Deletes the flows of a listing. Linux 6.11 can delete by a filter. That is not used: it does not return the number of deleted flows,
 * and may compare IPv6 addresses wrongly (see `kernelPart()`).
 */
export async function deleteFlows(client: NativeNetlinkClient, plan: ListingPlan): Promise<FlowDeletion> {
  const deletion = new Deletion(client);
  const slice = new TimeSlice();
  for (const reader of readersOf(await listFlows(client, plan, OPERATION), OPERATION)) {
    if (slice.spend(1)) await slice.yield();
    if (reader && deletion.add(reader)) await deletion.send();
  }
  await deletion.send();
  return deletion.result;
}

/** A flow that is deleted: where it was listed. Few are named, because few fail. */
interface Listed {
  readonly bytes: Uint8Array;
  readonly start: number;
}

class Deletion {
  readonly #client: NativeNetlinkClient;
  readonly #failures: NetlinkError[] = [];
  #writer = new MessageWriter();
  #flows: Listed[] = [];
  #deleted = 0;
  /** The failure of all flows that are still to be deleted. */
  #rest: NativeStatus | undefined;

  constructor(client: NativeNetlinkClient) {
    this.#client = client;
  }

  /** Adds the flow that was read. Returns whether those that were added must be sent. */
  add(flow: FlowReader): boolean {
    putFoundDeletion(flow, this.#writer);
    return this.#flows.push({ bytes: flow.bytes, start: flow.message.start - MESSAGE_HEADER }) === PORTION;
  }

  /** Sends what was added. */
  async send(): Promise<void> {
    const flows = this.#flows;
    const messages = this.#writer.written();
    this.#flows = [];
    this.#writer = new MessageWriter();
    if (flows.length === 0) return;
    const rest = this.#rest;
    const failures: readonly NativeFailure[] = rest
      ? flows.map((_, index) => ({ ...rest, index }))
      : await this.#client.apply(messages);
    this.#deleted += flows.length - failures.length;
    for (const failure of failures) this.#note(flows[failure.index], failure);
  }

  get result(): FlowDeletion {
    return { deleted: this.#deleted, failures: this.#failures };
  }

  /** A flow that ended by itself meanwhile is neither deleted nor a failure. */
  #note(listed: Listed | undefined, failure: NativeFailure): void {
    this.#rest ??= failure.rest;
    if (!listed || failure.errno === ENOENT) return;
    const flow = firstFlow(listed.bytes.subarray(listed.start), OPERATION)?.flow();
    this.#failures.push(withoutStack(() => toNetlinkError(failure, attemptOn('delete', nameFlow(flow)))));
  }
}
