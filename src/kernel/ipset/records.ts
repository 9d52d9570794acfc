// ipset values ↔ the records that cross to the addon; native/ipset/records.h has the table of every offset.
import { type Family, formatAddress, parseAddress } from '../../net/address.js';
import { PROTOCOL_NUMBERS, protocolOfNumber } from '../../net/protocol.js';
import type {
  IpsetOperation,
  SetDefinition,
  SetEntry,
  SetHeader,
  SetReference,
  SetState,
  SetType,
} from './types.js';

const OPERATION_SIZE = 84;
const SET_SIZE = 92;
const ENTRY_SIZE = 40;
const NAME_SIZE = 32;

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

// Bits of a listed set's flags.
const HAS_ELEMENTS = 1;
const HAS_PORTS = 2;
const EXTENDED = 4;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Packs operations that have been found valid. */
export function packOperations(operations: readonly IpsetOperation[]): Uint8Array {
  const bytes = new Uint8Array(operations.length * OPERATION_SIZE);
  const view = new DataView(bytes.buffer);
  for (const [i, operation] of operations.entries())
    packOperation(bytes, view, i * OPERATION_SIZE, operation);
  return bytes;
}

function packOperation(bytes: Uint8Array, view: DataView, at: number, operation: IpsetOperation): void {
  bytes[at] = VERBS[operation.do];
  switch (operation.do) {
    case 'create':
      packReference(bytes, at, operation.set);
      packParameters(view, at, operation.set);
      break;
    case 'add':
    case 'delete':
      packReference(bytes, at, operation.set);
      packEntry(bytes, view, at, operation.entry);
      break;
    case 'flush':
    case 'destroy':
      packName(bytes, at + 20, operation.name);
      break;
    case 'swap':
      packName(bytes, at + 20, operation.name);
      packName(bytes, at + 52, operation.other);
      break;
  }
}

function packReference(bytes: Uint8Array, at: number, set: SetReference): void {
  bytes[at + 1] = TYPES[set.type];
  bytes[at + 2] = set.family ?? 0;
  packName(bytes, at + 20, set.name);
}

function packParameters(view: DataView, at: number, set: SetDefinition): void {
  view.setUint16(at + 8, set.range?.[0] ?? 0, true);
  view.setUint16(at + 10, set.range?.[1] ?? 65535, true);
  view.setUint32(at + 12, set.hashSize ?? 1024, true);
  view.setUint32(at + 16, set.maxElements ?? 65536, true);
}

function packEntry(bytes: Uint8Array, view: DataView, at: number, entry: SetEntry): void {
  let fields = 0;
  if (entry.address !== undefined) {
    fields |= ADDRESS;
    packAddress(bytes, at + 52, entry.address);
  }
  if (entry.prefix !== undefined) {
    fields |= PREFIX;
    bytes[at + 5] = entry.prefix;
  }
  if (entry.protocol !== undefined) {
    fields |= PROTOCOL;
    bytes[at + 4] = PROTOCOL_NUMBERS[entry.protocol];
  }
  if (entry.port !== undefined) {
    fields |= PORT;
    view.setUint16(at + 8, entry.port, true);
  }
  if (entry.address2 !== undefined) {
    fields |= ADDRESS2;
    packAddress(bytes, at + 68, entry.address2);
  }
  if (entry.prefix2 !== undefined) {
    fields |= PREFIX2;
    bytes[at + 6] = entry.prefix2;
  }
  bytes[at + 3] = fields;
}

function packAddress(bytes: Uint8Array, at: number, address: string): void {
  const parsed = parseAddress(address);
  if (parsed) bytes.set(parsed, at);
}

function packName(bytes: Uint8Array, at: number, name: string): void {
  encoder.encodeInto(name, bytes.subarray(at, at + NAME_SIZE - 1));
}

/** Unpacks a listing: each set followed by its entries. */
export function unpackListing(bytes: Uint8Array): SetState[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const sets: SetState[] = [];
  for (let at = 0; at < bytes.length; ) {
    const set = unpackSet(bytes, view, at);
    const count = view.getUint32(at + 24, true);
    at += SET_SIZE;
    const entries: SetEntry[] = [];
    for (let i = 0; i < count; i++, at += ENTRY_SIZE) entries.push(unpackEntry(bytes, view, at));
    sets.push({ set, entries });
  }
  return sets;
}

function unpackSet(bytes: Uint8Array, view: DataView, at: number): SetHeader {
  const type = unpackName(bytes, at + 60);
  const family = unpackFamily(bytes[at]);
  const flags = bytes[at + 2] ?? 0;
  const hash = type.startsWith('hash:');
  return {
    name: unpackName(bytes, at + 28),
    type,
    ...(family && { family }),
    ...(hash && { hashSize: view.getUint32(at + 4, true), maxElements: view.getUint32(at + 8, true) }),
    ...(flags & HAS_PORTS && {
      range: [view.getUint16(at + 12, true), view.getUint16(at + 14, true)] as const,
    }),
    revision: bytes[at + 1] ?? 0,
    references: view.getUint32(at + 16, true),
    ...(flags & HAS_ELEMENTS && { elements: view.getUint32(at + 20, true) }),
    extended: (flags & EXTENDED) !== 0,
  };
}

function unpackEntry(bytes: Uint8Array, view: DataView, at: number): SetEntry {
  const fields = bytes[at] ?? 0;
  const family = unpackFamily(bytes[at + 6]) ?? 4;
  const full = family === 4 ? 32 : 128;
  const entry: { -readonly [Key in keyof SetEntry]: SetEntry[Key] } = {};
  if (fields & ADDRESS) entry.address = unpackAddress(bytes, at + 8, family);
  if (fields & PREFIX && bytes[at + 2] !== full) entry.prefix = bytes[at + 2] ?? 0;
  if (fields & PROTOCOL) {
    const protocol = protocolOfNumber(bytes[at + 1] ?? 0);
    if (protocol) entry.protocol = protocol;
  }
  if (fields & PORT) entry.port = view.getUint16(at + 4, true);
  if (fields & ADDRESS2) entry.address2 = unpackAddress(bytes, at + 24, family);
  if (fields & PREFIX2 && bytes[at + 3] !== full) entry.prefix2 = bytes[at + 3] ?? 0;
  if (fields & NO_MATCH) entry.noMatch = true;
  return entry;
}

function unpackAddress(bytes: Uint8Array, at: number, family: Family): string {
  return formatAddress(bytes.subarray(at, at + (family === 4 ? 4 : 16)));
}

function unpackFamily(number: number | undefined): Family | undefined {
  return number === 4 || number === 6 ? number : undefined;
}

function unpackName(bytes: Uint8Array, at: number): string {
  const field = bytes.subarray(at, at + NAME_SIZE);
  const end = field.indexOf(0);
  return decoder.decode(end < 0 ? field : field.subarray(0, end));
}
