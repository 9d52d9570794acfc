// What the registers hold while a rule is printed from its expressions.
import type { Expression, Register, ValueTypes } from '../../types.js';
import { isValueType, layoutOf } from '../../values/valueTypes.js';
import type { ExtensionPlace } from '../extensions.js';
import { type Bits, maskOfBits } from '../fields.js';
import type { Need } from '../known.js';
import {
  dataText,
  flagsText,
  HOST_IS_LITTLE,
  hasPrefixes,
  isBitmask,
  type LoadedType,
  lengthOfMask,
  numberIn,
} from '../values.js';

/** What an expression has loaded. */
export interface Loaded {
  /** In the notation of nft: `ip saddr`. */
  readonly text: string;
  /** How data are written that are compared with it. */
  readonly type: LoadedType;
  /** The types of the data of a map. */
  readonly types?: ValueTypes | number;
  /** Whether they are intervals: the last ones are behind the first ones. */
  readonly hasEnds?: true;
  /** Length, in bytes. */
  readonly length: number;
  /** What the packet must be for the text. */
  readonly needs?: readonly Need[];
  /** The field of which it is the beginning. */
  readonly prefixOf?: Pick<Loaded, 'text' | 'type' | 'length' | 'needs'>;
  /** The place in the packet, if it is a field without changes. */
  readonly place?: Omit<Extract<Expression, { kind: 'payload' }>, 'kind' | 'register'>;
  /** The place in an extension header or an option, if it is a field without changes. */
  readonly extension?: ExtensionPlace;
  /** The bits of its bytes that it is, if they are not all. */
  readonly field?: Bits;
  /** Of such bits without those behind them: the text where they are looked up in a set of the table, or assigned. */
  readonly inFront?: string;
  /** Whether numbers are in network order. */
  readonly isNetwork: boolean;
  /** Whether that is not the order in which they were loaded. */
  readonly isSwapped?: boolean;
  /** Whether another loading would load another value. */
  readonly isOnce?: boolean;
  /** Bits of it: (value & mask) ^ xor. */
  readonly bits?: { readonly mask: Uint8Array; readonly xor: Uint8Array };
  /** Bytes that the rule states. */
  readonly constant?: Uint8Array;
}

/** Bytes of the registers 8 to 23. */
const WORD = 4;

/** The registers, as words of 4 bytes. A value lives until another one is loaded into one of its words, or what was loaded may have changed. */
export class Registers {
  #words: (Loaded | undefined)[] = [];
  /** Values that no statement has used so far. */
  readonly unused = new Set<Loaded>();

  /** Puts a value into a register, made of what was there if it is `of` another one. */
  load(register: Register, loaded: Loaded, of?: Loaded): void {
    const word = wordOf(register);
    const end = word + wordsOf(loaded);
    for (const [i, other] of this.#words.entries())
      if (other && i < end && i + wordsOf(other) > word) this.#words[i] = undefined;
    this.#words[word] = loaded;
    if (of) this.unused.delete(of);
    this.unused.add(loaded);
  }

  /** What a register holds. */
  at(register: Register): Loaded | undefined {
    return this.#words[wordOf(register)];
  }

  /** Notes that a statement uses a value. One that would be another one now can be used once. */
  use(loaded: Loaded): Loaded {
    this.unused.delete(loaded);
    if (loaded.isOnce) this.#words = this.#words.map((each) => (each === loaded ? undefined : each));
    return loaded;
  }

  /** Ends the life of all values but constants: the packet, or what the kernel knows of it, is another one. */
  forget(): void {
    this.#words = this.#words.map((each) => (each?.constant ? each : undefined));
  }

  /** Several values, one behind another from a register on. */
  parts(register: Register, count: number): Loaded[] | undefined {
    const parts: Loaded[] = [];
    for (let word = wordOf(register); parts.length < count; ) {
      const loaded = this.#words[word];
      if (!loaded) return undefined;
      parts.push(loaded);
      word += wordsOf(loaded);
    }
    return parts;
  }
}

/** The first word of a register: 1 to 4 have 16 bytes. */
export function wordOf(register: Register): number {
  return register < 8 ? (register - 1) * 4 : register - 8;
}

function wordsOf({ length }: Loaded): number {
  return Math.max(1, Math.ceil(length / WORD));
}

/** The text of a value: with operators, if bits of it were changed. */
export function textOf(loaded: Loaded): string {
  const { text, bits, type, isNetwork } = loaded;
  if (!bits) return text;
  const [and, xor, or] = operatorsOf(bits);
  const show = (bytes: Uint8Array) => {
    const shown = dataText(type, bytes, isNetwork, ' | ');
    return shown.includes(' | ') ? `(${shown})` : shown;
  };
  let result = text;
  if (and.some((byte) => byte !== 0xff)) result += ` & ${show(and)}`;
  if (xor.some((byte) => byte !== 0)) result += ` ^ ${show(xor)}`;
  if (or.some((byte) => byte !== 0)) result += ` | ${show(or)}`;
  return result;
}

/** The text of a value to which an operator that binds more than those in it is added. */
export function operandText(loaded: Loaded): string {
  const text = textOf(loaded);
  return text === loaded.text ? text : `(${text})`;
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

/** Bytes that are compared with a value, in its notation: of some bits, the bits. */
export function shownText(loaded: Loaded, bytes: Uint8Array, isNetwork: boolean, separator?: string): string {
  const { type, field, length } = loaded;
  if (!field || bytes.length !== length) return dataText(type, bytes, isNetwork, separator);
  const mask = maskOfBits(field, length);
  if (bytes.some((byte, i) => byte & ~(mask[i] as number)))
    return `[0x${Buffer.from(bytes).toString('hex')}]`;
  const number = numberIn(bytes) >> BigInt(field[0]);
  const own = isValueType(type) ? layoutOf(type).length : length;
  return dataText(
    type,
    Uint8Array.from({ length: own }, (_, i) => Number((number >> BigInt(8 * (own - 1 - i))) & 0xffn)),
    true,
  );
}

/** Whether a comparison by size of a value is one of its bytes: numbers in the machine's order are not. */
export function isOrdered({ type, length, isNetwork, constant }: Loaded): boolean {
  return isNetwork || constant !== undefined || type === 'ifname' || ![2, 4, 8].includes(length);
}

const OPERATORS = { eq: '', neq: '!= ', lt: '< ', lte: '<= ', gt: '> ', gte: '>= ' } as const;

/** A comparison with data. */
export function comparisonText(loaded: Loaded, operator: keyof typeof OPERATORS, data: Uint8Array): string {
  const { text, type, bits, length, prefixOf, isNetwork } = loaded;
  const isEquality = operator === 'eq' || operator === 'neq';
  if (prefixOf && !bits && isEquality && data.length === length) {
    const padded = new Uint8Array(prefixOf.length);
    padded.set(data);
    return `${prefixOf.text} ${OPERATORS[operator]}${dataText(prefixOf.type, padded, isNetwork)}/${length * 8}`;
  }
  if ((data.length !== length && type !== 'ifname') || (!isEquality && !isOrdered(loaded)))
    return `${textOf(loaded)} ${OPERATORS[operator]}[0x${Buffer.from(data).toString('hex')}]`;
  if (bits) return maskedText(loaded, operator, data);
  const shown = shownText(loaded, data, isNetwork);
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
export function rangeText(loaded: Loaded, isEqual: boolean, from: Uint8Array, to: Uint8Array): string {
  const { isNetwork, length } = loaded;
  const isWhole = from.length === length && to.length === length && isOrdered(loaded);
  const show = (bytes: Uint8Array) =>
    isWhole ? shownText(loaded, bytes, isNetwork) : `[0x${Buffer.from(bytes).toString('hex')}]`;
  return `${textOf(loaded)} ${isEqual ? '' : '!= '}${show(from)}-${show(to)}`;
}
