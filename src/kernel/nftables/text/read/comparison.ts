// The right side of a comparison with one value: the value, a range, a prefix, or flags.
import type { Comparison, Expression, ValueType } from '../../types.js';
import { numberOfSymbol } from '../../values/symbols.js';
import { layoutOf } from '../../values/valueTypes.js';
import { HOST_IS_LITTLE, isBitmask } from '../values.js';
import { inNetworkOrder, type Operand, withBits } from './operand.js';
import { type Cursor, type Token, Unreadable } from './tokens.js';
import {
  bytesOfInteger,
  bytesOfToken,
  bytesOfValue,
  flagsAt,
  intervalOf,
  isNumber,
  maskOf,
  numberBytes,
  numberNamed,
  unreadableNumber,
} from './values.js';

/** The signs of comparisons. */
export const COMPARISONS: Readonly<Record<string, Comparison>> = {
  ...{ '==': 'eq', '!=': 'neq', '<': 'lt', '<=': 'lte', '>': 'gt', '>=': 'gte' },
};

/** A comparison that was read. */
interface ReadComparison {
  readonly expressions: readonly Expression[];
  /** The bytes that the packet must have there, if it is a plain one with `eq`. */
  readonly equal?: Uint8Array;
}

/**
 * Reads the value with which an operand is compared.
 *
 * @param sign that before it; undefined if there is none
 * @param links indexes of links by their names
 */
export function comparisonAt(
  cursor: Cursor,
  operand: Operand,
  sign: string | undefined,
  links: ReadonlyMap<string, number>,
): ReadComparison {
  const { type, flipped } = operand;
  if (!operand.isMasked && isBitmask(type))
    return { expressions: flagComparison(cursor, operand, type, sign) };
  const operator = COMPARISONS[sign ?? '=='];
  if (operator === undefined) throw new Unreadable('must be a value: `!` is of flags', cursor.token);
  if (isBitmask(type) && (operator === 'eq' || operator === 'neq')) {
    const data = bytesOfValue(type, flagsAt(cursor, type, sign !== undefined), operand.isNetwork);
    return { expressions: [...operand.load(0), compared(operator, data)] };
  }
  const token = cursor.take('a value');
  const bounds = boundsOf(operand, token, links);
  const isOrdered = operator !== 'eq' && operator !== 'neq';
  if (bounds.prefix !== undefined && !isOrdered)
    return { expressions: prefixComparison(operand, operator, bounds.first(operand), bounds.prefix) };
  if (bounds.last === undefined) {
    const ordered = isOrdered ? inNetworkOrder(operand) : operand;
    const data = bounds.first(ordered);
    // The value has the bits of the other side, as nft compares them.
    if (flipped && !isOrdered) {
      const { xor } = flipped;
      const other = data.map((byte, i) => byte ^ (xor[i] as number));
      return { expressions: [...flipped.operand.load(0), compared(operator, other)] };
    }
    const expressions = [...ordered.load(0), compared(operator, data)];
    return operator === 'eq' && !operand.isMasked ? { expressions, equal: data } : { expressions };
  }
  if (isOrdered) throw new Unreadable('must be one value', token);
  const ordered = inNetworkOrder(operand);
  const [from, to] = [bounds.first(ordered), bounds.last(ordered)];
  const range: Expression[] =
    operator === 'neq'
      ? [{ kind: 'range', operator, source: 1, from, to }]
      : [compared('gte', from), compared('lte', to)];
  return { expressions: [...ordered.load(0), ...range] };
}

function compared(operator: Comparison, data: Uint8Array): Expression {
  return { kind: 'cmp', operator, source: 1, data };
}

/** Flags: some of them are set, or those of a mask have these values. */
function flagComparison(
  cursor: Cursor,
  operand: Operand,
  type: ValueType,
  sign: string | undefined,
): Expression[] {
  const start = cursor.token;
  const bytes = (sum: number) => bytesOfValue(type, sum, operand.isNetwork);
  const flags = flagsAt(cursor, type);
  const mask = cursor.accept('/') ? flagsAt(cursor, type) : undefined;
  const operator = sign === '!=' ? 'neq' : 'eq';
  if (mask !== undefined && (sign === undefined || operator === COMPARISONS[sign]))
    return [...withBits(operand, bytes(mask)).load(0), compared(operator, bytes(flags))];
  if (mask === undefined && (sign === undefined || sign === '!'))
    return [...withBits(operand, bytes(flags)).load(0), compared(sign === '!' ? 'eq' : 'neq', bytes(0))];
  if (mask === undefined && operator === COMPARISONS[sign ?? ''])
    return [...operand.load(0), compared(operator, bytes(flags))];
  throw new Unreadable('must be flags, which are compared with `==`, `!=` and `!`', start);
}

/** A prefix: its bytes, or its bits if they are no whole bytes of a field. */
function prefixComparison(
  operand: Operand,
  operator: Comparison,
  data: Uint8Array,
  prefix: number,
): Expression[] {
  const { payload, length, isNetwork } = operand;
  if (prefix === 8 * length) return [...operand.load(0), compared(operator, data)];
  if (payload && prefix > 0 && prefix % 8 === 0) {
    const bytes = prefix / 8;
    return [
      { kind: 'payload', ...payload, length: bytes, register: 1 },
      compared(operator, data.slice(0, bytes)),
    ];
  }
  const mask = maskOf(prefix, length);
  const inOrder = isNetwork || !HOST_IS_LITTLE ? mask : mask.reverse();
  return [...withBits(operand, inOrder).load(0), compared(operator, data)];
}

/** First and last value, as their bytes in the order of an operand. */
interface Bounds {
  readonly first: (operand: Operand) => Uint8Array;
  readonly last?: (operand: Operand) => Uint8Array;
  readonly prefix?: number;
}

/** A value, a prefix or a range: what an operand is compared with. */
export function boundsOf(operand: Operand, token: Token, links: ReadonlyMap<string, number>): Bounds {
  const { type, length, most } = operand;
  if (type === 'ifname' || type === 'name') return { first: (ordered) => bytesOfToken(ordered, token) };
  if (type === 'iface_index' && token.isQuoted) {
    const index = links.get(token.text);
    if (index === undefined)
      throw new Unreadable('must be a link that `links` has: the rule has its index', token);
    return { first: (ordered) => bytesOfValue(type, index, ordered.isNetwork) };
  }
  if (type === 'boolean') {
    const number = numberOfSymbol(type, token.text);
    if (number === undefined) throw new Unreadable('must be `exists` or `missing`', token);
    return { first: () => bytesOfInteger(BigInt(number), length, false) };
  }
  if (operand.bits || isNumber(type) || length !== layoutOf(type).length) return numberBounds(operand, token);
  const { first, last, prefix } = intervalOf(type, token);
  if (most !== undefined && Number(last ?? first) > most)
    throw new Unreadable(`must be at most ${most}`, token);
  return {
    first: (ordered) => bytesOfValue(type, first, ordered.isNetwork),
    ...(last !== undefined && { last: (ordered) => bytesOfValue(type, last, ordered.isNetwork) }),
    ...(prefix !== undefined && { prefix }),
  };
}

function numberBounds({ type, length, most, bits }: Operand, token: Token): Bounds {
  const whole = numberNamed(type, token.text);
  const texts = whole === undefined ? token.text.split('-') : [token.text];
  const [first, last = first, more] = texts.map((text) => numberNamed(type, text));
  const isRange = first !== undefined && last !== undefined && first <= last;
  const shift = bits?.[0] ?? 0;
  const isWithin = isRange && last <= (most === undefined ? 2n ** BigInt(8 * length) - 1n : BigInt(most));
  if (token.isQuoted || more !== undefined || !isRange || (!isWithin && most === undefined))
    throw unreadableNumber(length, token, ', or a range of such values');
  if (!isWithin) throw new Unreadable(`must be at most ${most}`, token);
  const bytes = (number: bigint) => (operand: Operand) => numberBytes(operand, number << BigInt(shift));
  return last === first ? { first: bytes(first) } : { first: bytes(first), last: bytes(last) };
}
