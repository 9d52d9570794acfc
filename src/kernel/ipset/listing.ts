// Listings of sets, from the records of the addon.
import type { Family } from '../../net/address.js';
import { protocolOfNumber } from '../../net/protocol.js';
import type { Reading } from '../listing.js';
import { RecordReader } from '../recordReader.js';
import { ATTRIBUTE, ENTRY, ENTRY_FIELD, SET, SET_FLAG } from './layouts.js';
import { portFieldOf } from './shapes.js';
import type { ListedAttribute, SetEntry, SetHeader, SetState } from './types.js';

const FIELDS = ENTRY_FIELD.numbers;
const FLAGS = SET_FLAG.numbers;

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
export function* readListing(bytes: Uint8Array): Reading<SetState> {
  for (const reader = new RecordReader(bytes); reader.hasMore; ) {
    const left = reader.u32(SET.entries);
    const set = readSet(reader);
    const entries: SetEntry[] = [];
    for (let i = 0; i < left; i++) {
      entries.push(readEntry(reader));
      yield undefined;
    }
    yield { set, entries };
  }
}

function readSet(reader: RecordReader): SetHeader {
  const type = reader.text(SET.type);
  const family = readFamily(reader.u8(SET.family));
  const flags = reader.u8(SET.flags);
  const set: Writable<SetHeader> = {
    name: reader.text(SET.name),
    type,
    ...(family && { family }),
    ...(type.startsWith('hash:') && {
      hashSize: reader.u32(SET.hashSize),
      maxElements: reader.u32(SET.maxElements),
    }),
    ...(flags & FLAGS.hasPorts && {
      range: [reader.u16(SET.firstPort), reader.u16(SET.lastPort)] as const,
    }),
    revision: reader.u8(SET.revision),
    references: reader.u32(SET.references),
    ...(flags & FLAGS.hasElements && { elements: reader.u32(SET.elements) }),
    extended: (flags & FLAGS.isExtended) !== 0,
  };
  const attributes = readAttributes(reader, SET.SIZE, reader.u8(SET.attributes));
  if (attributes.length > 0) set.attributes = attributes;
  return set;
}

function readEntry(reader: RecordReader): SetEntry {
  const fields = reader.u8(ENTRY.fields);
  const family = readFamily(reader.u8(ENTRY.family)) ?? 4;
  const full = family === 4 ? 32 : 128;
  const entry: Writable<SetEntry> = {};
  if (fields & FIELDS.address) entry.address = reader.address(ENTRY.address, family);
  const prefix = reader.u8(ENTRY.prefix);
  if (fields & FIELDS.prefix && prefix !== full) entry.prefix = prefix;
  const port = reader.u16(ENTRY.port);
  if (fields & FIELDS.protocol) readProtocol(entry, reader.u8(ENTRY.protocol), port, family);
  else if (fields & FIELDS.port) entry.port = port;
  if (fields & FIELDS.address2) entry.address2 = reader.address(ENTRY.address2, family);
  const prefix2 = reader.u8(ENTRY.prefix2);
  if (fields & FIELDS.prefix2 && prefix2 !== full) entry.prefix2 = prefix2;
  if (fields & FIELDS.noMatch) entry.noMatch = true;
  const listed = readAttributes(reader, ENTRY.SIZE, reader.u8(ENTRY.attributes));
  const attributes = listed.filter((attribute) => !readAttribute(entry, attribute));
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

/** Goes on to the attributes behind a record of `size` bytes, which have so many units of 4 bytes, and behind them. */
function readAttributes(reader: RecordReader, size: number, units: number): ListedAttribute[] {
  reader.skip(size);
  const attributes: ListedAttribute[] = [];
  for (let left = 4 * units; left > 0; ) {
    const length = reader.u16(ATTRIBUTE.length);
    const value = reader.bytes(ATTRIBUTE.SIZE, length);
    attributes.push({ type: reader.u16(ATTRIBUTE.type), value });
    const padded = ATTRIBUTE.SIZE + 4 * Math.ceil(length / 4);
    reader.skip(padded);
    left -= padded;
  }
  return attributes;
}

function readBigEndian(value: Uint8Array): number {
  return new DataView(value.buffer, value.byteOffset, value.length).getUint32(0);
}

function readFamily(number: number): Family | undefined {
  return number === 4 || number === 6 ? number : undefined;
}

function readText(field: Uint8Array): string {
  const end = field.indexOf(0);
  return decoder.decode(end < 0 ? field : field.subarray(0, end));
}
