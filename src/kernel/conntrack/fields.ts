// Fields that selections and operations have in common: status, marks and labels.
import type { Place } from '../shared/records/layout.js';
import type { RecordReader } from '../shared/records/recordReader.js';
import type { RecordWriter } from '../shared/records/recordWriter.js';
import { STATUS_BITS } from './states.js';
import { LARGEST_U32 } from './tuples.js';
import type { MaskedMark } from './types.js';

/** Largest label (`XT_CONNLABEL_MAXBIT`). */
const LARGEST_LABEL = 127;

const MARK_FIELDS: ReadonlySet<string> = new Set(['value', 'mask']);

/** The sum of the bits of flags. */
export function statusBits(path: string, value: unknown, writer: RecordWriter): number {
  if (!Array.isArray(value)) {
    writer.fail(path, value, 'must be an array', true);
    return 0;
  }
  let sum = 0;
  for (const [i, name] of value.entries()) sum |= writer.choice(`${path}[${i}]`, name, STATUS_BITS);
  return sum >>> 0;
}

/** A mark with its mask, which is 0xffffffff for a plain mark. */
export function maskedMark(path: string, mark: number | MaskedMark, writer: RecordWriter): MaskedMark {
  if (typeof mark === 'number') {
    return { value: writer.integer(path, mark, 0, LARGEST_U32), mask: LARGEST_U32 };
  }
  if (!writer.object(path, mark, MARK_FIELDS, 'a mark')) return { value: 0, mask: 0 };
  const mask = writer.integer(`${path}.mask`, mark.mask, 1, LARGEST_U32);
  const bits = writer.integer(`${path}.value`, mark.value, 0, LARGEST_U32);
  if ((bits & ~mask) !== 0) writer.fail(`${path}.value`, bits, `must have no bit outside the mask ${mask}`);
  return { value: bits, mask };
}

/** Sets the bits of labels. */
export function writeLabels(
  path: string,
  value: unknown,
  field: Place<'address'>,
  writer: RecordWriter,
  ...parts: readonly number[]
): void {
  if (!Array.isArray(value)) {
    writer.fail(path, value, 'must be an array', true);
    return;
  }
  const bytes = new Uint8Array((LARGEST_LABEL + 1) / 8);
  for (const [i, label] of value.entries()) {
    const bit = writer.integer(`${path}[${i}]`, label, 0, LARGEST_LABEL);
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (1 << (bit & 7));
  }
  writeBytes(bytes, field, writer, ...parts);
}

/** Sets the bits of every label. */
export function writeEveryLabel(field: Place<'address'>, writer: RecordWriter): void {
  writeBytes(new Uint8Array((LARGEST_LABEL + 1) / 8).fill(0xff), field, writer);
}

function writeBytes(
  bytes: Uint8Array,
  field: Place<'address'>,
  writer: RecordWriter,
  ...parts: readonly number[]
): void {
  const part = parts.reduce((sum, place) => sum + place, 0);
  for (const [i, byte] of bytes.entries()) writer.u8((field + i) as Place<'u8'>, byte, part);
}

/** Reads labels, ascending. */
export function readLabels(reader: RecordReader, field: Place<'address'>): number[] {
  const bytes = reader.bytes(field, (LARGEST_LABEL + 1) / 8);
  const labels: number[] = [];
  for (let label = 0; label <= LARGEST_LABEL; label++) {
    if (((bytes[label >> 3] ?? 0) >> (label & 7)) & 1) labels.push(label);
  }
  return labels;
}
