// Elements of sets in the notation of nft.
import type {
  ElementValue,
  Expression,
  NewElement,
  SetShape,
  Value,
  ValueType,
  ValueTypes,
  Verdict,
} from '../../types.js';
import { numberOfSymbol } from '../../values/symbols.js';
import { FORM, LENGTHS, layoutOf } from '../../values/valueTypes.js';
import { isBitmask } from '../values.js';
import { statefulAt } from './statements.js';
import { type Cursor, type Token, Unreadable } from './tokens.js';
import {
  bytesOfValue,
  type Interval,
  interfaceIn,
  intervalOf,
  timeAt,
  unreadableValue,
  valueIn,
} from './values.js';

/** What the elements of a set are. */
type Shape = Pick<SetShape, 'key' | 'data' | 'dataIsInterval' | 'objects'>;

/** Indexes of links by their names. */
type Links = ReadonlyMap<string, number>;

const VERDICTS: ReadonlySet<string> = new Set(['accept', 'drop', 'continue', 'break', 'return']);

/** The verdict at the cursor; undefined if there is none. */
export function verdictAt(cursor: Cursor): Verdict | undefined {
  const { text, isQuoted } = cursor.token;
  if (isQuoted) return undefined;
  if (text === 'jump' || text === 'goto') {
    cursor.take('a verdict');
    return { verdict: text, chain: cursor.word('the name of a chain').text };
  }
  if (!VERDICTS.has(text)) return undefined;
  cursor.take('a verdict');
  return { verdict: text as Exclude<Verdict['verdict'], 'jump' | 'goto'> };
}

/** Reads an element up to its end, a comma, or the end of the list. `keyAt` reads its key, if that is other than its type says. */
export function elementAt(
  cursor: Cursor,
  shape: Shape,
  links: Links,
  keyAt = () => keysAt(cursor, shape.key, links),
): NewElement {
  const { data, objects } = shape;
  const keys = cursor.accept('*') ? { key: new Uint8Array() } : keyAt();
  const more: { timeout?: bigint; expires?: bigint; comment?: string } = {};
  const expressions: Expression[] = [];
  for (;;) {
    const stateful = statefulAt(cursor);
    if (stateful) expressions.push(stateful);
    else if (cursor.accept('timeout')) more.timeout = timeAt(cursor);
    else if (cursor.accept('expires')) more.expires = timeAt(cursor);
    else if (cursor.accept('comment')) more.comment = cursor.quoted('a comment');
    else break;
  }
  const element = { ...keys, ...more, ...(expressions.length > 0 && { expressions }) };
  if (data === undefined && objects === undefined) return element;
  cursor.expect(':');
  if (objects !== undefined) return { ...element, object: cursor.take('the name of an object').text };
  if (data === undefined || data === 'verdict') return { ...element, data: verdictOf(cursor) };
  const { token } = cursor;
  const { key: first, keyEnd: last } = keysAt(cursor, data, links);
  if (last === undefined) return { ...element, data: first };
  if (!shape.dataIsInterval) throw new Unreadable('must be a value, and no interval', token);
  return { ...element, data: first, dataEnd: last };
}

/** The name of a link; a pattern is the interval of the names that begin with it, as bytes. */
function interfaceAt(token: Token): { readonly first: Value; readonly last?: Uint8Array } {
  const { name, isPattern } = interfaceIn(token.text);
  const value = valueIn('ifname', name);
  if (value === undefined) throw unreadableValue('ifname', token);
  if (!isPattern) return { first: value };
  const last = new Uint8Array(LENGTHS[FORM.name]).fill(0xff);
  last.set(Buffer.from(name));
  return { first: value, last };
}

/** A value, a prefix or a range; flags are a sum: `syn | ack`. */
function intervalAt(
  cursor: Cursor,
  type: ValueType,
  links: Links,
): Interval | ReturnType<typeof interfaceAt> {
  const token = cursor.take(`a value of ${type}`);
  if (type === 'ifname') return interfaceAt(token);
  const index = type === 'iface_index' ? links.get(token.text) : undefined;
  if (index !== undefined) return { first: index };
  const interval = intervalOf(type, token);
  if (!cursor.is('|')) return interval;
  if (!isBitmask(type) || interval.last !== undefined)
    throw new Unreadable('must be the end of the value: only flags are summed up', cursor.token);
  let sum = numberOfFlag(type, interval.first);
  while (cursor.accept('|')) {
    const flag = cursor.word(`a value of ${type}`);
    const value = valueIn(type, flag.text);
    if (value === undefined) throw unreadableValue(type, flag);
    sum |= numberOfFlag(type, value);
  }
  return { first: sum >>> 0 };
}

function numberOfFlag(type: ValueType, value: Value): number {
  return typeof value === 'number' ? value : (numberOfSymbol(type, value) as number);
}

function keysAt(cursor: Cursor, key: ValueTypes, links: Links): Pick<NewElement, 'key' | 'keyEnd'> {
  const types: readonly ValueType[] = typeof key === 'string' ? [key] : key;
  const first: Value[] = [];
  const last: (Value | Uint8Array)[] = [];
  let isInterval = false;
  for (const [i, type] of types.entries()) {
    if (i > 0) cursor.expect('.');
    const part = intervalAt(cursor, type, links);
    first.push(part.first);
    last.push(part.last ?? part.first);
    if (part.last !== undefined && part.last !== part.first) isInterval = true;
  }
  const whole = (values: Value[]): ElementValue => (typeof key === 'string' ? (values[0] as Value) : values);
  if (!isInterval) return { key: whole(first) };
  return { key: whole(first), keyEnd: last.every(isValue) ? whole(last) : joined(types, last) };
}

function isValue(part: Value | Uint8Array): part is Value {
  return !(part instanceof Uint8Array);
}

/** The bytes of the parts of a last key, of which one is not the name of a link. */
function joined(types: readonly ValueType[], parts: readonly (Value | Uint8Array)[]): Uint8Array {
  const { offsets, length } = layoutOf(types as unknown as ValueTypes, true);
  if (types.length === 1) return parts[0] as Uint8Array;
  const bytes = new Uint8Array(length);
  for (const [i, part] of parts.entries())
    bytes.set(isValue(part) ? bytesOfValue(types[i] as ValueType, part, true) : part, offsets[i]);
  return bytes;
}

function verdictOf(cursor: Cursor): Verdict {
  const verdict = verdictAt(cursor);
  if (verdict) return verdict;
  throw new Unreadable('must be a verdict', cursor.token);
}

/** Whether some data of the map of a rule, `map { 10.0.0.1 : 10.0.0.2-10.0.0.9 }`, are intervals. */
export function hasIntervalsAsData(cursor: Cursor): boolean {
  let isData = false;
  for (let i = 1; ; i++) {
    const token = cursor.ahead(i);
    if (!token) return false;
    if (token.isQuoted) continue;
    if (token.text === '}') return false;
    if (token.text === ',') isData = false;
    else if (token.text === ':') isData = true;
    else if (isData && /[-/]/.test(token.text)) return true;
  }
}

/** Whether the data of the first element of the map of a rule, `map { 0 : 10.0.0.1 . 80 }`, are several values. */
export function hasDataOfParts(cursor: Cursor): boolean {
  let isData = false;
  for (let i = 1; ; i++) {
    const token = cursor.ahead(i);
    if (!token || (!token.isQuoted && (token.text === ',' || token.text === '}'))) return false;
    if (!token.isQuoted && token.text === ':') isData = true;
    else if (isData && !token.isQuoted && token.text === '.') return true;
  }
}
