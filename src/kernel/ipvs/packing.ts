// How operations become records, which the addon's client and the fake have in common.
import type { Packing } from '../shared/batch.js';
import { verbOf } from '../shared/reported.js';
import { OPERATION } from './layouts.js';
import { attemptOf } from './names.js';
import { writeOperation } from './operations.js';
import type { IpvsOperation } from './types.js';

/** Operations of IPVS. */
export const PACKING: Packing<IpvsOperation> = {
  family: 'ipvs',
  recordSize: OPERATION.SIZE,
  write: writeOperation,
  attempt: attemptOf,
  nameOf: verbOf,
};
