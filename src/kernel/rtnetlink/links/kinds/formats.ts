// Formats of values that only settings of kinds of links have: lists, ranges, sets of flags.
import { type Family, formatAddress, parseAddressAsIs } from '../../../net/address.js';
import { isIntegerWithin } from '../../../shared/arguments.js';
import type { AttributeCursor } from '../../../shared/wire/attributeCursor.js';
import {
  checked,
  type Format,
  hardwareAddress,
  integer,
  type LinkNames,
  type Numbers,
} from '../../fields.js';
import { flagNames } from '../../flags.js';
import type { MessageWriter } from '../../message.js';
import type { UnnamedFlag } from '../../routes/types.js';

/** Whether a value is an address of a family. */
function isAddress(value: unknown, family: Family): value is string {
  const bytes = typeof value === 'string' ? parseAddressAsIs(value) : undefined;
  return bytes?.length === (family === 4 ? 4 : 16);
}

/** At most so many addresses of a family, as attributes within the attribute whose types are their places. */
export function addressList(family: Family, most: number): Format<readonly string[]> {
  return {
    rule: `must be an array of at most ${most} IPv${family} addresses`,
    type: 'object',
    accepts: (value) =>
      Array.isArray(value) && value.length <= most && value.every((each) => isAddress(each, family)),
    write: (writer, value) => {
      for (const [place, address] of value.entries()) {
        writer.attribute(place, () => writer.bytes(parseAddressAsIs(address) ?? new Uint8Array()));
      }
    },
    read: (attribute) => {
      const list: string[] = [];
      for (const inner = attribute.nested(); inner.next(); ) {
        list.push(formatAddress(inner.bytes(0, family === 4 ? 4 : 16)));
      }
      return list;
    },
  };
}

/** An address of IPv4, which has another attribute than one of IPv6. */
export function isIPv4(address: string): boolean {
  return isAddress(address, 4);
}

/** An address of one family. */
export function addressOf(family: Family): Format<string> {
  return {
    rule: `must be an IPv${family} address`,
    type: 'string',
    accepts: (value) => isAddress(value, family),
    write: (writer, value) => writer.bytes(parseAddressAsIs(value) ?? new Uint8Array()),
    read: (attribute) => formatAddress(attribute.bytes(0, family === 4 ? 4 : 16)),
  };
}

/** A TTL, or that of the inner packet, which has an attribute of its own. */
export interface TtlAttributes {
  readonly ttl: number;
  readonly inherit: number;
  /** How the kernel takes the second one: NLA_FLAG, or a number. */
  writeInherit(writer: MessageWriter): void;
}

const ttlFormat = integer('u8');

/** Writes one of the two attributes of a TTL. */
export function writeTtl(
  writer: MessageWriter,
  path: string,
  value: number | 'inherit' | undefined,
  { ttl, inherit, writeInherit }: TtlAttributes,
): void {
  if (value === undefined) return;
  if (value === 'inherit') writer.attribute(inherit, () => writeInherit(writer));
  else if (checked(writer, path, value, { ...ttlFormat, rule: `${ttlFormat.rule}, or inherit` }))
    writer.attribute(ttl, () => ttlFormat.write(writer, value));
}

/** Reads one of the two; false for another attribute. */
export function readTtl(
  attribute: AttributeCursor,
  settings: Record<string, unknown>,
  { ttl, inherit }: TtlAttributes,
): boolean {
  if (attribute.type === ttl) settings['ttl'] ??= attribute.u8();
  else if (attribute.type !== inherit) return false;
  else if (attribute.length === 0 || attribute.u8() !== 0) settings['ttl'] = 'inherit';
  return true;
}

/** Hardware addresses, as attributes of this type within the attribute. */
export function hardwareAddressList(type: number): Format<readonly string[]> {
  return {
    rule: 'must be an array of hardware addresses: 6 bytes in hexadecimal, with colons',
    type: 'object',
    accepts: (value) =>
      Array.isArray(value) &&
      value.every((each) => hardwareAddress.accepts(each) && String(each).split(':').length === 6),
    write: (writer, value) => {
      for (const address of value) writer.attribute(type, () => hardwareAddress.write(writer, address));
    },
    read: (attribute, links) => {
      const list: string[] = [];
      for (const inner = attribute.nested(); inner.next(); ) {
        const address = hardwareAddress.read(inner, links);
        if (address !== undefined) list.push(address);
      }
      return list;
    },
  };
}

/** A range of ports in network order: struct ifla_vxlan_port_range. */
export const portRange: Format<{ readonly first: number; readonly last: number }> = {
  rule: 'must be a range of ports: { first, last }, of which last is not less than first',
  type: 'object',
  accepts(value) {
    if (typeof value !== 'object' || value === null) return false;
    const { first, last, ...rest } = value as { first?: unknown; last?: unknown };
    const isPort = (port: unknown): port is number => isIntegerWithin(port, 0, 0xffff);
    return isPort(first) && isPort(last) && first <= last && Object.keys(rest).length === 0;
  },
  write: (writer: MessageWriter, { first, last }) => {
    writer.u16be(first).u16be(last);
  },
  read: (attribute: AttributeCursor) => ({ first: attribute.u16be(), last: attribute.u16be(2) }),
};

/** All flags of an object: those that are not named are cleared. Those that the kernel sets itself are ignored. */
export function flagSet<Name extends string>(
  numbers: Numbers<Name>,
  width: 'u16' | 'u32' = 'u16',
  ignored = 0,
): Format<readonly (Name | UnnamedFlag)[]> {
  const namesOf = flagNames(numbers, ignored);
  const isName = (value: unknown): value is Name =>
    typeof value === 'string' && Object.hasOwn(numbers, value);
  return {
    rule: `must be an array of flags among ${Object.keys(numbers).join(', ')}`,
    type: 'object',
    accepts: (value) => Array.isArray(value) && value.every(isName),
    write: (writer, value) =>
      void writer[width](value.filter(isName).reduce((sum, name) => sum | numbers[name], 0)),
    read: (attribute: AttributeCursor, _links: LinkNames) => namesOf(attribute[width]()),
  };
}
