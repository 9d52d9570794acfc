// The parts of expressions: which fields of the value are in which attributes. Each part is stated once, and writes, checks and reads.
import type { AttributeCursor } from '../../shared/wire/attributeCursor.js';
import type { ByteWriter } from '../../shared/wire/byteWriter.js';
import { type Format, type Numbers, putU32, u32Of } from './formats.js';
import type { AnonymousSet, Expression } from './types.js';

/** What an expression refers to while it is written. */
export interface Writing {
  readonly writer: ByteWriter;
  /** Notes an invalid field. */
  fail(field: string, value: unknown, rule: string, wrongType: boolean): void;
  /** Name and number of a set of the rule, which was written before it. */
  anonymous(set: AnonymousSet): { readonly name: string; readonly id: number } | undefined;
  /** Writes expressions within an expression. `field` names them. */
  nested(
    field: string,
    expressions: unknown,
    attributes: { readonly one: number; readonly list: number },
  ): void;
}

/** What an expression needs while it is read. */
export interface Reading {
  /** Reads the expressions of a list, or the single one. */
  nested(attribute: AttributeCursor, isList: boolean): readonly Expression[];
}

/** A part of an expression. */
export interface Part {
  /** Fields of the value. */
  readonly fields: readonly string[];
  /** Fields that must be there for the value to be this expression. */
  readonly required: readonly string[];
  /** The attributes. */
  readonly attributes: readonly number[];
  write(writing: Writing, value: Readonly<Record<string, unknown>>): void;
  /** False for an attribute whose value has no notation. */
  read(attribute: AttributeCursor, value: Record<string, unknown>, reading: Reading): boolean;
}

/** How one kind of expression is written and read. */
export interface Shape {
  readonly kind: Expression['kind'];
  /** The name of the kernel. */
  readonly name: string;
  readonly parts: readonly Part[];
  /** An attribute that aligns others (`NFTA_…_PAD`). */
  readonly padding?: number;
  /** Makes what was read the value that is listed: false if it has no notation. */
  readonly settle?: (value: Record<string, unknown>) => boolean;
}

/** A field that must be there. */
export function field<T>(name: string, attribute: number, format: Format<T>): Part {
  return fieldPart(name, attribute, format, true);
}

/**
 * A field that may be absent.
 *
 * @param absent the value that means the same; it is not listed
 */
export function optional<T>(name: string, attribute: number, format: Format<T>, absent?: T): Part {
  return fieldPart(name, attribute, format, false, absent);
}

/** A field whose attribute is always written, with a default where the field is absent; the default is not listed. */
export function withDefault<T>(name: string, attribute: number, format: Format<T>, absent: T): Part {
  const part = fieldPart(name, attribute, format, false, absent);
  return {
    ...part,
    write(writing, value) {
      part.write(writing, value[name] === undefined ? { ...value, [name]: absent } : value);
    },
  };
}

function fieldPart<T>(
  name: string,
  attribute: number,
  format: Format<T>,
  isRequired: boolean,
  absent?: T,
): Part {
  return {
    fields: [name],
    required: isRequired ? [name] : [],
    attributes: [attribute],
    write({ writer, fail }, value) {
      const given = value[name];
      if (given === undefined && !isRequired) return;
      if (format.accepts(given)) format.write(writer, attribute, given as T);
      else fail(name, given, format.rule, typeof given !== format.type);
    },
    read(cursor, value) {
      const read = format.read(cursor);
      if (read === undefined) return false;
      if (read !== absent) value[name] = read;
      return true;
    },
  };
}

/** An attribute that every expression of this kind has, with the same number. */
export function fixed(attribute: number, number: number, isWritten = true): Part {
  return {
    fields: [],
    required: [],
    attributes: [attribute],
    write({ writer }) {
      if (isWritten) putU32(writer, attribute, number);
    },
    read: (cursor) => u32Of(cursor) === number,
  };
}

/** An attribute that says nothing more than another one; it is not written. */
export function ignored(attribute: number): Part {
  return { fields: [], required: [], attributes: [attribute], write: () => undefined, read: () => true };
}

/** Flags in one number. */
interface Bits {
  /** Fields that are true or false. */
  readonly booleans?: Numbers<string>;
  /** A field that is a list of names. */
  readonly list?: { readonly name: string; readonly numbers: Numbers<string>; readonly isRequired?: true };
  /** Bits that say nothing about the value. */
  readonly ignored?: number;
  /** Bits that follow from other fields. */
  readonly derived?: (value: Readonly<Record<string, unknown>>) => number;
  /** Width of the number. Default 32 bits. */
  readonly width?: Format<number>;
}

/** Fields that are bits of one number. */
export function bits(attribute: number, { booleans = {}, list, ignored = 0, derived, width }: Bits): Part {
  const names = Object.keys(booleans);
  return {
    fields: list ? [...names, list.name] : names,
    required: list?.isRequired ? [list.name] : [],
    attributes: [attribute],
    write({ writer, fail }, value) {
      let sum = derived ? derived(value) : 0;
      for (const name of names) {
        const given = value[name];
        if (given === true) sum |= booleans[name] as number;
        else if (given !== undefined && given !== false) fail(name, given, 'must be true or false', true);
      }
      if (list) sum |= sumOf(list, value[list.name], fail);
      if (sum === 0) return;
      if (width) width.write(writer, attribute, sum);
      else putU32(writer, attribute, sum);
    },
    read(cursor, value) {
      let rest = (width ? (width.read(cursor) as number) : u32Of(cursor)) & ~ignored;
      for (const name of names) {
        const bit = booleans[name] as number;
        if (rest & bit) value[name] = true;
        rest &= ~bit;
      }
      if (list) {
        const found = Object.keys(list.numbers).filter((name) => rest & (list.numbers[name] as number));
        for (const name of found) rest &= ~(list.numbers[name] as number);
        if (found.length > 0 || list.isRequired) value[list.name] = found;
      }
      return rest === 0;
    },
  };
}

function sumOf(
  { name, numbers, isRequired }: NonNullable<Bits['list']>,
  given: unknown,
  fail: Writing['fail'],
): number {
  if (given === undefined && !isRequired) return 0;
  let sum = 0;
  const valid =
    Array.isArray(given) &&
    given.every((each) => {
      if (typeof each !== 'string' || !Object.hasOwn(numbers, each)) return false;
      sum |= numbers[each] as number;
      return true;
    });
  if (!valid)
    fail(name, given, `must be a list of ${Object.keys(numbers).join(', ')}`, !Array.isArray(given));
  return sum;
}
