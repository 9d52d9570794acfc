// ipset values ↔ the records that cross to the addon.
import { formatAddress, parseAddress } from '../../net/address.js';
import { formatNetwork, parseNetwork } from '../../net/network.js';
import { onlyRecord, RecordWriter } from '../recordWriter.js';
import { ENTRY_ADDRESSES, ENTRY_FIELD, OPERATION, OTHER_SET, SET_TYPE, VERB } from './layouts.js';
import { FIELD_BITS, portFieldOf, SHAPES } from './shapes.js';
import type { IpsetOperation, SetDefinition, SetEntry, SetReference } from './types.js';

const BITS = ENTRY_FIELD.numbers;

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
  const verb = writer.choice('do', operation?.do, VERB.numbers);
  if (verb === 0) return;
  writer.u8(OPERATION.verb, verb);
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
      writer.text('name', operation.name, OPERATION.name);
      break;
    case 'swap':
      writer.text('name', operation.name, OPERATION.name);
      writer.text('other', operation.other, OTHER_SET.name, OPERATION.rest);
      break;
  }
}

/** Throws the error of a call whose name of a set breaks a rule. */
export function checkName(name: string, operation: string): void {
  const writer = new RecordWriter(OPERATION.SIZE, 1); // not sent: the addon takes a string
  writer.text('name', name, OPERATION.name);
  onlyRecord(writer, operation);
}

function writeReference(set: SetReference, known: ReadonlySet<string>, writer: RecordWriter): void {
  writer.onlyFields('set.', set, known, 'a set');
  writer.text('set.name', set?.name, OPERATION.name);
  writer.u8(OPERATION.type, writer.choice('set.type', set?.type, SET_TYPE.numbers));
  if (set?.type === 'bitmap:port') {
    if (set.family !== undefined) refuse(writer, 'set.family', set.family, set.type);
  } else if (set?.family === 4 || set?.family === 6) {
    writer.u8(OPERATION.family, set.family);
  } else {
    writer.fail('set.family', set?.family, 'must be 4 or 6');
  }
}

function writeParameters(set: SetDefinition, writer: RecordWriter): void {
  if (set?.type === 'bitmap:port') {
    const range: readonly unknown[] = set.range ?? [0, 65535];
    const from = writer.integer('set.range[0]', range[0], 0, 65535);
    writer.u16(OPERATION.port, from);
    writer.u16(OPERATION.lastPort, writer.integer('set.range[1]', range[1], from, 65535));
    if (set.hashSize !== undefined) refuse(writer, 'set.hashSize', set.hashSize, set.type);
    if (set.maxElements !== undefined) refuse(writer, 'set.maxElements', set.maxElements, set.type);
  } else {
    writer.u32(OPERATION.hashSize, writer.integer('set.hashSize', set?.hashSize ?? 1024, 1, 0x8000_0000));
    const maxElements = writer.integer('set.maxElements', set?.maxElements ?? 65536, 1, 0xffff_ffff);
    writer.u32(OPERATION.maxElements, maxElements);
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
  // The kernel deletes an exception (`nomatch`), and one with a timeout, like any other entry.
  const isDeleted = verb === 'delete';
  const allowed = isDeleted ? shape | BITS.noMatch : shape;
  let fields = shape & BITS.port; // of protocols without a port it is 0
  for (const field in entry) {
    const bit = FIELD_BITS[field as keyof SetEntry];
    if (entry[field as keyof SetEntry] === undefined || (isDeleted && field === 'attributes')) continue;
    if ((allowed & bit) === 0) refuse(writer, `entry.${field}`, entry[field as keyof SetEntry], set.type);
    fields |= bit & shape;
  }
  writer.u8(OPERATION.fields, fields);
  if (shape & BITS.address) writeAddress(writer, 'address', entry, set);
  if (fields & BITS.prefix) writePrefix(writer, 'prefix', entry.address, entry, set);
  if (shape & BITS.protocol) writeProtocol(entry, set, writer);
  else if (shape & BITS.port) writePort(entry, 'port', set.type, writer);
  if (shape & BITS.address2) writeAddress(writer, 'address2', entry, set);
  if (fields & BITS.prefix2) writePrefix(writer, 'prefix2', entry.address2, entry, set);
}

function writeProtocol(entry: SetEntry, set: SetReference, writer: RecordWriter): void {
  const protocol = writer.protocol('entry.protocol', entry.protocol);
  if (protocol === 0) return;
  writer.u8(OPERATION.protocol, protocol);
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
    writer.u16(OPERATION.port, writer.integer('entry.port', entry.port, 0, 65535));
  } else if (field === 'icmp') {
    const { icmp } = entry;
    writer.onlyFields('entry.icmp.', icmp, ICMP_FIELDS, 'an entry');
    const type = writer.integer('entry.icmp.type', icmp?.type, 0, 255);
    const code = writer.integer('entry.icmp.code', icmp?.code, 0, 255);
    writer.u16(OPERATION.port, type * 256 + code);
  }
}

function writeAddress(
  writer: RecordWriter,
  field: 'address' | 'address2',
  entry: SetEntry,
  set: SetReference,
): void {
  const family = writer.address(`entry.${field}`, entry[field], ENTRY_ADDRESSES[field], OPERATION.rest);
  if (family === set.family) return;
  writer.fail(`entry.${field}`, entry[field], `must be an IPv${set.family} address, as the set's are`);
}

/** The kernel would drop the bits behind the prefix, and list the entry as another than was added. It refuses /0. */
function writePrefix(
  writer: RecordWriter,
  field: 'prefix' | 'prefix2',
  address: string | undefined,
  { [field]: prefix }: SetEntry,
  set: SetReference,
): void {
  const length = writer.integer(`entry.${field}`, prefix, 1, set.family === 4 ? 32 : 128);
  writer.u8(OPERATION[field], length);
  const bytes = parseAddress(address ?? '');
  const network = parseNetwork(`${address}/${length}`);
  if (bytes && network && formatNetwork(network) === `${formatAddress(bytes)}/${length}`) return;
  writer.fail(`entry.${field}`, prefix, `must cover every bit that is set in ${address}`);
}

function refuse(writer: RecordWriter, field: string, value: unknown, of: string): void {
  writer.fail(field, value, `must be left out for ${of}`);
}
