// Conntrack values ↔ the records that cross to the addon.
import type { Family } from '../../net/address.js';
import { protocolOfNumber } from '../../net/protocol.js';
import { argumentError, findUnknown } from '../arguments.js';
import type { Reading } from '../listing.js';
import { RecordReader } from '../recordReader.js';
import { onlyRecord, RecordWriter } from '../recordWriter.js';
import { FILTER, FLOW, TUPLE, TUPLE_FIELD } from './layouts.js';
import type { Flow, FlowFilter, FlowId, FlowSelection, FlowTuple, ListOptions } from './types.js';

const LARGEST_U16 = 0xffff;
const LARGEST_U32 = 0xffff_ffff;

const BITS = TUPLE_FIELD.numbers;
const PORTS = BITS.sourcePort | BITS.destinationPort;
const TUPLE_FIELD_NAMES = Object.keys(BITS) as (keyof FlowTuple)[];
const TUPLE_FIELDS: ReadonlySet<string> = new Set(TUPLE_FIELD_NAMES);
const LIST_OPTIONS: ReadonlySet<string> = new Set(['partial']);
const SELECTION_FIELDS: ReadonlySet<string> = new Set(['family', 'protocol', 'original', 'reply']);
// A flow that was listed names itself.
const FLOW_FIELDS: ReadonlySet<string> = new Set([
  ...SELECTION_FIELDS,
  ...['zone', 'id', 'status', 'mark', 'timeout'],
]);

/** Writes the fields that name a flow. */
export function writeFlowId(flow: FlowId | undefined, writer: RecordWriter): void {
  if (typeof flow !== 'object' || flow === null) {
    writer.fail('flow', flow, 'must be an object', true);
    return;
  }
  writer.onlyFields('', flow, FLOW_FIELDS, 'a flow');
  writer.u8(FLOW.protocol, writer.protocol('protocol', flow.protocol));
  writer.u16(FLOW.zone, writer.integer('zone', flow.zone ?? 0, 0, LARGEST_U16));
  writer.u32(FLOW.id, writer.integer('id', flow.id ?? 0, 0, LARGEST_U32));
  const { original } = flow;
  if (typeof original !== 'object' || original === null) {
    writer.fail('original', original, 'must be an object', true);
    return;
  }
  writer.onlyFields('original.', original, TUPLE_FIELDS, 'a tuple');
  const family = writer.address('original.source', original.source, TUPLE.source, FLOW.original);
  writer.u8(FLOW.family, family);
  for (const field of ['destination', 'sourcePort', 'destinationPort'] as const) {
    writeTupleField(`original.${field}`, field, original, family, FLOW.original, writer);
  }
}

/** Writes a selection; `toDelete` makes sure that it names an address or a port. */
export function writeSelection(selection: FlowSelection, toDelete: boolean, writer: RecordWriter): void {
  if (typeof selection !== 'object' || selection === null) {
    writer.fail('filter', selection, 'must be an object', true);
    return;
  }
  writer.onlyFields('', selection, SELECTION_FIELDS, 'a filter');
  const { family } = selection;
  if (family !== 4 && family !== 6)
    writer.fail('family', family, 'must be 4 or 6', typeof family !== 'number');
  writer.u8(FILTER.family, family);
  const anyProtocol = !('protocol' in selection);
  if (!anyProtocol) writer.u8(FILTER.protocol, writer.protocol('protocol', selection.protocol));
  const original = writeTupleFilter('original', selection, FILTER.original, writer);
  const reply = writeTupleFilter('reply', selection, FILTER.reply, writer);
  writer.u8(FILTER.originalFields, original);
  writer.u8(FILTER.replyFields, reply);
  if (anyProtocol && ((original | reply) & PORTS) !== 0) {
    writer.fail('protocol', undefined, 'must be given with a port', true);
  }
  if (toDelete && (original | reply) === 0) {
    const rule =
      'must name an address or a port: without one it would select every flow, or every one of a protocol';
    writer.fail('filter', selection, rule, true);
  }
}

/** The records of selections to list by; throws the error of the call when a selection or an option breaks a rule. */
export function packSelections(selections: readonly FlowSelection[], options: ListOptions): Uint8Array {
  const unknown = findUnknown(options, LIST_OPTIONS);
  if (unknown) throw argumentError('conntrack.list', unknown);
  const writer = new RecordWriter(FILTER.SIZE, selections.length);
  for (const selection of selections) {
    writeSelection(selection, false, writer);
    const fault = writer.finish();
    if (fault) throw argumentError('conntrack.list', fault);
  }
  return writer.records();
}

/** The record of a filter to delete by; throws the error of the call when it breaks a rule. */
export function packFilter(filter: FlowFilter): Uint8Array {
  const writer = new RecordWriter(FILTER.SIZE, 1);
  writeSelection(filter, true, writer);
  return onlyRecord(writer, 'conntrack.delete');
}

/** Returns the bits of the fields that are given. */
function writeTupleFilter(
  side: 'original' | 'reply',
  selection: FlowSelection,
  part: number,
  writer: RecordWriter,
): number {
  if (!(side in selection)) return 0;
  const tuple: unknown = selection[side];
  if (typeof tuple !== 'object' || tuple === null) {
    writer.fail(side, tuple, 'must be an object', true);
    return 0;
  }
  writer.onlyFields(`${side}.`, tuple, TUPLE_FIELDS, 'a filter');
  let bits = 0;
  for (const field of TUPLE_FIELD_NAMES) {
    if (!(field in tuple)) continue;
    bits |= BITS[field];
    writeTupleField(`${side}.${field}`, field, tuple, selection.family, part, writer);
  }
  return bits;
}

function writeTupleField(
  path: string,
  field: keyof FlowTuple,
  tuple: Partial<FlowTuple>,
  family: Family,
  part: number,
  writer: RecordWriter,
): void {
  const value = tuple[field];
  if (field === 'sourcePort' || field === 'destinationPort') {
    writer.u16(TUPLE[field], writer.integer(path, value, 0, LARGEST_U16), part);
  } else if (writer.address(path, value, TUPLE[field], part) !== family) {
    writer.fail(path, value, `must be an IPv${family} address`);
  }
}

/** Reads a listing. */
export function* readFlows(bytes: Uint8Array): Reading<Flow> {
  for (const reader = new RecordReader(bytes); reader.hasMore; reader.skip(FLOW.SIZE)) {
    const family = reader.u8(FLOW.family) === 6 ? 6 : 4;
    const number = reader.u8(FLOW.protocol);
    yield {
      family,
      protocol: protocolOfNumber(number) ?? number,
      original: readTuple(reader, FLOW.original, family),
      reply: readTuple(reader, FLOW.reply, family),
      zone: reader.u16(FLOW.zone),
      id: reader.u32(FLOW.id),
      status: reader.u32(FLOW.status),
      mark: reader.u32(FLOW.mark),
      timeout: reader.u32(FLOW.timeout),
    };
  }
}

function readTuple(reader: RecordReader, part: number, family: Family): FlowTuple {
  return {
    source: reader.address(TUPLE.source, family, part),
    destination: reader.address(TUPLE.destination, family, part),
    sourcePort: reader.u16(TUPLE.sourcePort, part),
    destinationPort: reader.u16(TUPLE.destinationPort, part),
  };
}
