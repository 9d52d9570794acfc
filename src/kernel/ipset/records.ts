// ipset values ↔ the records that cross to the addon; native/ipset/records.h has the table of every offset.
import { type Family, formatAddress, parseAddress } from '../../net/address.js';
import { formatNetwork, parseNetwork } from '../../net/network.js';
import { PROTOCOL_NUMBERS, protocolOfNumber } from '../../net/protocol.js';
import type { RecordWriter } from '../fields.js';
import type {
  IpsetOperation,
  SetDefinition,
  SetEntry,
  SetHeader,
  SetReference,
  SetState,
  SetType,
} from './types.js';

/** Bytes of an operation record. */
export const OPERATION_SIZE = 84;
/** Bytes that the name of a set may have: IPSET_MAXNAMELEN less the terminator. */
export const LONGEST_NAME = 31;

const SET_SIZE = 92;
const ENTRY_SIZE = 40;
const NAME_FIELD = 32;

const VERBS: Readonly<Record<IpsetOperation['do'], number>> = {
  create: 1,
  add: 2,
  delete: 3,
  flush: 4,
  destroy: 5,
  swap: 6,
};

const TYPES: Readonly<Record<SetType, number>> = {
  'hash:ip': 1,
  'hash:net': 2,
  'hash:ip,port': 3,
  'hash:ip,port,ip': 4,
  'hash:ip,port,net': 5,
  'bitmap:port': 6,
};

// Bits of an entry's fields.
const ADDRESS = 1;
const PREFIX = 2;
const PROTOCOL = 4;
const PORT = 8;
const ADDRESS2 = 16;
const PREFIX2 = 32;
const NO_MATCH = 64;

// The fields that entries of a type have; prefixes may be left out.
const SHAPES: Readonly<Record<SetType, number>> = {
  'hash:ip': ADDRESS,
  'hash:net': ADDRESS | PREFIX,
  'hash:ip,port': ADDRESS | PROTOCOL | PORT,
  'hash:ip,port,ip': ADDRESS | PROTOCOL | PORT | ADDRESS2,
  'hash:ip,port,net': ADDRESS | PROTOCOL | PORT | ADDRESS2 | PREFIX2,
  'bitmap:port': PORT,
};

const FIELDS: readonly (readonly [field: keyof SetEntry, bit: number])[] = [
  ['address', ADDRESS],
  ['prefix', PREFIX],
  ['protocol', PROTOCOL],
  ['port', PORT],
  ['address2', ADDRESS2],
  ['prefix2', PREFIX2],
  ['noMatch', NO_MATCH],
];

// Bits of a listed set's flags.
const HAS_ELEMENTS = 1;
const HAS_PORTS = 2;
const EXTENDED = 4;

const decoder = new TextDecoder();

/** Writes an operation record. */
export function writeOperation(operation: IpsetOperation, writer: RecordWriter): void {
  writer.u8(0, writer.choice('do', operation?.do, VERBS));
  switch (operation?.do) {
    case 'create':
      writeReference(operation.set, writer);
      writeParameters(operation.set, writer);
      break;
    case 'add':
    case 'delete':
      writeReference(operation.set, writer);
      writeEntry(operation, writer);
      break;
    case 'flush':
    case 'destroy':
      writer.text('name', operation.name, LONGEST_NAME, 20);
      break;
    case 'swap':
      writer.text('name', operation.name, LONGEST_NAME, 20);
      writer.text('other', operation.other, LONGEST_NAME, 52);
      break;
  }
}

function writeReference(set: SetReference, writer: RecordWriter): void {
  writer.text('set.name', set?.name, LONGEST_NAME, 20);
  writer.u8(1, writer.choice('set.type', set?.type, TYPES));
  if (set?.type === 'bitmap:port') {
    if (set.family !== undefined) refuse(writer, 'set.family', set.family, set.type);
  } else if (set?.family === 4 || set?.family === 6) {
    writer.u8(2, set.family);
  } else {
    writer.fail('set.family', set?.family, 'must be 4 or 6');
  }
}

function writeParameters(set: SetDefinition, writer: RecordWriter): void {
  if (set?.type === 'bitmap:port') {
    const range: readonly unknown[] = set.range ?? [0, 65535];
    const from = writer.integer('set.range[0]', range[0], 0, 65535);
    writer.u16(8, from);
    writer.u16(10, writer.integer('set.range[1]', range[1], from, 65535));
    if (set.hashSize !== undefined) refuse(writer, 'set.hashSize', set.hashSize, set.type);
    if (set.maxElements !== undefined) refuse(writer, 'set.maxElements', set.maxElements, set.type);
  } else {
    writer.u32(12, writer.integer('set.hashSize', set?.hashSize ?? 1024, 1, 0x8000_0000));
    writer.u32(16, writer.integer('set.maxElements', set?.maxElements ?? 65536, 1, 0xffff_ffff));
    if (set?.range !== undefined) refuse(writer, 'set.range', set.range, set.type);
  }
}

function writeEntry(operation: IpsetOperation & { do: 'add' | 'delete' }, writer: RecordWriter): void {
  const { do: verb, set, entry } = operation;
  if (!Object.hasOwn(SHAPES, set?.type)) return; // writeReference has found that
  const shape = SHAPES[set.type];
  if (typeof entry !== 'object' || entry === null) {
    writer.fail('entry', entry, 'must be an entry', true);
    return;
  }
  // The kernel deletes an exception (`nomatch`) like any other entry.
  const allowed = verb === 'delete' ? shape | NO_MATCH : shape;
  let fields = 0;
  for (const [field, bit] of FIELDS) {
    if (entry[field] === undefined) continue;
    if ((allowed & bit) === 0) refuse(writer, `entry.${field}`, entry[field], set.type);
    fields |= bit & shape;
  }
  writer.u8(3, fields);
  if (shape & ADDRESS) writeAddress(writer, 'address', entry, set, 52);
  if (fields & PREFIX) writer.u8(5, checkPrefix(writer, 'prefix', entry.address, entry.prefix, set));
  if (shape & PROTOCOL) writer.u8(4, writer.choice('entry.protocol', entry.protocol, PROTOCOL_NUMBERS));
  if (shape & PORT) writer.u16(8, writer.integer('entry.port', entry.port, 0, 65535));
  if (shape & ADDRESS2) writeAddress(writer, 'address2', entry, set, 68);
  if (fields & PREFIX2) writer.u8(6, checkPrefix(writer, 'prefix2', entry.address2, entry.prefix2, set));
}

function writeAddress(
  writer: RecordWriter,
  field: 'address' | 'address2',
  entry: SetEntry,
  set: SetReference,
  offset: number,
): void {
  const family = writer.address(`entry.${field}`, entry[field], offset);
  if (family === set.family) return;
  writer.fail(`entry.${field}`, entry[field], `must be an IPv${set.family} address, as the set's are`);
}

/** The kernel would drop the bits behind the prefix, and list the entry as another than was added. It refuses /0. */
function checkPrefix(
  writer: RecordWriter,
  field: string,
  address: string | undefined,
  prefix: number | undefined,
  set: SetReference,
): number {
  const length = writer.integer(`entry.${field}`, prefix, 1, set.family === 4 ? 32 : 128);
  const bytes = parseAddress(address ?? '');
  const network = parseNetwork(`${address}/${length}`);
  if (bytes && network && formatNetwork(network) === `${formatAddress(bytes)}/${length}`) return length;
  writer.fail(`entry.${field}`, prefix, `must cover every bit that is set in ${address}`);
  return 0;
}

function refuse(writer: RecordWriter, field: string, value: unknown, type: SetType): void {
  writer.fail(field, value, `must be left out for ${type}`);
}

/** Reads a listing: each set, followed by its entries. */
export function readListing(bytes: Uint8Array): SetState[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const sets: SetState[] = [];
  for (let at = 0; at < bytes.length; ) {
    const set = readSet(bytes, view, at);
    const count = view.getUint32(at + 24, true);
    at += SET_SIZE;
    const entries: SetEntry[] = [];
    for (let i = 0; i < count; i++, at += ENTRY_SIZE) entries.push(readEntry(bytes, view, at));
    sets.push({ set, entries });
  }
  return sets;
}

function readSet(bytes: Uint8Array, view: DataView, at: number): SetHeader {
  const type = readName(bytes, at + 60);
  const family = readFamily(bytes[at]);
  const flags = bytes[at + 2] ?? 0;
  return {
    name: readName(bytes, at + 28),
    type,
    ...(family && { family }),
    ...(type.startsWith('hash:') && {
      hashSize: view.getUint32(at + 4, true),
      maxElements: view.getUint32(at + 8, true),
    }),
    ...(flags & HAS_PORTS && {
      range: [view.getUint16(at + 12, true), view.getUint16(at + 14, true)] as const,
    }),
    revision: bytes[at + 1] ?? 0,
    references: view.getUint32(at + 16, true),
    ...(flags & HAS_ELEMENTS && { elements: view.getUint32(at + 20, true) }),
    extended: (flags & EXTENDED) !== 0,
  };
}

function readEntry(bytes: Uint8Array, view: DataView, at: number): SetEntry {
  const fields = bytes[at] ?? 0;
  const family = readFamily(bytes[at + 6]) ?? 4;
  const full = family === 4 ? 32 : 128;
  const entry: { -readonly [Key in keyof SetEntry]: SetEntry[Key] } = {};
  if (fields & ADDRESS) entry.address = readAddress(bytes, at + 8, family);
  if (fields & PREFIX && bytes[at + 2] !== full) entry.prefix = bytes[at + 2] ?? 0;
  // Other protocols than Services have, and what stands for their ports, are made by others only.
  const protocol = fields & PROTOCOL ? protocolOfNumber(bytes[at + 1] ?? 0) : undefined;
  if (protocol) entry.protocol = protocol;
  if (fields & PORT) entry.port = view.getUint16(at + 4, true);
  if (fields & ADDRESS2) entry.address2 = readAddress(bytes, at + 24, family);
  if (fields & PREFIX2 && bytes[at + 3] !== full) entry.prefix2 = bytes[at + 3] ?? 0;
  if (fields & NO_MATCH) entry.noMatch = true;
  return entry;
}

function readAddress(bytes: Uint8Array, at: number, family: Family): string {
  return formatAddress(bytes.subarray(at, at + (family === 4 ? 4 : 16)));
}

function readFamily(number: number | undefined): Family | undefined {
  return number === 4 || number === 6 ? number : undefined;
}

function readName(bytes: Uint8Array, at: number): string {
  const field = bytes.subarray(at, at + NAME_FIELD);
  const end = field.indexOf(0);
  return decoder.decode(end < 0 ? field : field.subarray(0, end));
}
