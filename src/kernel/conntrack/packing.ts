// How operations become messages, which the client and the fake have in common.
import type { MessagePacking, OperationWriter } from '../shared/batch.js';
import { verbOf } from '../shared/reported.js';
import { FlowWriter } from './encode/batch.js';
import { attemptOf } from './names.js';
import type { FlowId, FlowOperation } from './types.js';

/** Operations on flows. */
export const PACKING: MessagePacking<FlowOperation> = {
  family: 'conntrack',
  writer: () => new FlowWriter(),
  attempt: attemptOf,
  nameOf: verbOf,
};

/** Flows that are deleted, without an operation for each: an array of many would be made at once. */
export const DELETION_PACKING: MessagePacking<FlowId> = {
  family: 'conntrack',
  writer: () => new DeletionWriter(),
  attempt: (flow) => attemptOf(deletionOf(flow)),
  nameOf: () => 'deleteFlow',
};

/** The operation that deletes a flow. */
export function deletionOf(flow: FlowId): FlowOperation {
  return { do: 'deleteFlow', flow };
}

/** Writes the deletions of flows. */
class DeletionWriter implements OperationWriter<FlowId> {
  readonly #writer = new FlowWriter();

  begin(): void {
    this.#writer.begin();
  }

  write(flow: FlowId) {
    return this.#writer.write(deletionOf(flow));
  }

  get size(): number {
    return this.#writer.size;
  }

  send(client: Parameters<FlowWriter['send']>[0]) {
    return this.#writer.send(client);
  }
}
