// Counters and quotas of the fake kernel: it lists what was not written, too.
import { OBJECT_TYPES } from '../../nftables/numbers.js';
import { Attributes, AttributesOut } from './attributes.js';

/** An attribute that is listed always: its type, and whether it has 64 bits. */
type State = readonly [type: number, isLong: boolean];

/** `NFTA_COUNTER_` */
const COUNTER: readonly State[] = [
  [1, true],
  [2, true],
];
/** `NFTA_QUOTA_`: bytes, flags, consumed. */
const QUOTA: readonly State[] = [
  [1, true],
  [2, false],
  [4, true],
];

/** The attributes of objects, by their types. */
export const OBJECT_STATES: ReadonlyMap<number, readonly State[]> = new Map([
  [OBJECT_TYPES.counter, COUNTER],
  [OBJECT_TYPES.quota, QUOTA],
]);

/** The same of expressions, by their names. */
export const EXPRESSION_STATES: Readonly<Record<string, readonly State[]>> = {
  counter: COUNTER,
  quota: QUOTA,
};

/** The attributes that were written, and zeros for those that were not. */
export function stateOf(states: readonly State[], written: Uint8Array | undefined): Uint8Array {
  const attributes = new Attributes(written ?? new Uint8Array());
  const out = new AttributesOut();
  for (const [type, isLong] of states) {
    if (isLong) out.u64(type, attributes.u64(type) ?? 0n);
    else out.u32(type, attributes.u32(type) ?? 0);
  }
  return new Uint8Array(out.writer.written());
}
