// Conntrack values ↔ the records that cross to the addon; native/conntrack/records.h has the table of every offset.
import { type Family, formatAddress } from '../../net/address.js';
import { protocolOfNumber } from '../../net/protocol.js';
import { argumentError, findUnknown, onlyRecord, RecordWriter } from '../fields.js';
import type { Steps } from '../slices.js';
import type { Flow, FlowFilter, FlowId, FlowSelection, FlowTuple, ListOptions } from './types.js';

/** Bytes of a flow. */
export const FLOW_SIZE = 92;
/** Bytes of a filter. */
export const FILTER_SIZE = 76;

// Where the tuples begin.
const FLOW_ORIGINAL = 20;
const FLOW_REPLY = 56;
const FILTER_ORIGINAL = 4;
const FILTER_REPLY = 40;

const LARGEST_U16 = 0xffff;
const LARGEST_U32 = 0xffff_ffff;

/** Bit in a filter's record, and offset in a tuple's, of each field of a tuple. */
const TUPLE: Readonly<Record<keyof FlowTuple, { readonly bit: number; readonly offset: number }>> = {
  source: { bit: 1, offset: 0 },
  destination: { bit: 2, offset: 16 },
  sourcePort: { bit: 4, offset: 32 },
  destinationPort: { bit: 8, offset: 34 },
};
const PORTS = TUPLE.sourcePort.bit | TUPLE.destinationPort.bit;
const TUPLE_FIELDS: ReadonlySet<string> = new Set(Object.keys(TUPLE));
const LIST_OPTIONS: ReadonlySet<string> = new Set(['partial']);
const SELECTION_FIELDS: ReadonlySet<string> = new Set(['family', 'protocol', 'original', 'reply']);
// A flow that was listed names itself.
const FLOW_FIELDS: ReadonlySet<string> = new Set([
  ...SELECTION_FIELDS,
  ...['zone', 'id', 'status', 'mark', 'timeout'],
]);

/** Writes what names a flow. */
export function writeFlowId(flow: FlowId | undefined, writer: RecordWriter): void {
  if (typeof flow !== 'object' || flow === null) {
    writer.fail('flow', flow, 'must be an object', true);
    return;
  }
  writer.onlyFields('', flow, FLOW_FIELDS, 'a flow');
  writer.u8(1, writer.protocol('protocol', flow.protocol));
  writer.u16(2, writer.integer('zone', flow.zone ?? 0, 0, LARGEST_U16));
  writer.u32(4, writer.integer('id', flow.id ?? 0, 0, LARGEST_U32));
  const { original } = flow;
  if (typeof original !== 'object' || original === null) {
    writer.fail('original', original, 'must be an object', true);
    return;
  }
  writer.onlyFields('original.', original, TUPLE_FIELDS, 'a tuple');
  const family = writer.address('original.source', original.source, FLOW_ORIGINAL + TUPLE.source.offset);
  writer.u8(0, family);
  for (const field of ['destination', 'sourcePort', 'destinationPort'] as const) {
    writeTupleField(`original.${field}`, field, original, family, FLOW_ORIGINAL, writer);
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
  writer.u8(0, family);
  const anyProtocol = !('protocol' in selection);
  if (!anyProtocol) writer.u8(1, writer.protocol('protocol', selection.protocol));
  const original = writeTupleFilter('original', selection, FILTER_ORIGINAL, writer);
  const reply = writeTupleFilter('reply', selection, FILTER_REPLY, writer);
  writer.u8(2, original);
  writer.u8(3, reply);
  if (anyProtocol && ((original | reply) & PORTS) !== 0) {
    writer.fail('protocol', undefined, 'must be given with a port', true);
  }
  if (toDelete && (original | reply) === 0) {
    const rule =
      'must name an address or a port: without one it would select every flow, or every one of a protocol';
    writer.fail('filter', selection, rule, true);
  }
}

/** The records of selections to list by; throws what the call rejects with when one, or an option, breaks a rule. */
export function packSelections(selections: readonly FlowSelection[], options: ListOptions): Uint8Array {
  const unknown = findUnknown(options, LIST_OPTIONS);
  if (unknown) throw argumentError('conntrack.list', unknown);
  const writer = new RecordWriter(FILTER_SIZE, selections.length);
  for (const selection of selections) {
    writeSelection(selection, false, writer);
    const fault = writer.finish();
    if (fault) throw argumentError('conntrack.list', fault);
  }
  return writer.records();
}

/** The record of a filter to delete by; throws what the call rejects with when it breaks a rule. */
export function packFilter(filter: FlowFilter): Uint8Array {
  const writer = new RecordWriter(FILTER_SIZE, 1);
  writeSelection(filter, true, writer);
  return onlyRecord(writer, 'conntrack.delete');
}

/** Returns the bits of the fields that are given. */
function writeTupleFilter(
  side: 'original' | 'reply',
  selection: FlowSelection,
  start: number,
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
  for (const field of Object.keys(TUPLE) as (keyof FlowTuple)[]) {
    if (!(field in tuple)) continue;
    bits |= TUPLE[field].bit;
    writeTupleField(`${side}.${field}`, field, tuple, selection.family, start, writer);
  }
  return bits;
}

function writeTupleField(
  path: string,
  field: keyof FlowTuple,
  tuple: Partial<FlowTuple>,
  family: Family,
  start: number,
  writer: RecordWriter,
): void {
  const value = tuple[field];
  const offset = start + TUPLE[field].offset;
  if (field === 'sourcePort' || field === 'destinationPort') {
    writer.u16(offset, writer.integer(path, value, 0, LARGEST_U16));
  } else if (writer.address(path, value, offset) !== family) {
    writer.fail(path, value, `must be an IPv${family} address`);
  }
}

/** Reads a listing. */
export function* readFlows(bytes: Uint8Array): Steps<Flow[]> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const flows: Flow[] = [];
  for (let at = 0; at < bytes.length; at += FLOW_SIZE) {
    const family = view.getUint8(at) === 6 ? 6 : 4;
    const number = view.getUint8(at + 1);
    flows.push({
      family,
      protocol: protocolOfNumber(number) ?? number,
      original: readTuple(view, bytes, at + FLOW_ORIGINAL, family),
      reply: readTuple(view, bytes, at + FLOW_REPLY, family),
      zone: view.getUint16(at + 2, true),
      id: view.getUint32(at + 4, true),
      status: view.getUint32(at + 8, true),
      mark: view.getUint32(at + 12, true),
      timeout: view.getUint32(at + 16, true),
    });
    yield;
  }
  return flows;
}

function readTuple(view: DataView, bytes: Uint8Array, at: number, family: Family): FlowTuple {
  const address = (start: number) => formatAddress(bytes.subarray(start, start + (family === 4 ? 4 : 16)));
  return {
    source: address(at + TUPLE.source.offset),
    destination: address(at + TUPLE.destination.offset),
    sourcePort: view.getUint16(at + TUPLE.sourcePort.offset, true),
    destinationPort: view.getUint16(at + TUPLE.destinationPort.offset, true),
  };
}
