// Addresses ↔ the records that cross to the addon, which encodes them itself: a proxy has thousands.
import type { RecordReader } from '../../shared/records/recordReader.js';
import type { RecordWriter } from '../../shared/records/recordWriter.js';
import type { ListedAttribute } from '../../shared/types.js';
import { aligned } from '../../shared/wire/messages.js';
import { isLinkName, linkName, type Numbers, nameOf, refuseAttributes } from '../fields.js';
import { flagNames, flagSum } from '../flags.js';
import { ADDRESS, ADDRESS_PART, ATTRIBUTE, OPERATION } from '../layouts.js';
import { SCOPES } from '../numbers.js';
import type { UnnamedFlag } from '../routes/types.js';
import type { AddressFlag, AddressProtocol, LinkAddress, LinkAddressId, NewAddressFlag } from './types.js';

const FOREVER = 0xffff_ffff; // INFINITY_LIFE_TIME
const { peer: PEER, broadcast: BROADCAST } = ADDRESS_PART.numbers;

const FLAGS: Numbers<Exclude<AddressFlag, UnnamedFlag>> = {
  secondary: 0x1,
  nodad: 0x2,
  optimistic: 0x4,
  dadfailed: 0x8,
  home: 0x10,
  deprecated: 0x20,
  tentative: 0x40,
  permanent: 0x80,
  mngtmpaddr: 0x100,
  noprefixroute: 0x200,
  autojoin: 0x400,
  'stable-privacy': 0x800,
};
/** The flags that are written. */
export const NEW_FLAGS: readonly NewAddressFlag[] = [
  ...(['nodad', 'optimistic', 'home', 'mngtmpaddr', 'noprefixroute', 'autojoin'] as const),
];
const WRITTEN_FLAGS = NEW_FLAGS.reduce((sum, name) => sum | FLAGS[name], 0);
/** IFAPROT_. */
const PROTOCOLS: Numbers<Extract<AddressProtocol, string>> = { kernel_lo: 1, kernel_ra: 2, kernel_ll: 3 };

const NAMES: ReadonlySet<string> = new Set([
  ...['link', 'address', 'prefix', 'peer', 'scope', 'flags', 'broadcast', 'label', 'metric'],
  ...['validLifetime', 'preferredLifetime', 'protocol', 'attributes'],
]);

const { address: PART } = OPERATION;

/** An address that is written, and may have been listed. */
type Given = LinkAddressId & Partial<LinkAddress>;

/** Writes the address of an operation. Of one that is deleted, only the name is written. */
export function writeAddress(address: Given | undefined, deletion: boolean, writer: RecordWriter): void {
  if (typeof address !== 'object' || address === null) {
    writer.fail('address', address, 'must be an object', true);
    return;
  }
  writer.onlyFields('address.', address, NAMES, 'an address');
  const { prefix, peer } = address;
  writeLinkName(address.link, writer);
  const family = writer.address('address.address', address.address, ADDRESS.address, PART);
  writer.u8(ADDRESS.family, family, PART);
  writer.u8(ADDRESS.prefix, writer.integer('address.prefix', prefix, 0, family === 4 ? 32 : 128), PART);
  let parts = 0;
  if (peer !== undefined) {
    parts |= PEER;
    if (writer.address('address.peer', peer, ADDRESS.peer, PART) !== family) {
      writer.fail('address.peer', peer, `must be an IPv${family} address`);
    }
  }
  if (deletion) {
    // Temporary addresses are deleted with the one that they were made for.
    const manages = Array.isArray(address.flags) && address.flags.includes('mngtmpaddr');
    if (manages) writer.u32(ADDRESS.flags, FLAGS.mngtmpaddr, PART);
  } else {
    parts |= writeSettings(address, family, writer);
  }
  writer.u8(ADDRESS.parts, parts, PART);
}

function writeSettings(address: Given, family: 4 | 6, writer: RecordWriter): number {
  const { broadcast, label, metric, flags } = address;
  refuseAttributes(writer, 'address.', address);
  writer.u8(ADDRESS.scope, scopeOf(address, family, writer), PART);
  if (flags !== undefined)
    writer.u32(ADDRESS.flags, flagSum(writer, 'address.flags', flags, FLAGS) & WRITTEN_FLAGS, PART);
  if (metric !== undefined) {
    writer.u32(ADDRESS.metric, writer.integer('address.metric', metric, 0, 0xffff_ffff), PART);
  }
  writeLifetimes(address, writer);
  writeProtocol(address, writer);
  if (label !== undefined) {
    writer.text('address.label', label, ADDRESS.label, PART);
    if (family === 6) writer.fail('address.label', label, 'is of IPv4 only');
    const { link } = address;
    // iproute2 has the same rule: tools of the time before netlink show such a label as a link.
    if (isLinkName(link) && typeof label === 'string' && label !== link && !label.startsWith(`${link}:`)) {
      writer.fail('address.label', label, `must be ${link}, or begin with ${link}:`);
    }
  }
  if (broadcast === undefined) return 0;
  if (family === 6 || writer.address('address.broadcast', broadcast, ADDRESS.broadcast, PART) !== 4) {
    writer.fail('address.broadcast', broadcast, 'must be an IPv4 address, of an IPv4 address');
  }
  return BROADCAST;
}

function writeProtocol({ protocol }: Given, writer: RecordWriter): void {
  if (protocol === undefined) return;
  const number =
    typeof protocol === 'number'
      ? writer.integer('address.protocol', protocol, 0, 255)
      : writer.choice('address.protocol', protocol, PROTOCOLS);
  writer.u8(ADDRESS.protocol, number, PART);
}

function scopeOf({ scope, address }: Given, family: 4 | 6, writer: RecordWriter): number {
  if (scope === undefined)
    return family === 4 && typeof address === 'string' && isLoopback(address) ? SCOPES.host : SCOPES.global;
  if (typeof scope === 'number') return writer.integer('address.scope', scope, 0, 255);
  return writer.choice('address.scope', scope, SCOPES);
}

/** Also of a text that is not canonical. */
function isLoopback(address: string): boolean {
  return Number.parseInt(address, 10) === 127;
}

function writeLifetimes({ validLifetime, preferredLifetime }: Given, writer: RecordWriter): void {
  const valid =
    validLifetime === undefined
      ? FOREVER
      : writer.integer('address.validLifetime', validLifetime, 1, FOREVER - 1);
  const preferred =
    preferredLifetime === undefined
      ? valid // as iproute2
      : writer.integer('address.preferredLifetime', preferredLifetime, 0, FOREVER - 1);
  if (preferred > valid) {
    writer.fail('address.preferredLifetime', preferredLifetime, 'must not be longer than validLifetime');
  }
  writer.u32(ADDRESS.valid, valid, PART);
  writer.u32(ADDRESS.preferred, preferred, PART);
}

function writeLinkName(link: unknown, writer: RecordWriter): void {
  if (isLinkName(link)) writer.text('address.link', link, ADDRESS.link, PART);
  else writer.fail('address.link', link, linkName.rule, typeof link !== 'string');
}

const flagsOf = flagNames(FLAGS);

/** Reads an address, and goes on to the record behind it and its attributes. */
export function readAddress(reader: RecordReader): LinkAddress {
  const family = reader.u8(ADDRESS.family) === 6 ? 6 : 4;
  const scope = reader.u8(ADDRESS.scope);
  const address: { -readonly [Name in keyof LinkAddress]: LinkAddress[Name] } = {
    link: reader.text(ADDRESS.link),
    address: reader.address(ADDRESS.address, family),
    prefix: reader.u8(ADDRESS.prefix),
    scope: scope === 0 ? 'global' : (nameOf(SCOPES, scope) ?? scope),
    flags: flagsOf(reader.u32(ADDRESS.flags)),
  };
  const parts = reader.u8(ADDRESS.parts);
  if (parts & PEER) address.peer = reader.address(ADDRESS.peer, family);
  if (parts & BROADCAST) address.broadcast = reader.address(ADDRESS.broadcast, family);
  const metric = reader.u32(ADDRESS.metric);
  if (metric !== 0) address.metric = metric;
  const valid = reader.u32(ADDRESS.valid);
  if (valid !== FOREVER) address.validLifetime = valid;
  const preferred = reader.u32(ADDRESS.preferred);
  if (preferred !== FOREVER) address.preferredLifetime = preferred;
  const label = reader.text(ADDRESS.label);
  if (label !== '') address.label = label;
  const protocol = reader.u8(ADDRESS.protocol);
  if (protocol !== 0) address.protocol = nameOf(PROTOCOLS, protocol) ?? protocol;
  const length = reader.u32(ADDRESS.attributesLength);
  reader.skip(ADDRESS.SIZE);
  if (length > 0) address.attributes = [...readAttributes(reader, length)];
  return address;
}

function* readAttributes(reader: RecordReader, length: number): Generator<ListedAttribute, void> {
  for (let left = length; left > 0; ) {
    const size = reader.u16(ATTRIBUTE.length);
    yield { type: reader.u16(ATTRIBUTE.type), value: reader.bytes(ATTRIBUTE.SIZE, size) };
    const padded = ATTRIBUTE.SIZE + aligned(size);
    reader.skip(padded);
    left -= padded;
  }
}
