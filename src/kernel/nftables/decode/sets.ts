// Sets as the kernel lists them.
import type { ListedAttribute } from '../../shared/types.js';
import type { AttributeCursor } from '../../shared/wire/attributeCursor.js';
import { nameOf, u32Of, u64Of } from '../expressions/formats.js';
import type { Expression } from '../expressions/types.js';
import { DERIVED_SET_FLAGS, DESCRIPTION, OBJECT_TYPES, SET, SET_FLAGS, SET_POLICIES } from '../numbers.js';
import type { KeyExpression, NftSet, ObjectType, SetFlag, ValueType, ValueTypes } from '../types.js';
import {
  defaultExpressions,
  integerTypeOf,
  isVerdictExpression,
  readKeyExpressions,
} from '../values/keyExpressions.js';
import {
  numberOfDatum,
  readUserData,
  SET_UDATA,
  textOfDatum,
  type UserDatum,
  writeUserData,
} from '../values/userData.js';
import { typesOfNumber, VERDICT_TYPE } from '../values/valueTypes.js';
import { readExpression, readExpressions } from './expressions.js';
import { flagsIn, keepAttribute, Reply } from './reply.js';

/** A set that is being read. */
interface Draft {
  table?: string;
  name?: string;
  flags: number;
  keyType: number;
  keyLength: number;
  dataType?: number;
  dataLength?: number;
  size?: number;
  timeout?: bigint;
  gcInterval?: number;
  policy?: NftSet['policy'] | undefined;
  objects?: ObjectType | undefined;
  expressions?: Expression[];
  handle: bigint;
  count?: number;
  backend?: string;
  userData?: Uint8Array;
  attributes?: ListedAttribute[];
}

/** Flags that other fields tell. */
const { anonymous, map, object, expressions: several } = DERIVED_SET_FLAGS;

/** Reads a set. Throws a NetlinkError `ERR_MALFORMED_REPLY` if the message is none. */
export function readSet(payload: Uint8Array, operation = 'nftables.listSets'): NftSet {
  const reply = new Reply(payload, operation);
  const draft: Draft = { flags: 0, keyType: 0, keyLength: 0, handle: 0n };
  for (const attribute = reply.attributes(); attribute.next(); ) {
    if (!readAttribute(attribute, draft)) keepAttribute(attribute, draft);
  }
  const { keyType, keyLength, dataType, dataLength, size, timeout, count, backend, attributes } = draft;
  const { gcInterval, policy, objects, expressions } = draft;
  const userData = draft.userData && readUserData(draft.userData);
  // nft 1.0.6 does not say so: the data have twice the length of their types.
  const isTwice = () =>
    dataType !== undefined &&
    typesOfNumber(dataType, dataLength ?? 0) === undefined &&
    typesOfNumber(dataType, (dataLength ?? 0) / 2) !== undefined;
  const isInterval = userData?.some((datum) => isDataInterval(datum)) || isTwice();
  const integersOf = (type: number) => {
    const datum = userData?.find((each) => each.type === type);
    return datum && readKeyExpressions(datum)?.map(integerTypeOf);
  };
  const key = typesOfNumber(keyType, keyLength, integersOf(SET_UDATA.keyTypeof)) ?? keyType;
  const data =
    dataType === undefined
      ? undefined
      : typesOfData(dataType, (dataLength ?? 0) / (isInterval ? 2 : 1), integersOf(SET_UDATA.dataTypeof));
  return {
    family: reply.family,
    table: reply.required(draft.table, 'NFTA_SET_TABLE'),
    name: reply.required(draft.name, 'NFTA_SET_NAME'),
    key,
    ...(data === undefined ? {} : { data }),
    ...(isInterval && { dataIsInterval: true }),
    ...(objects === undefined ? {} : { objects }),
    flags: flagsOf(draft, typeof key === 'object'),
    ...(size === undefined ? {} : { size }),
    ...(timeout === undefined ? {} : { timeout }),
    ...(gcInterval === undefined ? {} : { gcInterval }),
    ...(policy === undefined || policy === 'performance' ? {} : { policy }),
    ...(expressions === undefined ? {} : { expressions }),
    ...(userData
      ? describe(userData, key, data)
      : draft.userData && { userData: new Uint8Array(draft.userData) }),
    keyLength,
    ...(dataLength === undefined ? {} : { dataLength }),
    ...(draft.flags & anonymous ? { anonymous: true } : {}),
    ...(count === undefined ? {} : { count }),
    ...(backend === undefined ? {} : { backend }),
    ...(attributes === undefined ? {} : { attributes }),
    handle: draft.handle,
  };
}

/** Reads an attribute; false if it has no field. */
function readAttribute(attribute: AttributeCursor, draft: Draft): boolean {
  switch (attribute.type) {
    case SET.table:
      draft.table = attribute.text();
      return true;
    case SET.name:
      draft.name = attribute.text();
      return true;
    case SET.flags:
      draft.flags = u32Of(attribute);
      return true;
    case SET.keyType:
      draft.keyType = u32Of(attribute);
      return true;
    case SET.keyLength:
      draft.keyLength = u32Of(attribute);
      return true;
    case SET.dataType:
      draft.dataType = u32Of(attribute);
      return true;
    case SET.dataLength:
      draft.dataLength = u32Of(attribute);
      return true;
    case SET.description:
      return readDescription(attribute, draft);
    case SET.timeout:
      draft.timeout = u64Of(attribute);
      return true;
    case SET.gcInterval:
      draft.gcInterval = u32Of(attribute);
      return true;
    case SET.policy:
      draft.policy = nameOf(SET_POLICIES, u32Of(attribute));
      return draft.policy !== undefined;
    case SET.objectType:
      draft.objects = nameOf(OBJECT_TYPES, u32Of(attribute));
      return draft.objects !== undefined;
    case SET.expression:
      draft.expressions = [readExpression(attribute)];
      return true;
    case SET.expressions:
      draft.expressions = readExpressions(attribute);
      return true;
    case SET.userData:
      draft.userData = attribute.bytes();
      return true;
    case SET.handle:
      draft.handle = u64Of(attribute);
      return true;
    case SET.type:
      draft.backend = attribute.text();
      return true;
    case SET.count:
      draft.count = u32Of(attribute);
      return true;
    default:
      return attribute.type === SET.id || attribute.type === SET.pad;
  }
}

/** The size. Lengths of the parts of keys follow from their types. */
function readDescription(attribute: AttributeCursor, draft: Draft): boolean {
  for (const inner = attribute.nested(); inner.next(); ) {
    if (inner.type === DESCRIPTION.size) draft.size = u32Of(inner);
    else if (inner.type !== DESCRIPTION.concatenation) return false;
  }
  return true;
}

function typesOfData(
  number: number,
  length: number,
  integers?: readonly (ValueType | undefined)[],
): ValueTypes | 'verdict' | number {
  return number === VERDICT_TYPE ? 'verdict' : (typesOfNumber(number, length, integers) ?? number);
}

/** The flags that no other field tells. */
function flagsOf({ flags, objects, expressions = [] }: Draft, isConcatenation: boolean): SetFlag[] {
  const follows =
    (isConcatenation && flags & SET_FLAGS.interval ? DERIVED_SET_FLAGS.concatenation : 0) |
    (objects === undefined ? 0 : object) |
    (expressions.length > 1 ? several : 0);
  return flagsIn(flags & ~(anonymous | map | follows), SET_FLAGS);
}

/** Whether it says that data are intervals. */
function isDataInterval(datum: UserDatum): boolean {
  return datum.type === SET_UDATA.dataInterval && numberOfDatum(datum) === 1;
}

/** What the user data of a set tell. */
type Described = { -readonly [Name in Told]?: NftSet[Name] };
type Told = 'comment' | 'autoMerge' | 'keyExpressions' | 'dataExpressions' | 'userData';

/** Reads user data. What has no field here is kept as it is. */
function describe(list: readonly UserDatum[], key: NftSet['key'], data: NftSet['data']): Described {
  const found: Described = {};
  const rest = list.filter((datum) => !readDatum(datum, found, key, data));
  if (found.dataExpressions && !found.keyExpressions) {
    rest.push(...list.filter(({ type }) => type === SET_UDATA.dataTypeof));
    delete found.dataExpressions;
  }
  const isOther = data !== undefined && data !== 'verdict' && typeof data !== 'number';
  if (found.keyExpressions && isOther && !found.dataExpressions && !defaultExpressions(data)) {
    rest.push(...list.filter(({ type }) => type === SET_UDATA.keyTypeof));
    delete found.keyExpressions;
  }
  return { ...found, ...(rest.length > 0 && { userData: writeUserData(rest) }) };
}

/** Reads one of the user data; false if it has no field. */
function readDatum(datum: UserDatum, found: Described, key: NftSet['key'], data: NftSet['data']): boolean {
  switch (datum.type) {
    case SET_UDATA.keyByteOrder: // follow from the types
    case SET_UDATA.dataByteOrder:
    case SET_UDATA.dataInterval:
      return true;
    case SET_UDATA.mergeElements:
      if (numberOfDatum(datum) === 1) found.autoMerge = true;
      return true;
    case SET_UDATA.comment: {
      const comment = textOfDatum(datum);
      if (comment !== undefined) found.comment = comment;
      return comment !== undefined;
    }
    case SET_UDATA.keyTypeof: {
      const expressions = readKeyExpressions(datum);
      if (!expressions || !fits(expressions, key)) return false;
      if (expressions.length > 0) found.keyExpressions = expressions;
      return true;
    }
    case SET_UDATA.dataTypeof: {
      const expressions = dataExpressions(datum, data);
      if (expressions && expressions.length > 0) found.dataExpressions = expressions;
      return expressions !== undefined;
    }
    default:
      return false;
  }
}

/** Whether there is one for each type, or none at all: so nft writes those of a set that was made with `type`. */
function fits(expressions: readonly KeyExpression[], types: ValueTypes | number): boolean {
  if (expressions.length === 0) return true;
  return typeof types !== 'number' && expressions.length === (typeof types === 'string' ? 1 : types.length);
}

/** The expressions of data, unless they are the default; undefined if they have no notation. */
function dataExpressions(datum: UserDatum, data: NftSet['data']): KeyExpression[] | undefined {
  const expressions = readKeyExpressions(datum);
  if (expressions?.length === 0) return [];
  if (data === undefined || typeof data === 'number') return undefined;
  if (data === 'verdict') return isVerdictExpression(datum) ? [] : undefined;
  if (!expressions || !fits(expressions, data)) return undefined;
  return defaultExpressions(data)?.join() === expressions.join() ? [] : expressions;
}
