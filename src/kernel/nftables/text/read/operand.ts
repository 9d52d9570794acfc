// A value that expressions load, with what is needed to compare it, and the registers it is loaded to.
import type { Expression, MetaKey, Register, ValueTypes } from '../../types.js';
import type { ExtensionPlace } from '../extensions.js';
import { type Bits, type HeaderField, maskOfBits } from '../fields.js';
import type { Need } from '../known.js';
import type { LoadedType } from '../values.js';
import { type Token, Unreadable } from './tokens.js';

/** A value that expressions load. */
export interface Operand {
  /** In the notation of nft: `ip saddr`. */
  readonly text: string;
  readonly type: LoadedType;
  /** The types of the data of a map. */
  readonly types?: ValueTypes;
  /** Whether they are intervals: the last ones are behind the first ones. */
  readonly hasEnds?: true;
  /** In bytes. */
  readonly length: number;
  /** The highest number, if it is less than its bytes can be. */
  readonly most?: number;
  /** Whether numbers are in network order. */
  readonly isNetwork: boolean;
  /** The bits of its bytes that it is, if they are not all. */
  readonly bits?: Bits;
  /** Whether bits of it were changed. */
  readonly isMasked?: true;
  /** Of what, if some of its bits were turned over, and no others. */
  readonly flipped?: { readonly operand: Operand; readonly xor: Uint8Array };
  readonly needs: readonly Need[];
  /** The key of meta, if it is one without changes. */
  readonly meta?: Extract<MetaKey, string>;
  /** The field of a header, if it is one without changes. */
  readonly field?: HeaderField;
  /** The place in an option, if it is a field of one without changes. */
  readonly option?: ExtensionPlace;
  /** The place in the packet, if it is a field without changes. */
  readonly payload?: Omit<Extract<Expression, { kind: 'payload' }>, 'kind' | 'register'>;
  /** Words of the registers that loading takes, if they are more than the value has. */
  readonly width?: number;
  /** The expressions that load it from a word of 4 bytes of the registers on. */
  readonly load: (word: number) => readonly Expression[];
}

/** Words of 4 bytes of a register with 16 bytes. */
export const WORDS = 4;

/** The number of the register that begins with a word. */
export function registerOf(word: number): Register {
  return word % WORDS === 0 ? 1 + word / WORDS : 8 + word;
}

/** The number of words of a value of so many bytes. */
export function wordsOf(length: number): number {
  return Math.max(1, Math.ceil(length / 4));
}

/** An operand of one expression. */
export function loaded(
  text: string,
  type: LoadedType,
  length: number,
  expression: (register: Register) => Expression,
): Operand {
  return {
    ...{ text, type, length, isNetwork: false, needs: [] },
    load: (word) => [expression(registerOf(word))],
  };
}

/** The expressions that load values one behind another. */
export function loadParts(parts: readonly Operand[], word: number): Expression[] {
  const expressions: Expression[] = [];
  let at = word;
  for (const part of parts) {
    expressions.push(...part.load(at));
    at += wordsOf(part.length);
  }
  return expressions;
}

/** Words of all registers. */
const ALL_WORDS = 16;

/** Demands that values have room in the registers, one behind another from a word on. Returns the word behind them. */
export function checkRoom(parts: readonly Operand[], word: number, token: Token): number {
  let end = word;
  for (const part of parts) {
    if (end + Math.max(part.width ?? 0, wordsOf(part.length)) > ALL_WORDS)
      throw new Unreadable(`must be values that have room in ${4 * ALL_WORDS} bytes of registers`, token);
    end += wordsOf(part.length);
  }
  return end;
}

/** The registers of one statement: no value is loaded into those that another one of the statement has. */
export class Loading {
  readonly expressions: Expression[] = [];
  readonly #token: Token;
  #word = 0;

  /** @param token the statement, for errors */
  constructor(token: Token) {
    this.#token = token;
  }

  /** Loads values one behind another into the first free register of 16 bytes, and returns its number. */
  load(...parts: readonly Operand[]): Register {
    const word = this.#word;
    this.#word = WORDS * Math.ceil(checkRoom(parts, word, this.#token) / WORDS);
    this.expressions.push(...loadParts(parts, word));
    return registerOf(word);
  }
}

/** The operand with its bits changed by an expression, which reads and writes a register. */
export function changed(operand: Operand, by: (register: Register) => Expression): Operand {
  const { payload: _, meta: __, most: ___, flipped: ____, field: _____, option: ______, ...rest } = operand;
  return { ...rest, isMasked: true, load: (word) => [...operand.load(word), by(registerOf(word))] };
}

/** The operand with its bits changed: (value & mask) ^ xor. */
export function withBits(operand: Operand, mask: Uint8Array, xor = new Uint8Array(mask.length)): Operand {
  return changed(operand, (register) => ({ kind: 'bitwise', source: register, register, mask, xor }));
}

/** Some bits of an operand. */
export function someBits(operand: Operand, bits: Bits): Operand {
  const { isMasked: _, ...some } = withBits(operand, maskOfBits(bits, operand.length));
  return { ...some, bits, most: 2 ** bits[1] - 1 };
}

/** The operand as a number: of some bits, without those behind them. */
export function inFront(operand: Operand): Operand {
  const { bits, payload: _, ...rest } = operand;
  if (!bits?.[0]) return operand;
  const [shift] = bits;
  const { length } = operand;
  return {
    ...rest,
    load: (word) => {
      const register = registerOf(word);
      const shifted = { kind: 'shift', direction: 'right', bits: shift, length } as const;
      return [...operand.load(word), { ...shifted, source: register, register }];
    },
  };
}

/** The operand with its number in network order, as comparisons by size and intervals need it. */
export function inNetworkOrder(operand: Operand): Operand {
  const { length, type, isNetwork } = operand;
  if (isNetwork || type === 'ifname' || (length !== 2 && length !== 4 && length !== 8)) return operand;
  const { payload: _, meta: __, ...rest } = operand;
  return {
    ...rest,
    isNetwork: true,
    load: (word) => {
      const register = registerOf(word);
      const order = { kind: 'byteorder', to: 'network', length, size: length } as const;
      return [...operand.load(word), { ...order, source: register, register }];
    },
  };
}

/** A constant as an operand. */
export function constant(bytes: Uint8Array, type: LoadedType): Operand {
  return loaded('', type, bytes.length, (register) => ({ kind: 'immediate', register, data: bytes }));
}
