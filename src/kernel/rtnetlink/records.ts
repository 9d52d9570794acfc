// rtnetlink values ↔ the records that cross to the addon.
import type { Reading } from '../listing.js';
import { RecordReader } from '../recordReader.js';
import { onlyRecord, RecordWriter } from '../recordWriter.js';
import { ADDRESS, EVENT, EVENT_KIND, LINK, OPERATION, VERB } from './layouts.js';
import type { Link, LinkAddress, LinkAddressId, RtnetlinkEvent, RtnetlinkOperation } from './types.js';

const IFF_UP = 1;

const OPERATION_FIELDS: Readonly<Record<RtnetlinkOperation['do'], ReadonlySet<string>>> = {
  addLink: new Set(['do', 'name', 'kind']),
  deleteLink: new Set(['do', 'name']),
  addAddress: new Set(['do', 'address']),
  deleteAddress: new Set(['do', 'address']),
};
const NEW_ADDRESS_FIELDS = new Set(['link', 'address', 'prefix']);
// One that was listed names itself.
const ADDRESS_FIELDS = new Set([...NEW_ADDRESS_FIELDS, 'scope', 'flags']);

/** Writes an operation record. */
export function writeOperation(operation: RtnetlinkOperation, writer: RecordWriter): void {
  const verb = operation?.do;
  const number = writer.choice('do', verb, VERB.numbers);
  if (number === 0) return;
  writer.u8(OPERATION.verb, number);
  writer.onlyFields('', operation, OPERATION_FIELDS[verb], `the operation ${verb}`);
  switch (verb) {
    case 'addLink':
      writeLinkName('name', operation.name, writer);
      writer.text('kind', operation.kind, OPERATION.kind);
      break;
    case 'deleteLink':
      writeLinkName('name', operation.name, writer);
      break;
    case 'addAddress':
      writeAddress(operation.address, NEW_ADDRESS_FIELDS, writer);
      break;
    case 'deleteAddress':
      writeAddress(operation.address, ADDRESS_FIELDS, writer);
      break;
    default:
  }
}

/** Writes the name of a link. The kernel refuses `.`, `..`, slashes, colons and blanks (dev_valid_name). */
function writeLinkName(field: string, name: unknown, writer: RecordWriter): void {
  writer.text(field, name, OPERATION.link);
  if (typeof name === 'string' && (name === '.' || name === '..' || /[/:\s]/.test(name))) {
    writer.fail(field, name, 'must be neither . nor .. and without slash, colon and blanks');
  }
}

/** Throws the error of a call whose name of a link breaks a rule. */
export function checkLinkName(field: string, name: string, operation: string): void {
  const writer = new RecordWriter(OPERATION.SIZE, 1); // not sent: the addon takes a string
  writeLinkName(field, name, writer);
  onlyRecord(writer, operation);
}

function writeAddress(id: LinkAddressId | undefined, known: ReadonlySet<string>, writer: RecordWriter): void {
  if (typeof id !== 'object' || id === null) {
    writer.fail('address', id, 'must be an object', true);
    return;
  }
  writer.onlyFields('address.', id, known, 'an address that is written');
  writeLinkName('address.link', id.link, writer);
  const family = writer.address('address.address', id.address, OPERATION.address);
  writer.u8(OPERATION.family, family);
  writer.u8(OPERATION.prefix, writer.integer('address.prefix', id.prefix, 0, family === 4 ? 32 : 128));
}

/** Reads a listing of links. */
export function* readLinks(bytes: Uint8Array): Reading<Link> {
  for (const reader = new RecordReader(bytes); reader.hasMore; reader.skip(LINK.SIZE)) {
    yield readLink(reader);
  }
}

/** Reads a listing of addresses. */
export function* readAddresses(bytes: Uint8Array): Reading<LinkAddress> {
  for (const reader = new RecordReader(bytes); reader.hasMore; reader.skip(ADDRESS.SIZE)) {
    yield readAddress(reader);
  }
}

/** Reads the events of a watch. */
export function* readEvents(bytes: Uint8Array): Generator<RtnetlinkEvent> {
  for (const reader = new RecordReader(bytes); reader.hasMore; reader.skip(EVENT.SIZE)) {
    const deleted = reader.u8(EVENT.deleted) === 1;
    yield reader.u8(EVENT.kind) === EVENT_KIND.numbers.link
      ? { kind: 'link', deleted, link: readLink(reader, EVENT.changed) }
      : { kind: 'address', deleted, address: readAddress(reader, EVENT.changed) };
  }
}

function readLink(reader: RecordReader, part = 0): Link {
  const flags = reader.u32(LINK.flags, part);
  return {
    index: reader.u32(LINK.index, part),
    name: reader.text(LINK.name, part),
    kind: reader.text(LINK.kind, part),
    flags,
    mtu: reader.u32(LINK.mtu, part),
    up: (flags & IFF_UP) !== 0,
  };
}

function readAddress(reader: RecordReader, part = 0): LinkAddress {
  return {
    link: reader.text(ADDRESS.link, part),
    address: reader.address(ADDRESS.address, reader.u8(ADDRESS.family, part) === 6 ? 6 : 4, part),
    prefix: reader.u8(ADDRESS.prefix, part),
    scope: reader.u8(ADDRESS.scope, part),
    flags: reader.u32(ADDRESS.flags, part),
  };
}
