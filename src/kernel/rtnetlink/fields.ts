// Fields of objects that are attributes of messages, each stated once: written, checked and read by the same table.
import { formatAddress, parseAddressAsIs } from '../net/address.js';
import { argumentError, integerRule, isIntegerWithin, shown } from '../shared/arguments.js';
import type { ListedAttribute } from '../shared/types.js';
import type { AttributeCursor } from '../shared/wire/attributeCursor.js';
import type { LinkReference } from './links/reference.js';
import type { MessageWriter } from './message.js';

/** Names of links by their index. */
export type LinkNames = Pick<ReadonlyMap<number, string>, 'get'>;

/** A kind of value in an attribute. */
export interface Format<T> {
  /** `must be true or false`. */
  readonly rule: string;
  /** `typeof` of valid values. */
  readonly type: 'bigint' | 'boolean' | 'number' | 'object' | 'string';
  accepts(value: unknown): boolean;
  write(writer: MessageWriter, value: T): void;
  /** Undefined for a value that means nothing: the index of a link in another namespace. */
  read(attribute: AttributeCursor, links: LinkNames): T | undefined;
}

/** A field: type of its attribute, and format. */
export interface Field<T> {
  readonly attribute: number;
  readonly format: Format<T>;
}

/** The fields of an object. */
export type Fields<T> = { readonly [Name in keyof T]-?: Field<Exclude<T[Name], undefined>> };

/** One field. */
export function field<T>(attribute: number, format: Format<T>): Field<T> {
  return { attribute, format };
}

/** Writes the fields that are in the table and in the object; `path` is the path of the object with a dot at its end. */
export function writeFields<T extends object>(
  writer: MessageWriter,
  path: string,
  object: T,
  fields: Partial<Fields<T>>,
): void {
  for (const name of Object.keys(fields) as (keyof T & string)[]) {
    const value = object[name] as Exclude<T[typeof name], undefined> | undefined;
    const described = fields[name];
    if (value === undefined || !described) continue;
    const { attribute, format } = described;
    if (checked(writer, `${path}${name}`, value, format)) {
      writer.attribute(attribute, () => format.write(writer, value));
    }
  }
}

/** The part of a format that checks. */
type Rule = Pick<Format<unknown>, 'rule' | 'type' | 'accepts'>;

/** Whether a value has the format; else the value is noted. */
export function checked(writer: MessageWriter, path: string, value: unknown, format: Rule): boolean {
  const ok = format.accepts(value);
  if (!ok) writer.check.fail(path, value, format.rule, typeof value !== format.type);
  return ok;
}

/** Attributes that are not fields and are left out: they say nothing about the object, or say it twice. */
export type Ignored = ReadonlySet<number>;

const NOTHING: Ignored = new Set();

/** Reads an attribute into its field of an object; false if it has none. */
export function readKnownField(
  attribute: AttributeCursor,
  fields: object,
  object: Record<string, unknown>,
  links: LinkNames,
): boolean {
  const name = namesOf(fields).get(attribute.type);
  if (name === undefined) return false;
  const { format } = (fields as Record<string, Field<unknown>>)[name] as Field<unknown>;
  const value = format.read(attribute, links);
  if (value !== undefined) object[name] = value;
  return true;
}

/** The same; an attribute without a field becomes one of `attributes`, unless it is among the ignored. */
export function readField(
  attribute: AttributeCursor,
  fields: object,
  object: Record<string, unknown>,
  links: LinkNames,
  ignored: Ignored = NOTHING,
): void {
  if (!readKnownField(attribute, fields, object, links) && !ignored.has(attribute.type)) {
    keepAttribute(attribute, object);
  }
}

/** Adds an attribute that has no field to `attributes`. */
export function keepAttribute(attribute: AttributeCursor, object: Record<string, unknown>): void {
  const { type } = attribute;
  // A copy: the value would keep the whole answer in memory.
  const kept: ListedAttribute = { type, value: new Uint8Array(attribute.bytes()) };
  const { attributes } = object as { attributes?: ListedAttribute[] };
  if (attributes) attributes.push(kept);
  else object['attributes'] = [kept];
}

const namesByTable = new WeakMap<object, ReadonlyMap<number, string>>();

/** Names of fields by the types of their attributes. */
function namesOf(fields: object): ReadonlyMap<number, string> {
  let names = namesByTable.get(fields);
  if (!names) {
    names = new Map(
      Object.entries(fields as Record<string, Field<unknown>>).map(([name, each]) => [each.attribute, name]),
    );
    namesByTable.set(fields, names);
  }
  return names;
}

type Width = 'u8' | 'u16' | 'u32' | 'i32' | 'u64AsNumber' | 'u16be' | 'u32be';

const MOST: Readonly<Record<Width, number>> = {
  ...{ u8: 0xff, u16: 0xffff, u16be: 0xffff, u32: 0xffff_ffff, u32be: 0xffff_ffff, i32: 0x7fff_ffff },
  u64AsNumber: Number.MAX_SAFE_INTEGER,
};

/** An integer. Default bounds: those of the width. */
export function integer(width: Width, least = 0, most = MOST[width]): Format<number> {
  return {
    rule: integerRule(least, most),
    type: 'number',
    accepts: (value) => isIntegerWithin(value, least, most),
    write: (writer, value) => writer[width](value),
    read: (attribute) => attribute[width](),
  };
}

/** A number of which the kernel has the `scale`-fold as an integer: a time in s, of which the kernel has hundredths. */
export function scaled(width: 'u32' | 'u64AsNumber', scale: number): Format<number> {
  const most = Math.floor(MOST[width] / scale);
  return {
    rule: `must be a number from 0 to ${most}`,
    type: 'number',
    accepts: (value) => typeof value === 'number' && value >= 0 && value <= most,
    write: (writer, value) => writer[width](Math.round(value * scale)),
    read: (attribute) => attribute[width]() / scale,
  };
}

/** An integer of 64 bits, in network order. */
export const largeInteger: Format<bigint> = {
  rule: 'must be an integer from 0 to 18446744073709551615',
  type: 'bigint',
  accepts: (value) => typeof value === 'bigint' && value >= 0n && value < 1n << 64n,
  write: (writer, value) => writer.u64be(value),
  read: (attribute) => attribute.u64be(),
};

/** True or false, as 1 or 0. */
export function toggle(width: Width): Format<boolean> {
  return {
    rule: 'must be true or false',
    type: 'boolean',
    accepts: (value) => typeof value === 'boolean',
    write: (writer, value) => writer[width](value ? 1 : 0),
    read: (attribute) => attribute[width]() !== 0,
  };
}

/** A number of which a listing leaves out one value: the one that the kernel lists of an object written without the attribute. */
export function unless(byDefault: number, format: Format<number>): Format<number> {
  const read: Format<number>['read'] = (attribute, links) => {
    const value = format.read(attribute, links);
    return value === byDefault ? undefined : value;
  };
  return { ...format, read };
}

/** Names that stand for numbers. */
export type Numbers<Name extends string> = Readonly<Record<Name, number>>;

/** The name of a number, if it has one. */
export function nameOf<Name extends string>(numbers: Numbers<Name>, number: number): Name | undefined {
  for (const name in numbers) if (numbers[name] === number) return name;
  return undefined;
}

/** One of some names. */
export function choice<Name extends string>(width: Width, numbers: Numbers<Name>): Format<Name> {
  return {
    rule: `must be one of ${Object.keys(numbers).join(', ')}`,
    type: 'string',
    accepts: (value) => typeof value === 'string' && Object.hasOwn(numbers, value),
    write: (writer, value) => writer[width](numbers[value]),
    read: (attribute) => nameOf(numbers, attribute[width]()),
  };
}

/** One of some names, or a number without a name. */
export function nameOrNumber<Name extends string>(
  width: Width,
  numbers: Numbers<Name>,
): Format<Name | number> {
  const inBounds = integer(width);
  const named = choice(width, numbers);
  return {
    rule: `${named.rule}, or an integer from 0 to ${MOST[width]}`,
    type: 'string',
    accepts: (value) => named.accepts(value) || inBounds.accepts(value),
    write: (writer, value) => writer[width](typeof value === 'number' ? value : numbers[value]),
    read: (attribute) => nameOf(numbers, attribute[width]()) ?? attribute[width](),
  };
}

/** A text without NUL, of at least 1 byte by default. */
export function text(longest: number, shortest: 0 | 1 = 1): Format<string> {
  return {
    rule: `must be a text of ${shortest} to ${longest} bytes`,
    type: 'string',
    accepts: (value) =>
      typeof value === 'string' &&
      value.length >= shortest &&
      !value.includes('\0') &&
      Buffer.byteLength(value) <= longest,
    write: (writer, value) => writer.bytes(Buffer.from(`${value}\0`)),
    read: (attribute) => attribute.text(),
  };
}

/** The kernel's rule for names of links (dev_valid_name), and at most IFNAMSIZ - 1 bytes. */
export function isLinkName(value: unknown): value is string {
  if (typeof value !== 'string' || value === '' || value === '.' || value === '..') return false;
  return !/[/:\s\0]/.test(value) && Buffer.byteLength(value) <= 15;
}

const LINK_NAME_RULE =
  'must be a name of 1 to 15 bytes, neither . nor .. and without slash, colon and blanks';

/** The name of a link that is created or renamed, or that need not exist. */
export const linkName: Format<string> = { ...text(15), rule: LINK_NAME_RULE, accepts: isLinkName };

/** Bytes of an alternative name: ALTIFNAMSIZ - 1. */
const LONGEST_ALTERNATIVE_NAME = 127;
/** An alternative name that is added or deleted. */
export const alternativeName: Format<string> = text(LONGEST_ALTERNATIVE_NAME);
/** The rule of {@link isNameOfLink}. */
export const NAME_OF_LINK_RULE = `${LINK_NAME_RULE}, or an alternative name of 16 to ${LONGEST_ALTERNATIVE_NAME} bytes`;

/** Whether a value can be the name of a link that is there. The kernel has no rule for the letters of alternative names. */
export function isNameOfLink(value: unknown): value is string {
  if (isLinkName(value)) return true;
  if (typeof value !== 'string' || value.includes('\0')) return false;
  const length = Buffer.byteLength(value);
  return length > 15 && length <= LONGEST_ALTERNATIVE_NAME;
}

/** The largest index of a link. */
const LARGEST_INDEX = 0x7fff_ffff;

/** Whether a value can name a link that is there: by a name, or by its index. */
function isLinkReference(value: unknown): value is LinkReference {
  return isNameOfLink(value) || isIntegerWithin(value, 1, LARGEST_INDEX);
}

/** The rule of {@link isLinkReference}. */
const LINK_REFERENCE_RULE = `${NAME_OF_LINK_RULE}, or an index`;

/** Throws the error of a call whose name or index of a link is invalid. */
export function checkLinkReference(field: string, link: unknown, operation: string): void {
  if (isLinkReference(link)) return;
  const wrongType = typeof link !== 'string' && typeof link !== 'number';
  throw argumentError(operation, { field, value: link, rule: LINK_REFERENCE_RULE, wrongType });
}

/** A link in this namespace, by its name or its index. A listing has its name. */
export const linkReference: Format<LinkReference> = {
  rule: LINK_REFERENCE_RULE,
  type: 'string',
  accepts: isLinkReference,
  write: (writer, value) => writer.link(value),
  read: (attribute, links) => links.get(attribute.u32()),
};

/** The same, or null for none: index 0. */
export const linkOrNone: Format<LinkReference | null> = {
  rule: `${LINK_REFERENCE_RULE}, or null`,
  type: 'string',
  accepts: (value) => value === null || isLinkReference(value),
  write: (writer, value) => writer.link(value ?? 0),
  read: linkReference.read,
};

/** A hardware address: bytes in hexadecimal, with colons. MAX_ADDR_LEN is 32. */
export const hardwareAddress: Format<string> = {
  rule: 'must be a hardware address: 1 to 32 bytes in hexadecimal, with colons',
  type: 'string',
  accepts: (value) => typeof value === 'string' && /^[0-9a-f]{1,2}(:[0-9a-f]{1,2}){0,31}$/i.test(value),
  write: (writer, value) =>
    writer.bytes(Uint8Array.from(value.split(':'), (byte) => Number.parseInt(byte, 16))),
  read: (attribute) =>
    attribute.length === 0
      ? undefined
      : Array.from(attribute.bytes(), (byte) => byte.toString(16).padStart(2, '0')).join(':'),
};

/** An IP address of either family. */
export const ipAddress: Format<string> = {
  rule: 'must be an IPv4 or IPv6 address',
  type: 'string',
  accepts: (value) => typeof value === 'string' && parseAddressAsIs(value) !== undefined,
  write: (writer, value) => writer.bytes(parseAddressAsIs(value) ?? new Uint8Array()),
  read: (attribute) => formatAddress(attribute.bytes(0, attribute.length > 4 ? 16 : 4)),
};

/** Refuses to write an object that was listed with attributes that cannot be written: it would become another object. */
export function refuseAttributes(
  checker: { fail(field: string, value: unknown, rule: string, wrongType?: boolean): void },
  path: string,
  object: object,
): void {
  const { attributes } = object as { readonly attributes?: unknown };
  if (attributes === undefined) return;
  const types = Array.isArray(attributes) ? attributes.map((each) => shown(each?.type)).join(', ') : '';
  const rule = `must be left out: the library has no field for attributes of these types (${types}), and writes the object without them`;
  checker.fail(`${path}attributes`, attributes, rule, true);
}
