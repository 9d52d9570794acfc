// How operations become records, which the addon's client and the fake have in common.
import type { Packing } from '../shared/batch.js';
import { verbOf } from '../shared/reported.js';
import { OPERATION } from './layouts.js';
import { attemptOf } from './names.js';
import { writeOperation } from './operations.js';
import type { FlowId, FlowOperation } from './types.js';

/** Operations on flows. */
export const PACKING: Packing<FlowOperation> = {
  family: 'conntrack',
  recordSize: OPERATION.SIZE,
  write: writeOperation,
  attempt: attemptOf,
  nameOf: verbOf,
};

/** Flows that are deleted, without an operation for each: an array of many would be made at once. */
export const DELETION_PACKING: Packing<FlowId> = {
  ...PACKING,
  write: (flow, writer) => writeOperation(deletionOf(flow), writer),
  attempt: (flow) => attemptOf(deletionOf(flow)),
  nameOf: () => 'deleteFlow',
};

/** The operation that deletes a flow. */
export function deletionOf(flow: FlowId): FlowOperation {
  return { do: 'deleteFlow', flow };
}
