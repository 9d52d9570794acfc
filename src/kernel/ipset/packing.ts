// How operations become records, which the addon's client and the fake have in common.
import type { Packing } from '../shared/batch.js';
import { verbOf } from '../shared/reported.js';
import { OPERATION } from './layouts.js';
import { attemptOf } from './names.js';
import { writeOperation } from './records.js';
import type { IpsetOperation } from './types.js';

/** Operations of ipset. */
export const PACKING: Packing<IpsetOperation> = {
  family: 'ipset',
  recordSize: OPERATION.SIZE,
  write: writeOperation,
  attempt: attemptOf,
  nameOf: verbOf,
};
