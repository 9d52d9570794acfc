// Addresses of links ↔ messages. Numbers: include/uapi/linux/if_addr.h.
import { type Family, formatAddress, parseAddressAsIs } from '../../net/address.js';
import type { AttributeCursor } from '../../shared/wire/attributeCursor.js';
import {
  checked,
  type Fields,
  field,
  integer,
  isLinkName,
  type LinkNames,
  linkReference,
  type Numbers,
  nameOf,
  nameOrNumber,
  readField,
  refuseAttributes,
  text,
  writeFields,
} from '../fields.js';
import { flagNames, flagSum } from '../flags.js';
import { type Message, MessageWriter } from '../message.js';
import { AF, familyOfNumber, NLM_F, RTM, SCOPES, WRITE_FLAGS } from '../numbers.js';
import { LONGEST_PREFIX } from '../prefixes.js';
import { numberOf } from '../routes/fields.js';
import type { UnnamedFlag } from '../routes/types.js';
import type { AddressFlag, AddressProtocol, LinkAddress, LinkAddressId, NewAddressFlag } from './types.js';

const IFA = { address: 1, local: 2, label: 3, broadcast: 4, cacheInfo: 6, flags: 8, protocol: 11 } as const;
const HEADER_SIZE = 8; // struct ifaddrmsg
const FOREVER = 0xffff_ffff; // INFINITY_LIFE_TIME
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
const scopeNumber = nameOrNumber('u8', SCOPES);
const NO_ADDRESS = new Uint8Array(4);

type Scalars = Pick<LinkAddress, 'metric' | 'label' | 'protocol'>;
const FIELDS: Fields<Scalars> = {
  metric: field(9, integer('u32')),
  label: field(IFA.label, { ...text(15), rule: 'must be a name of 1 to 15 bytes' }),
  protocol: field(IFA.protocol, nameOrNumber('u8', PROTOCOLS)),
};
const NAMES: ReadonlySet<string> = new Set([
  ...Object.keys(FIELDS),
  ...['link', 'address', 'prefix', 'peer', 'scope', 'flags', 'broadcast'],
  ...['validLifetime', 'preferredLifetime', 'attributes'],
]);

/** A verb on addresses. */
type AddressVerb = 'add' | 'replace' | 'delete';
/** An address that is written, and may have been listed. */
type Given = LinkAddressId & Partial<Omit<LinkAddress, 'link'>>;

/** The message that writes or deletes an address. Of one that is deleted, only the name is written. */
export function encodeAddress(verb: AddressVerb, address: Given): MessageWriter {
  const isNew = verb !== 'delete';
  const writer = new MessageWriter(isNew ? RTM.newAddress : RTM.deleteAddress, WRITE_FLAGS[verb]);
  const { check } = writer;
  if (!check.object('address', address, NAMES, 'an address')) return writer;
  const { link, prefix, peer } = address;
  const hasLink = checked(writer, 'address.link', link, linkReference);
  const local = addressOf(writer, 'address.address', address.address);
  const family = local.length === 4 ? 4 : 6;
  const length = check.integer('address.prefix', prefix, 0, LONGEST_PREFIX[family]);
  const other = peer === undefined ? local : addressOf(writer, 'address.peer', peer);
  if (other.length !== local.length) check.fail('address.peer', peer, `must be an IPv${family} address`);
  if (isNew) refuseAttributes(check, 'address.', address);
  const scope = isNew ? scopeOf(writer, address, local) : 0;
  const flags = isNew ? newFlags(writer, address) : deletedFlags(address);
  writer
    .u8(AF[family])
    .u8(length)
    .u8(flags & 0xff)
    .u8(scope);
  writer.link(hasLink ? link : 0);
  writer.attribute(IFA.local, () => writer.bytes(local));
  // With IFA_LOCAL alone, a deletion of IPv4 would not look at the prefix length.
  writer.attribute(IFA.address, () => writer.bytes(other));
  if (flags > 0xff) writer.attribute(IFA.flags, () => writer.u32(flags));
  if (isNew) writeSettings(writer, address, family);
  return writer;
}

/** 4 or 16 bytes; else the value is noted. */
function addressOf(writer: MessageWriter, path: string, value: unknown): Uint8Array {
  const bytes = typeof value === 'string' ? parseAddressAsIs(value) : undefined;
  if (!bytes) writer.check.fail(path, value, 'must be an IPv4 or IPv6 address', typeof value !== 'string');
  return bytes ?? NO_ADDRESS;
}

function newFlags({ check }: MessageWriter, { flags }: Given): number {
  return flagSum(check, 'address.flags', flags, FLAGS) & WRITTEN_FLAGS;
}

/** Temporary addresses are deleted with the one that they were made for. */
function deletedFlags({ flags }: Given): number {
  return Array.isArray(flags) && flags.includes('mngtmpaddr') ? FLAGS.mngtmpaddr : 0;
}

function scopeOf(writer: MessageWriter, { scope }: Given, local: Uint8Array): number {
  if (scope !== undefined) {
    return checked(writer, 'address.scope', scope, scopeNumber) ? numberOf(scope, SCOPES) : 0;
  }
  return local.length === 4 && local[0] === 127 ? SCOPES.host : SCOPES.global;
}

function writeSettings(writer: MessageWriter, address: Given, family: Family): void {
  const { link, label, broadcast } = address;
  writeLifetimes(writer, address);
  writeFields<Partial<Scalars>>(writer, 'address.', address, FIELDS);
  if (label !== undefined) {
    if (family === 6) writer.check.fail('address.label', label, 'is of IPv4 only');
    // iproute2 has the same rule: tools of the time before netlink show such a label as a link.
    if (isLinkName(link) && typeof label === 'string' && label !== link && !label.startsWith(`${link}:`)) {
      writer.check.fail('address.label', label, `must be ${link}, or begin with ${link}:`);
    }
  }
  if (broadcast === undefined) return;
  const bytes = family === 4 ? addressOf(writer, 'address.broadcast', broadcast) : undefined;
  if (bytes?.length !== 4) {
    writer.check.fail('address.broadcast', broadcast, 'must be an IPv4 address, of an IPv4 address');
  } else writer.attribute(IFA.broadcast, () => writer.bytes(bytes));
}

function writeLifetimes(writer: MessageWriter, { validLifetime, preferredLifetime }: Given): void {
  const { check } = writer;
  const valid =
    validLifetime === undefined
      ? FOREVER
      : check.integer('address.validLifetime', validLifetime, 1, FOREVER - 1);
  const preferred =
    preferredLifetime === undefined
      ? valid // as iproute2
      : check.integer('address.preferredLifetime', preferredLifetime, 0, FOREVER - 1);
  if (preferred > valid) {
    check.fail('address.preferredLifetime', preferredLifetime, 'must not be longer than validLifetime');
  }
  if (valid === FOREVER && preferred === FOREVER) return;
  writer.attribute(IFA.cacheInfo, () => writer.u32(preferred).u32(valid).u32(0).u32(0));
}

/** The message that lists addresses: of the link with this index (by kernels since 4.20; others list all), or of every link. */
export function encodeListAddresses(index = 0): MessageWriter {
  return new MessageWriter(RTM.getAddress, NLM_F.dump).u32(0).u32(index);
}

const flagsOf = flagNames(FLAGS);

/** Reads an address. Undefined for one of another family, and for one of a link that is not among `links`. */
export function readAddress(message: Message, links: LinkNames): LinkAddress | undefined {
  const family = familyOfNumber(message.u8(0));
  const link = links.get(message.u32(4));
  if (family === undefined || link === undefined) return undefined;
  const prefix = message.u8(1);
  const scope = nameOf(SCOPES, message.u8(3)) ?? message.u8(3);
  const address: Record<string, unknown> = { link, address: '', prefix, scope, flags: [] };
  let flags = message.u8(2);
  let local: string | undefined;
  let peer: string | undefined;
  for (const attributes = message.attributes(HEADER_SIZE); attributes.next(); ) {
    if (attributes.type === IFA.local) local = textOf(attributes, family);
    else if (attributes.type === IFA.address) peer = textOf(attributes, family);
    else if (attributes.type === IFA.label) {
      address['label'] = attributes.isText(link) ? link : attributes.text(); // as most are
    } else if (attributes.type === IFA.broadcast) address['broadcast'] = textOf(attributes, family);
    else if (attributes.type === IFA.flags) flags = attributes.u32();
    else if (attributes.type === IFA.cacheInfo) {
      if (attributes.u32() !== FOREVER) address['preferredLifetime'] = attributes.u32();
      if (attributes.u32(4) !== FOREVER) address['validLifetime'] = attributes.u32(4);
    } else readField(attributes, FIELDS, address, links);
  }
  // Most IPv6 addresses have no IFA_LOCAL.
  address['address'] = local ?? peer;
  if (address['address'] === undefined || prefix > LONGEST_PREFIX[family]) {
    throw message.malformed('address', `${address['address'] ?? 'none'}/${prefix}`);
  }
  if (local !== undefined && peer !== undefined && peer !== local) address['peer'] = peer;
  address['flags'] = flagsOf(flags);
  return address as unknown as LinkAddress;
}

function textOf(attribute: AttributeCursor, family: Family): string {
  const width = family === 4 ? 4 : 16;
  if (attribute.length !== width) throw attribute.malformed(`${attribute.length} bytes, expected ${width}`);
  if (family === 6) return formatAddress(attribute.bytes());
  // Without an array for each: a listing has thousands.
  return `${attribute.u8()}.${attribute.u8(1)}.${attribute.u8(2)}.${attribute.u8(3)}`;
}
