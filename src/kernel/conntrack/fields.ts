// Fields that selections and operations have in common: status, marks and labels.
import type { Checker } from '../shared/checker.js';
import { LARGEST_LABEL } from './decode/labels.js';
import { STATUS_BITS } from './states.js';
import { LARGEST_U32 } from './tuples.js';
import type { MaskedMark } from './types.js';

const MARK_FIELDS: ReadonlySet<string> = new Set(['value', 'mask']);

/** The sum of the bits of flags. */
export function statusBits(path: string, value: unknown, check: Checker): number {
  if (!Array.isArray(value)) {
    check.fail(path, value, 'must be an array', true);
    return 0;
  }
  let sum = 0;
  for (const [i, name] of value.entries()) sum |= check.choice(`${path}[${i}]`, name, STATUS_BITS);
  return sum >>> 0;
}

/** A mark with its mask, which is 0xffffffff for a plain mark. */
export function maskedMark(path: string, mark: number | MaskedMark, check: Checker): MaskedMark {
  if (typeof mark === 'number') {
    return { value: check.integer(path, mark, 0, LARGEST_U32), mask: LARGEST_U32 };
  }
  if (!check.object(path, mark, MARK_FIELDS, 'a mark')) return { value: 0, mask: 0 };
  const mask = check.integer(`${path}.mask`, mark.mask, 1, LARGEST_U32);
  const bits = check.integer(`${path}.value`, mark.value, 0, LARGEST_U32);
  if ((bits & ~mask) !== 0) check.fail(`${path}.value`, bits, `must have no bit outside the mask ${mask}`);
  return { value: bits, mask };
}

/** The bits of labels: 16 bytes. */
export function labelBits(path: string, value: unknown, check: Checker): Uint8Array {
  const bytes = new Uint8Array((LARGEST_LABEL + 1) / 8);
  if (!Array.isArray(value)) {
    check.fail(path, value, 'must be an array', true);
    return bytes;
  }
  for (const [i, label] of value.entries()) {
    const bit = check.integer(`${path}[${i}]`, label, 0, LARGEST_LABEL);
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (1 << (bit & 7));
  }
  return bytes;
}

/** The bits of every label. */
export const EVERY_LABEL: Uint8Array = new Uint8Array((LARGEST_LABEL + 1) / 8).fill(0xff);
