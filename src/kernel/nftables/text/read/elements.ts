// Elements of sets in the notation of nft.
import type { ElementValue, NewElement, Value, ValueType, ValueTypes, Verdict } from '../../types.js';
import { numberOfSymbol } from '../../values/symbols.js';
import { isBitmask } from '../values.js';
import { type Cursor, type Token, Unreadable } from './tokens.js';
import { type Interval, interfaceIn, intervalOf, timeAt, unreadableValue, valueIn } from './values.js';

/** What the elements of a set are. */
export interface Shape {
  readonly key: ValueTypes;
  readonly data?: ValueTypes | 'verdict';
}

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
  { key, data }: Shape,
  keyAt = () => keysAt(cursor, key),
): NewElement {
  const keys = keyAt();
  const more: { timeout?: bigint; expires?: bigint; comment?: string } = {};
  for (;;) {
    const { token } = cursor;
    if (cursor.accept('timeout')) more.timeout = timeAt(cursor);
    else if (cursor.accept('expires')) more.expires = timeAt(cursor);
    else if (cursor.accept('comment')) more.comment = cursor.quoted('a comment');
    else if (cursor.is('counter', 'limit', 'quota', 'ct', 'last'))
      throw new Unreadable('must be left out: the library writes elements without statements', token);
    else break;
  }
  if (data === undefined) return { ...keys, ...more };
  cursor.expect(':');
  return { ...keys, ...more, data: dataAt(cursor, data) };
}

/** The name of a link: a pattern is not one. */
function interfaceAt(token: Token): Value {
  const { name, isPattern } = interfaceIn(token.text);
  const value = valueIn('ifname', name);
  if (value === undefined) throw unreadableValue('ifname', token);
  if (isPattern) throw new Unreadable('must not be a pattern: sets have names of links', token);
  return value;
}

/** A value, a prefix or a range; flags are a sum: `syn | ack`. */
function intervalAt(cursor: Cursor, type: ValueType): Interval {
  const token = cursor.take(`a value of ${type}`);
  if (type === 'ifname') return { first: interfaceAt(token) };
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

function keysAt(cursor: Cursor, key: ValueTypes): Pick<NewElement, 'key' | 'keyEnd'> {
  const types: readonly ValueType[] = typeof key === 'string' ? [key] : key;
  const first: Value[] = [];
  const last: Value[] = [];
  let isInterval = false;
  for (const [i, type] of types.entries()) {
    if (i > 0) cursor.expect('.');
    const part = intervalAt(cursor, type);
    first.push(part.first);
    last.push(part.last ?? part.first);
    if (part.last !== undefined && part.last !== part.first) isInterval = true;
  }
  const whole = (values: Value[]): ElementValue => (typeof key === 'string' ? (values[0] as Value) : values);
  return isInterval ? { key: whole(first), keyEnd: whole(last) } : { key: whole(first) };
}

function dataAt(cursor: Cursor, data: ValueTypes | 'verdict'): ElementValue | Verdict {
  if (data === 'verdict') {
    const verdict = verdictAt(cursor);
    if (verdict) return verdict;
    throw new Unreadable('must be a verdict', cursor.token);
  }
  const types: readonly ValueType[] = typeof data === 'string' ? [data] : data;
  const values = types.map((type, i) => {
    if (i > 0) cursor.expect('.');
    const { token } = cursor;
    const { first, last } = intervalAt(cursor, type);
    if (last !== undefined) throw unreadableValue(type, token);
    return first;
  });
  return typeof data === 'string' ? (values[0] as Value) : values;
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
