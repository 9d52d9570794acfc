// How operations become records, which the addon's client and the fake have in common.
import type { Packing } from '../batch.js';
import { verbOf } from '../reported.js';
import { OPERATION } from './layouts.js';
import { attemptOf } from './names.js';
import { writeOperation } from './operations.js';
import type { FlowOperation } from './types.js';

/** Operations on flows. */
export const PACKING: Packing<FlowOperation> = {
  family: 'conntrack',
  recordSize: OPERATION.SIZE,
  write: writeOperation,
  attempt: attemptOf,
  nameOf: verbOf,
};
