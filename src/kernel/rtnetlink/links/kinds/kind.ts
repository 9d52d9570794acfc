// What the settings of all kinds of links have in common: fields of a table, which are attributes in IFLA_INFO_DATA, or of a port
// in IFLA_INFO_SLAVE_DATA.

import { isDeepStrictEqual } from 'node:util';
import type { AttributeCursor } from '../../../shared/wire/attributeCursor.js';
import {
  checked,
  type Fields,
  type Ignored,
  ipAddress,
  type LinkNames,
  readField,
  refuseAttributes,
  toggle,
  writeFields,
} from '../../fields.js';
import type { MessageWriter } from '../../message.js';
import { isIPv4 } from './formats.js';

/** Settings of a kind of link, or of a port of one ↔ attributes. */
export interface KindFormat<T extends object, Listed extends object> {
  /** The names of its fields, those that are only listed too. */
  readonly names: ReadonlySet<string>;
  /** Writes the attributes of a change, or of a new link. `path` is the path of the settings, without a dot at its end. */
  write(writer: MessageWriter, path: string, settings: T, isNew?: boolean): void;
  /** Reads the attributes. */
  read(attributes: AttributeCursor, links: LinkNames): Listed;
}

/** What a kind has beside the fields of its table. */
interface Special<T extends object> {
  /** Names of fields that `write` and `read` know. */
  readonly names?: readonly (keyof T & string)[];
  /** Fields that the kernel lists, and that are not written: a table, and names that `read` knows. */
  readonly listed?: object;
  readonly readOnly?: readonly string[];
  /** Attributes that are left out of a listing: they say nothing about the settings. */
  readonly ignored?: Ignored;
  /**
   * Values that a new link has without the attribute, and is created without. The kernel refuses some attributes of a new link whatever
   * their value is, and lists them all the same.
   */
  readonly defaults?: Partial<T>;
  /** NLA_FLAG: attributes that are there without a value, or are not. They are listed if they are true. */
  readonly flags?: Readonly<Record<string, number>>;
  /** Addresses, with the attribute of one of IPv4 and that of one of IPv6. */
  readonly addresses?: Readonly<Record<string, readonly [ipv4: number, ipv6: number]>>;
  /** Settings that a change must have, because the kernel sets all that it does not have to their defaults. */
  readonly whole?: readonly (keyof T & string)[];
  write?(writer: MessageWriter, path: string, settings: T): void;
  /** Reads an attribute that is not in the table; false if it is unknown. */
  read?(attribute: AttributeCursor, settings: Record<string, unknown>, links: LinkNames): boolean;
}

const FLAG = toggle('u8');

/**
 * A kind with a table of fields. `title` is its name with its article: `a bridge`. A change ignores `attributes` of a listing, because
 * what it does not name stays as it is; one of a kind with `whole` is refused with them.
 */
export function kindOf<T extends object, Listed extends object = T>(
  title: string,
  fields: Partial<Fields<T>>,
  special: Special<T> = {},
): KindFormat<T, Listed> {
  const listed = { ...fields, ...special.listed };
  const { flags = {}, addresses = {} } = special;
  const fieldOf = new Map([
    ...Object.entries(flags).map(([name, attribute]) => [attribute, name] as const),
    ...Object.entries(addresses).flatMap(([name, both]) => both.map((each) => [each, name] as const)),
  ]);
  const names = new Set([
    ...Object.keys(listed),
    ...fieldOf.values(),
    ...(special.names ?? []),
    ...(special.readOnly ?? []),
    'attributes',
  ]);
  return {
    names,
    write(writer, path, given, isNew) {
      if (!writer.check.object(path, given, names, title)) return;
      if (!isNew && special.whole) checkWhole(writer, path, given, special.whole);
      const settings = isNew && special.defaults ? without(given, special.defaults) : given;
      writeFields<T>(writer, `${path}.`, settings, fields);
      for (const [name, attribute] of Object.entries(flags)) {
        const value: unknown = settings[name as keyof T];
        if (value === undefined || !checked(writer, `${path}.${name}`, value, FLAG) || !value) continue;
        writer.attribute(attribute, () => undefined);
      }
      for (const [name, [ipv4, ipv6]] of Object.entries(addresses)) {
        const value = settings[name as keyof T] as string | undefined;
        if (value === undefined || !checked(writer, `${path}.${name}`, value, ipAddress)) continue;
        writer.attribute(isIPv4(value) ? ipv4 : ipv6, () => ipAddress.write(writer, value));
      }
      special.write?.(writer, `${path}.`, settings);
    },
    read(attributes, links) {
      const settings: Record<string, unknown> = {};
      while (attributes.next()) {
        const name = fieldOf.get(attributes.type);
        if (name !== undefined) settings[name] = name in flags || ipAddress.read(attributes, links);
        if (name !== undefined || special.read?.(attributes, settings, links)) continue;
        readField(attributes, listed, settings, links, special.ignored);
      }
      return settings as Listed;
    },
  };
}

/** Notes a setting that a change leaves out, and the kernel would reset: one of `whole`, or one that has no field. */
function checkWhole<T extends object>(
  writer: MessageWriter,
  path: string,
  given: T,
  whole: readonly (keyof T & string)[],
): void {
  for (const name of whole) {
    if (given[name] !== undefined) continue;
    const rule =
      'must be given: a change sets all settings of this kind, and those that are absent to their defaults';
    writer.check.fail(`${path}.${name}`, undefined, rule, true);
  }
  refuseAttributes(writer.check, `${path}.`, given);
}

/** The settings without those that have their default value. */
function without<T extends object>(settings: T, defaults: Partial<T>): T {
  const names = (Object.keys(defaults) as (keyof T)[]).filter((name) =>
    isDeepStrictEqual(settings[name], defaults[name]),
  );
  return Object.create(settings, Object.fromEntries(names.map((name) => [name, { value: undefined }])));
}
