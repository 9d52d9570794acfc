// What a rule can write: keys of meta and of ct, and fields of headers with their checksums.
import type { CtKey, Expression, Register } from '../../types.js';
import { CT_FIELDS, checksumOf, lengthOf } from '../fields.js';
import type { Operand } from './operand.js';
import { type Token, Unreadable } from './tokens.js';

/** What a value is written to. */
export interface Target extends Pick<Operand, 'type' | 'length' | 'isNetwork'> {
  readonly expression: (source: Register) => Expression;
}

/** The target that an operand names. */
export function targetOf(
  { text, type, length, isNetwork, payload, isMasked, bits, meta }: Operand,
  token: Token,
): Target {
  if (isMasked || bits) throw new Unreadable('must be a whole value: bits of it cannot be written', token);
  if (meta !== undefined) {
    return { type, length, isNetwork, expression: (source) => ({ kind: 'metaSet', key: meta, source }) };
  }
  if (!payload)
    throw new Unreadable('must be a key of meta or ct, or a field: nothing else can be written', token);
  // A field at a place is written as it is, without a checksum.
  if (length % 2 !== 0 && payload.base !== 'link' && !text.startsWith('@'))
    throw new Unreadable('must be a field of whole words of 16 bits: the library writes no other one', token);
  const checksum = checksumOf(text);
  return {
    ...{ type, length, isNetwork },
    expression: (source) => ({ kind: 'payloadSet', ...payload, source, ...(checksum && { checksum }) }),
  };
}

/** The target of a key of `ct`. */
export function ctTarget({
  key,
  direction,
}: {
  readonly key: Extract<CtKey, string>;
  readonly direction?: 'original' | 'reply';
}): Target {
  const [type = 'integer', , length = lengthOf(type)] = CT_FIELDS[key] ?? [];
  return {
    ...{ type, length, isNetwork: false },
    expression: (source) => ({ kind: 'ctSet', key, ...(direction !== undefined && { direction }), source }),
  };
}
