// How operations become records, which the addon's client and the fake have in common.
import type { Packing } from '../batch.js';
import { attemptOf } from './names.js';
import { OPERATION_SIZE, writeOperation } from './records.js';
import type { RtnetlinkOperation } from './types.js';

/** Operations of rtnetlink. */
export const PACKING: Packing<RtnetlinkOperation> = {
  family: 'rtnetlink',
  recordSize: OPERATION_SIZE,
  write: writeOperation,
  attempt: attemptOf,
};
