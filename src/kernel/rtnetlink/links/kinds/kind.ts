// What the settings of all kinds of links have in common: fields of a table, which are attributes in IFLA_INFO_DATA, or of a port
// in IFLA_INFO_SLAVE_DATA.

import { isDeepStrictEqual } from 'node:util';
import type { AttributeCursor } from '../../../shared/wire/attributeCursor.js';
import { type Fields, type Ignored, type LinkNames, readField, writeFields } from '../../fields.js';
import type { MessageWriter } from '../../message.js';

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
export interface Special<T extends object> {
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
  write?(writer: MessageWriter, path: string, settings: T): void;
  /** Reads an attribute that is not in the table; false if it is unknown. */
  read?(attribute: AttributeCursor, settings: Record<string, unknown>, links: LinkNames): boolean;
}

/**
 * A kind with a table of fields. `title` is its name with its article: `a bridge`. `attributes` of a listing have no effect: what a
 * change does not name stays as it is.
 */
export function kindOf<T extends object, Listed extends object = T>(
  title: string,
  fields: Partial<Fields<T>>,
  special: Special<T> = {},
): KindFormat<T, Listed> {
  const listed = { ...fields, ...special.listed };
  const names = new Set([
    ...Object.keys(listed),
    ...(special.names ?? []),
    ...(special.readOnly ?? []),
    'attributes',
  ]);
  return {
    names,
    write(writer, path, given, isNew) {
      if (!writer.check.object(path, given, names, title)) return;
      const settings = isNew && special.defaults ? without(given, special.defaults) : given;
      writeFields<T>(writer, `${path}.`, settings, fields);
      special.write?.(writer, `${path}.`, settings);
    },
    read(attributes, links) {
      const settings: Record<string, unknown> = {};
      while (attributes.next()) {
        if (special.read?.(attributes, settings, links)) continue;
        readField(attributes, listed, settings, links, special.ignored);
      }
      return settings as Listed;
    },
  };
}

/** The settings without those that have their default value. */
function without<T extends object>(settings: T, defaults: Partial<T>): T {
  const names = (Object.keys(defaults) as (keyof T)[]).filter((name) =>
    isDeepStrictEqual(settings[name], defaults[name]),
  );
  return Object.create(settings, Object.fromEntries(names.map((name) => [name, { value: undefined }])));
}
