// Sets as the kernel lists them.
import type { ListedAttribute } from '../../shared/types.js';
import type { AttributeCursor } from '../../shared/wire/attributeCursor.js';
import { u32Of, u64Of } from '../expressions/formats.js';
import { DERIVED_SET_FLAGS, DESCRIPTION, SET, SET_FLAGS } from '../numbers.js';
import type { KeyExpression, NftSet, SetFlag, ValueTypes } from '../types.js';
import { defaultExpressions, isVerdictExpression, readKeyExpressions } from '../values/keyExpressions.js';
import {
  numberOfDatum,
  readUserData,
  SET_UDATA,
  textOfDatum,
  type UserDatum,
  writeUserData,
} from '../values/userData.js';
import { typesOfNumber, VERDICT_TYPE } from '../values/valueTypes.js';
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
  handle: bigint;
  count?: number;
  backend?: string;
  userData?: Uint8Array;
  attributes?: ListedAttribute[];
}

/** Flags that other fields tell. */
const { anonymous, map } = DERIVED_SET_FLAGS;

/** Reads a set. Throws a NetlinkError `ERR_MALFORMED_REPLY` if the message is none. */
export function readSet(payload: Uint8Array, operation = 'nftables.listSets'): NftSet {
  const reply = new Reply(payload, operation);
  const draft: Draft = { flags: 0, keyType: 0, keyLength: 0, handle: 0n };
  for (const attribute = reply.attributes(); attribute.next(); ) {
    if (!readAttribute(attribute, draft)) keepAttribute(attribute, draft);
  }
  const { keyType, keyLength, dataType, dataLength, size, timeout, count, backend, attributes } = draft;
  const key = typesOfNumber(keyType, keyLength) ?? keyType;
  const data = dataType === undefined ? undefined : typesOfData(dataType, dataLength ?? 0);
  return {
    family: reply.family,
    table: reply.required(draft.table, 'NFTA_SET_TABLE'),
    name: reply.required(draft.name, 'NFTA_SET_NAME'),
    key,
    ...(data === undefined ? {} : { data }),
    flags: flagsOf(draft.flags, typeof key === 'object'),
    ...(size === undefined ? {} : { size }),
    ...(timeout === undefined ? {} : { timeout }),
    ...describe(draft.userData, key, data),
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

function typesOfData(number: number, length: number): ValueTypes | 'verdict' | number {
  return number === VERDICT_TYPE ? 'verdict' : (typesOfNumber(number, length) ?? number);
}

/** The flags that no other field tells. */
function flagsOf(sum: number, isConcatenation: boolean): SetFlag[] {
  const follows = isConcatenation && sum & SET_FLAGS.interval ? DERIVED_SET_FLAGS.concatenation : 0;
  return flagsIn(sum & ~(anonymous | map | follows), SET_FLAGS);
}

/** What the user data of a set tell. */
type Described = Partial<
  Pick<NftSet, 'comment' | 'autoMerge' | 'keyExpressions' | 'dataExpressions' | 'userData'>
>;

/** Reads user data. What has no field here is kept as it is. */
function describe(bytes: Uint8Array | undefined, key: NftSet['key'], data: NftSet['data']): Described {
  if (bytes === undefined) return {};
  const list = readUserData(bytes);
  if (!list) return { userData: new Uint8Array(bytes) };
  const found: { -readonly [Name in keyof Described]: Described[Name] } = {};
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
function readDatum(
  datum: UserDatum,
  found: { -readonly [Name in keyof Described]: Described[Name] },
  key: NftSet['key'],
  data: NftSet['data'],
): boolean {
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
  if (data === undefined || typeof data === 'number') return undefined;
  if (data === 'verdict') return isVerdictExpression(datum) ? [] : undefined;
  const expressions = readKeyExpressions(datum);
  if (!expressions || !fits(expressions, data)) return undefined;
  return defaultExpressions(data)?.join() === expressions.join() ? [] : expressions;
}
