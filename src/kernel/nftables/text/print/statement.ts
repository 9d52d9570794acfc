// Single statements that use what the registers hold: comparisons, assignments, and changes of sets.
import type { Expression } from '../../types.js';
import { extensionAt } from '../extensions.js';
import {
  bytesAround,
  checksumOf,
  ctField,
  fieldAround,
  fieldAt,
  fieldNamed,
  IN_NETWORK_ORDER,
  META_NAMES,
  META_TYPES,
} from '../fields.js';
import { verdictText } from '../sets.js';
import { objectStatement, statelessText } from '../statements.js';
import { type LoadedType, nameText, timeText } from '../values.js';
import { type Of, value } from './loaded.js';
import { keyText, linkText, lookedUp } from './lookup.js';
import { extension, payload } from './packet.js';
import type { PrintedRule } from './printed.js';
import { comparisonText, rangeText, shownText } from './registers.js';
import { duplicate, given, linkOf, nat, toPorts, tproxy } from './targets.js';

/** A statement by its expression. */
export function statementText(rule: PrintedRule, expression: Expression): string {
  switch (expression.kind) {
    case 'verdict':
      return verdictText(expression.verdict);
    case 'cmp':
      return compare(rule, expression);
    case 'range': {
      const { source, operator, from, to } = expression;
      return rangeText(rule.source(source), operator === 'eq', from, to);
    }
    case 'metaSet': {
      const { key, source } = expression;
      const type = (typeof key === 'string' ? META_TYPES[key] : undefined) ?? 'integer';
      return `meta ${META_NAMES[key] ?? key} set ${given(rule, source, type, IN_NETWORK_ORDER.has(key))}`;
    }
    case 'ctSet': {
      const { key, direction, source } = expression;
      const { type, name } = ctField(key);
      return `ct ${direction === undefined ? '' : `${direction} `}${name} set ${given(rule, source, type, IN_NETWORK_ORDER.has(key))}`;
    }
    case 'payloadSet':
      return partText(rule, expression) ?? fieldText(rule, expression);
    case 'exthdrSet': {
      const { text } = extension(rule, expression);
      const isNamed = expression.operation === 'tcpopt' && extensionAt(expression)?.type === 'number';
      const assigned = given(rule, expression.source, 'number', true);
      return isNamed ? `${text} set ${assigned}` : `[exthdrSet ${assigned}]`;
    }
    case 'dynset':
      return dynset(rule, expression);
    case 'objrefMap': {
      const { content, key, text } = lookedUp(rule, expression);
      const map = `${key} map ${text}`;
      const objects = content?.set.objects;
      return objects === undefined ? `[objref ${map}]` : objectStatement(objects, map);
    }
    case 'nat':
      return nat(rule, expression);
    case 'masq':
    case 'redir':
      return toPorts(rule, expression);
    case 'dup':
      return duplicate(rule, expression);
    case 'fwd':
      return `fwd to ${linkOf(rule, expression.device)}`;
    case 'tproxy':
      return tproxy(rule, expression);
    case 'unknown':
      return `[${expression.name}]`;
    default:
      return `[${expression.kind}]`;
  }
}

function compare(rule: PrintedRule, { source, operator, data }: Of<'cmp'>): string {
  const made = rule.made(source);
  const isPrefix = made.prefixOf && (operator === 'eq' || operator === 'neq');
  if (isPrefix) rule.leaveOut(made.prefixOf?.needs);
  const loaded = rule.source(source);
  const link = linkText(rule, loaded, data, loaded.isNetwork);
  const isEquality = operator === 'eq' || operator === 'neq';
  if (link !== undefined && isEquality) return `${loaded.text} ${operator === 'eq' ? '' : '!= '}${link}`;
  const text = comparisonText(loaded, operator, data);
  if (operator === 'eq' && !loaded.bits && !isPrefix && data.length === loaded.length)
    rule.learn(loaded.text, data);
  return text;
}

/** The assignment to a field, or to bytes by their place. */
function fieldText(rule: PrintedRule, expression: Of<'payloadSet'>): string {
  const { text, type, needs } = payload(rule, expression);
  rule.leaveOut(needs);
  const assigned = given(rule, expression.source, type, true);
  const field = fieldAt(expression, rule.conditions.known);
  return isSameChecksum(expression, text) && (!field || text.startsWith('@') || !bytesAround(field))
    ? `${text} set ${assigned}`
    : `[payloadSet ${text} set ${assigned}]`;
}

/** The assignment to a field that is a part of the bytes that are written; undefined of any other. */
function partText(rule: PrintedRule, expression: Of<'payloadSet'>): string | undefined {
  const { place, bits } = rule.made(expression.source);
  const { base, offset, length } = expression;
  const isSame = place?.base === base && place.offset === offset && place.length === length;
  const field = isSame && bits ? fieldAround(expression, bits.mask, rule.conditions.known) : undefined;
  const needs = field && fieldNamed(field.header, field.name)?.needs;
  if (!field || !needs || !bits || !rule.conditions.has(needs)) return undefined;
  const text = `${field.header} ${field.name}`;
  if (bits.xor.some((byte, i) => byte & (bits.mask[i] as number)) || !isSameChecksum(expression, text))
    return undefined;
  rule.source(expression.source);
  rule.leaveOut(needs);
  const { type, bits: own } = field;
  const loaded = { ...value(text, type, field.length), ...(own && { field: own }) };
  const at = field.offset - offset;
  return `${text} set ${shownText(loaded, bits.xor.slice(at, at + field.length), true, ' | ')}`;
}

/** Whether a reader corrects the same checksum when the field is written. */
function isSameChecksum({ checksum = { type: 'none' } }: Of<'payloadSet'>, text: string): boolean {
  const { type, offset = 0, pseudoHeader = false } = checksum;
  const read = checksumOf(text) ?? { type: 'none' };
  return type === read.type && offset === (read.offset ?? 0) && pseudoHeader === (read.pseudoHeader ?? false);
}

function dynset(
  rule: PrintedRule,
  { operation, set, source, dataSource, timeout, invert, expressions = [] }: Of<'dynset'>,
): string {
  const content = rule.surroundings.find(set);
  const words = [keyText(rule, source, content)];
  if (timeout) words.push(`timeout ${timeText(timeout)}`);
  words.push(...expressions.map((each) => statelessText(each) ?? `[${each.kind}]`));
  const types = content?.set.data;
  const type: LoadedType = typeof types === 'string' && types !== 'verdict' ? types : 'integer';
  if (dataSource !== undefined) words.push(`: ${given(rule, dataSource, type)}`);
  if (invert) words.push('[invert]');
  return `${operation} @${nameText(set)} { ${words.join(' ')} }`;
}
