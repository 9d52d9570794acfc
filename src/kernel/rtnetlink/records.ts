// rtnetlink values ↔ the records that cross to the addon; native/rtnetlink/records.h has the table of every offset.
import { formatAddress } from '../../net/address.js';
import { onlyRecord, RecordWriter } from '../fields.js';
import type { Steps } from '../slices.js';
import type { Link, LinkAddress, LinkAddressId, RtnetlinkEvent, RtnetlinkOperation } from './types.js';

/** Bytes of an operation. */
export const OPERATION_SIZE = 68;

const LINK_SIZE = 60;
const ADDRESS_SIZE = 44;
const EVENT_SIZE = 64;
const LINK_EVENT = 1;

// IFNAMSIZ less the terminator; and what the record has room for: the longest kind there is has 11.
const LONGEST_NAME = 15;
const LONGEST_KIND = 31;
const IFF_UP = 1;

const VERBS: Readonly<Record<RtnetlinkOperation['do'], number>> = {
  addLink: 1,
  deleteLink: 2,
  addAddress: 3,
  deleteAddress: 4,
};

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
  const number = writer.choice('do', verb, VERBS);
  if (number === 0) return;
  writer.u8(0, number);
  writer.onlyFields('', operation, OPERATION_FIELDS[verb], `the operation ${verb}`);
  switch (verb) {
    case 'addLink':
      writeLinkName('name', operation.name, writer, 4);
      writer.text('kind', operation.kind, LONGEST_KIND, 36);
      break;
    case 'deleteLink':
      writeLinkName('name', operation.name, writer, 4);
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

/**
 * Writes the name of a link. The kernel takes no name that would not do as a file name, or that has blanks or a colon
 * (dev_valid_name).
 */
export function writeLinkName(field: string, name: unknown, writer: RecordWriter, offset: number): void {
  writer.text(field, name, LONGEST_NAME, offset);
  if (typeof name === 'string' && (name === '.' || name === '..' || /[/:\s]/.test(name))) {
    writer.fail(field, name, 'must be neither . nor .. and without slash, colon and blanks');
  }
}

/** Throws what a call rejects with whose name of a link breaks a rule. */
export function checkLinkName(field: string, name: string, operation: string): void {
  const writer = new RecordWriter(OPERATION_SIZE, 1); // not sent: the addon takes a string
  writeLinkName(field, name, writer, 4);
  onlyRecord(writer, operation);
}

function writeAddress(id: LinkAddressId | undefined, known: ReadonlySet<string>, writer: RecordWriter): void {
  if (typeof id !== 'object' || id === null) {
    writer.fail('address', id, 'must be an object', true);
    return;
  }
  writer.onlyFields('address.', id, known, 'an address that is written');
  writeLinkName('address.link', id.link, writer, 4);
  const family = writer.address('address.address', id.address, 20);
  writer.u8(1, family);
  writer.u8(2, writer.integer('address.prefix', id.prefix, 0, family === 4 ? 32 : 128));
}

/** Reads a listing of links. */
export function* readLinks(bytes: Uint8Array): Steps<Link[]> {
  const view = viewOf(bytes);
  const links: Link[] = [];
  for (let at = 0; at < bytes.length; at += LINK_SIZE) {
    links.push(readLink(bytes, view, at));
    yield;
  }
  return links;
}

/** Reads a listing of addresses. */
export function* readAddresses(bytes: Uint8Array): Steps<LinkAddress[]> {
  const view = viewOf(bytes);
  const addresses: LinkAddress[] = [];
  for (let at = 0; at < bytes.length; at += ADDRESS_SIZE) {
    addresses.push(readAddress(bytes, view, at));
    yield;
  }
  return addresses;
}

/** Reads the events of a watch. */
export function readEvents(bytes: Uint8Array): RtnetlinkEvent[] {
  const view = viewOf(bytes);
  const events: RtnetlinkEvent[] = [];
  for (let at = 0; at < bytes.length; at += EVENT_SIZE) {
    const deleted = bytes[at + 1] === 1;
    events.push(
      bytes[at] === LINK_EVENT
        ? { kind: 'link', deleted, link: readLink(bytes, view, at + 4) }
        : { kind: 'address', deleted, address: readAddress(bytes, view, at + 4) },
    );
  }
  return events;
}

function readLink(bytes: Uint8Array, view: DataView, at: number): Link {
  const flags = view.getUint32(at + 4, true);
  return {
    index: view.getUint32(at, true),
    name: readText(bytes, at + 12),
    kind: readText(bytes, at + 28),
    flags,
    mtu: view.getUint32(at + 8, true),
    up: (flags & IFF_UP) !== 0,
  };
}

function readAddress(bytes: Uint8Array, view: DataView, at: number): LinkAddress {
  const width = view.getUint8(at) === 6 ? 16 : 4;
  return {
    link: readText(bytes, at + 12),
    address: formatAddress(bytes.subarray(at + 28, at + 28 + width)),
    prefix: view.getUint8(at + 1),
    scope: view.getUint8(at + 2),
    flags: view.getUint32(at + 4, true),
  };
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

function readText(bytes: Uint8Array, at: number): string {
  const end = bytes.indexOf(0, at);
  return Buffer.from(bytes.buffer, bytes.byteOffset + at, end - at).toString();
}
