// What a rule can write: keys of meta and of ct, and fields of headers with their checksums.
import type { CtKey, Expression, Register } from '../../types.js';
import { bytesAround, CT_FIELDS, checksumOf, lengthOf, type WrittenBytes } from '../fields.js';
import type { Operand } from './operand.js';
import { type Token, Unreadable } from './tokens.js';

/** What a value is written to. */
export interface Target extends Pick<Operand, 'type' | 'length' | 'isNetwork'> {
  readonly expression: (source: Register) => Expression;
  /** Of a field that is a part of the bytes that are written: what loads them, with a value in it. */
  readonly around?: (value: Uint8Array) => readonly Expression[];
}

/** Loads the bytes around a field, with a value in it. */
function bitsAround(
  place: NonNullable<Operand['payload']>,
  { offset, length, mask }: WrittenBytes,
  value: Uint8Array,
  at: number,
): Expression[] {
  const xor = new Uint8Array(length);
  xor.set(value, at - offset);
  const kept = mask.map((byte) => ~byte);
  return [
    { kind: 'payload', ...place, register: 1 },
    { kind: 'bitwise', source: 1, register: 1, mask: kept, xor },
  ];
}

/** The target that an operand names. */
export function targetOf(
  { text, type, length, isNetwork, payload, isMasked, bits, field, option, meta }: Operand,
  token: Token,
): Target {
  if (isMasked || (bits && !field))
    throw new Unreadable('must be a whole value: bits of it cannot be written', token);
  if (meta !== undefined) {
    return { type, length, isNetwork, expression: (source) => ({ kind: 'metaSet', key: meta, source }) };
  }
  if (option?.operation === 'tcpopt')
    return { type, length, isNetwork, expression: (source) => ({ kind: 'exthdrSet', ...option, source }) };
  if (!payload)
    throw new Unreadable('must be a key of meta or ct, or a field: nothing else can be written', token);
  const checksum = checksumOf(text);
  const around = field && bytesAround(field);
  const place = { ...payload, ...(around && { offset: around.offset, length: around.length }) };
  return {
    ...{ type, length, isNetwork },
    expression: (source) => ({ kind: 'payloadSet', ...place, source, ...(checksum && { checksum }) }),
    ...(around && { around: (value) => bitsAround(place, around, value, payload.offset) }),
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
