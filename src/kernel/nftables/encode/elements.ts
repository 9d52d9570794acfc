// Elements of sets as messages. Lists may be long: an element costs no object and no closure.
import { hasFields } from '../../shared/arguments.js';
import { ByteWriter } from '../../shared/wire/byteWriter.js';
import { isText, isVerdict, putText, putU32, verdict } from '../expressions/formats.js';
import { CATCH_ALL, DATA, ELEMENT, INTERVAL_END, LIST_ELEMENT, NESTED, VERDICT } from '../numbers.js';
import type { ElementBytes, ElementKeyBytes, ElementName, NewElement, SetName, Verdict } from '../types.js';
import { LONGEST_ELEMENT_COMMENT } from '../values/userData.js';
import { isCatchAll, ruleOfValue, WRITTEN, writeValue } from '../values/values.js';
import type { Layout } from '../values/valueTypes.js';
import { codeOfVerdict } from '../values/verdicts.js';
import { writeElementBytes } from './elementBytes.js';
import {
  beginList,
  beginValue,
  type ElementsMessage,
  endList,
  LONGEST_LIST,
  type Target,
  writeNames,
} from './elementLists.js';
import { writeNested } from './expressions.js';
import { LONGEST_NAME, Messages, NAME_RULE } from './messages.js';
import { type CheckedShape, checkShape, checkTypeof, SET_FIELDS } from './sets.js';

const FIELDS = new Set([
  ...['key', 'keyEnd', 'data', 'dataEnd', 'object', 'timeout', 'expires', 'comment', 'expressions'],
]);
/** Fields of listed elements that cannot be written. */
const LISTED = new Set([...FIELDS, 'attributes', 'userData']);

/** The messages that add or delete elements: none if there are no elements. */
export function encodeElements(
  messages: Messages,
  message: ElementsMessage,
  set: SetName,
  elements: readonly (ElementName | NewElement)[] | ElementBytes | ElementKeyBytes,
): void {
  const checked = CHECKED.get(set) ?? checkSet(messages, set);
  if (!checked) return;
  const { target, shape } = checked;
  if (isList(elements)) writeElements(messages, message, target, shape, 'elements', elements);
  else writeElementBytes(messages, message, target, shape, elements);
}

function isList<Each>(elements: readonly Each[] | object): elements is readonly Each[] {
  return Array.isArray(elements);
}

/** A set with a name that was found valid. */
interface CheckedSet {
  readonly target: Target;
  readonly shape: CheckedShape;
}

/** Sets that cannot change: a program adds elements to the same few sets again and again, and the check costs more than an element. */
const CHECKED = new WeakMap<SetName, CheckedSet>();

/** Checks a set. Undefined if it, or what was written of the operation before, is invalid. */
function checkSet(messages: Messages, set: SetName): CheckedSet | undefined {
  const { check } = messages;
  if (!check.object('set', set, SET_FIELDS, 'a set')) return undefined;
  const shape = checkShape(messages, 'set', set);
  if (!shape) return undefined;
  checkTypeof(messages, 'set', set);
  if (check.invalid) return undefined;
  const { table, name } = set;
  const family = messages.family('set.family', set.family);
  const target = { family, table, tablePath: 'set.table', set: { name } };
  const names = isConstant(set) ? namesOf(target) : undefined;
  if (check.invalid || !names) return { target, shape };
  const checked = { target: { ...target, names }, shape };
  CHECKED.set(set, checked);
  return checked;
}

function isConstant(set: SetName): boolean {
  const { key, data, flags, keyExpressions, dataExpressions } = set;
  return [set, key, data, flags, keyExpressions, dataExpressions].every((each) => Object.isFrozen(each));
}

/** The attributes of the names of table and set; undefined if one is invalid. */
function namesOf(target: Target): Uint8Array | undefined {
  const messages = new Messages(new ByteWriter());
  writeNames(messages, target);
  return messages.check.invalid ? undefined : messages.bytes.written();
}

/** Writes messages with elements. `path` names the list. */
export function writeElements(
  messages: Messages,
  message: ElementsMessage,
  target: Target,
  shape: CheckedShape,
  path: string,
  elements: readonly (ElementName | NewElement)[],
): void {
  const { bytes, check } = messages;
  if (!Array.isArray(elements)) {
    check.fail(path, elements, 'must be an array of elements', true);
    return;
  }
  let list = -1;
  for (let index = 0; index < elements.length; index++) {
    if (list < 0 || bytes.length - list > LONGEST_LIST) {
      if (list >= 0) endList(messages, list);
      list = beginList(messages, message, target);
    }
    const element = elements[index] as NewElement;
    if (!writeElement(messages, message.isName, shape, element, path, index)) {
      explain(messages, message.isName, shape, `${path}[${index}]`, element);
      return;
    }
  }
  if (list >= 0) endList(messages, list);
}

/** The bytes of a last key, and of the key behind it. */
const end = new Uint8Array(64);
const scratch = new Uint8Array(64);

/** Writes an element: false if it is invalid. `path` and `index` name it. */
function writeElement(
  messages: Messages,
  isName: boolean,
  shape: CheckedShape,
  element: NewElement,
  path: string,
  index: number,
): boolean {
  const { bytes } = messages;
  if (!hasFields(element)) return false;
  const known = isName ? LISTED : FIELDS;
  for (const field in element) if (!known.has(field)) return false;
  const start = bytes.begin(LIST_ELEMENT | NESTED);
  if (!isName && (element.timeout !== undefined || element.expires !== undefined)) {
    if (!writeTimeout(bytes, ELEMENT.timeout, element.timeout)) return false;
    if (!writeTimeout(bytes, ELEMENT.expires, element.expires)) return false;
  }
  const { key: layout } = shape;
  if (isCatchAll(element.key)) {
    if (element.keyEnd !== undefined) return false;
    putU32(bytes, ELEMENT.flags, CATCH_ALL);
    if (!isName && !writeContent(messages, shape, element, path, index)) return false;
    bytes.end(start);
    return true;
  }
  const key = beginValue(bytes, ELEMENT.key, layout.length);
  if (writeValue(layout, element.key, bytes.memory, key) !== WRITTEN) return false;
  const { keyEnd } = element;
  if (keyEnd !== undefined) {
    if (!shape.hasEnds && !shape.hasKeyEnd) return false;
    scratch.fill(0, 0, layout.length);
    if (writeValue(layout, keyEnd, scratch, 0) !== WRITTEN) return false;
    if (!isOrdered(layout, bytes.memory, key, scratch)) return false;
  }
  if (shape.hasKeyEnd) {
    // Also of a single key: nft lists two elements as one interval if the first has no last key.
    const last = beginValue(bytes, ELEMENT.keyEnd, layout.length);
    const { memory } = bytes;
    for (let i = 0; i < layout.length; i++)
      memory[last + i] = (keyEnd === undefined ? memory[key + i] : scratch[i]) as number;
  }
  const hasEnd =
    shape.hasEnds && next(bytes.memory, key, keyEnd === undefined ? undefined : scratch, layout.length);
  if (!isName && !writeContent(messages, shape, element, path, index)) return false;
  bytes.end(start);
  if (hasEnd) writeEnd(bytes, layout.length);
  return true;
}

/** Whether each part of the first key is not above that of the last. */
function isOrdered(
  { offsets, length, isConcatenation }: Layout,
  first: Uint8Array,
  at: number,
  last: Uint8Array,
): boolean {
  for (let part = 0; part < offsets.length; part++) {
    const from = isConcatenation ? (offsets[part] as number) : 0;
    const to = part + 1 < offsets.length ? (offsets[part + 1] as number) : length;
    for (let i = from; i < to; i++) {
      const difference = (last[i] as number) - (first[at + i] as number);
      if (difference < 0) return false;
      if (difference > 0) break;
    }
  }
  return true;
}

/** Puts the key behind the last one into `end`: false if there is none. */
function next(first: Uint8Array, at: number, last: Uint8Array | undefined, length: number): boolean {
  for (let i = 0; i < length; i++) end[i] = (last ? last[i] : first[at + i]) as number;
  for (let i = length - 1; i >= 0; i--) {
    end[i] = ((end[i] as number) + 1) & 0xff;
    if (end[i] !== 0) return true;
  }
  return false;
}

function writeEnd(bytes: ByteWriter, length: number): void {
  const start = bytes.begin(LIST_ELEMENT | NESTED);
  putU32(bytes, ELEMENT.flags, INTERVAL_END);
  const at = beginValue(bytes, ELEMENT.key, length);
  for (let i = 0; i < length; i++) bytes.memory[at + i] = end[i] as number;
  bytes.end(start);
}

/** Whether data are both data of the element as bytes, one behind the other. */
function isDataInterval(
  { data: layout, hasDataEnd }: CheckedShape,
  data: unknown,
  dataEnd: unknown,
): boolean {
  if (!hasDataEnd || dataEnd !== undefined) return false;
  return data instanceof Uint8Array && data.length === 2 * (layout as Layout).length;
}

/** Writes data, expressions and comment. */
function writeContent(
  messages: Messages,
  shape: CheckedShape,
  { data, dataEnd, object, expressions, comment }: NewElement,
  path: string,
  index: number,
): boolean {
  const { bytes } = messages;
  if ((object !== undefined) !== shape.hasObjects || (dataEnd !== undefined && !shape.hasDataEnd))
    return false;
  if (object !== undefined) {
    if (!isText(object, 1, LONGEST_NAME)) return false;
    putText(bytes, ELEMENT.object, object);
  }
  if (shape.data === undefined) {
    if (data !== undefined) return false;
  } else if (shape.data === 'verdict') {
    if (!isVerdict(data)) return false;
    writeVerdict(bytes, data);
  } else {
    const { length } = shape.data;
    const at = beginValue(bytes, ELEMENT.data, shape.hasDataEnd ? 2 * length : length);
    const isWhole = isDataInterval(shape, data, dataEnd);
    if (isWhole) bytes.memory.set(data as Uint8Array, at);
    else if (writeValue(shape.data, data, bytes.memory, at) !== WRITTEN) return false;
    if (
      shape.hasDataEnd &&
      !isWhole &&
      writeValue(shape.data, dataEnd === undefined ? data : dataEnd, bytes.memory, at + length) !== WRITTEN
    )
      return false;
  }
  if (expressions !== undefined) {
    writeNested(messages, `${path}[${index}].expressions`, expressions, EXPRESSIONS);
    if (messages.check.invalid) return false;
  }
  return comment === undefined || writeComment(bytes, comment);
}

/** As the format `verdict`, of an element. */
function writeVerdict(bytes: ByteWriter, data: Verdict): void {
  const outer = bytes.begin(ELEMENT.data | NESTED);
  const inner = bytes.begin(DATA.verdict | NESTED);
  putU32(bytes, VERDICT.code, codeOfVerdict(data.verdict) as number);
  if ('chain' in data) putText(bytes, VERDICT.chain, data.chain);
  bytes.end(inner);
  bytes.end(outer);
}

function writeComment(bytes: ByteWriter, comment: string): boolean {
  if (typeof comment !== 'string' || comment.length > LONGEST_ELEMENT_COMMENT || comment.includes('\0'))
    return false;
  const length = Buffer.byteLength(comment);
  if (length > LONGEST_ELEMENT_COMMENT) return false;
  bytes.u16(length + 7).u16(ELEMENT.userData);
  const at = bytes.reserve((length + 6) & ~3);
  bytes.memory[at + 1] = length + 1;
  bytes.memory.write(comment, at + 2);
  return true;
}

const EXPRESSIONS = { one: ELEMENT.expression, list: ELEMENT.expressions } as const;
const MOST_TIME = 2n ** 63n - 1n;

function writeTimeout(bytes: ByteWriter, attribute: number, value: bigint | undefined): boolean {
  if (value === undefined) return true;
  if (typeof value !== 'bigint' || value < 1n || value > MOST_TIME) return false;
  bytes.u16(12).u16(attribute).u64be(value);
  return true;
}

/** Notes what is invalid in an element that could not be written. */
function explain(
  messages: Messages,
  isName: boolean,
  shape: CheckedShape,
  path: string,
  element: unknown,
): void {
  const { check } = messages;
  if (!check.object(path, element, isName ? LISTED : FIELDS, 'an element')) return;
  const { key, keyEnd, data, dataEnd, object, timeout, expires, comment } = element as Partial<NewElement>;
  for (const [field, value] of Object.entries({ timeout, expires })) {
    if (value === undefined || (typeof value === 'bigint' && value >= 1n && value <= MOST_TIME)) continue;
    check.fail(
      `${path}.${field}`,
      value,
      `must be a bigint from 1 to ${MOST_TIME}`,
      typeof value !== 'bigint',
    );
  }
  if (!isCatchAll(key)) explainValue(check, shape.key, `${path}.key`, key);
  else if (keyEnd !== undefined)
    check.fail(`${path}.keyEnd`, keyEnd, 'must be left out: key stands for all other keys', false);
  if (keyEnd !== undefined) explainEnd(check, shape, path, key, keyEnd);
  if (shape.data === undefined) {
    if (data !== undefined) check.fail(`${path}.data`, data, 'is of maps, which have a type of data', true);
  } else if (shape.data === 'verdict') {
    if (!isVerdict(data)) check.fail(`${path}.data`, data, verdict.rule, typeof data !== 'object');
  } else if (!isDataInterval(shape, data, dataEnd)) explainValue(check, shape.data, `${path}.data`, data);
  if (dataEnd !== undefined) {
    if (!shape.hasDataEnd) check.fail(`${path}.dataEnd`, dataEnd, 'is of maps with dataIsInterval', true);
    else explainValue(check, shape.data as Layout, `${path}.dataEnd`, dataEnd);
  }
  if (shape.hasObjects ? !isText(object, 1, LONGEST_NAME) : object !== undefined) {
    const rule = shape.hasObjects ? NAME_RULE : 'is of maps with objects';
    check.fail(`${path}.object`, object, rule, typeof object !== 'string');
  }
  if (comment !== undefined) messages.isComment(path, comment, LONGEST_ELEMENT_COMMENT);
}

function explainValue(check: Messages['check'], layout: Layout, path: string, value: unknown): void {
  const result = writeValue(layout, value, new Uint8Array(layout.length), 0);
  if (result === WRITTEN) return;
  const isPart = result >= 0 && Array.isArray(value);
  const wrong: unknown = isPart ? value[result] : value;
  const wrongType = typeof wrong !== 'string' && typeof wrong !== 'number';
  check.fail(isPart ? `${path}[${result}]` : path, wrong, ruleOfValue(layout, result), wrongType);
}

function explainEnd(
  check: Messages['check'],
  { key: layout, hasEnds, hasKeyEnd }: CheckedShape,
  path: string,
  key: unknown,
  keyEnd: unknown,
): void {
  if (!hasEnds && !hasKeyEnd) check.fail(`${path}.keyEnd`, keyEnd, 'is of sets with the flag interval', true);
  explainValue(check, layout, `${path}.keyEnd`, keyEnd);
  if (check.invalid) return;
  const [first, last] = [key, keyEnd].map((value) => {
    const bytes = new Uint8Array(layout.length);
    writeValue(layout, value, bytes, 0);
    return bytes;
  }) as [Uint8Array, Uint8Array];
  if (!isOrdered(layout, first, 0, last)) check.fail(`${path}.keyEnd`, keyEnd, 'must not be before key');
}
