// The parts of objects that rules refer to by name (`NFTA_COUNTER_`, `NFTA_QUOTA_`).
import type { NewObject } from '../types.js';
import { bigInteger } from './formats.js';
import { bits, field, optional, type Part } from './parts.js';

/** Of each type. */
export const OBJECT_PARTS: Readonly<Record<NewObject['type'], readonly Part[]>> = {
  counter: [optional('bytes', 1, bigInteger), optional('packets', 2, bigInteger)],
  quota: [
    field('bytes', 1, bigInteger),
    bits(2, { booleans: { over: 1 }, ignored: 2 }), // 2: it is depleted, which follows from the numbers
    optional('used', 4, bigInteger),
  ],
};

/** `NFTA_COUNTER_PAD`, `NFTA_QUOTA_PAD` */
export const OBJECT_PADDING = 3;
