// Fields of headers, by their names or by their places.
import { fieldNamed, HEADERS } from '../fields.js';
import type { LoadedType } from '../values.js';
import { type Operand, registerOf, someBits } from './operand.js';
import { type Cursor, type Token, Unreadable } from './tokens.js';
import { integerOf } from './values.js';

/** `ip saddr`, behind the name of the header. */
export function fieldOperand(cursor: Cursor, header: Token): Operand {
  if (!HEADERS.has(header.text)) throw new Unreadable('is no statement that the library has', header);
  const name = cursor.word(`a field of ${header.text}`);
  const two = cursor.isDone ? undefined : fieldNamed(header.text, `${name.text} ${cursor.token.text}`);
  if (two) cursor.take('a field');
  const named = two ?? fieldNamed(header.text, name.text);
  if (!named) throw new Unreadable(`is no field of ${header.text} that the library has`, name);
  const { field, base, needs } = named;
  const { bits, type, length } = field;
  const place = { base, offset: field.offset, length };
  const whole = { ...payload(`${field.header} ${field.name}`, type, place), needs, field };
  return bits ? { ...someBits(whole, bits), payload: place, field } : whole;
}

function payload(text: string, type: LoadedType, place: NonNullable<Operand['payload']>): Operand {
  return {
    ...{ text, type, length: place.length, isNetwork: true, needs: [], payload: place },
    load: (word) => [{ kind: 'payload', ...place, register: registerOf(word) }],
  };
}

const BASES = { '@ll': 'link', '@nh': 'network', '@th': 'transport', '@ih': 'inner' } as const;

/** `@th,0,16`: base, offset and length in bits. */
export function rawPayload(cursor: Cursor, token: Token): Operand {
  const base = BASES[token.text as keyof typeof BASES];
  if (base === undefined) throw new Unreadable('must be one of @ll, @nh, @th, @ih', token);
  const bits = [1, 2].map(() => {
    cursor.expect(',');
    const number = cursor.word('a number of bits');
    const found = Number(integerOf(number, number.text, 0xffff));
    if (found % 8 !== 0) throw new Unreadable('must be a multiple of 8 bits', number);
    return found / 8;
  });
  const [offset = 0, length = 0] = bits;
  if (length < 1 || length > 16) throw new Unreadable('must have a length of 8 to 128 bits', token);
  return payload(`${token.text},${8 * offset},${8 * length}`, 'hexadecimal', { base, offset, length });
}
