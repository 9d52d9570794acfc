// The part of an operation that the kernel refused, found by the place of an attribute in its message: an element, or an expression. Pure.

import { shown } from '../../shared/arguments.js';
import {
  ATTRIBUTE_HEADER,
  aligned,
  HOST_IS_LITTLE,
  MESSAGE_HEADER,
  messagesIn,
} from '../../shared/wire/messages.js';
import type { Steps } from '../../steps.js';
import { elementAt } from '../encode/places.js';
import { MESSAGE, NFGEN_HEADER, RULE } from '../numbers.js';
import type { ElementName, ElementValue, NftablesOperation } from '../types.js';
import { messagesOf } from './write.js';

/** Without `NLA_F_…`. */
const TYPE_MASK = 0x3fff;

/** A part of an operation. */
export interface OperationPart {
  /** `{ 10.0.0.1 . tcp . 80 }`, `expression 2 (lookup)` */
  readonly name: string;
  /** The kind of an expression. */
  readonly expression?: string;
}

/**
 * The part. Undefined if it is not known.
 *
 * @param message the place of the message among those of the operation
 * @param offset the place of the attribute in the message, in bytes; 0 if it is not known
 */
export function* partAt(
  operation: NftablesOperation,
  message: number,
  offset: number,
): Steps<OperationPart | undefined> {
  if (!('elements' in operation) && !('rule' in operation)) return undefined;
  let before = 0;
  for (const part of messagesOf(operation)) {
    if (message < before + part.count) {
      if ('rule' in operation) return partOfRule(operation, part.bytes, message, offset);
      const element = offset === 0 ? undefined : elementAt(part.operation, message - before, offset);
      return element === undefined ? undefined : partOfElement(operation, part.from + element);
    }
    before += part.count;
    yield;
  }
  return undefined;
}

function partOfElement(operation: NftablesOperation, place: number): OperationPart | undefined {
  const { elements } = operation as Extract<NftablesOperation, { elements: unknown }>;
  if ('count' in elements) {
    const length = elements.keys.length / elements.count;
    return { name: `{ ${shownValue(elements.keys.subarray(place * length, (place + 1) * length))} }` };
  }
  const element: ElementName | undefined = elements[place];
  if (!element) return undefined;
  const { key, keyEnd } = element;
  return { name: `{ ${shownValue(key)}${keyEnd === undefined ? '' : `-${shownValue(keyEnd)}`} }` };
}

function shownValue(value: ElementValue): string {
  if (value instanceof Uint8Array) return `0x${Buffer.from(value).toString('hex')}`;
  return Array.isArray(value) ? value.map(shownPart).join(' . ') : shownPart(value);
}

function shownPart(value: unknown): string {
  return typeof value === 'string' ? value : shown(value);
}

type RuleOperation = Extract<NftablesOperation, { rule: unknown }>;

function partOfRule(
  { rule }: RuleOperation,
  bytes: Uint8Array,
  place: number,
  offset: number,
): OperationPart | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let message = 0;
  for (const { type, start, end } of messagesIn(view, 'nftables.apply')) {
    if (message++ !== place) continue;
    const own = type & 0xff;
    if (own === MESSAGE.newSet || own === MESSAGE.newElements) return { name: 'set of the rule' };
    const found = expressionAt({ view, start: start + NFGEN_HEADER, end }, start - MESSAGE_HEADER + offset);
    const kind = found === undefined || !('expressions' in rule) ? undefined : rule.expressions[found]?.kind;
    return kind && { name: `expression ${(found as number) + 1} (${kind})`, expression: kind };
  }
  return undefined;
}

interface Span {
  readonly view: DataView;
  readonly start: number;
  readonly end: number;
}

/** The index of the expression that is at this place, in bytes. */
function expressionAt(message: Span, place: number): number | undefined {
  for (const { type, start, end } of attributesIn(message)) {
    if (type !== RULE.expressions) continue;
    let index = 0;
    for (const expression of attributesIn({ view: message.view, start, end })) {
      if (place >= expression.start - ATTRIBUTE_HEADER && place < expression.end) return index;
      index++;
    }
  }
  return undefined;
}

function* attributesIn({ view, start, end }: Span): Generator<Omit<Span, 'view'> & { type: number }, void> {
  for (let at = start; at + ATTRIBUTE_HEADER <= end; ) {
    const length = view.getUint16(at, HOST_IS_LITTLE);
    if (length < ATTRIBUTE_HEADER) return;
    const type = view.getUint16(at + 2, HOST_IS_LITTLE) & TYPE_MASK;
    yield { type, start: at + ATTRIBUTE_HEADER, end: at + length };
    at += aligned(length);
  }
}
