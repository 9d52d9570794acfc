// A value or a list of values. Nearly every address has one claimant: a list with one element would take 56 bytes for each.

/** One value, or several; undefined for none. The values are not arrays. */
export type OneOrMore<T> = T | readonly T[] | undefined;

/** The values as a list. */
export function listOf<T extends object>(values: OneOrMore<T>): readonly T[] {
  if (values === undefined) return NONE;
  return isList(values) ? values : [values];
}

/** The values of a list. */
export function oneOrMore<T extends object>(list: readonly T[]): OneOrMore<T> {
  return list.length > 1 ? list : list[0];
}

/** The first value. */
export function firstOf<T extends object>(values: OneOrMore<T>): T | undefined {
  return values !== undefined && isList(values) ? values[0] : values;
}

const NONE: readonly never[] = Object.freeze([]);

/** Array.isArray() does not recognize a readonly array. */
function isList<T extends object>(values: T | readonly T[]): values is readonly T[] {
  return Array.isArray(values);
}
