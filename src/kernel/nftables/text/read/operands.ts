// What is left of a comparison, and what is assigned: values of a packet, hashes and numbers, with operators of their bits.
import type { MetaKey } from '../../types.js';
import { IPV6_EXTENSIONS } from '../extensions.js';
import { BARE, HEADERS, WITHOUT_META } from '../fields.js';
import { isBitmask } from '../values.js';
import { extensionAt } from './extensions.js';
import { connection, fib, meta, metaOperand, route, type Surroundings, socket } from './keys.js';
import {
  changed,
  checkRoom,
  loaded,
  loadParts,
  type Operand,
  registerOf,
  WORDS,
  withBits,
  wordsOf,
} from './operand.js';
import { fieldOperand, rawPayload } from './payload.js';
import { type Cursor, type Token, Unreadable } from './tokens.js';
import { bytesOfToken, bytesOfValue, flagsAt, integerAt } from './values.js';

const WORDS_OF_OPERANDS: ReadonlySet<string> = new Set([
  ...HEADERS,
  ...(BARE as ReadonlySet<string>),
  ...WITHOUT_META,
  ...['meta', 'ct', 'fib', 'numgen', 'jhash', 'symhash', 'socket', 'rt', 'exthdr'],
  ...IPV6_EXTENSIONS,
]);

/** Whether an operand begins with this token. */
export function isOperand({ text, isQuoted }: Token): boolean {
  return !isQuoted && (text === '(' || WORDS_OF_OPERANDS.has(text) || /^@(?:ll|nh|th|ih)$/.test(text));
}

/** Reads an operand with its operators. */
export function operandAt(cursor: Cursor, surroundings: Surroundings): Operand {
  let operand = cursor.accept('(') ? inParentheses(cursor, surroundings) : plainOperand(cursor, surroundings);
  if (operand.bits && cursor.is('<<', '>>', '&', '|', '^'))
    throw new Unreadable('must be a value: the library changes bits of whole bytes only', cursor.token);
  while (cursor.is('<<', '>>')) operand = shifted(cursor, operand);
  return cursor.is('&', '|', '^') ? masked(cursor, operand) : operand;
}

function inParentheses(cursor: Cursor, surroundings: Surroundings): Operand {
  const operand = operandAt(cursor, surroundings);
  cursor.expect(')');
  return operand;
}

function plainOperand(cursor: Cursor, surroundings: Surroundings): Operand {
  const token = cursor.word('a field, a key of meta or of ct, or another value of a packet');
  const { text } = token;
  if (text.startsWith('@')) return rawPayload(cursor, token);
  const extension = extensionAt(cursor, token);
  if (extension) return extension;
  if (BARE.has(text as MetaKey) || WITHOUT_META.has(text)) return meta(text as MetaKey & string);
  switch (text) {
    case 'meta':
      return metaOperand(cursor);
    case 'ct':
      return connection(cursor, surroundings);
    case 'fib':
      return fib(cursor);
    case 'numgen':
      return numgen(cursor);
    case 'jhash':
      return jhash(cursor, surroundings);
    case 'symhash':
      return symhash(cursor);
    case 'socket':
      return socket(cursor);
    case 'rt':
      return route(cursor, surroundings);
    default:
      return fieldOperand(cursor, token);
  }
}

/** `mod 2 offset 3`, with a seed before the offset. */
function modulusAt(cursor: Cursor): { modulus: number; seed?: number; offset?: number } {
  cursor.expect('mod');
  const modulus = Number(integerAt(cursor, 'a modulus', 0xffff_ffff, 1n));
  const seed = cursor.accept('seed') ? Number(integerAt(cursor, 'a seed')) : undefined;
  const offset = cursor.accept('offset') ? Number(integerAt(cursor, 'an offset')) : 0;
  return { modulus, ...(seed !== undefined && { seed }), ...(offset > 0 && { offset }) };
}

function numgen(cursor: Cursor): Operand {
  const name = cursor.word('inc or random');
  const type = (['inc', 'random'] as const).find((each) => each === name.text);
  if (!type) throw new Unreadable('must be inc or random', name);
  const { seed, ...numbers } = modulusAt(cursor);
  if (seed !== undefined) throw new Unreadable('must have no seed: it is of hashes', name);
  return loaded(`numgen ${type} mod ${numbers.modulus}`, 'integer', 4, (register) => ({
    ...{ kind: 'numgen', type, ...numbers, register },
  }));
}

function symhash(cursor: Cursor): Operand {
  const numbers = modulusAt(cursor);
  return loaded('symhash', 'integer', 4, (register) => ({
    kind: 'hash',
    type: 'symhash',
    ...numbers,
    register,
  }));
}

function jhash(cursor: Cursor, surroundings: Surroundings): Operand {
  const parts = [plainOperand(cursor, surroundings)];
  while (cursor.accept('.')) parts.push(plainOperand(cursor, surroundings));
  const numbers = modulusAt(cursor);
  const width = checkRoom(parts, WORDS, cursor.token);
  const single = parts.length === 1 ? parts[0]?.length : undefined;
  const length = single ?? parts.reduce((sum, part) => sum + 4 * wordsOf(part.length), 0);
  return {
    ...{ text: 'jhash', type: 'integer', length: 4, isNetwork: false, width },
    needs: parts.flatMap((part) => part.needs),
    load: (word) => [
      ...loadParts(parts, word + WORDS),
      {
        ...{ kind: 'hash', type: 'jhash', source: registerOf(word + WORDS), length, ...numbers },
        register: registerOf(word),
      },
    ],
  };
}

/** `<< 8` */
function shifted(cursor: Cursor, operand: Operand): Operand {
  const direction = cursor.accept('<<') ? 'left' : 'right';
  if (direction === 'right') cursor.expect('>>');
  const bits = Number(integerAt(cursor, 'a number of bits', 8 * operand.length - 1));
  const { length } = operand;
  return changed(operand, (register) => ({
    kind: 'shift',
    source: register,
    register,
    length,
    direction,
    bits,
  }));
}

/** Operators of bits, from the one that binds most. */
const RANKS: readonly string[] = ['&', '^', '|'];

/** `& 0xff ^ 0x10 | 0x1`: one expression, (value & mask) ^ xor. */
function masked(cursor: Cursor, operand: Operand): Operand {
  const mask = new Uint8Array(operand.length).fill(0xff);
  const xor = new Uint8Array(operand.length);
  for (let last = 0; cursor.is('&', '^', '|', '<<', '>>'); ) {
    const { token } = cursor;
    const operator = cursor.sign('&', '^', '|', '<<', '>>') ?? '';
    const rank = RANKS.indexOf(operator);
    // In nft, it would be of the constant before it.
    if (rank < last) throw new Unreadable('must be behind parentheses around what is before it', token);
    last = rank;
    const bits = bitsAt(cursor, operand);
    for (let i = 0; i < mask.length; i++) {
      const byte = bits[i] ?? 0;
      if (operator === '&') {
        mask[i] = (mask[i] as number) & byte;
        xor[i] = (xor[i] as number) & byte;
      } else if (operator === '^') xor[i] = (xor[i] as number) ^ byte;
      else {
        mask[i] = (mask[i] as number) & ~byte;
        xor[i] = (xor[i] as number) | byte;
      }
    }
  }
  const isFlipped = mask.every((byte) => byte === 0xff);
  return { ...withBits(operand, mask, xor), ...(isFlipped && { flipped: { operand, xor } }) };
}

function bitsAt(cursor: Cursor, operand: Operand): Uint8Array {
  const { type, isNetwork } = operand;
  if (isBitmask(type)) return bytesOfValue(type, flagsAt(cursor, type), isNetwork);
  return bytesOfToken(operand, cursor.word('bits'));
}
