// Selections of flows → the records that cross to the addon.

import { type Family, formatAddress } from '../net/address.js';
import { parseNetworkAsIs } from '../net/network.js';
import { argumentError, checkOptions } from '../shared/arguments.js';
import type { Place } from '../shared/records/layout.js';
import { onlyRecord, RecordWriter } from '../shared/records/recordWriter.js';
import type { CallOptions } from '../shared/types.js';
import { atOnce, StepCounter, type Steps } from '../steps.js';
import { maskedMark, statusBits, writeLabels } from './fields.js';
import { CONDITION, EVENT_KIND, FILTER, LISTING, TABLE, TUPLE, TUPLE_FIELD } from './layouts.js';
import { isIcmp, isIcmpKind, LARGEST_U8, LARGEST_U16, TUPLE_FIELDS } from './tuples.js';
import type {
  FlowEventKind,
  FlowFilter,
  FlowSelection,
  FlowWatchOptions,
  GetOptions,
  IcmpKind,
  ListOptions,
  TupleFilter,
} from './types.js';

const BITS = TUPLE_FIELD.numbers;
const PORTS = BITS.sourcePort | BITS.destinationPort;
const { onMark, onStatus, onZone, onReplyZone, onLabels } = CONDITION.numbers;
const SELECTION_FIELDS: ReadonlySet<string> = new Set([
  ...['family', 'protocol', 'original', 'reply'],
  ...['mark', 'status', 'notStatus', 'zone', 'replyZone', 'labels'],
]);
const LIST_OPTIONS: ReadonlySet<string> = new Set(['partial', 'table', 'zeroCounters', 'signal']);

/** Where a tuple and the prefixes of its addresses are in a record. */
const SIDES = {
  original: {
    part: FILTER.original,
    fields: FILTER.originalFields,
    source: FILTER.originalSourcePrefix,
    destination: FILTER.originalDestinationPrefix,
  },
  reply: {
    part: FILTER.reply,
    fields: FILTER.replyFields,
    source: FILTER.replySourcePrefix,
    destination: FILTER.replyDestinationPrefix,
  },
} as const;

/** Which flows a tuple filter selects: those with certain fields, and whether it has a condition that narrows. */
interface Compared {
  readonly bits: number;
  readonly narrows: boolean;
}

const NOTHING: Compared = { bits: 0, narrows: false };

/** Writes a selection; `toDelete` makes sure that it narrows, see {@link FlowFilter}. */
export function writeSelection(selection: FlowSelection, toDelete: boolean, writer: RecordWriter): void {
  if (!writer.isObject(toDelete ? 'filter' : 'selection', selection)) return;
  writer.onlyFields('', selection, SELECTION_FIELDS, 'a filter');
  const family = writeFamily(selection, writer);
  const protocol = 'protocol' in selection ? writer.protocol('protocol', selection.protocol) : 0;
  writer.u8(FILTER.protocol, protocol);
  const original = writeTupleFilter('original', selection, family, protocol, writer);
  const reply = writeTupleFilter('reply', selection, family, protocol, writer);
  if (protocol === 0 && ((original.bits | reply.bits) & PORTS) !== 0) {
    writer.fail('protocol', undefined, 'must be given with a port', true);
  }
  const narrows = writeConditions(selection, writer);
  if (toDelete && !original.narrows && !reply.narrows && !narrows) {
    const rule =
      'must name an address, a port, a mark, a zone or a label: without one it would select every flow, or every one of a protocol';
    writer.fail('filter', selection, rule, true);
  }
}

/** Returns the family of the addresses. */
function writeFamily(selection: FlowSelection, writer: RecordWriter): Family {
  const { family } = selection;
  const isOptional = !('original' in selection) && !('reply' in selection) && !('family' in selection);
  if (family === 4 || family === 6) {
    writer.u8(FILTER.family, family);
    return family;
  }
  if (!isOptional) writer.fail('family', family, 'must be 4 or 6', typeof family !== 'number');
  return 4;
}

/** Returns whether a condition narrows. */
function writeConditions(selection: FlowSelection, writer: RecordWriter): boolean {
  let conditions = 0;
  let narrows = false;
  if ('mark' in selection) {
    const { value, mask } = maskedMark('mark', selection.mark, writer);
    writer.u32(FILTER.mark, value);
    writer.u32(FILTER.markMask, mask);
    conditions |= onMark;
    narrows ||= value !== 0;
  }
  for (const [field, condition] of [
    ['zone', onZone],
    ['replyZone', onReplyZone],
  ] as const) {
    if (!(field in selection)) continue;
    const zone = writer.integer(field, selection[field], 0, LARGEST_U16);
    writer.u16(FILTER[field], zone);
    conditions |= condition;
    narrows ||= zone !== 0;
  }
  if ('labels' in selection) {
    writeLabels('labels', selection.labels, FILTER.labels, writer);
    conditions |= onLabels;
    narrows ||= (selection.labels?.length ?? 0) > 0;
  }
  writer.u8(FILTER.conditions, conditions | writeStatus(selection, writer));
  return narrows;
}

function writeStatus(selection: FlowSelection, writer: RecordWriter): number {
  if (!('status' in selection) && !('notStatus' in selection)) return 0;
  const wanted = 'status' in selection ? statusBits('status', selection.status, writer) : 0;
  const unwanted = 'notStatus' in selection ? statusBits('notStatus', selection.notStatus, writer) : 0;
  if ((wanted & unwanted) !== 0) {
    writer.fail('notStatus', selection.notStatus, 'must have no flag that status has');
  }
  writer.u32(FILTER.status, wanted);
  writer.u32(FILTER.statusMask, (wanted | unwanted) >>> 0);
  return onStatus;
}

function writeTupleFilter(
  side: 'original' | 'reply',
  selection: FlowSelection,
  family: Family,
  protocol: number,
  writer: RecordWriter,
): Compared {
  if (!(side in selection)) return NOTHING;
  const tuple: TupleFilter | undefined = selection[side];
  if (!writer.object(side, tuple, TUPLE_FIELDS, 'a filter')) return NOTHING;
  const { part, fields, ...prefixes } = SIDES[side];
  let bits = 0;
  let narrows = false;
  for (const field of ['source', 'destination'] as const) {
    if (!(field in tuple)) continue;
    bits |= BITS[field];
    const prefix = writeNetwork(`${side}.${field}`, tuple[field], TUPLE[field], family, part, writer);
    writer.u8(prefixes[field], prefix);
    narrows ||= prefix > 0;
  }
  for (const field of ['sourcePort', 'destinationPort'] as const) {
    if (!(field in tuple)) continue;
    bits |= BITS[field];
    writer.u16(TUPLE[field], writer.integer(`${side}.${field}`, tuple[field], 0, LARGEST_U16), part);
    if (isIcmp(protocol))
      writer.fail(`${side}.${field}`, tuple[field], 'must be left out: ICMP has no ports');
  }
  if ('icmp' in tuple) bits |= writeIcmpFilter(`${side}.icmp`, tuple.icmp, protocol, part, writer);
  writer.u8(fields, bits);
  return { bits, narrows: narrows || (bits & ~(BITS.source | BITS.destination)) !== 0 };
}

/** Writes an address, or that of a network; returns how many of its bits are compared. */
function writeNetwork(
  path: string,
  value: string | undefined,
  field: Place<'address'>,
  family: Family,
  part: number,
  writer: RecordWriter,
): number {
  const network = typeof value === 'string' ? parseNetworkAsIs(value) : undefined;
  const address = network ? formatAddress(network.bytes) : value;
  if (writer.address(path, address, field, part) !== family) {
    writer.fail(path, value, `must be an IPv${family} address or network`);
  }
  return network?.prefix ?? (family === 6 ? 128 : 32);
}

function writeIcmpFilter(
  path: string,
  value: unknown,
  protocol: number,
  part: number,
  writer: RecordWriter,
): number {
  if (!isIcmp(protocol)) writer.fail(path, value, 'must be given with protocol 1 or 58', true);
  const icmp: Partial<IcmpKind> = isIcmpKind(path, value, writer) ? value : {};
  const number = (field: keyof IcmpKind, most: number) =>
    field in icmp ? writer.integer(`${path}.${field}`, icmp[field], 0, most) : 0;
  writer.u16(TUPLE.sourcePort, number('id', LARGEST_U16), part);
  writer.u16(TUPLE.destinationPort, (number('type', LARGEST_U8) << 8) | number('code', LARGEST_U8), part);
  return (
    ('id' in icmp ? BITS.sourcePort : 0) |
    ('type' in icmp ? BITS.icmpType : 0) |
    ('code' in icmp ? BITS.icmpCode : 0)
  );
}

const EVENT_KINDS: Readonly<Record<FlowEventKind, number>> = {
  new: EVENT_KIND.numbers.onNew,
  update: EVENT_KIND.numbers.onUpdate,
  destroy: EVENT_KIND.numbers.onDestroy,
};
const EVENT_KIND_NAMES = Object.keys(EVENT_KINDS) as FlowEventKind[];

/** A filter without conditions. */
const EVERY_FLOW = new Uint8Array(FILTER.SIZE);

/** The records of a listing: its filters, and its options. Throws the error of the call when one of them is invalid. */
export function* packListingInSteps(
  selection: FlowSelection | readonly FlowSelection[] | undefined,
  options: ListOptions,
): Steps<{ readonly filters: Uint8Array; readonly how: Uint8Array }> {
  return {
    filters: yield* packSelections(selection, 'conntrack.list'),
    how: packOptions(options, selection !== undefined),
  };
}

/** Selections in an array of their own. */
export function selectionsOf(selection: FlowSelection | readonly FlowSelection[]): readonly FlowSelection[] {
  return Array.isArray(selection) ? selection.slice() : [selection as FlowSelection];
}

function* packSelections(
  selection: FlowSelection | readonly FlowSelection[] | undefined,
  operation: string,
): Steps<Uint8Array> {
  if (selection === undefined) return EVERY_FLOW;
  const selections = selectionsOf(selection);
  const writer = new RecordWriter(FILTER.SIZE, selections.length);
  const counter = new StepCounter();
  for (const each of selections) {
    writeSelection(each, false, writer);
    const invalid = writer.finish();
    if (invalid) throw argumentError(operation, invalid);
    if (counter.isFull()) yield;
  }
  return writer.records();
}

function packOptions(options: ListOptions, isSelective: boolean): Uint8Array {
  checkOptions('conntrack.list', options);
  const { partial = false, table = 'conntrack', zeroCounters = false } = options;
  const writer = new RecordWriter(LISTING.SIZE, 1);
  for (const [field, value] of Object.entries(options)) {
    if (!LIST_OPTIONS.has(field)) writer.fail(field, value, 'is not an option', true);
  }
  for (const [field, value] of Object.entries({ partial, zeroCounters })) {
    if (typeof value !== 'boolean') writer.fail(field, value, 'must be true or false', true);
  }
  writer.u8(LISTING.table, writer.choice('table', table, TABLE.numbers));
  if (zeroCounters && (isSelective || table !== 'conntrack')) {
    const rule = 'must be false with a selection or another table: the kernel would change other flows too';
    writer.fail('zeroCounters', zeroCounters, rule);
  }
  writer.u8(LISTING.partial, partial === true ? 1 : 0);
  writer.u8(LISTING.zeroCounters, zeroCounters === true ? 1 : 0);
  return onlyRecord(writer, 'conntrack.list');
}

/** The options with which a flow is read, apart from those of every call. Throws the error of the call when one breaks a rule. */
export function readGetOptions(options: GetOptions): {
  readonly zeroCounters: boolean;
  readonly call: CallOptions;
} {
  checkOptions('conntrack.get', options);
  const { zeroCounters = false, ...call } = options;
  if (typeof zeroCounters === 'boolean') return { zeroCounters, call };
  const rule = 'must be true or false';
  throw argumentError('conntrack.get', { field: 'zeroCounters', value: zeroCounters, rule, wrongType: true });
}

/** What a watch selects: a sum of `EVENT_KIND`, and filter records. Throws the error of the call when one breaks a rule. */
export function packWatch(options: FlowWatchOptions): {
  readonly kinds: number;
  readonly filters: Uint8Array;
} {
  checkOptions('conntrack.watch', options);
  const { kinds = EVENT_KIND_NAMES, selection } = options;
  const writer = new RecordWriter(0, 1);
  let sum = 0;
  if (!Array.isArray(kinds)) writer.fail('kinds', kinds, 'must be an array', true);
  else for (const [i, kind] of kinds.entries()) sum |= writer.choice(`kinds[${i}]`, kind, EVENT_KINDS);
  onlyRecord(writer, 'conntrack.watch');
  return { kinds: sum, filters: atOnce(packSelections(selection, 'conntrack.watch')) };
}

/** The record of a filter to delete by; throws the error of the call when it is invalid. */
export function packFilter(filter: FlowFilter): Uint8Array {
  const writer = new RecordWriter(FILTER.SIZE, 1);
  writeSelection(filter, true, writer);
  return onlyRecord(writer, 'conntrack.delete');
}
