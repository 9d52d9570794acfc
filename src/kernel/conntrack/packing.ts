// How operations become records, which the addon's client and the fake have in common.
import type { Packing } from '../batch.js';
import { FLOW } from './layouts.js';
import { attemptOf } from './names.js';
import { writeFlowId } from './records.js';
import type { FlowId } from './types.js';

/** Deletions of flows. */
export const PACKING: Packing<FlowId> = {
  family: 'conntrack',
  recordSize: FLOW.SIZE,
  write: writeFlowId,
  attempt: (flow) => attemptOf(flow),
  nameOf: () => 'deleteFlow',
};
