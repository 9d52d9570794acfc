// The records that cross to the addon: numbers little-endian, each field at a fixed offset. A layout states the fields of a
// record in their order, once for both sides: `npm run task -- layouts` writes it down for C++.

/** The kinds of fields whose width is fixed, with their widths in bytes. An address of IPv4 is in the first 4 of 16 bytes. */
const WIDTHS = { u8: 1, u16: 2, u32: 4, u64: 8, address: 16 } as const;

declare const KIND: unique symbol;

/** Offset of a field in its record, in bytes. The type keeps the kind of the field: a u16 cannot be read as a u32. */
export type Place<Kind extends string> = number & { readonly [KIND]: Kind };

/** Place of a text: padded with zeros, of which there is at least one. */
export interface TextPlace {
  readonly offset: number;
  /** In bytes, with the zero at the end. */
  readonly width: number;
}

/** A field that is not placed yet. */
export interface Field<Placed> {
  readonly kind: string;
  /** In bytes. */
  readonly width: number;
  place(offset: number): Placed;
}

/** A field in its place, as the C++ header states it. */
interface PlacedField {
  readonly name: string;
  readonly kind: string;
  readonly offset: number;
  readonly width: number;
}

/** The fields of a layout, in their order; the key does not collide with the names of fields. */
export const FIELDS = Symbol('fields');

/** Places of the fields of a record, by name. */
type Layout<Fields extends Record<string, Field<unknown>>> = {
  readonly [Name in keyof Fields]: Fields[Name] extends Field<infer Placed> ? Placed : never;
} & Sized;

export interface Sized {
  /** Width of the record, in bytes. */
  readonly SIZE: number;
  readonly [FIELDS]: readonly PlacedField[];
}

function fixed<Kind extends string>(kind: Kind, width: number): Field<Place<Kind>> {
  return { kind, width, place: (offset) => offset as Place<Kind> };
}

/** A number of 8 bits. */
export const u8 = fixed('u8', WIDTHS.u8);
/** A number of 16 bits. */
export const u16 = fixed('u16', WIDTHS.u16);
/** A number of 32 bits. */
export const u32 = fixed('u32', WIDTHS.u32);
/** A number of 64 bits. */
export const u64 = fixed('u64', WIDTHS.u64);
/** An IP address in network order. */
export const address = fixed('address', WIDTHS.address);

/** A text of at most `width` − 1 bytes in UTF-8. */
export function text(width: number): Field<TextPlace> {
  return { kind: 'text', width, place: (offset) => ({ offset, width }) };
}

/** A record within the record; of several layouts, one of them: which one depends on another field. */
export function nested(...layouts: readonly Sized[]): Field<Place<'nested'>> {
  return fixed('nested', Math.max(...layouts.map(({ SIZE }) => SIZE)));
}

/** Bytes without a meaning, which are zero. */
export function unused(width: number): Field<undefined> {
  return { kind: 'unused', width, place: () => undefined };
}

/** The layout of a record with these fields, one directly after another. */
export function layout<Fields extends Record<string, Field<unknown>>>(fields: Fields): Layout<Fields> {
  let offset = 0;
  const places: Record<string, unknown> = {};
  const placed: PlacedField[] = [];
  for (const [name, { kind, width, place }] of Object.entries(fields)) {
    places[name] = place(offset);
    if (kind !== 'unused') placed.push({ name, kind, offset, width });
    offset += width;
  }
  return { ...places, SIZE: offset, [FIELDS]: placed } as unknown as Layout<Fields>;
}

/** Numbers that stand for names in a field of 8 bits: in C++ they are the enumeration `type`. */
export interface Codes<Name extends string> {
  readonly type: string;
  /** Whether the numbers are bits, of which a field has the sum. */
  readonly areBits: boolean;
  readonly numbers: Readonly<Record<Name, number>>;
}

/** Numbers of which a field has one. */
export function codes<Name extends string>(
  type: string,
  numbers: Readonly<Record<Name, number>>,
): Codes<Name> {
  return { type, areBits: false, numbers };
}

/** Bits of which a field has the sum. */
export function bits<Name extends string>(
  type: string,
  numbers: Readonly<Record<Name, number>>,
): Codes<Name> {
  return { type, areBits: true, numbers };
}
