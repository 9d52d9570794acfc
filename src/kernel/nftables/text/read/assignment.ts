// Assignments to what a rule can write: keys of meta and of ct, and fields of headers with their checksums.
import type { Steps } from '../../../steps.js';
import type { Expression, Register, ValueType } from '../../types.js';
import { isValueType } from '../../values/valueTypes.js';
import { bytesAround, checksumOf, ctField, type WrittenBytes } from '../fields.js';
import { isBitmask, type LoadedType } from '../values.js';
import { boundsOf } from './comparison.js';
import { ctKeyAt } from './keys.js';
import { keyAt, mapAt } from './lookup.js';
import { constant, inFront, inNetworkOrder, type Operand, registerOf } from './operand.js';
import { isOperand } from './operands.js';
import type { RuleReading } from './reading.js';
import { type Token, Unreadable } from './tokens.js';
import { bytesOfToken, bytesOfValue, flagsAt, isNumber, valueIn } from './values.js';

/** What a value that is written must be. */
type Written = Pick<Operand, 'type' | 'length' | 'isNetwork'>;

/** What it is written to. */
interface Target extends Written {
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
function targetOf(
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
function ctTarget({ key, direction }: ReturnType<typeof ctKeyAt>): Target {
  const { type, length } = ctField(key);
  return {
    ...{ type, length, isNetwork: false },
    expression: (source) => ({ kind: 'ctSet', key, ...(direction !== undefined && { direction }), source }),
  };
}

/** The assignment to what an operand names, of the value at the cursor. */
export function* assign(rule: RuleReading, operand: Operand, token: Token): Steps<void> {
  const target = targetOf(operand, token);
  const load = target.around?.(partAt(rule, operand)) ?? (yield* assignedAt(rule, target)).load(0);
  rule.add(...load, target.expression(registerOf(0)));
}

/** Reads an assignment to a key of ct, `ct mark set meta mark`, `ct original zone set 2`: false if there is none at the cursor. */
export function* ctAssignmentAt(rule: RuleReading): Steps<boolean> {
  const { cursor } = rule;
  const hasDirection = ['original', 'reply'].includes(cursor.ahead(1)?.text ?? '');
  if (!cursor.is('ct') || cursor.ahead(hasDirection ? 3 : 2)?.text !== 'set') return false;
  cursor.expect('ct');
  const target = ctTarget(ctKeyAt(cursor, rule));
  cursor.expect('set');
  rule.add(...(yield* assignedAt(rule, target)).load(0), target.expression(registerOf(0)));
  return true;
}

/** Reads what is assigned: a value of the type, or an operand. */
export function* assignedAt(rule: RuleReading, target: Written): Steps<Operand> {
  const { cursor } = rule;
  const { token } = cursor;
  const { type } = target;
  const isValue = isValueType(type) && valueIn(type, token.text) !== undefined;
  if (isValue || !isOperand(token)) return constant(constantAt(rule, target), type);
  const parts = keyAt(rule);
  if (cursor.is('map')) {
    const map = yield* mapAt(rule, parts, keyType(type, token));
    if (map.types !== type || map.hasEnds)
      throw new Unreadable(`must be of a map with data of ${type}`, token);
    return map;
  }
  if (parts.length > 1) throw new Unreadable('must be `map`', cursor.token);
  const operand = inFront(parts[0] as Operand);
  // Of a byte, the rest of the register is zero.
  if (parts[0]?.bits && operand.length === 1 && type === 'mark') return operand;
  if (operand.length !== target.length)
    throw new Unreadable(`must be a value of ${target.length} bytes`, token);
  if (isNumber(type) && operand.type === 'integer') return inNetworkOrder(operand);
  if (operand.type !== type && operand.type !== 'integer')
    throw new Unreadable(`must be a value of ${type}, and is one of ${operand.type}`, token);
  return operand;
}

function keyType(type: LoadedType, token: Token): ValueType {
  if (isValueType(type)) return type;
  throw new Unreadable('must be a value: the library has no set of such values', token);
}

/** The value of a field that is a part of what is written. */
function partAt(rule: RuleReading, operand: Operand): Uint8Array {
  const { cursor, links } = rule;
  if (isBitmask(operand.type)) return bytesOfValue(operand.type, flagsAt(cursor, operand.type, true), true);
  const { token } = cursor;
  const { first, last } = boundsOf(operand, cursor.take('a value'), links);
  if (last) throw new Unreadable('must be one value', token);
  return first(operand);
}

/** Types whose numbers have no meaning of their own. */
const FREE: ReadonlySet<ValueType> = new Set(['mark', 'integer']);
const OPERATORS = {
  '&': (a: number, b: number) => a & b,
  '^': (a: number, b: number) => a ^ b,
  '|': (a: number, b: number) => a | b,
} as const;

/** A value that is assigned: flags have several names, and other numbers operators of bits. */
function constantAt(rule: RuleReading, target: Written): Uint8Array {
  const { cursor } = rule;
  if (isBitmask(target.type))
    return bytesOfValue(target.type, flagsAt(cursor, target.type, true), target.isNetwork);
  let bytes = bytesOfToken(target, cursor.take('a value'));
  const { token } = cursor;
  for (let sign = cursor.sign('&', '^', '|'); sign; sign = cursor.sign('&', '^', '|')) {
    if (!isValueType(target.type) || !FREE.has(target.type))
      throw new Unreadable('must be behind a number', token);
    const other = bytesOfToken(target, cursor.take('a value'));
    const by = OPERATORS[sign as keyof typeof OPERATORS];
    bytes = bytes.map((byte, i) => by(byte, other[i] as number));
    if (cursor.is('&', '^', '|')) throw new Unreadable('must be one operator', cursor.token);
  }
  return bytes;
}
