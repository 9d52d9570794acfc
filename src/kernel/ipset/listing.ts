// Listings of sets, from the records of the addon; native/ipset/records.h has the table of every offset.
import { type Family, formatAddress } from '../../net/address.js';
import { protocolOfNumber } from '../../net/protocol.js';
import type { Steps } from '../slices.js';
import { ADDRESS, ADDRESS2, NO_MATCH, PORT, PREFIX, PREFIX2, PROTOCOL, portFieldOf } from './shapes.js';
import type { ListedAttribute, SetEntry, SetHeader, SetState } from './types.js';

const SET_SIZE = 92;
const ENTRY_SIZE = 40;
const NAME_FIELD = 32;

// Bits of a listed set's flags.
const HAS_ELEMENTS = 1;
const HAS_PORTS = 2;
const EXTENDED = 4;

// include/uapi/linux/netfilter/ipset/ip_set.h: attributes of entries, and flags of IPSET_ATTR_CADT_FLAGS.
const ATTR_CADT_FLAGS = 8;
const ATTR_MARK = 10;
const ATTR_ETHER = 17;
const ATTR_NAME = 18;
const ATTR_IFACE = 23;
const FLAG_PHYSDEV = 1 << 1;
const FLAG_NOMATCH = 1 << 2;
const FLAG_WILDCARD = 1 << 7;

const decoder = new TextDecoder();

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Reads a listing: each set, followed by its entries. */
export function* readListing(bytes: Uint8Array): Steps<SetState[]> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const sets: SetState[] = [];
  for (let at = 0; at < bytes.length; ) {
    const count = view.getUint32(at + 24, true);
    const attributes = readRest(bytes, view, at + SET_SIZE, bytes[at + 3]);
    const set = { ...readSet(bytes, view, at), ...(attributes.length > 0 && { attributes }) };
    at += SET_SIZE + restSize(bytes[at + 3]);
    const entries: SetEntry[] = [];
    for (let i = 0; i < count; i++) {
      entries.push(readEntry(bytes, view, at));
      at += ENTRY_SIZE + restSize(bytes[at + 7]);
      yield;
    }
    sets.push({ set, entries });
    yield;
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
  const entry: Writable<SetEntry> = {};
  if (fields & ADDRESS) entry.address = readAddress(bytes, at + 8, family);
  if (fields & PREFIX && bytes[at + 2] !== full) entry.prefix = bytes[at + 2] ?? 0;
  const port = view.getUint16(at + 4, true);
  if (fields & PROTOCOL) readProtocol(entry, bytes[at + 1] ?? 0, port, family);
  else if (fields & PORT) entry.port = port;
  if (fields & ADDRESS2) entry.address2 = readAddress(bytes, at + 24, family);
  if (fields & PREFIX2 && bytes[at + 3] !== full) entry.prefix2 = bytes[at + 3] ?? 0;
  if (fields & NO_MATCH) entry.noMatch = true;
  const rest = readRest(bytes, view, at + ENTRY_SIZE, bytes[at + 7]);
  const attributes = rest.filter((attribute) => !readAttribute(entry, attribute));
  if (attributes.length > 0) entry.attributes = attributes;
  return entry;
}

function readProtocol(entry: Writable<SetEntry>, protocol: number, port: number, family: Family): void {
  entry.protocol = protocolOfNumber(protocol) ?? protocol;
  const field = portFieldOf(protocol, family);
  if (field === 'icmp') entry.icmp = { type: port >> 8, code: port & 255 };
  else if (field === 'port' || port !== 0) entry.port = port;
}

/** Puts an attribute into its field; false when it has none. */
function readAttribute(entry: Writable<SetEntry>, { type, value }: ListedAttribute): boolean {
  switch (type) {
    case ATTR_NAME:
      entry.set = readText(value);
      return true;
    case ATTR_IFACE:
      entry.interface = readText(value);
      return true;
    case ATTR_ETHER:
      entry.mac = [...value].map((byte) => byte.toString(16).padStart(2, '0')).join(':');
      return true;
    case ATTR_MARK:
      entry.mark = readBigEndian(value);
      return true;
    case ATTR_CADT_FLAGS: {
      const flags = readBigEndian(value);
      if (flags & FLAG_PHYSDEV) entry.physdev = true;
      if (flags & FLAG_WILDCARD) entry.wildcard = true;
      return (flags & ~(FLAG_PHYSDEV | FLAG_WILDCARD | FLAG_NOMATCH)) === 0;
    }
    default:
      return false;
  }
}

/** Attributes without a field in the record: length and type with 16 bits each, then the value, padded to 4 bytes. */
function readRest(bytes: Uint8Array, view: DataView, start: number, units = 0): ListedAttribute[] {
  const attributes: ListedAttribute[] = [];
  for (let at = start; at < start + restSize(units); ) {
    const length = view.getUint16(at, true);
    attributes.push({
      type: view.getUint16(at + 2, true),
      value: new Uint8Array(bytes.subarray(at + 4, at + 4 + length)),
    });
    at += 4 + 4 * Math.ceil(length / 4);
  }
  return attributes;
}

function restSize(units = 0): number {
  return 4 * units;
}

function readBigEndian(value: Uint8Array): number {
  return new DataView(value.buffer, value.byteOffset, value.length).getUint32(0);
}

function readAddress(bytes: Uint8Array, at: number, family: Family): string {
  return formatAddress(bytes.subarray(at, at + (family === 4 ? 4 : 16)));
}

function readFamily(number: number | undefined): Family | undefined {
  return number === 4 || number === 6 ? number : undefined;
}

function readName(bytes: Uint8Array, at: number): string {
  return readText(bytes.subarray(at, at + NAME_FIELD));
}

function readText(field: Uint8Array): string {
  const end = field.indexOf(0);
  return decoder.decode(end < 0 ? field : field.subarray(0, end));
}
