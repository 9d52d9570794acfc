// Sets of rules: `{ 80, 443 }`, whose elements are values of what is looked up in them.
import { StepCounter, type Steps, sortedInSteps } from '../../../steps.js';
import type {
  AnonymousSet,
  ElementValue,
  KeyExpression,
  NewElement,
  SetShape,
  ValueType,
  ValueTypes,
} from '../../types.js';
import { isKeyExpression } from '../../values/keyExpressions.js';
import { writeValue } from '../../values/values.js';
import { type Layout, layoutOf } from '../../values/valueTypes.js';
import { HOST_IS_LITTLE, isPlainKey, numberIn, setTypeOf } from '../values.js';
import { boundsOf } from './comparison.js';
import { elementAt } from './elements.js';
import { inNetworkOrder, type Operand, wordsOf } from './operand.js';
import { type Cursor, Unreadable } from './tokens.js';

/** What the elements of a set of a rule have beside their keys. */
export type AnonymousContent = {
  readonly [Name in 'data' | 'objects' | 'dataIsInterval']?: SetShape[Name] | undefined;
};

/** Reads the list of a set of a rule. */
export function* anonymousAt(
  cursor: Cursor,
  parts: readonly Operand[],
  { data, objects, dataIsInterval }: AnonymousContent,
  links: ReadonlyMap<string, number>,
): Steps<AnonymousSet> {
  const { token } = cursor;
  const types = parts.map((part) => {
    const type = setTypeOf(part);
    if (type) return type;
    throw new Unreadable('must be a value: the library has no set of such values', token);
  });
  const key = (types.length === 1 ? types[0] : types) as ValueTypes;
  // nft ends when it lists integers in a concatenation of which it has no expression.
  const names = parts.map(({ text }) => text);
  const needsNames = types.length > 1 && types.some((type) => type.startsWith('integer'));
  if (needsNames && !names.every(isKeyExpression))
    throw new Unreadable('must be a value: the library has no set of such values', token);
  const shape = {
    key,
    ...(data !== undefined && { data }),
    ...(objects !== undefined && { objects }),
    ...(dataIsInterval && { dataIsInterval }),
    ...(needsNames && { keyExpressions: names as KeyExpression[] }),
  };
  cursor.expect('{');
  const counter = new StepCounter();
  const elements: NewElement[] = [];
  const keys = parts.every(isPlainKey) ? undefined : () => keysAt(cursor, parts, types, links);
  do {
    elements.push(elementAt(cursor, shape, links, keys));
    if (counter.isFull()) yield;
  } while (cursor.accept(','));
  cursor.expect('}');
  if (!elements.some(({ keyEnd }) => keyEnd !== undefined)) return { ...shape, elements };
  const flags = ['interval'] as const;
  for (const [i, { key: first, keyEnd, ...rest }] of keys ? elements.entries() : []) {
    const last = keyEnd !== undefined && { keyEnd: inOrder(parts, keyEnd) };
    elements[i] = { ...rest, key: inOrder(parts, first), ...last };
    if (counter.isFull()) yield;
  }
  if (typeof key !== 'string' || data !== undefined || objects !== undefined)
    return { ...shape, flags, elements };
  return { ...shape, flags, elements: yield* merged(layoutOf(key, true), elements) };
}

/** The bytes of a key of intervals, whose numbers are in network order. */
function inOrder(parts: readonly Operand[], key: ElementValue): ElementValue {
  if (!(key instanceof Uint8Array) || !HOST_IS_LITTLE) return key;
  const bytes = Uint8Array.from(key);
  let at = 0;
  for (const part of parts) {
    if (inNetworkOrder(part) !== part) bytes.subarray(at, at + part.length).reverse();
    at += 4 * wordsOf(part.length);
  }
  return bytes;
}

/** The elements in the order of their keys, with those as one between which there is nothing: as nft writes them. */
function* merged(layout: Layout, elements: readonly NewElement[]): Steps<NewElement[]> {
  const counter = new StepCounter();
  const numberOf = (value: ElementValue) => {
    const bytes = new Uint8Array(layout.length);
    writeValue(layout, value, bytes, 0);
    return numberIn(bytes);
  };
  const bounds: { element: NewElement; first: bigint; last: bigint }[] = [];
  for (const element of elements) {
    const { key, keyEnd = key } = element;
    bounds.push({ element, first: numberOf(key), last: numberOf(keyEnd) });
    if (counter.isFull()) yield;
  }
  const result: typeof bounds = [];
  const sorted = yield* sortedInSteps(bounds, (a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
  for (const next of sorted) {
    const before = result.at(-1);
    const isApart = !before || next.first > before.last + 1n;
    const { key, keyEnd = key, comment } = next.element;
    // Each keeps its comment.
    if (isApart || comment !== undefined || before.element.comment !== undefined) result.push(next);
    else if (next.last > before.last)
      result.splice(-1, 1, { ...before, element: { ...before.element, keyEnd }, last: next.last });
    if (counter.isFull()) yield;
  }
  return result.map(({ element }) => element);
}

/** A key whose bytes are those of its parts, which may be some bits, in the order of the operands. */
function keysAt(
  cursor: Cursor,
  parts: readonly Operand[],
  types: readonly ValueType[],
  links: ReadonlyMap<string, number>,
): Pick<NewElement, 'key' | 'keyEnd'> {
  const all = parts.map((part, i) => {
    if (i > 0) cursor.expect('.');
    const token = cursor.take(`a value of ${types[i]}`);
    const { first, last = first } = boundsOf(part, token, links);
    const bounds = [first(part), last(part)] as const;
    if (bounds[0].length !== part.length)
      throw new Unreadable('must not be a pattern: sets have names', token);
    return bounds;
  });
  const whole = (side: 0 | 1): Uint8Array =>
    Uint8Array.from(
      all.flatMap((bounds) => {
        const bytes = [...bounds[side]];
        return all.length === 1 ? bytes : [...bytes, ...new Uint8Array(-bytes.length & 3)];
      }),
    );
  const isInterval = all.some(([first, last]) => Buffer.compare(first, last) !== 0);
  return isInterval ? { key: whole(0), keyEnd: whole(1) } : { key: whole(0) };
}
