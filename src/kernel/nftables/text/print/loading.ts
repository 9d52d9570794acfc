// What the expressions of a rule load into its registers.
import type { Expression } from '../../types.js';
import { fib, meta, type Of, route, socket, value } from './loaded.js';
import { lookUp } from './lookup.js';
import { bitsOf, connection, extension, payload } from './packet.js';
import type { PrintedRule } from './printed.js';
import { type Loaded, operandText, textOf } from './registers.js';

/** Whether the expression loads a register, or looks something up. */
export function loads(rule: PrintedRule, expression: Expression): boolean {
  switch (expression.kind) {
    case 'payload':
      return rule.load(expression.register, payload(rule, expression));
    case 'meta':
      return rule.load(expression.register, meta(expression));
    case 'ct':
      return rule.load(expression.register, connection(rule, expression));
    case 'bitwise':
      return bitwise(rule, expression);
    case 'byteorder':
      return byteOrder(rule, expression);
    case 'shift':
      return shift(rule, expression);
    case 'immediate': {
      const { register, data } = expression;
      const text = `0x${Buffer.from(data).toString('hex')}`;
      return rule.load(register, { ...value(text, 'number', data.length), constant: data });
    }
    case 'numgen': {
      const { register, type, modulus, offset } = expression;
      const text = `numgen ${type} mod ${modulus}${offset ? ` offset ${offset}` : ''}`;
      return rule.load(register, { ...value(text, 'integer'), isOnce: true });
    }
    case 'hash':
      return rule.load(expression.register, hash(rule, expression));
    case 'fib':
      return rule.load(expression.register, fib(expression));
    case 'rt':
      return rule.load(expression.register, route(expression));
    case 'socket':
      return rule.load(expression.register, socket(expression));
    case 'exthdr':
      return rule.load(expression.register, extension(rule, expression));
    case 'lookup':
      lookUp(rule, expression);
      return true;
    default:
      return false;
  }
}

function bitwise(rule: PrintedRule, { source, register, mask, xor }: Of<'bitwise'>): true {
  const of = rule.made(source);
  const bits = xor.some((byte) => byte !== 0) ? undefined : bitsOf(rule, of, mask);
  if (bits) return rule.load(register, bits, of);
  const value = { ...of, text: operandText(of), bits: { mask, xor } };
  const { prefixOf: _, inFront: __, ...whole } = value;
  const isWhole = mask.length === of.length && !of.isSwapped;
  return rule.load(register, isWhole ? whole : unnamed(whole, 'bitwise'), of);
}

function byteOrder(rule: PrintedRule, { source, register, to, length, size }: Of<'byteorder'>): true {
  const of = rule.made(source);
  const isWhole = length === of.length && size === of.length && to === 'network' && !of.isNetwork;
  const { bits: _, prefixOf: __, place: ___, extension: ____, inFront: _____, ...whole } = of;
  const value = { ...whole, text: textOf(of), isNetwork: to === 'network', isSwapped: true };
  return rule.load(register, isWhole ? value : unnamed(value, 'byteorder'), of);
}

function shift(rule: PrintedRule, { source, register, direction, bits, length }: Of<'shift'>): true {
  const of = rule.made(source);
  const { bits: _, prefixOf: __, place: ___, extension: ____, inFront: ______, ...whole } = of;
  if (of.field && direction === 'right' && bits === of.field[0] && bits > 0 && length === of.length) {
    const { field: _____, ...value } = whole;
    return rule.load(register, { ...unnamed(value, 'shift'), inFront: of.text }, of);
  }
  const text = `${operandText(of)} ${direction === 'left' ? '<<' : '>>'} ${bits}`;
  const value = { ...whole, text };
  const isWhole = length === of.length && !of.isSwapped;
  return rule.load(register, isWhole ? value : unnamed(value, 'shift'), of);
}

function hash(
  rule: PrintedRule,
  { type, source = 1, modulus, seed, offset, length = 4 }: Of<'hash'>,
): Loaded {
  const start = seed === undefined ? '' : ` seed 0x${seed.toString(16)}`;
  const tail = `mod ${modulus}${start}${offset ? ` offset ${offset}` : ''}`;
  if (type === 'symhash') return value(`symhash ${tail}`, 'integer');
  const parts = partsOfLength(rule, source, length);
  const hashed = parts?.some(({ isSwapped }) => isSwapped) ? undefined : parts?.map(textOf).join(' . ');
  for (const part of parts ?? []) rule.registers.use(part);
  const needs = parts?.flatMap((part) => part.needs ?? []) ?? [];
  return { ...value(`jhash ${hashed ?? `[register ${source}]`} ${tail}`, 'integer'), needs };
}

/** The values from a register on that have so many bytes: one, or several with padding. */
function partsOfLength(rule: PrintedRule, register: number, length: number): readonly Loaded[] | undefined {
  for (let count = 1; count < 16; count++) {
    const parts = rule.registers.parts(register, count);
    if (!parts) return undefined;
    const total = parts.reduce((sum, part) => sum + ((part.length + 3) & ~3), 0);
    if ((count === 1 ? parts[0]?.length : total) === length) return parts;
    if (total > length) return undefined;
  }
  return undefined;
}

/** A value that has no notation: one of another length than the expression says. */
function unnamed(loaded: Loaded, kind: Expression['kind']): Loaded {
  return { ...loaded, text: `[${kind} ${loaded.text}]` };
}
