// The messages that ask for objects, and the rules of filters. Pure.

import { NLM_F_DUMP } from '../netlink/flags.js';
import {
  argumentError,
  findUnknown,
  type InvalidValue,
  invalidInteger,
  invalidObject,
} from '../shared/arguments.js';
import { ByteWriter } from '../shared/wire/byteWriter.js';
import { MESSAGE_HEADER } from '../shared/wire/messages.js';
import { Messages } from './encode/messages.js';
import { checkShape, SET_FIELDS } from './encode/sets.js';
import {
  CHAIN,
  ELEMENTS,
  FAMILIES,
  FLOW_TABLE,
  MESSAGE,
  NFGEN_HEADER,
  OBJECT,
  RULE,
  SET,
  SUBSYSTEM,
} from './numbers.js';
import type {
  NameInTable,
  RuleFilter,
  SetOfBytes,
  SetOfElements,
  SetShape,
  TableFamily,
  TableFilter,
} from './types.js';

/** `NFPROTO_UNSPEC`: all families. */
const ALL_FAMILIES = 0;
/** Most bytes of a name: `NFT_NAME_MAXLEN` - 1. */
const LONGEST_NAME = 255;

/** The fields of a filter, each of which needs those before it. */
const FILTER_FIELDS = ['family', 'table', 'chain'] as const;

/** Throws the error of a listing whose filter is invalid. Of a listing of tables, only `family` is among the fields. */
export function checkFilter(
  operation: string,
  filter: RuleFilter,
  fields: readonly string[] = FILTER_FIELDS.slice(0, 2),
): void {
  const invalid = findInvalidFilter(filter, fields);
  if (invalid) throw argumentError(operation, invalid);
}

function findInvalidFilter(filter: RuleFilter, fields: readonly string[]): InvalidValue | undefined {
  const noObject = invalidObject('filter', filter) ?? findUnknown(filter, new Set(fields));
  if (noObject) return noObject;
  const { family, table, chain } = filter;
  if (family !== undefined && numberOfFamily(family) === undefined)
    return familyRule('filter.family', family);
  if (table !== undefined) {
    if (family === undefined)
      return { field: 'filter.table', value: table, rule: 'needs family', wrongType: true };
    const invalid = nameRule('filter.table', table);
    if (invalid) return invalid;
  }
  if (chain === undefined) return undefined;
  if (table === undefined)
    return { field: 'filter.chain', value: chain, rule: 'needs table', wrongType: true };
  return nameRule('filter.chain', chain);
}

/**
 * The set of a listing of elements, as it was when it was checked: the caller may change it while elements are read. Throws the error of one
 * that is invalid.
 */
export function checkedSet(operation: string, set: SetOfElements): SetOfElements {
  const wrong = invalidObject('set', set);
  if (wrong) throw argumentError(operation, wrong);
  const { family, table, name, key, data, flags, ...others } = set;
  const lists = Object.entries({ key, data, flags }).filter(([, value]) => value !== undefined);
  const copies = lists.map(([field, value]) => [field, Array.isArray(value) ? [...value] : value] as const);
  const copy = { ...others, family, table, name, ...Object.fromEntries(copies) } as SetOfElements;
  const invalid =
    (numberOfFamily(copy.family) === undefined ? familyRule('set.family', copy.family) : undefined) ??
    nameRule('set.table', copy.table) ??
    nameRule('set.name', copy.name) ??
    findInvalidShape(copy);
  if (invalid) throw argumentError(operation, invalid);
  return copy;
}

/** The same of a listing of elements as bytes: it needs the lengths of keys and of data. */
export function checkedSetOfBytes(operation: string, given: SetOfElements): SetOfBytes {
  const set = checkedSet(operation, given);
  const { key, data, flags } = set;
  const needed = 'must be types of values, whose lengths are known';
  if (key === undefined || typeof key === 'number')
    throw argumentError(operation, { field: 'set.key', value: key, rule: needed, wrongType: true });
  if (typeof data === 'number')
    throw argumentError(operation, { field: 'set.data', value: data, rule: needed, wrongType: true });
  if (data === 'verdict') {
    const rule = 'must be types of values: listElements has verdicts';
    throw argumentError(operation, { field: 'set.data', value: data, rule, wrongType: false });
  }
  if (!flags?.includes('interval')) return set as SetOfBytes;
  const rule = 'must be without interval: listElements has intervals';
  throw argumentError(operation, { field: 'set.flags', value: flags, rule, wrongType: false });
}

/** The largest number of types (`NFTA_SET_KEY_TYPE`). */
const LAST_TYPES = 0xffff_ffff;

function findInvalidShape({
  key = 0,
  data,
  dataIsInterval,
  objects,
  flags,
  ...others
}: SetOfElements): InvalidValue | undefined {
  const messages = new Messages(new ByteWriter());
  messages.operation();
  const { check } = messages;
  check.onlyFields('set.', others, SET_FIELDS, 'a set');
  const numbers = { key: typeof key === 'number', data: typeof data === 'number' };
  if (numbers.key) check.integer('set.key', key, 0, LAST_TYPES);
  if (numbers.data) check.integer('set.data', data, 0, LAST_TYPES);
  const shape = {
    key: numbers.key ? 'integer' : key,
    ...(data === undefined || numbers.data ? {} : { data }),
    ...(objects === undefined ? {} : { objects }),
    ...(flags === undefined ? {} : { flags }),
  };
  messages.isTrue('set.dataIsInterval', dataIsInterval);
  checkShape(messages, 'set', shape as SetShape);
  return check.invalid;
}

/** The number of a family of tables; undefined if it is none. */
export function numberOfFamily(family: unknown): number | undefined {
  if (typeof family === 'number') return invalidInteger('family', family, 0, 255) ? undefined : family;
  const isNamed = typeof family === 'string' && Object.hasOwn(FAMILIES, family);
  return isNamed ? FAMILIES[family as keyof typeof FAMILIES] : undefined;
}

/** What a family that is none breaks. */
export function familyRule(field: string, value: unknown): InvalidValue {
  const rule = `must be one of ${Object.keys(FAMILIES).join(', ')}, or an integer from 0 to 255`;
  return { field, value, rule, wrongType: typeof value !== 'string' && typeof value !== 'number' };
}

function nameRule(field: string, value: unknown): InvalidValue | undefined {
  if (typeof value !== 'string') return { field, value, rule: 'must be a name', wrongType: true };
  const length = Buffer.byteLength(value);
  if (length > 0 && length <= LONGEST_NAME && !value.includes('\0')) return undefined;
  const rule = `must be a name of 1 to ${LONGEST_NAME} bytes without a zero`;
  return { field, value, rule, wrongType: false };
}

/** The attributes of a request: texts by their types. */
type Texts = readonly (readonly [type: number, text: string | undefined])[];

function request(
  type: number,
  flags: number,
  family: TableFamily | undefined,
  texts: Texts = [],
): Uint8Array {
  const payload = new ByteWriter();
  for (const [attribute, text] of texts) {
    if (text !== undefined) payload.put(attribute, () => payload.bytes(Buffer.from(`${text}\0`)));
  }
  return new ByteWriter()
    .u32(MESSAGE_HEADER + NFGEN_HEADER + payload.length)
    .u16((SUBSYSTEM << 8) | type)
    .u16(flags)
    .zeros(8)
    .u8(family === undefined ? ALL_FAMILIES : (numberOfFamily(family) ?? ALL_FAMILIES))
    .zeros(NFGEN_HEADER - 1)
    .bytes(payload.written())
    .written();
}

/** Asks for the generation. */
export function generationRequest(): Uint8Array {
  return request(MESSAGE.getGeneration, 0, undefined);
}

/** Asks for tables. */
export function tablesRequest({ family }: TableFilter): Uint8Array {
  return request(MESSAGE.getTable, NLM_F_DUMP, family);
}

/** Asks for chains: the kernel lists those of all tables of the family. */
export function chainsRequest({ family, table }: TableFilter): Uint8Array {
  return request(MESSAGE.getChain, NLM_F_DUMP, family, [[CHAIN.table, table]]);
}

/** Asks for rules. */
export function rulesRequest({ family, table, chain }: RuleFilter): Uint8Array {
  return request(MESSAGE.getRule, NLM_F_DUMP, family, [
    [RULE.table, table],
    [RULE.chain, chain],
  ]);
}

/** Asks for sets. */
export function setsRequest({ family, table }: TableFilter): Uint8Array {
  return request(MESSAGE.getSet, NLM_F_DUMP, family, [[SET.table, table]]);
}

/** Asks for the elements of a set. */
export function elementsRequest({ family, table, name }: NameInTable): Uint8Array {
  return request(MESSAGE.getElements, NLM_F_DUMP, family, [
    [ELEMENTS.table, table],
    [ELEMENTS.set, name],
  ]);
}

/** Asks for flow tables. */
export function flowTablesRequest({ family, table }: TableFilter): Uint8Array {
  return request(MESSAGE.getFlowTable, NLM_F_DUMP, family, [[FLOW_TABLE.table, table]]);
}

/** Asks for objects. */
export function objectsRequest({ family, table }: TableFilter): Uint8Array {
  return request(MESSAGE.getObject, NLM_F_DUMP, family, [[OBJECT.table, table]]);
}
