// ipset values ↔ the records that cross to the addon; native/ipset/records.h has the table of every offset.
import { formatAddress, parseAddress } from '../../net/address.js';
import { formatNetwork, parseNetwork } from '../../net/network.js';
import { onlyRecord, RecordWriter } from '../fields.js';
import {
  ADDRESS,
  ADDRESS2,
  FIELD_BITS,
  NO_MATCH,
  PORT,
  PREFIX,
  PREFIX2,
  PROTOCOL,
  portFieldOf,
  SHAPES,
} from './shapes.js';
import type { IpsetOperation, SetDefinition, SetEntry, SetReference, SetType } from './types.js';

/** Bytes of an operation record. */
export const OPERATION_SIZE = 84;
// Bytes that the name of a set may have: IPSET_MAXNAMELEN less the terminator.
const LONGEST_NAME = 31;

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

const SET_FIELDS = new Set(['name', 'type', 'family', 'hashSize', 'maxElements', 'range']);
// A set that was listed, or is about to be created, names itself.
const REFERENCE_FIELDS = new Set([
  ...SET_FIELDS,
  ...['revision', 'references', 'elements', 'extended', 'attributes'],
]);
const ICMP_FIELDS = new Set(['type', 'code']);
const ENTRY_FIELDS = new Set(Object.keys(FIELD_BITS));
const OPERATION_FIELDS: Readonly<Record<IpsetOperation['do'], ReadonlySet<string>>> = {
  create: new Set(['do', 'set']),
  add: new Set(['do', 'set', 'entry']),
  delete: new Set(['do', 'set', 'entry']),
  flush: new Set(['do', 'name']),
  destroy: new Set(['do', 'name']),
  swap: new Set(['do', 'name', 'other']),
};

/** Writes an operation record. */
export function writeOperation(operation: IpsetOperation, writer: RecordWriter): void {
  const verb = writer.choice('do', operation?.do, VERBS);
  if (verb === 0) return;
  writer.u8(0, verb);
  writer.onlyFields('', operation, OPERATION_FIELDS[operation.do], `the operation ${operation.do}`);
  switch (operation.do) {
    case 'create':
      writeReference(operation.set, SET_FIELDS, writer);
      writeParameters(operation.set, writer);
      break;
    case 'add':
    case 'delete':
      writeReference(operation.set, REFERENCE_FIELDS, writer);
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

/** Throws what a call rejects with whose name of a set breaks a rule. */
export function checkName(name: string, operation: string): void {
  const writer = new RecordWriter(LONGEST_NAME + 1, 1); // not sent: the addon takes a string
  writer.text('name', name, LONGEST_NAME, 0);
  onlyRecord(writer, operation);
}

function writeReference(set: SetReference, known: ReadonlySet<string>, writer: RecordWriter): void {
  writer.onlyFields('set.', set, known, 'a set');
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
  writer.onlyFields('entry.', entry, ENTRY_FIELDS, 'an entry');
  // The kernel deletes an exception (`nomatch`), and one with a time-out, like any other entry.
  const isDeleted = verb === 'delete';
  const allowed = isDeleted ? shape | NO_MATCH : shape;
  let fields = shape & PORT; // of protocols without a port it is 0
  for (const field in entry) {
    const bit = FIELD_BITS[field as keyof SetEntry];
    if (entry[field as keyof SetEntry] === undefined || (isDeleted && field === 'attributes')) continue;
    if ((allowed & bit) === 0) refuse(writer, `entry.${field}`, entry[field as keyof SetEntry], set.type);
    fields |= bit & shape;
  }
  writer.u8(3, fields);
  if (shape & ADDRESS) writeAddress(writer, 'address', entry, set, 52);
  if (fields & PREFIX) writer.u8(5, checkPrefix(writer, 'prefix', entry.address, entry.prefix, set));
  if (shape & PROTOCOL) writeProtocol(entry, set, writer);
  else if (shape & PORT) writePort(entry, 'port', set.type, writer);
  if (shape & ADDRESS2) writeAddress(writer, 'address2', entry, set, 68);
  if (fields & PREFIX2) writer.u8(6, checkPrefix(writer, 'prefix2', entry.address2, entry.prefix2, set));
}

function writeProtocol(entry: SetEntry, set: SetReference, writer: RecordWriter): void {
  const protocol = writer.protocol('entry.protocol', entry.protocol);
  if (protocol === 0) return;
  writer.u8(4, protocol);
  writePort(entry, portFieldOf(protocol, set.family ?? 4), `protocol ${entry.protocol}`, writer);
}

/** `of` names whatever asks for this field, and for no other. */
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
    writer.u16(8, writer.integer('entry.port', entry.port, 0, 65535));
  } else if (field === 'icmp') {
    const { icmp } = entry;
    writer.onlyFields('entry.icmp.', icmp, ICMP_FIELDS, 'an entry');
    const type = writer.integer('entry.icmp.type', icmp?.type, 0, 255);
    writer.u16(8, type * 256 + writer.integer('entry.icmp.code', icmp?.code, 0, 255));
  }
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

function refuse(writer: RecordWriter, field: string, value: unknown, of: string): void {
  writer.fail(field, value, `must be left out for ${of}`);
}
