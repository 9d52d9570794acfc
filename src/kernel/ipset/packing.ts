// How operations become records, which the addon's client and the fake have in common.
import type { Packing } from '../batch.js';
import { attemptOf } from './names.js';
import { OPERATION_SIZE, writeOperation } from './records.js';
import type { IpsetOperation } from './types.js';

/** Operations of ipset. */
export const PACKING: Packing<IpsetOperation> = {
  family: 'ipset',
  recordSize: OPERATION_SIZE,
  write: writeOperation,
  attempt: attemptOf,
};
