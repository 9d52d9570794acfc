// Addresses ↔ the records that cross to the addon, which encodes them itself: a proxy has thousands.
import type { RecordReader } from '../../recordReader.js';
import type { RecordWriter } from '../../recordWriter.js';
import { flagNames, flagSum, isLinkName, linkName, type Numbers, nameOf } from '../fields.js';
import { ADDRESS, ADDRESS_PART, OPERATION } from '../layouts.js';
import { SCOPES } from '../numbers.js';
import type { AddressFlag, LinkAddress, NewAddressFlag, NewLinkAddress } from './types.js';

const FOREVER = 0xffff_ffff; // INFINITY_LIFE_TIME
const { peer: PEER, broadcast: BROADCAST } = ADDRESS_PART.numbers;

const FLAGS: Numbers<AddressFlag> = {
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
const ALL_FLAGS = 0xfff;
const NEW_FLAGS: Numbers<NewAddressFlag> = {
  nodad: FLAGS.nodad,
  optimistic: FLAGS.optimistic,
  home: FLAGS.home,
  mngtmpaddr: FLAGS.mngtmpaddr,
  noprefixroute: FLAGS.noprefixroute,
  autojoin: FLAGS.autojoin,
};

const NAMES: ReadonlySet<string> = new Set([
  ...['link', 'address', 'prefix', 'peer', 'scope', 'flags', 'broadcast', 'label', 'metric'],
  ...['validLifetime', 'preferredLifetime'],
]);

const { address: PART } = OPERATION;

/** Writes the address of an operation. Of one that is deleted, only the name is written. */
export function writeAddress(
  address: NewLinkAddress | undefined,
  deletion: boolean,
  writer: RecordWriter,
): void {
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

function writeSettings(address: NewLinkAddress, family: 4 | 6, writer: RecordWriter): number {
  const { broadcast, label, metric, flags } = address;
  writer.u8(ADDRESS.scope, scopeOf(address, family, writer), PART);
  if (flags !== undefined)
    writer.u32(ADDRESS.flags, flagSum(writer, 'address.flags', flags, NEW_FLAGS), PART);
  if (metric !== undefined) {
    writer.u32(ADDRESS.metric, writer.integer('address.metric', metric, 0, 0xffff_ffff), PART);
  }
  writeLifetimes(address, writer);
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

function scopeOf({ scope, address }: NewLinkAddress, family: 4 | 6, writer: RecordWriter): number {
  if (scope === undefined)
    return family === 4 && typeof address === 'string' && isLoopback(address) ? SCOPES.host : SCOPES.global;
  if (typeof scope === 'number') return writer.integer('address.scope', scope, 0, 255);
  return writer.choice('address.scope', scope, SCOPES);
}

/** Also of a text that is not canonical. */
function isLoopback(address: string): boolean {
  return Number.parseInt(address, 10) === 127;
}

function writeLifetimes({ validLifetime, preferredLifetime }: NewLinkAddress, writer: RecordWriter): void {
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

/** Reads an address; `part` is its place in the record. */
export function readAddress(reader: RecordReader, part = 0): LinkAddress {
  const family = reader.u8(ADDRESS.family, part) === 6 ? 6 : 4;
  const scope = reader.u8(ADDRESS.scope, part);
  const address: { -readonly [Name in keyof LinkAddress]: LinkAddress[Name] } = {
    link: reader.text(ADDRESS.link, part),
    address: reader.address(ADDRESS.address, family, part),
    prefix: reader.u8(ADDRESS.prefix, part),
    scope: scope === 0 ? 'global' : (nameOf(SCOPES, scope) ?? scope),
    flags: flagsOf(reader.u32(ADDRESS.flags, part) & ALL_FLAGS),
  };
  const parts = reader.u8(ADDRESS.parts, part);
  if (parts & PEER) address.peer = reader.address(ADDRESS.peer, family, part);
  if (parts & BROADCAST) address.broadcast = reader.address(ADDRESS.broadcast, family, part);
  const metric = reader.u32(ADDRESS.metric, part);
  if (metric !== 0) address.metric = metric;
  const valid = reader.u32(ADDRESS.valid, part);
  if (valid !== FOREVER) address.validLifetime = valid;
  const preferred = reader.u32(ADDRESS.preferred, part);
  if (preferred !== FOREVER) address.preferredLifetime = preferred;
  const label = reader.text(ADDRESS.label, part);
  if (label !== '') address.label = label;
  return address;
}
