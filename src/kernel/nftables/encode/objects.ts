// Objects that rules refer to by name, as messages.
import { OBJECT_PARTS } from '../expressions/objectParts.js';
import type { Writing } from '../expressions/parts.js';
import { MESSAGE, NESTED, OBJECT, OBJECT_TYPES } from '../numbers.js';
import type { NewObject, ObjectName, ObjectType } from '../types.js';
import { type Messages, numberOf } from './messages.js';

const NAME_FIELDS = ['family', 'table', 'name', 'type', 'comment'];
const LISTED = ['handle', 'use', 'attributes', 'userData'];
const FIELDS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(OBJECT_PARTS).map(([type, parts]) => [
    type,
    new Set([...NAME_FIELDS, ...LISTED, ...parts.flatMap(({ fields }) => fields)]),
  ]),
);
const TYPE_RULE = `must be one of ${Object.keys(OBJECT_TYPES).join(', ')}`;

/** The message that adds an object. */
export function encodeObject(messages: Messages, flags: number, object: NewObject): void {
  const { bytes, check } = messages;
  const type = begin(messages, MESSAGE.newObject, flags, object);
  if (type === undefined) return;
  messages.refuseListed('object', object);
  const start = bytes.begin(OBJECT.data | NESTED);
  const writing: Pick<Writing, 'writer' | 'fail'> = {
    writer: bytes,
    fail: (field, value, rule, wrongType) => check.fail(`object.${field}`, value, rule, wrongType),
  };
  const fields = object as unknown as Readonly<Record<string, unknown>>;
  for (const part of OBJECT_PARTS[type]) part.write(writing as Writing, fields);
  bytes.end(start);
  messages.comment(OBJECT.userData, 'object', object.comment);
  messages.end();
}

/** The message that deletes an object. */
export function encodeObjectName(messages: Messages, messageType: number, object: ObjectName): void {
  if (begin(messages, messageType, 0, object) !== undefined) messages.end();
}

/** Begins a message with the name of an object. */
function begin(
  messages: Messages,
  messageType: number,
  flags: number,
  object: ObjectName,
): ObjectType | undefined {
  const { check } = messages;
  if (!check.isObject('object', object)) return undefined;
  const { type } = object;
  const number = typeof type === 'string' ? numberOf(OBJECT_TYPES, type) : undefined;
  if (number === undefined) {
    check.fail('object.type', type, TYPE_RULE, typeof type !== 'string');
    return undefined;
  }
  check.onlyFields('object.', object, FIELDS.get(type) as ReadonlySet<string>, `an object of type ${type}`);
  messages.begin(messageType, flags, messages.family('object.family', object.family));
  messages.name(OBJECT.table, 'object.table', object.table);
  messages.name(OBJECT.name, 'object.name', object.name);
  messages.u32(OBJECT.type, number);
  return type;
}
