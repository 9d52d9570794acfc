// Tuples ↔ their part of a record.
import type { Family } from '../net/address.js';
import type { RecordReader } from '../shared/records/recordReader.js';
import type { RecordWriter } from '../shared/records/recordWriter.js';
import { TUPLE } from './layouts.js';
import type { FlowTuple, IcmpKind } from './types.js';

export const LARGEST_U8 = 0xff;
export const LARGEST_U16 = 0xffff;
export const LARGEST_U32 = 0xffff_ffff;

const ICMP = 1;
const ICMPV6 = 58;
/** Protocols of which a tuple is not complete without both ports: TCP, UDP, SCTP, UDP-Lite. */
const WITH_PORTS: ReadonlySet<number> = new Set([6, 17, 132, 136]);
/** The fields of a tuple. */
export const TUPLE_FIELDS: ReadonlySet<string> = new Set([
  'source',
  'destination',
  'sourcePort',
  'destinationPort',
  'icmp',
]);
const ICMP_FIELDS: ReadonlySet<string> = new Set(['type', 'code', 'id']);

/** Whether a protocol has ports, by its number. */
export function hasPorts(protocol: number): boolean {
  return WITH_PORTS.has(protocol);
}

/** Whether it is the number of ICMP or ICMPv6. */
export function isIcmp(protocol: number): boolean {
  return protocol === ICMP || protocol === ICMPV6;
}

/** Whether a value is a kind of ICMP, of which unknown fields are noted; else the value is noted. */
export function isIcmpKind(path: string, icmp: unknown, writer: RecordWriter): icmp is Partial<IcmpKind> {
  return writer.object(path, icmp, ICMP_FIELDS, 'a kind of ICMP');
}

/** Writes a whole tuple of a protocol; returns its family. `family` is that of its addresses, if it is known. */
export function writeTuple(
  path: string,
  tuple: Partial<FlowTuple>,
  protocol: number,
  part: number,
  writer: RecordWriter,
  family?: Family,
): Family {
  if (!writer.object(path, tuple, TUPLE_FIELDS, 'a tuple')) return family ?? 4;
  const own = family ?? writer.address(`${path}.source`, tuple.source, TUPLE.source, part);
  if (family) writeAddress(`${path}.source`, tuple.source, TUPLE.source, family, part, writer);
  writeAddress(`${path}.destination`, tuple.destination, TUPLE.destination, own, part, writer);
  if (isIcmp(protocol)) writeIcmp(path, tuple, part, writer);
  else writePorts(path, tuple, protocol, part, writer);
  return own;
}

/** Writes an address of this family. */
export function writeAddress(
  path: string,
  value: unknown,
  field: (typeof TUPLE)['source'],
  family: Family,
  part: number,
  writer: RecordWriter,
): void {
  if (writer.address(path, value as string, field, part) === family) return;
  writer.fail(path, value, `must be an IPv${family} address`);
}

function writePorts(
  path: string,
  tuple: Partial<FlowTuple>,
  protocol: number,
  part: number,
  writer: RecordWriter,
): void {
  if (tuple.icmp !== undefined) {
    writer.fail(`${path}.icmp`, tuple.icmp, 'must be left out but for protocols 1 and 58', true);
  }
  const byDefault = hasPorts(protocol) ? undefined : 0;
  for (const field of ['sourcePort', 'destinationPort'] as const) {
    const { [field]: given = byDefault } = tuple;
    const port = writer.integer(`${path}.${field}`, given, 0, LARGEST_U16);
    writer.u16(TUPLE[field], port, part);
  }
}

function writeIcmp(path: string, tuple: Partial<FlowTuple>, part: number, writer: RecordWriter): void {
  for (const field of ['sourcePort', 'destinationPort'] as const) {
    if (tuple[field] !== undefined && tuple[field] !== 0)
      writer.fail(`${path}.${field}`, tuple[field], 'must be 0 or left out: ICMP has no ports');
  }
  const { icmp } = tuple;
  if (!isIcmpKind(`${path}.icmp`, icmp, writer)) return;
  const type = writer.integer(`${path}.icmp.type`, icmp.type, 0, LARGEST_U8);
  const code = writer.integer(`${path}.icmp.code`, icmp.code, 0, LARGEST_U8);
  writer.u16(TUPLE.sourcePort, writer.integer(`${path}.icmp.id`, icmp.id, 0, LARGEST_U16), part);
  writer.u16(TUPLE.destinationPort, (type << 8) | code, part);
}

/** Reads a tuple of a protocol. */
export function readTuple(reader: RecordReader, part: number, family: Family, protocol: number): FlowTuple {
  const source = reader.address(TUPLE.source, family, part);
  const destination = reader.address(TUPLE.destination, family, part);
  const sourcePort = reader.u16(TUPLE.sourcePort, part);
  const destinationPort = reader.u16(TUPLE.destinationPort, part);
  if (!isIcmp(protocol)) return { source, destination, sourcePort, destinationPort };
  const icmp = { type: destinationPort >> 8, code: destinationPort & LARGEST_U8, id: sourcePort };
  return { source, destination, sourcePort: 0, destinationPort: 0, icmp };
}

/** Types of ICMP and ICMPv6 whose answers have another type (`invmap` of nf_conntrack_proto_icmp.c and …_icmpv6.c). */
const ANSWERS: Readonly<Record<number, ReadonlyMap<number, number>>> = {
  [ICMP]: bothWays([8, 0], [13, 14], [15, 16], [17, 18]),
  [ICMPV6]: bothWays([128, 129], [139, 140]),
};

function bothWays(...pairs: readonly (readonly [number, number])[]): ReadonlyMap<number, number> {
  return new Map(
    pairs.flatMap(([one, other]) => [
      [one, other],
      [other, one],
    ]),
  );
}

/** The tuple of the answers to untranslated packets. Accepts invalid tuples. */
export function inverted(tuple: Partial<FlowTuple>, protocol: number): Partial<FlowTuple> {
  const { source, destination, sourcePort, destinationPort, icmp } = tuple ?? {};
  if (!icmp) {
    // Without a spread, which takes ten times as long.
    return {
      source: destination,
      destination: source,
      sourcePort: destinationPort,
      destinationPort: sourcePort,
    } as Partial<FlowTuple>;
  }
  const type = ANSWERS[protocol]?.get(icmp.type) ?? icmp.type;
  return { source: destination, destination: source, icmp: { ...icmp, type } } as Partial<FlowTuple>;
}
