// Listings of sets, from the records of the addon.
import { type Family, formatAddress } from '../net/address.js';
import { protocolOfNumber } from '../net/protocol.js';
import type { Reading } from '../shared/listing.js';
import { RecordReader } from '../shared/records/recordReader.js';
import { ATTR, FLAG } from './attributes.js';
import { ATTRIBUTE, ENTRY, ENTRY_FIELD, SET, SET_FLAG } from './layouts.js';
import { portFieldOf } from './shapes.js';
import type {
  ListedAttribute,
  ListedEntry,
  SetEntry,
  SetFacts,
  SetHeader,
  SetParameters,
  SetState,
  SetType,
} from './types.js';

const FIELDS = ENTRY_FIELD.numbers;
const FLAGS = SET_FLAG.numbers;

const KNOWN_SET_FLAGS = FLAG.withCounters | FLAG.withComment | FLAG.withSkbInfo | FLAG.withForceAdd;
const decoder = new TextDecoder();

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };
/** A header of any type, of which the kernel says what it has. */
type Header = Writable<{ name: string; type: SetType } & SetParameters & SetFacts>;

/** Reads a listing: each set, followed by its entries. */
export function* readListing(bytes: Uint8Array): Reading<SetState> {
  for (const reader = new RecordReader(bytes); reader.hasMore; ) {
    const left = reader.u32(SET.entries);
    const set = readSet(reader);
    const entries: ListedEntry[] = [];
    for (let i = 0; i < left; i++) {
      entries.push(readEntry(reader));
      yield undefined;
    }
    yield { set, entries };
  }
}

/** Reads the entries of a listing of one set. */
export function* readEntries(bytes: Uint8Array): Reading<ListedEntry> {
  const reader = new RecordReader(bytes);
  const left = reader.u32(SET.entries);
  readSet(reader);
  for (let i = 0; i < left; i++) yield readEntry(reader);
}

function readSet(reader: RecordReader): SetHeader {
  // A newer kernel may have other types.
  const type = reader.text(SET.type) as SetType;
  const family = readFamily(reader.u8(SET.family));
  const flags = reader.u8(SET.flags);
  const set: Header = {
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
  const attributes = readAttributes(reader, SET.SIZE, reader.u8(SET.attributes), (attribute) =>
    readParameter(set, attribute),
  );
  if (attributes) set.attributes = attributes;
  return set as SetHeader;
}

/** Puts an attribute of a set into its field; false when it has none. */
function readParameter(set: Header, { type, value }: ListedAttribute): boolean {
  switch (type) {
    case ATTR.ip:
      set.range = [readNested(value), typeof set.range?.[1] === 'string' ? set.range[1] : ''];
      return true;
    case ATTR.ipTo:
      set.range = [typeof set.range?.[0] === 'string' ? set.range[0] : '', readNested(value)];
      return true;
    case ATTR.bitmask:
      set.bitmask = readNested(value);
      return true;
    case ATTR.netmask:
      set.netmask = readBigEndian(value);
      return true;
    case ATTR.markMask:
      set.markMask = readHostOrder(value);
      return true;
    case ATTR.timeout:
      set.timeout = readBigEndian(value);
      return true;
    case ATTR.size:
      set.size = readBigEndian(value);
      return true;
    case ATTR.bucketSize:
      set.bucketSize = readBigEndian(value);
      return true;
    case ATTR.initval:
      set.initval = readBigEndian(value);
      return true;
    case ATTR.memorySize:
      set.memorySize = readBigEndian(value);
      return true;
    case ATTR.cadtFlags: {
      const flags = readBigEndian(value);
      if (flags & FLAG.withCounters) set.counters = true;
      if (flags & FLAG.withComment) set.comment = true;
      if (flags & FLAG.withSkbInfo) set.skbInfo = true;
      if (flags & FLAG.withForceAdd) set.forceAdd = true;
      return (flags & ~KNOWN_SET_FLAGS) === 0;
    }
    default:
      return false;
  }
}

function readEntry(reader: RecordReader): ListedEntry {
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
  const units = reader.u8(ENTRY.attributes);
  // Most entries have none: the function for them costs as much as the rest.
  if (units === 0) {
    reader.skip(ENTRY.SIZE);
    return entry as ListedEntry;
  }
  const attributes = readAttributes(reader, ENTRY.SIZE, units, (attribute) =>
    readAttribute(entry, attribute),
  );
  if (attributes) entry.attributes = attributes;
  return entry as ListedEntry;
}

function readProtocol(entry: Writable<SetEntry>, protocol: number, port: number, family: Family): void {
  entry.protocol = protocolOfNumber(protocol) ?? protocol;
  const field = portFieldOf(protocol, family);
  if (field === 'icmp') entry.icmp = { type: port >> 8, code: port & 255 };
  else if (field === 'port' || port !== 0) entry.port = port;
}

/** Puts an attribute of an entry into its field; false when it has none. */
function readAttribute(entry: Writable<SetEntry>, { type, value }: ListedAttribute): boolean {
  switch (type) {
    case ATTR.name:
      entry.set = readText(value);
      return true;
    case ATTR.iface:
      entry.interface = readText(value);
      return true;
    case ATTR.ether:
      entry.mac = [...value].map((byte) => byte.toString(16).padStart(2, '0')).join(':');
      return true;
    case ATTR.mark:
      entry.mark = readBigEndian(value);
      return true;
    case ATTR.cadtFlags: {
      const flags = readBigEndian(value);
      if (flags & FLAG.physdev) entry.physdev = true;
      if (flags & FLAG.wildcard) entry.wildcard = true;
      return (flags & ~(FLAG.physdev | FLAG.wildcard | FLAG.noMatch)) === 0;
    }
    default:
      return readExtension(entry, type, value);
  }
}

function readExtension(entry: Writable<SetEntry>, type: number, value: Uint8Array): boolean {
  switch (type) {
    case ATTR.timeout:
      entry.timeout = readBigEndian(value);
      return true;
    case ATTR.packets:
      entry.packets = readBigEndian64(value);
      return true;
    case ATTR.bytes:
      entry.bytes = readBigEndian64(value);
      return true;
    case ATTR.comment:
      entry.comment = readText(value);
      return true;
    case ATTR.skbMark: {
      const both = readBigEndian64(value);
      entry.skbMark = Number(both >> 32n);
      entry.skbMask = Number(both & 0xffff_ffffn);
      return true;
    }
    case ATTR.skbPrio:
      entry.skbPrio = readBigEndian(value);
      return true;
    case ATTR.skbQueue:
      entry.skbQueue = readBigEndian(value);
      return true;
    default:
      return false;
  }
}

/**
 * Goes on to the attributes behind a record of `size` bytes, which have so many units of 4 bytes, and behind them. Returns
 * those that `read` has no field for; undefined if there are none.
 */
function readAttributes(
  reader: RecordReader,
  size: number,
  units: number,
  read: (attribute: ListedAttribute) => boolean,
): ListedAttribute[] | undefined {
  reader.skip(size);
  let others: ListedAttribute[] | undefined;
  for (let left = 4 * units; left > 0; ) {
    const length = reader.u16(ATTRIBUTE.length);
    const attribute = { type: reader.u16(ATTRIBUTE.type), value: reader.bytes(ATTRIBUTE.SIZE, length) };
    if (!read(attribute)) {
      others ??= [];
      others.push(attribute);
    }
    const padded = ATTRIBUTE.SIZE + 4 * Math.ceil(length / 4);
    reader.skip(padded);
    left -= padded;
  }
  return others;
}

/** A number of at most 4 bytes. */
function readBigEndian(value: Uint8Array): number {
  return value.reduce((number, byte) => number * 256 + byte, 0);
}

/** The mask of marks, which alone is not in network order (mtype_head). */
function readHostOrder(value: Uint8Array): number {
  return new Uint32Array(Uint8Array.from(value).buffer)[0] ?? 0;
}

function readBigEndian64(value: Uint8Array): bigint {
  return new DataView(value.buffer, value.byteOffset, value.length).getBigUint64(0);
}

/** The address in a nested attribute: `struct nlattr` and 4 or 16 bytes. */
function readNested(value: Uint8Array): string {
  return formatAddress(value.subarray(4));
}

function readFamily(number: number): Family | undefined {
  return number === 4 || number === 6 ? number : undefined;
}

function readText(field: Uint8Array): string {
  const end = field.indexOf(0);
  return decoder.decode(end < 0 ? field : field.subarray(0, end));
}
