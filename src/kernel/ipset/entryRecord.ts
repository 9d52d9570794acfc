// Entries of sets → their fields in an operation record, and attributes behind it.
import { RecordWriter } from '../shared/records/recordWriter.js';
import { ATTR, FLAG, VALUE } from './attributes.js';
import { ENTRY_FIELD, OPERATION } from './layouts.js';
import { LARGEST_TIMEOUT, writeAddress as writeAddressBehind } from './parameters.js';
import { BITS, EXTENSIONS, FIELD_BITS, portFieldOf, RANGES, refuse, type Shape } from './shapes.js';
import type { ListedAttribute, SetEntry, SetReference } from './types.js';

const ICMP_FIELDS = new Set(['type', 'code']);
/** The fields of a record: those of the types in which programs write many entries need nothing behind it. */
const IN_RECORD = Object.values(ENTRY_FIELD.numbers).reduce((sum, bit) => sum | bit) & ~BITS.noMatch;
/** Fields of listed entries that a deletion and a test ignore. The kernel deletes an exception like any other entry. */
const IGNORED = { add: 0, delete: EXTENSIONS | BITS.noMatch, test: EXTENSIONS } as const;

const ALL_BITS = 0xffff_ffff;
const LISTED_FIELDS = new Set(['type', 'value']);
/** `NLA_TYPE_MASK` */
const LARGEST_ATTRIBUTE = 0x3fff;
const MAC = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i;
const LONGEST_NAME = { offset: 0, width: OPERATION.name.width };
const LONGEST_INTERFACE = { offset: 0, width: 16 };
const LONGEST_COMMENT = 255;
// The kernel ends a text at NUL, and ipset(8) a line at a line break.
const UNPRINTABLE = /["\n\r\0]/;

/** Writes the entry of an operation or of a test on a set of this shape. */
export function writeEntry(
  verb: 'add' | 'delete' | 'test',
  set: SetReference,
  shape: Shape,
  entry: SetEntry,
  writer: RecordWriter,
): void {
  if (!writer.isObject('entry', entry)) return;
  const given = fieldsOf(verb, set, shape, entry, writer);
  const fields = given & ~IGNORED[verb];
  if (fields !== given) checkIgnored(given & IGNORED[verb], entry, writer);
  writer.u8(OPERATION.fields, fields & IN_RECORD);
  if (fields & BITS.address) writeAddress(writer, 'address', entry, set);
  if (fields & BITS.prefix) writePrefix(writer, 'prefix', entry, set, shape);
  if (fields & BITS.protocol) writeProtocol(entry, set, writer);
  else if (fields & BITS.port) writePort(entry, 'port', set.type, writer);
  if (fields & BITS.address2) writeAddress(writer, 'address2', entry, set);
  if (fields & BITS.prefix2) writePrefix(writer, 'prefix2', entry, set, shape);
  if (fields & ~IN_RECORD) writeBehind(fields, entry, set, writer);
}

/** The bits of the fields that are written; those that the type does not have are refused, as are unknown ones. */
function fieldsOf(
  verb: 'add' | 'delete' | 'test',
  set: SetReference,
  shape: Shape,
  entry: SetEntry,
  writer: RecordWriter,
): number {
  let allowed =
    (set.family === 6 ? shape.fields6 : shape.fields) | EXTENSIONS | (IGNORED[verb] & BITS.noMatch);
  if (verb === 'test') allowed &= ~(RANGES | (shape.prefixIsRange ? BITS.prefix : 0));
  let fields = shape.required; // of protocols without a port it is 0
  for (const field in entry) {
    const bit = FIELD_BITS[field];
    if (bit !== undefined && (allowed & bit) !== 0) {
      if (entry[field as keyof SetEntry] !== undefined) fields |= bit;
    } else if (bit === undefined) {
      writer.fail(`entry.${field}`, entry[field as keyof SetEntry], 'is not a field of an entry', true);
    } else if (field === 'attributes' && verb !== 'add') {
      checkListed(entry.attributes, writer);
    } else if (entry[field as keyof SetEntry] !== undefined) {
      refuse(writer, `entry.${field}`, entry[field as keyof SetEntry], nameOf(verb, set, shape, bit));
    }
  }
  return fields;
}

/** Where fields are written that are not sent. */
const SCRATCH = new RecordWriter(OPERATION.SIZE, 1);

/** A field that a deletion or a test ignores has a valid value all the same. */
function checkIgnored(fields: number, entry: SetEntry, writer: RecordWriter): void {
  writeFlags(fields, entry, SCRATCH);
  writeExtensions(fields, entry, SCRATCH);
  const invalid = SCRATCH.finish();
  SCRATCH.reset();
  if (invalid) writer.fail(invalid.field, invalid.value, invalid.rule, invalid.wrongType);
}

/** The same for attributes that were listed. */
function checkListed(attributes: SetEntry['attributes'], writer: RecordWriter): void {
  if (attributes === undefined) return;
  const path = 'entry.attributes';
  if (!Array.isArray(attributes)) {
    writer.fail(path, attributes, 'must be an array', true);
    return;
  }
  for (const [i, attribute] of (attributes as readonly ListedAttribute[]).entries()) {
    if (!writer.object(`${path}[${i}]`, attribute, LISTED_FIELDS, 'an attribute')) continue;
    const { type, value } = attribute;
    writer.integer(`${path}[${i}].type`, type, 0, LARGEST_ATTRIBUTE);
    if (!(value instanceof Uint8Array))
      writer.fail(`${path}[${i}].value`, value, 'must be a Uint8Array', true);
  }
}

/** What does not have a field: a test, sets of IPv6, or a type. */
function nameOf(verb: string, { type, family }: SetReference, { fields }: Shape, bit: number): string {
  if ((fields & bit) === 0) return type;
  return verb === 'test' ? `a test of ${type}` : `${type} of IPv${family}`;
}

function writeProtocol(entry: SetEntry, set: SetReference, writer: RecordWriter): void {
  const protocol = writer.protocol('entry.protocol', entry.protocol);
  if (protocol === 0) return;
  writer.u8(OPERATION.protocol, protocol);
  writePort(entry, portFieldOf(protocol, set.family ?? 4), `protocol ${entry.protocol}`, writer);
}

/** `of` names the owner of this field, which has no other. */
function writePort(
  entry: SetEntry,
  field: 'port' | 'icmp' | undefined,
  of: string,
  writer: RecordWriter,
): void {
  for (const other of ['port', 'icmp'] as const) {
    if (other !== field && entry[other] !== undefined) refuse(writer, `entry.${other}`, entry[other], of);
  }
  if (field === 'port') {
    writer.u16(OPERATION.port, writer.integer('entry.port', entry.port, 0, 65535));
    return;
  }
  if (entry.lastPort !== undefined) refuse(writer, 'entry.lastPort', entry.lastPort, of);
  if (field === 'icmp') {
    const { icmp } = entry;
    if (!writer.object('entry.icmp', icmp, ICMP_FIELDS, 'an entry')) return;
    const type = writer.integer('entry.icmp.type', icmp.type, 0, 255);
    const code = writer.integer('entry.icmp.code', icmp.code, 0, 255);
    writer.u16(OPERATION.port, type * 256 + code);
  }
}

function writeAddress(
  writer: RecordWriter,
  field: 'address' | 'address2',
  entry: SetEntry,
  set: SetReference,
): void {
  const family = writer.address(`entry.${field}`, entry[field], OPERATION[field]);
  const own = set.family ?? 4;
  if (family !== own)
    writer.fail(`entry.${field}`, entry[field], `must be an IPv${own} address, as the set's are`);
}

/** The kernel would drop the bits behind the prefix, and list the entry as another than was added. */
function writePrefix(
  writer: RecordWriter,
  field: 'prefix' | 'prefix2',
  entry: SetEntry,
  set: SetReference,
  { leastPrefix }: Shape,
): void {
  const { [field]: prefix } = entry;
  const path = `entry.${field}`;
  const length = writer.integer(path, prefix, leastPrefix, set.family === 6 ? 128 : 32);
  writer.u8(OPERATION[field], length);
  const [place, address, last] =
    field === 'prefix'
      ? ([OPERATION.address, entry.address, entry.lastAddress] as const)
      : ([OPERATION.address2, entry.address2, entry.lastAddress2] as const);
  if (last !== undefined) writer.fail(path, prefix, 'must be left out of a range of addresses');
  if (writer.hasBitsBehind(length, place)) {
    writer.fail(path, prefix, `must cover every bit that is set in ${address}`);
  }
}

/** Writes the fields that are not in the record. */
function writeBehind(fields: number, entry: SetEntry, set: SetReference, writer: RecordWriter): void {
  const family = set.family ?? 4;
  if (fields & BITS.lastAddress) {
    writeAddressBehind(writer, 'entry.lastAddress', entry.lastAddress, family, ATTR.ipTo);
  }
  if (fields & BITS.lastAddress2) {
    writeAddressBehind(writer, 'entry.lastAddress2', entry.lastAddress2, family, ATTR.ip2To);
  }
  if (fields & BITS.lastPort) number16(writer, 'lastPort', entry, ATTR.portTo);
  if (fields & BITS.mark) number32(writer, 'mark', entry, ATTR.mark);
  if (fields & BITS.mac) writeMac(entry.mac, writer);
  if (fields & BITS.set) name(writer, 'set', entry, ATTR.name);
  if (fields & BITS.interface) {
    const place = writer.attribute(ATTR.iface, LONGEST_INTERFACE.width);
    writer.text('entry.interface', entry.interface, LONGEST_INTERFACE, place);
  }
  if (fields & BITS.before) name(writer, 'before', entry, ATTR.nameRef);
  if (fields & BITS.after) {
    if (fields & BITS.before) writer.fail('entry.after', entry.after, 'must be left out with before');
    name(writer, 'after', entry, ATTR.nameRef);
  }
  writeFlags(fields, entry, writer);
  if (fields & EXTENSIONS) writeExtensions(fields, entry, writer);
}

function writeFlags(fields: number, entry: SetEntry, writer: RecordWriter): void {
  let flags = fields & BITS.before ? FLAG.before : 0;
  for (const field of ['physdev', 'noMatch', 'wildcard'] as const) {
    const value = entry[field];
    if ((fields & BITS[field]) === 0 || value === false) continue;
    if (value !== true) writer.fail(`entry.${field}`, value, 'must be true or false', true);
    flags |= FLAG[field];
  }
  if (flags !== 0) writer.u32(VALUE.u32.value, flags, writer.attribute(ATTR.cadtFlags, 4));
}

function writeExtensions(fields: number, entry: SetEntry, writer: RecordWriter): void {
  if (fields & BITS.timeout) number32(writer, 'timeout', entry, ATTR.timeout, LARGEST_TIMEOUT);
  if (fields & BITS.packets) number64(writer, 'packets', entry, ATTR.packets);
  if (fields & BITS.bytes) number64(writer, 'bytes', entry, ATTR.bytes);
  if (fields & BITS.comment) writeComment(entry.comment, writer);
  if (fields & (BITS.skbMark | BITS.skbMask)) writeMark(entry, writer);
  if (fields & BITS.skbPrio) number32(writer, 'skbPrio', entry, ATTR.skbPrio);
  if (fields & BITS.skbQueue) number16(writer, 'skbQueue', entry, ATTR.skbQueue);
}

function number16(writer: RecordWriter, field: 'lastPort' | 'skbQueue', entry: SetEntry, type: number): void {
  const value = writer.integer(`entry.${field}`, entry[field], 0, 65535);
  writer.u16(VALUE.u16.value, value, writer.attribute(type, 2));
}

function number32(
  writer: RecordWriter,
  field: 'mark' | 'timeout' | 'skbPrio',
  entry: SetEntry,
  type: number,
  most = ALL_BITS,
): void {
  const value = writer.integer(`entry.${field}`, entry[field], 0, most);
  writer.u32(VALUE.u32.value, value, writer.attribute(type, 4));
}

function number64(writer: RecordWriter, field: 'packets' | 'bytes', entry: SetEntry, type: number): void {
  const value = entry[field];
  if (typeof value !== 'bigint' || value !== BigInt.asUintN(64, value)) {
    const rule = 'must be a bigint from 0n to 18446744073709551615n';
    writer.fail(`entry.${field}`, value, rule, typeof value !== 'bigint');
    return;
  }
  writer.u64(VALUE.u64.value, value, writer.attribute(type, 8));
}

/** Mark and mask are one value: the mark in the upper half. */
function writeMark(entry: SetEntry, writer: RecordWriter): void {
  const mark = writer.integer('entry.skbMark', entry.skbMark, 0, ALL_BITS);
  const mask = writer.integer(
    'entry.skbMask',
    entry.skbMask === undefined ? ALL_BITS : entry.skbMask,
    0,
    ALL_BITS,
  );
  const place = writer.attribute(ATTR.skbMark, 8);
  writer.u64(VALUE.u64.value, (BigInt(mark) << 32n) | BigInt(mask), place);
}

function writeMac(mac: unknown, writer: RecordWriter): void {
  if (typeof mac === 'string' && MAC.test(mac)) {
    writer.bytes(Buffer.from(mac.replaceAll(':', ''), 'hex'), writer.attribute(ATTR.ether, 6));
  } else {
    writer.fail('entry.mac', mac, 'must be six bytes as 01:23:45:67:89:ab', typeof mac !== 'string');
  }
}

function writeComment(comment: unknown, writer: RecordWriter): void {
  const length = typeof comment === 'string' ? Buffer.byteLength(comment) : 0;
  if (length === 0 || length > LONGEST_COMMENT || UNPRINTABLE.test(comment as string)) {
    const rule = `must be a text of 1 to ${LONGEST_COMMENT} bytes without quotation marks and line breaks`;
    writer.fail('entry.comment', comment, rule, typeof comment !== 'string');
    return;
  }
  writer.bytes(Buffer.from(comment as string), writer.attribute(ATTR.comment, length + 1));
}

function name(writer: RecordWriter, field: 'set' | 'before' | 'after', entry: SetEntry, type: number): void {
  writer.text(`entry.${field}`, entry[field], LONGEST_NAME, writer.attribute(type, LONGEST_NAME.width));
}
