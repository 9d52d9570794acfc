// Elements that are given as bytes → messages. None of them costs an object.
import type { Checker } from '../../shared/checker.js';
import type { ByteWriter } from '../../shared/wire/byteWriter.js';
import { ELEMENT, LIST_ELEMENT, NESTED } from '../numbers.js';
import type { ElementBytes, ElementKeyBytes } from '../types.js';
import {
  beginList,
  beginValue,
  type ElementsMessage,
  endList,
  LONGEST_LIST,
  type Target,
} from './elementLists.js';
import type { Messages } from './messages.js';
import type { CheckedShape } from './sets.js';

const NAME_FIELDS: ReadonlySet<string> = new Set(['count', 'keys']);
const FIELDS: ReadonlySet<string> = new Set([...NAME_FIELDS, 'data']);
const WHOLE = 'must be an array of elements, or an object with the bytes of elements';
const MOST_ELEMENTS = 2 ** 32 - 1;

/** Writes messages with such elements: none if there are no elements. */
export function writeElementBytes(
  messages: Messages,
  message: ElementsMessage,
  target: Target,
  shape: CheckedShape,
  elements: ElementBytes | ElementKeyBytes,
): void {
  if (!isValid(messages, message.isName, shape, elements)) return;
  const { bytes } = messages;
  const { count, keys } = elements;
  const data = 'data' in elements ? elements.data : undefined;
  const keyLength = shape.key.length;
  const dataLength = data && count > 0 ? data.length / count : 0;
  let list = -1;
  for (let index = 0; index < count; index++) {
    if (list < 0 || bytes.length - list > LONGEST_LIST) {
      if (list >= 0) endList(messages, list);
      list = beginList(messages, message, target);
    }
    const start = bytes.begin(LIST_ELEMENT | NESTED);
    copyValue(bytes, ELEMENT.key, keys, index * keyLength, keyLength);
    if (data) copyValue(bytes, ELEMENT.data, data, index * dataLength, dataLength);
    bytes.end(start);
  }
  if (list >= 0) endList(messages, list);
}

/** A value has few bytes, which a loop copies faster than a call does. */
function copyValue(
  bytes: ByteWriter,
  attribute: number,
  source: Uint8Array,
  from: number,
  length: number,
): void {
  const at = beginValue(bytes, attribute, length);
  const { memory } = bytes;
  for (let i = 0; i < length; i++) memory[at + i] = source[from + i] as number;
}

function isValid(
  { check }: Messages,
  isName: boolean,
  shape: CheckedShape,
  elements: ElementBytes | ElementKeyBytes,
): boolean {
  if (typeof elements !== 'object' || elements === null || elements instanceof Uint8Array) {
    check.fail('elements', elements, WHOLE, true);
    return false;
  }
  if (!check.object('elements', elements, isName ? NAME_FIELDS : FIELDS, 'the bytes of elements'))
    return false;
  const { count, keys, data }: Partial<ElementBytes> = elements;
  check.integer('elements.count', count, 0, MOST_ELEMENTS);
  if (check.invalid) return false;
  if (shape.hasEnds || shape.hasKeyEnd)
    check.fail('elements', elements, 'must be an array of elements: the set has the flag interval', false);
  if (shape.hasObjects || shape.hasDataEnd) {
    const rule = 'must be an array of elements: the set has objects, or intervals as data';
    check.fail('elements', elements, rule, false);
  }
  checkLength(check, 'elements.keys', keys, count as number, shape.key.length);
  if (isName) return !check.invalid;
  if (shape.data === 'verdict')
    check.fail('elements', elements, 'must be an array of elements: the data are verdicts', false);
  else if (shape.data) checkLength(check, 'elements.data', data, count as number, shape.data.length);
  else if (data !== undefined)
    check.fail('elements.data', data, 'is of maps, which have a type of data', true);
  return !check.invalid;
}

/** Checks the bytes of so many values of a length. */
function checkLength(check: Checker, path: string, value: unknown, count: number, length: number): void {
  const isBytes = value instanceof Uint8Array;
  if (isBytes && value.length === count * length) return;
  const rule = `must be a Uint8Array of ${count * length} bytes: ${length} for each element`;
  check.fail(path, isBytes ? value.length : value, rule, !isBytes);
}
