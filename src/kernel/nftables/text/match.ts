// Conditions of rules by the names of fields, from the table that the text of nft is read with. Pure.

import { argumentError } from '../../shared/arguments.js';
import { atOnce } from '../../steps.js';
import { familyRule, numberOfFamily } from '../requests.js';
import type { Expression, MetaKey, SetShape, TableFamily } from '../types.js';
import {
  type AnyHeaderField,
  CT_FIELDS,
  type CtFields,
  HEADER_FIELDS,
  HEADERS,
  META_NAMES,
  META_TYPES,
  type MetaFields,
} from './fields.js';
import { RuleReading } from './read/reading.js';
import { readStatements } from './read/rule.js';
import { Cursor, type Token, tokensOf, Unreadable } from './read/tokens.js';
import { isBitmask, type LoadedType } from './values.js';

/** A value of a field. Names are those of nft: `established`, `echo-request`. */
export type MatchValue<Type extends LoadedType = LoadedType> = Type extends
  | 'ipv4_addr'
  | 'ipv6_addr'
  | 'ether_addr'
  | 'ifname'
  | 'name'
  ? string
  : Type extends 'number' | 'hexadecimal' | 'integer' | 'iface_index' | 'inet_service' | 'mark'
    ? number | bigint
    : string | number;

/** Values from one to another, both included; without one of them, all below or above. */
export type MatchRange<Value> =
  | { readonly from: Value; readonly to: Value }
  | { readonly from: Value; readonly to?: undefined }
  | { readonly from?: undefined; readonly to: Value };

/** A set of the table, by its name, with what its elements are: the object with which it is added. */
export type MatchSet = SetShape & { readonly name: string };

/**
 * Makes the condition that a field has one of these values, of flags that one of these is set, or that a set has its value. Of an address,
 * a value may be a network: `10.0.0.0/8`.
 */
export type Match<Type extends LoadedType = LoadedType> = (
  ...values:
    | readonly [MatchSet]
    | readonly [
        MatchValue<Type> | MatchRange<MatchValue<Type>>,
        ...(MatchValue<Type> | MatchRange<MatchValue<Type>>)[],
      ]
) => Condition;

/** The fields of `meta`, `ct` and headers, by their names in nft: `match.tcp.dport(80)`. */
export type Matches = {
  readonly [Header in AnyHeaderField['header']]: {
    readonly [Field in Extract<AnyHeaderField, { header: Header }> as Field['name']]: Match<Field['type']>;
  };
} & { readonly meta: MatchesOf<MetaFields>; readonly ct: MatchesOf<CtFields> & CtDirections };

/** What {@link match} has: conditions, and below `not` their opposites. */
export type AllMatches = Matches & { readonly not: Matches };

/** Conditions of fields of these types. */
type MatchesOf<Fields extends Readonly<Record<string, LoadedType>>> = {
  readonly [Name in keyof Fields]: Match<Fields[Name]>;
};

/** Keys of `ct` that each direction of a connection has: `match.ct.original['ip saddr']`. */
interface CtDirections {
  readonly original: MatchesOf<CtFields>;
  readonly reply: MatchesOf<CtFields>;
}

/** A condition of a field. {@link expressionsOf} has its expressions, which depend on the rule that it is in. */
export interface Condition {
  /** In the notation of nft: `tcp dport`. */
  readonly field: string;
  /** Of its values. */
  readonly type: LoadedType;
  /** Those that it was made with. */
  readonly values: readonly unknown[];
  /** Whether it is one of `match.not`. */
  readonly isDenied: boolean;
}

const OPERATION = 'nftables.expressionsOf';

type NamedTypes = readonly (readonly [name: string, type: LoadedType])[];

function matchesOf(isDenied: boolean): Matches {
  const of = (words: string, fields: NamedTypes) => {
    const make =
      (name: string, type: LoadedType) =>
      (...values: readonly unknown[]) => ({
        ...{ field: `${words} ${name}`, type, values, isDenied },
      });
    return Object.fromEntries(fields.map(([name, type]) => [name, make(name, type)]));
  };
  const fieldsOf = (header: string): NamedTypes =>
    HEADER_FIELDS.filter((each) => each.header === header).map(({ name, type }) => [name, type]);
  const meta = Object.entries(META_TYPES).map(
    ([key, type]) => [META_NAMES[key as MetaKey] ?? key, type] as const,
  );
  const ct = Object.entries(CT_FIELDS).map(([key, [type, name = key]]) => [name, type] as const);
  const matches: unknown = {
    ...Object.fromEntries([...HEADERS].map((header) => [header, of(header, fieldsOf(header))])),
    meta: of('meta', meta),
    ct: { ...of('ct', ct), original: of('ct original', ct), reply: of('ct reply', ct) },
  };
  return matches as Matches;
}

/**
 * Makes conditions: `match.ip.saddr('10.0.0.0/8')`, `match.tcp.dport({ from: 1, to: 1023 })`, `match.ct.state('established', 'related')`.
 * `match.not.tcp.dport(80, 443)` is the opposite: the field has none of the values, and of flags none is set. The fields are those that
 * {@link parseRuleset} reads, and have the names of nft.
 */
export const match: AllMatches = { ...matchesOf(false), not: matchesOf(true) };

/**
 * The expressions of a rule of a table of this family, from conditions ({@link match}), statements in the notation of nft (`counter`,
 * `meta mark set 1 accept`), and expressions as they are, in any order. What a condition implies, such as the protocol of a port, is
 * there once, as {@link parseRuleset} has it; of expressions as they are, nothing is concluded.
 *
 * Throws a TypeError or RangeError that names the part and the rule that its value breaks.
 */
export function expressionsOf(
  family: TableFamily,
  parts: readonly (Condition | Expression | string)[],
): Expression[] {
  if (numberOfFamily(family) === undefined) throw argumentError(OPERATION, familyRule('family', family));
  check('parts', parts, Array.isArray(parts), 'must be a list of conditions, expressions and texts');
  const rule: Expression[] = [];
  const sets = new Map<string, SetShape>();
  const shapeOf = (name: string) => sets.get(name);
  let reading: RuleReading | undefined;
  for (const [place, part] of parts.entries()) {
    if (isObject(part) && 'kind' in part) {
      rule.push(part as Expression);
      continue;
    }
    check(
      `parts[${place}]`,
      part,
      typeof part === 'string' || isCondition(part),
      'must be a condition of `match`, an expression, or a text',
    );
    try {
      const tokens = tokensOfPart(part as Condition | string, place, sets);
      const last = tokens.at(-1);
      check(`parts[${place}]`, part, last !== undefined, 'must have a statement of nft');
      const cursor = new Cursor(tokens);
      reading ??= new RuleReading(cursor, { family, shapeOf, links: new Map() });
      reading.cursor = cursor;
      const before = reading.expressions.length;
      if (atOnce(readStatements(reading)) !== undefined)
        throw new Unreadable('must have no comment, which is a field of the rule', last);
      for (const expression of reading.expressions.slice(before)) rule.push(expression);
    } catch (error) {
      if (error instanceof Unreadable) throw invalidPart(part as Condition | string, place, error);
      throw error;
    }
  }
  return rule;
}

function check(field: string, value: unknown, isValid: boolean, rule: string): asserts isValid {
  if (!isValid) throw argumentError(OPERATION, { field, value, rule, wrongType: true });
}

function invalidPart(part: Condition | string, place: number, { message, token }: Unreadable): Error {
  const field = `parts[${place}]`;
  const wrongType = false;
  if (typeof part === 'string')
    return argumentError(OPERATION, {
      field,
      value: part,
      rule: `must be statements of nft: \`${token.text}\` ${message}`,
      wrongType,
    });
  const value = part.values.length === 1 ? part.values[0] : part.values;
  return argumentError(OPERATION, { field: `${field} (${part.field})`, value, rule: message, wrongType });
}

function tokensOfPart(
  part: Condition | string,
  place: number,
  sets: Map<string, SetShape>,
): readonly Token[] {
  if (typeof part === 'string') return atOnce(tokensOf({ number: place, text: part }));
  const line = { number: place, text: part.field };
  const token: MakeToken = (text, isQuoted = false) => ({ text, isQuoted, line, column: 1 });
  return [...part.field.split(' ').map((word) => token(word)), ...tokensOfValues(part, token, sets)];
}

type MakeToken = (text: string, isQuoted?: boolean) => Token;

function tokensOfValues(
  { type, values, isDenied }: Condition,
  token: MakeToken,
  sets: Map<string, SetShape>,
): readonly Token[] {
  const [first] = values;
  const unequal = isDenied ? [token('!=')] : [];
  if (values.length === 1 && isSet(first)) {
    sets.set(first.name, first);
    return [...unequal, token(`@${first.name}`)];
  }
  if (values.length === 1 && isObject(first) && (first['from'] === undefined || first['to'] === undefined)) {
    const { from, to } = first;
    const sign = from === undefined ? (isDenied ? '>' : '<=') : isDenied ? '<' : '>=';
    return [token(sign), wordOf(type, from ?? to, token)];
  }
  const words = values.map((value) => wordOf(type, value, token));
  const list = words.flatMap((each, i) => (i === 0 ? [each] : [token(','), each]));
  if (isBitmask(type)) return [...(isDenied ? [token('!')] : []), ...list];
  return [...unequal, ...(values.length === 1 ? list : [token('{'), ...list, token('}')])];
}

/** A value, or values from one to another, as a word of nft, or as a name in quotation marks. */
function wordOf(type: LoadedType, value: unknown, token: MakeToken): Token {
  const isName = type === 'ifname' || type === 'name';
  const text = isName
    ? String(value)
    : isObject(value)
      ? `${textOf(type, value['from'])}-${textOf(type, value['to'])}`
      : textOf(type, value);
  const word = token(text, isName);
  if (isName && typeof value !== 'string') throw new Unreadable('must be a name', word);
  // Other words of nft are no values: `@set`, a sign.
  if (!isName && !/^[\w:-]/.test(text)) throw new Unreadable('must be a value', word);
  return word;
}

function textOf(type: LoadedType, value: unknown): string {
  return type === 'time' && typeof value === 'number' ? `${value}ms` : String(value);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isSet(value: unknown): value is MatchSet {
  return isObject(value) && typeof value['name'] === 'string' && 'key' in value;
}

function isCondition(value: unknown): value is Condition {
  return isObject(value) && typeof value['field'] === 'string' && Array.isArray(value['values']);
}
