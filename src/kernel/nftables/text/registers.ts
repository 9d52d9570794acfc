// What the registers hold while a rule is read from its expressions.
import type { Register, ValueTypes } from '../types.js';
import {
  dataText,
  flagsText,
  HOST_IS_LITTLE,
  hasPrefixes,
  isBitmask,
  type LoadedType,
  lengthOfMask,
  numberIn,
} from './values.js';

/** What an expression has loaded. */
export interface Loaded {
  /** In the notation of nft: `ip saddr`. */
  readonly text: string;
  /** How data are written that are compared with it. */
  readonly type: LoadedType;
  /** The types of the data of a map. */
  readonly types?: ValueTypes | number;
  /** Length, in bytes. */
  readonly length: number;
  /** Length of the field of which it is the beginning, in bytes. */
  readonly whole: number;
  /** Whether numbers are in network order. */
  readonly isNetwork: boolean;
  /** Bits of it: (value & mask) ^ xor. */
  readonly bits?: { readonly mask: Uint8Array; readonly xor: Uint8Array };
  /** Bytes that the rule states. */
  readonly constant?: Uint8Array;
}

/** Bytes of the registers 8 to 23. */
const WORD = 4;

/** The registers, as words of 4 bytes. */
export class Registers {
  readonly #words: (Loaded | undefined)[] = [];

  /** Puts a value into a register. */
  load(register: Register, loaded: Loaded): void {
    this.#words[wordOf(register)] = loaded;
  }

  /** What a register holds. */
  at(register: Register): Loaded | undefined {
    return this.#words[wordOf(register)];
  }

  /** Several values, one behind another from a register on. */
  parts(register: Register, count: number): Loaded[] | undefined {
    const parts: Loaded[] = [];
    for (let word = wordOf(register); parts.length < count; ) {
      const loaded = this.#words[word];
      if (!loaded) return undefined;
      parts.push(loaded);
      word += Math.max(1, Math.ceil(loaded.length / WORD));
    }
    return parts;
  }
}

/** The first word of a register: 1 to 4 have 16 bytes. */
function wordOf(register: Register): number {
  return register < 8 ? (register - 1) * 4 : register - 8;
}

/** The text of a value: with operators, if bits of it were changed. */
export function textOf(loaded: Loaded): string {
  const { text, bits, type, isNetwork } = loaded;
  if (!bits) return text;
  const [and, xor, or] = operatorsOf(bits);
  const show = (bytes: Uint8Array) => dataText(type, bytes, isNetwork);
  let result = text;
  if (and.some((byte) => byte !== 0xff)) result += ` & ${show(and)}`;
  if (xor.some((byte) => byte !== 0)) result += ` ^ ${show(xor)}`;
  if (or.some((byte) => byte !== 0)) result += ` | ${show(or)}`;
  return result;
}

/** (value & mask) ^ xor as ((value & and) ^ xor) | or. */
function operatorsOf({
  mask,
  xor,
}: NonNullable<Loaded['bits']>): readonly [and: Uint8Array, xor: Uint8Array, or: Uint8Array] {
  const or = xor.map((byte, i) => byte & ~(mask[i] as number));
  return [
    mask.map((byte, i) => byte | (or[i] as number)),
    xor.map((byte, i) => byte & (mask[i] as number)),
    or,
  ];
}

const OPERATORS = { eq: '', neq: '!= ', lt: '< ', lte: '<= ', gt: '> ', gte: '>= ' } as const;

/** A comparison with data. */
export function comparisonText(loaded: Loaded, operator: keyof typeof OPERATORS, data: Uint8Array): string {
  const { text, type, bits, length, whole, isNetwork } = loaded;
  if (bits) return maskedText(loaded, operator, data);
  if (length < whole && type !== 'ifname' && type !== 'number' && type !== 'hexadecimal') {
    const padded = new Uint8Array(whole);
    padded.set(data);
    return `${text} ${OPERATORS[operator]}${dataText(type, padded, isNetwork)}/${length * 8}`;
  }
  const shown = dataText(type, data, isNetwork);
  if (!isBitmask(type)) return `${text} ${OPERATORS[operator]}${shown}`;
  // Without an operator, flags are a comparison of bits; with one, nft names a single flag only.
  const sign = operator === 'eq' ? '== ' : OPERATORS[operator];
  return `${text} ${sign}${shown.includes(',') ? `0x${numberOf(data, isNetwork).toString(16)}` : shown}`;
}

function maskedText(loaded: Loaded, operator: keyof typeof OPERATORS, data: Uint8Array): string {
  const { text, type, bits, isNetwork } = loaded;
  const { mask, xor } = bits as NonNullable<Loaded['bits']>;
  const isPlain = xor.every((byte) => byte === 0);
  const isZero = data.every((byte) => byte === 0);
  if (isPlain && isBitmask(type) && (operator === 'eq' || operator === 'neq')) {
    const flags = (bytes: Uint8Array) => flagsText(type, numberOf(bytes, isNetwork));
    if (isZero) return operator === 'neq' ? `${text} ${flags(mask)}` : `${text} ! ${flags(mask)}`;
    return `${text} ${OPERATORS[operator]}${flags(data)} / ${flags(mask)}`;
  }
  const isSwapped = type === 'mark' && !isNetwork && HOST_IS_LITTLE;
  const length = lengthOfMask(isSwapped ? Uint8Array.from(mask).reverse() : mask);
  if (
    isPlain &&
    length !== undefined &&
    length > 0 &&
    hasPrefixes(type) &&
    (operator === 'eq' || operator === 'neq')
  ) {
    return `${text} ${OPERATORS[operator]}${dataText(type, data, isNetwork)}/${length}`;
  }
  return `${textOf(loaded)} ${operator === 'eq' ? '== ' : OPERATORS[operator]}${dataText(type, data, isNetwork)}`;
}

/** The number in bytes. */
export function numberOf(bytes: Uint8Array, isNetwork: boolean): number {
  const isSwapped = !isNetwork && HOST_IS_LITTLE;
  return Number(numberIn(isSwapped ? Uint8Array.from(bytes).reverse() : bytes));
}

/** A comparison with an interval. */
export function rangeText(
  { text, type, isNetwork }: Loaded,
  isEqual: boolean,
  from: Uint8Array,
  to: Uint8Array,
): string {
  const show = (bytes: Uint8Array) => dataText(type, bytes, isNetwork);
  return `${text} ${isEqual ? '' : '!= '}${show(from)}-${show(to)}`;
}
