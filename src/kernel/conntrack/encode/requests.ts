// Requests that read or that change all flows.
import type { FlowReader } from '../decode/flows.js';
import type { Filter, TuplePart } from '../filters.js';
import { AF, CTA, CTA_FILTER, FILTER_FLAG, FLAG, MESSAGE, PROTOCOL } from '../numbers.js';
import type { CheckedTuple } from '../tuples.js';
import type { FlowTable } from '../types.js';
import { MessageWriter, NESTED, type WrittenTuple } from './message.js';

/** What names a flow to the kernel: the zone of its original direction is that of the lookup. */
export interface FlowName {
  /** `IPPROTO_…`. */
  readonly protocol: number;
  readonly original: CheckedTuple;
  readonly zone: number;
  /** 0 for any. The kernel compares it in deletions alone. */
  readonly id: number;
}

const TYPES: Readonly<Record<FlowTable, number>> = {
  conntrack: MESSAGE.get,
  dying: MESSAGE.dying,
  unconfirmed: MESSAGE.unconfirmed,
};

/** The dump of a table. With `zeroCounters`, the counters of each flow are set to zero once they are read. */
export function listRequest(filter: Filter, table: FlowTable, zeroCounters: boolean): Uint8Array {
  const writer = new MessageWriter();
  writer.message(zeroCounters ? MESSAGE.getAndZero : TYPES[table], FLAG.dump, filter.family);
  // The kernel filters no other table.
  if (table === 'conntrack') putFilter(filter, writer);
  return writer.finish().written();
}

/** Kernels before 5.8 apply the family and the mark only, those before 6.0 not the status. */
function putFilter(filter: Filter, writer: MessageWriter): void {
  if (filter.mark) {
    writer.attribute32(CTA.mark, filter.mark.value).attribute32(CTA.markMask, filter.mark.mask);
  }
  if (filter.status) {
    writer.attribute32(CTA.status, filter.status.value).attribute32(CTA.statusMask, filter.status.mask);
  }
  // A listing of both families cannot be filtered by tuples (EOPNOTSUPP).
  if (filter.family !== 0) putTuples(filter, writer);
}

/** CTA_TUPLE_ORIG, CTA_TUPLE_REPLY and CTA_FILTER, whose flags name the fields that are compared. */
function putTuples(filter: Filter, writer: MessageWriter): void {
  const original = flagsOf(filter.original, filter.protocol);
  // Once is enough for the protocol, but ports have no meaning without it.
  const reply = Object.keys(filter.reply).length === 0 ? 0 : flagsOf(filter.reply, filter.protocol);
  if (original !== 0) putTuple(CTA.original, filter, filter.original, writer);
  if (reply !== 0) putTuple(CTA.reply, filter, filter.reply, writer);
  if ((original | reply) === 0) return;
  writer.nested(CTA.filter, () => {
    // In the machine's byte order.
    if (original !== 0) writer.put(CTA_FILTER.originalFlags, () => writer.u32(original));
    if (reply !== 0) writer.put(CTA_FILTER.replyFlags, () => writer.u32(reply));
  });
}

function flagsOf(part: TuplePart, protocol: number): number {
  const { source, destination, sourcePort, destinationPort } = part;
  return (
    (source ? FILTER_FLAG.source : 0) |
    (destination ? FILTER_FLAG.destination : 0) |
    (sourcePort === undefined ? 0 : FILTER_FLAG.sourcePort) |
    (destinationPort === undefined ? 0 : FILTER_FLAG.destinationPort) |
    (protocol === 0 ? 0 : FILTER_FLAG.protocol)
  );
}

function putTuple(type: number, { family, protocol }: Filter, part: TuplePart, writer: MessageWriter): void {
  const { source, destination, sourcePort, destinationPort } = part;
  const tuple: WrittenTuple = {
    source: source && Uint8Array.from(source.bytes),
    destination: destination && Uint8Array.from(destination.bytes),
    sourcePort,
    destinationPort,
  };
  writer.nested(type, () => {
    if (source || destination) writer.addresses(family || 4, tuple);
    if (protocol !== 0) writer.protocol(protocol, tuple);
  });
}

/** IPCTNL_MSG_CT_GET of one flow. ENOENT when there is none. */
export function getRequest(name: FlowName, zeroCounters: boolean): Uint8Array {
  const writer = new MessageWriter();
  writer.message(zeroCounters ? MESSAGE.getAndZero : MESSAGE.get, 0, name.original.family);
  putName(name, writer);
  return writer.finish().written();
}

/** The attributes that name a flow. */
export function putName({ protocol, original, zone }: FlowName, writer: MessageWriter): void {
  writer.tuple(CTA.original, original.family, protocol, original);
  if (zone !== 0) writer.attribute16(CTA.zone, zone);
}

/** Writes IPCTNL_MSG_CT_DELETE of a flow that was read. */
export function putFoundDeletion(flow: FlowReader, writer: MessageWriter): void {
  const { bytes, original, zone, id } = flow;
  const { source, destination, sourcePort, destinationPort } = original;
  const family = flow.family === AF[6] ? 6 : 4;
  writer.message(MESSAGE.delete, 0, family);
  if (original.zone === 0) {
    writer.attributeBytes(CTA.original | NESTED, bytes.subarray(original.start, original.end));
  } else {
    // Without its zone, which the kernel refuses beside that of the lookup (EINVAL).
    const addressAt = (at: number) => bytes.subarray(at, at + (family === 6 ? 16 : 4));
    const addresses = { source: addressAt(source), destination: addressAt(destination) };
    writer.tuple(CTA.original, family, original.protocol, { ...addresses, sourcePort, destinationPort });
  }
  if (zone !== 0) writer.attribute16(CTA.zone, zone);
  if (id !== 0) writer.attribute32(CTA.id, id);
  writer.finish();
}

/** IPCTNL_MSG_CT_DELETE of every flow of both families. */
export const FLUSH: Uint8Array = plain(MESSAGE.delete, 0);

/** How many flows there are, which any kernel with ctnetlink answers. */
export const GET_STATISTICS: Uint8Array = plain(MESSAGE.statistics, 0);
/** The counters of each CPU. */
export const LIST_CPUS: Uint8Array = plain(MESSAGE.cpus, FLAG.dump);
/** The expectations of both families. */
export const LIST_EXPECTATIONS: Uint8Array = plain(MESSAGE.expectations, FLAG.dump);

function plain(type: number, flags: number): Uint8Array {
  return new MessageWriter().message(type, flags, 0).finish().written();
}

const NO_ADDRESS = { bytes: [0, 0, 0, 0], prefix: 32 };
const NOTHING: Filter = {
  family: 4,
  protocol: PROTOCOL.raw,
  original: { source: NO_ADDRESS, destination: NO_ADDRESS },
  reply: {},
};

/**
 * IPCTNL_MSG_CT_DELETE by a filter that selects no flow, because no flow has this protocol. A kernel that deletes by a filter accepts
 * it; an older one looks for a flow with the tuple in it, and returns ENOENT.
 */
export function deleteNothingRequest(): Uint8Array {
  const writer = new MessageWriter().message(MESSAGE.delete, 0, NOTHING.family);
  putTuples(NOTHING, writer);
  return writer.finish().written();
}

/** IPCTNL_MSG_CT_GET of a flow in a zone that a kernel with zones does not find; others return EOPNOTSUPP. */
export function getNothingRequest(): Uint8Array {
  const writer = new MessageWriter().message(MESSAGE.get, 0, 4);
  const bytes = Uint8Array.from(NO_ADDRESS.bytes);
  const tuple = { source: bytes, destination: bytes, sourcePort: 0, destinationPort: 0 };
  writer.tuple(CTA.original, 4, PROTOCOL.raw, tuple).attribute16(CTA.zone, 1);
  return writer.finish().written();
}
