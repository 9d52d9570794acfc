// What a rule can write: keys of meta and of ct, and fields of headers with their checksums.
import type { CtKey, Expression, Register } from '../../types.js';
import { CT_FIELDS, lengthOf } from '../fields.js';
import type { Operand } from './operand.js';
import { type Token, Unreadable } from './tokens.js';

/** What a value is written to. */
export interface Target extends Pick<Operand, 'type' | 'length' | 'isNetwork'> {
  readonly expression: (source: Register) => Expression;
}

type Checksum = NonNullable<Extract<Expression, { kind: 'payloadSet' }>['checksum']>;

/** Checksums of headers: their types, and their places in bytes. */
const CHECKSUMS: Readonly<Record<string, Checksum>> = {
  ip: { type: 'inet', offset: 10 },
  tcp: { type: 'inet', offset: 16 },
  udp: { type: 'inet', offset: 6 },
  udplite: { type: 'inet', offset: 6 },
  icmp: { type: 'inet', offset: 2 },
  icmpv6: { type: 'inet', offset: 2 },
  sctp: { type: 'sctp', offset: 8 },
};
/** The fields that the checksums of transport headers cover. */
const COVERED: ReadonlySet<string> = new Set(['ip saddr', 'ip daddr', 'ip6 saddr', 'ip6 daddr']);

/** The target that an operand names. */
export function targetOf(
  { text, type, length, isNetwork, payload, isMasked, meta }: Operand,
  token: Token,
): Target {
  if (isMasked) throw new Unreadable('must be a whole value: bits of it cannot be written', token);
  if (meta !== undefined) {
    return { type, length, isNetwork, expression: (source) => ({ kind: 'metaSet', key: meta, source }) };
  }
  if (!payload)
    throw new Unreadable('must be a key of meta or ct, or a field: nothing else can be written', token);
  // A field at a place is written as it is, without a checksum.
  if (length % 2 !== 0 && payload.base !== 'link' && !text.startsWith('@'))
    throw new Unreadable('must be a field of whole words of 16 bits: the library writes no other one', token);
  const [header = ''] = text.split(' ');
  const checksum = CHECKSUMS[header];
  const whole: Checksum | undefined = COVERED.has(text)
    ? { ...(checksum ?? { type: 'none' }), pseudoHeader: true }
    : checksum;
  return {
    ...{ type, length, isNetwork },
    expression: (source) => ({ kind: 'payloadSet', ...payload, source, ...(whole && { checksum: whole }) }),
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
