// Sets as messages.
import { isText, putBytes } from '../expressions/formats.js';
import type { AnonymousSet } from '../expressions/types.js';
import {
  DERIVED_SET_FLAGS,
  DESCRIPTION,
  LIST_ELEMENT,
  MESSAGE,
  NESTED,
  NLM_F,
  OBJECT_TYPES,
  SET,
  SET_FLAGS,
  SET_POLICIES,
} from '../numbers.js';
import type { KeyExpression, NameInTable, NewSet, SetShape, ValueTypes } from '../types.js';
import {
  defaultExpressions,
  isKeyExpression,
  KEY_EXPRESSION_RULE,
  verdictExpression,
  writeKeyExpressions,
} from '../values/keyExpressions.js';
import {
  LONGEST_COMMENT,
  LONGEST_USER_DATA,
  numberDatum,
  SET_UDATA,
  textDatum,
  type UserDatum,
  writeUserData,
} from '../values/userData.js';
import {
  FORM,
  isValueType,
  type Layout,
  LENGTHS,
  LONGEST_VALUE,
  layoutOf,
  MOST_PARTS,
  numberOfTypes,
  VALUE_TYPES,
  VERDICT_TYPE,
} from '../values/valueTypes.js';
import { writeNested } from './expressions.js';
import { flagsOf, type Messages, numberOf } from './messages.js';

/** Fields of a set, also of one that was listed. */
export const SET_FIELDS = new Set([
  ...['family', 'table', 'name', 'key', 'data', 'flags', 'keyExpressions', 'dataExpressions'],
  ...[
    'dataIsInterval',
    'objects',
    'size',
    'timeout',
    'gcInterval',
    'policy',
    'expressions',
    'autoMerge',
    'comment',
  ],
  ...['keyLength', 'dataLength', 'anonymous', 'handle', 'count', 'backend', 'attributes', 'userData'],
]);

/** What the elements of a set are, when all of it was checked. */
export interface CheckedShape {
  readonly key: Layout;
  readonly data: Layout | 'verdict' | undefined;
  /** Whether elements have two data. */
  readonly hasDataEnd: boolean;
  /** Whether elements name objects. */
  readonly hasObjects: boolean;
  /** `NFT_SET_` */
  readonly flags: number;
  /** Whether an interval is two elements: its first key, and the one behind its last key. */
  readonly hasEnds: boolean;
  /** Whether an interval is one element with two keys. */
  readonly hasKeyEnd: boolean;
}

/** Checks the types and flags of a set, which `path` names. Undefined if they are invalid. */
export function checkShape(messages: Messages, path: string, shape: SetShape): CheckedShape | undefined {
  const { check } = messages;
  const { key, data, objects } = shape;
  let flags = flagsOf(check, `${path}.flags`, shape.flags, SET_FLAGS);
  const isInterval = (flags & SET_FLAGS.interval) !== 0;
  const isKey = checkTypes(check, `${path}.key`, key);
  const isData = data === undefined || data === 'verdict' || checkTypes(check, `${path}.data`, data);
  const hasDataEnd = messages.isTrue(`${path}.dataIsInterval`, shape.dataIsInterval);
  const hasWholeWords =
    isData && data !== undefined && data !== 'verdict' && layoutOf(data as ValueTypes).length % 4 === 0;
  if (hasDataEnd && !hasWholeWords)
    check.fail(`${path}.dataIsInterval`, true, 'is of maps whose data have a multiple of 4 bytes', false);
  if (objects !== undefined && (data !== undefined || numberOf(OBJECT_TYPES, objects) === undefined)) {
    const rule = `must be one of ${Object.keys(OBJECT_TYPES).join(', ')}, of a map without data`;
    check.fail(`${path}.objects`, objects, rule, typeof objects !== 'string');
  }
  if (!isKey || !isData || check.invalid) return undefined;
  const layout = layoutOf(key, isInterval);
  if (data !== undefined) flags |= DERIVED_SET_FLAGS.map;
  if (objects !== undefined) flags |= DERIVED_SET_FLAGS.object;
  const hasKeyEnd = isInterval && layout.isConcatenation;
  if (hasKeyEnd) flags |= DERIVED_SET_FLAGS.concatenation;
  return {
    key: layout,
    data: data === undefined || data === 'verdict' ? data : layoutOf(data),
    hasDataEnd,
    hasObjects: objects !== undefined,
    flags,
    hasEnds: isInterval && !layout.isConcatenation,
    hasKeyEnd,
  };
}

function checkTypes(check: Messages['check'], path: string, types: unknown): types is ValueTypes {
  const valid = Array.isArray(types)
    ? types.length > 1 && types.length <= MOST_PARTS && types.every(isValueType)
    : isValueType(types);
  if (!valid) {
    const rule = `must be a type of values, or a list of 2 to ${MOST_PARTS}: ${VALUE_TYPES.join(', ')}`;
    check.fail(path, types, rule, typeof types !== 'string' && !Array.isArray(types));
  } else if (layoutOf(types as ValueTypes).length > LONGEST_VALUE) {
    check.fail(path, types, `must be types of at most ${LONGEST_VALUE} bytes in all`, false);
  }
  return valid;
}

/** The message that adds a set. */
export function encodeSet(messages: Messages, messageFlags: number, set: NewSet): void {
  const { check } = messages;
  if (!check.object('set', set, SET_FIELDS, 'a set')) return;
  messages.refuseListed('set', set);
  const { anonymous } = set as { readonly anonymous?: unknown };
  if (anonymous !== undefined)
    check.fail(
      'set.anonymous',
      anonymous,
      'must be left out: a set without a name is written with its rule',
      true,
    );
  const shape = checkShape(messages, 'set', set);
  if (!shape) return;
  messages.begin(MESSAGE.newSet, messageFlags, messages.family('set.family', set.family));
  messages.name(SET.table, 'set.table', set.table);
  messages.name(SET.name, 'set.name', set.name);
  for (const field of ['timeout', 'gcInterval'] as const) {
    if (set[field] !== undefined && !(shape.flags & SET_FLAGS.timeout))
      check.fail(`set.${field}`, set[field], 'needs the flag timeout', false);
  }
  const size = set.size === undefined ? undefined : check.integer('set.size', set.size, 1, 0xffff_ffff);
  const { expressions, policy, gcInterval } = set;
  const several = Array.isArray(expressions) && expressions.length > 1 ? DERIVED_SET_FLAGS.expressions : 0;
  writeShape(messages, 'set', set, shape, shape.flags | several, size);
  if (policy !== undefined) {
    const number = numberOf(SET_POLICIES, policy);
    if (number === undefined)
      check.fail('set.policy', policy, 'must be performance or memory', typeof policy !== 'string');
    messages.u32(SET.policy, number ?? 0);
  }
  if (gcInterval !== undefined)
    messages.u32(SET.gcInterval, check.integer('set.gcInterval', gcInterval, 1, 0xffff_ffff));
  if (expressions !== undefined)
    writeNested(messages, 'set.expressions', expressions, { one: SET.expression, list: SET.expressions });
  messages.u32(SET.id, 0); // the kernel demands one; elements and rules name the set
  messages.u64(SET.timeout, 'set.timeout', set.timeout, 1n);
  messages.end();
}

/** Most bytes of the name of a set of a rule: `NFT_SET_MAX_ANONLEN` - 1. */
const LONGEST_ANONYMOUS = 15;

/** The message that adds a set of a rule. `path` names it. */
export function encodeAnonymousSet(
  messages: Messages,
  place: { readonly family: number; readonly table: unknown; readonly path: string },
  set: AnonymousSet,
  shape: CheckedShape,
): { readonly name: string; readonly id: number } {
  const { family, table, path } = place;
  const kind = shape.hasObjects ? 'objmap' : shape.data === undefined ? 'set' : 'map';
  const { name = `__${kind}%d` } = set;
  if (set.name !== undefined && (!isText(name, 1, LONGEST_ANONYMOUS) || name.includes('%'))) {
    const rule = `must be a name of 1 to ${LONGEST_ANONYMOUS} bytes without a percent sign`;
    messages.check.fail(`${path}.name`, name, rule, typeof name !== 'string');
  }
  const flags = shape.flags | DERIVED_SET_FLAGS.anonymous | SET_FLAGS.constant;
  // Without `exclusive`, some kernels accept the message if another rule's set has the name, and refuse what follows.
  messages.begin(MESSAGE.newSet, NLM_F.create | NLM_F.exclusive, family);
  messages.name(SET.table, 'rule.table', table);
  messages.name(SET.name, `${path}.name`, name);
  // An interval is two elements.
  const size = set.elements.length * (shape.hasEnds ? 2 : 1);
  writeShape(messages, path, set, shape, flags, Math.max(size, 1));
  const id = messages.nextSetId();
  messages.u32(SET.id, id);
  messages.end();
  return { name: typeof name === 'string' ? name : '', id };
}

/** Fields that only nft reads. */
type UserFields = Pick<NewSet, 'comment' | 'autoMerge'>;

function writeShape(
  messages: Messages,
  path: string,
  set: SetShape & UserFields,
  shape: CheckedShape,
  flags: number,
  size: number | undefined,
): void {
  messages.u32(SET.flags, flags);
  messages.u32(SET.keyType, numberOfTypes(set.key));
  messages.u32(SET.keyLength, shape.key.length);
  if (set.data === 'verdict') {
    messages.u32(SET.dataType, VERDICT_TYPE);
    messages.u32(SET.dataLength, 0);
  } else if (set.data !== undefined && shape.data !== 'verdict') {
    messages.u32(SET.dataType, numberOfTypes(set.data));
    messages.u32(SET.dataLength, (shape.data?.length ?? 0) * (shape.hasDataEnd ? 2 : 1));
  }
  if (set.objects !== undefined) messages.u32(SET.objectType, OBJECT_TYPES[set.objects]);
  writeDescription(messages, shape, size);
  writeSetUserData(messages, path, set, shape);
}

/** The number of elements, and the lengths of the parts of keys that are intervals. */
function writeDescription({ bytes }: Messages, shape: CheckedShape, size: number | undefined): void {
  if (size === undefined && !shape.hasKeyEnd) return;
  const start = bytes.begin(SET.description | NESTED);
  if (size !== undefined) bytes.u16(8).u16(DESCRIPTION.size).u32be(size);
  if (shape.hasKeyEnd) {
    const list = bytes.begin(DESCRIPTION.concatenation | NESTED);
    for (const form of shape.key.forms) {
      const element = bytes.begin(LIST_ELEMENT | NESTED);
      bytes.u16(8).u16(DESCRIPTION.fieldLength).u32be(LENGTHS[form]);
      bytes.end(element);
    }
    bytes.end(list);
  }
  bytes.end(start);
}

/** What nft needs to list the set: byte orders, the expressions of `typeof`, and the comment. */
function writeSetUserData(
  messages: Messages,
  path: string,
  set: SetShape & UserFields,
  shape: CheckedShape,
): void {
  const { check, bytes } = messages;
  const data: UserDatum[] = [numberDatum(SET_UDATA.keyByteOrder, byteOrder(layoutOf(set.key)))];
  if (shape.data !== undefined) {
    const order = shape.data === 'verdict' ? 0 : byteOrder(shape.data);
    data.push(numberDatum(SET_UDATA.dataByteOrder, order));
    if (shape.hasDataEnd) data.push(numberDatum(SET_UDATA.dataInterval, 1));
  }
  if (messages.isTrue(`${path}.autoMerge`, set.autoMerge)) data.push(numberDatum(SET_UDATA.mergeElements, 1));
  data.push(...typeofData(messages, path, set));
  if (set.comment !== undefined && messages.isComment(path, set.comment, LONGEST_COMMENT)) {
    data.push(textDatum(SET_UDATA.comment, set.comment));
  }
  const tooLong = data.some(({ value }) => value.length > 255);
  const userData = writeUserData(data);
  if (tooLong || userData.length > LONGEST_USER_DATA) {
    const rule = `must be shorter: comment and expressions have at most ${LONGEST_USER_DATA} bytes as user data`;
    check.fail(`${path}.comment`, set.comment, rule);
  }
  putBytes(bytes, SET.userData, userData);
}

/** `enum byteorder` of nft: 1 for the machine's, 2 for network order, and 0 for a concatenation. */
function byteOrder({ isConcatenation, forms: [form] }: Layout): number {
  if (isConcatenation) return 0;
  return form === FORM.u32 || form === FORM.u16host || form === FORM.name ? 1 : 2;
}

/** Checks the expressions of `typeof` of a set that is named. */
export function checkTypeof(messages: Messages, path: string, set: SetShape): void {
  if (set.keyExpressions !== undefined || set.dataExpressions !== undefined) typeofData(messages, path, set);
}

/** The expressions of `typeof`, of keys and of data: nft needs both if it has one. */
function typeofData({ check }: Messages, path: string, set: SetShape): UserDatum[] {
  const { keyExpressions, dataExpressions, key, data } = set;
  if (
    dataExpressions !== undefined &&
    (keyExpressions === undefined || data === undefined || data === 'verdict')
  ) {
    const rule = 'needs keyExpressions, and data other than verdicts';
    check.fail(`${path}.dataExpressions`, dataExpressions, rule, true);
  }
  if (keyExpressions === undefined) return [];
  if (!checkExpressions(check, `${path}.keyExpressions`, keyExpressions, key)) return [];
  const found = [writeKeyExpressions(SET_UDATA.keyTypeof, keyExpressions)];
  if (data === 'verdict') found.push(verdictExpression(SET_UDATA.dataTypeof));
  else if (data !== undefined) {
    const expressions = dataExpressions === undefined ? defaultExpressions(data) : dataExpressions;
    if (expressions === undefined) {
      const rule = 'must be there: no expression stands for these data';
      check.fail(`${path}.dataExpressions`, expressions, rule, true);
    } else if (checkExpressions(check, `${path}.dataExpressions`, expressions, data)) {
      found.push(writeKeyExpressions(SET_UDATA.dataTypeof, expressions));
    }
  }
  return found;
}

function checkExpressions(
  check: Messages['check'],
  path: string,
  expressions: readonly KeyExpression[],
  types: ValueTypes,
): boolean {
  const count = typeof types === 'string' ? 1 : types.length;
  if (!Array.isArray(expressions) || expressions.length !== count) {
    check.fail(
      path,
      expressions,
      `must be a list of ${count}, one for each type`,
      !Array.isArray(expressions),
    );
    return false;
  }
  for (const expression of expressions) {
    if (isKeyExpression(expression)) continue;
    check.fail(path, expression, KEY_EXPRESSION_RULE, typeof expression !== 'string');
    return false;
  }
  return true;
}

/** The message that deletes a set, or its elements: `type` and the attributes of the names say which. */
export function encodeSetName(
  messages: Messages,
  type: number,
  set: NameInTable,
  attributes: { readonly table: number; readonly name: number },
): void {
  if (!messages.check.object('set', set, SET_FIELDS, 'a set')) return;
  messages.begin(type, 0, messages.family('set.family', set.family));
  messages.name(attributes.table, 'set.table', set.table);
  messages.name(attributes.name, 'set.name', set.name);
  messages.end();
}
