// Flags of objects: booleans that are bits of a number, and texts that stand for bits.
import type { Checker } from '../shared/checker.js';
import type { Numbers } from './fields.js';
import type { MessageWriter } from './message.js';
import type { UnnamedFlag } from './types.js';

/** Booleans that are bits of one number. */
export type Bits<T> = { readonly [Name in keyof T]-?: { readonly bit: number; readonly inverse?: true } };

/** The sum of the bits of the fields that an object has, and the sum of those that it sets. */
export function bitsOf<T extends object>(
  writer: MessageWriter,
  path: string,
  object: T,
  bits: Bits<T>,
): { readonly value: number; readonly mask: number } {
  let value = 0;
  let mask = 0;
  for (const name of Object.keys(bits) as (keyof T & string)[]) {
    const held: unknown = object[name];
    if (held === undefined) continue;
    if (typeof held !== 'boolean') writer.check.fail(`${path}${name}`, held, 'must be true or false', true);
    const { bit, inverse = false } = bits[name];
    mask |= bit;
    if (held !== inverse) value |= bit;
  }
  return { value: value >>> 0, mask: mask >>> 0 };
}

/** The fields that the bits of a number mean, as far as they are among the bits of `mask`. */
export function readBits<T>(value: number, bits: Bits<T>, mask = 0xffff_ffff): T {
  const object: Record<string, boolean> = {};
  for (const name of Object.keys(bits) as (keyof T & string)[]) {
    const { bit, inverse = false } = bits[name];
    if (mask & bit) object[name] = ((value & bit) !== 0) !== inverse;
  }
  return object as T;
}

/**
 * Texts for flags, one frozen array for each sum: most objects of a listing have the same flags. A flag without a name is
 * `bit_12`, unless it is among the ignored.
 */
export function flagNames<Name extends string>(
  numbers: Numbers<Name>,
  ignored = 0,
): (sum: number) => readonly (Name | UnnamedFlag)[] {
  const names = Object.entries(numbers) as [Name, number][];
  const named = names.reduce((sum, [, bit]) => sum | bit, 0);
  const known = new Map<number, readonly (Name | UnnamedFlag)[]>();
  return (sum) => {
    let found = known.get(sum);
    if (!found) {
      const flags = names.filter(([, bit]) => (sum & bit) !== 0).map(([name]) => name);
      found = Object.freeze([...flags, ...unnamedFlags(sum & ~named & ~ignored)]);
      known.set(sum, found);
    }
    return found;
  };
}

/** The texts of flags that have no names. */
export function unnamedFlags(sum: number): UnnamedFlag[] {
  const flags: UnnamedFlag[] = [];
  for (let bit = 0; bit < 32; bit++) if (sum & (1 << bit)) flags.push(`bit_${bit}`);
  return flags;
}

/** The sum of flags by their names; an invalid value for an unknown name. */
export function flagSum<Name extends string>(
  checker: Pick<Checker, 'fail'>,
  path: string,
  value: unknown,
  numbers: Numbers<Name>,
): number {
  if (value === undefined) return 0;
  if (!Array.isArray(value)) {
    checker.fail(path, value, 'must be an array of flags', true);
    return 0;
  }
  let sum = 0;
  for (const name of value) {
    if (typeof name === 'string' && Object.hasOwn(numbers, name)) sum |= numbers[name as Name];
    else
      checker.fail(path, name, `must be among ${Object.keys(numbers).join(', ')}`, typeof name !== 'string');
  }
  return sum >>> 0;
}
