// The expressions that `typeof` names ↔ user data of sets (`expr_ops.build_udata` and `parse_udata` of nft 1.0.6).
import type { KeyExpression, ValueType, ValueTypes } from './types.js';
import { numberDatum, numberOfDatum, readUserData, type UserDatum, writeUserData } from './userData.js';

/** `enum expr_types` */
const EXPRESSION = { verdict: 1, value: 4, payload: 7, meta: 9, concatenation: 13, numgen: 23 } as const;
/** Types in the user data of one expression: its type, and what it is made of. */
const [KIND, PARTS] = [0, 1];

/** Expressions of two numbers: `enum proto_desc_id` and the field of the header; of meta one, `enum nft_meta_keys`. */
const NUMBERS: Readonly<Record<Exclude<KeyExpression, `numgen ${string}`>, readonly [number, number?]>> = {
  'ip protocol': [12, 9],
  'ip saddr': [12, 11],
  'ip daddr': [12, 12],
  'ip6 nexthdr': [13, 6],
  'ip6 saddr': [13, 8],
  'ip6 daddr': [13, 9],
  'udp sport': [6, 1],
  'udp dport': [6, 2],
  'tcp sport': [8, 1],
  'tcp dport': [8, 2],
  'sctp sport': [10, 1],
  'sctp dport': [10, 2],
  'th sport': [11, 1],
  'th dport': [11, 2],
  'meta mark': [3],
  'meta iif': [4],
  'meta oif': [5],
  'meta iifname': [6],
  'meta oifname': [7],
  'meta nfproto': [15],
  'meta l4proto': [16],
};
const NAMES = new Map(
  Object.entries(NUMBERS).map(([name, numbers]) => [numbers.join(), name as KeyExpression]),
);

/** The expression that stands for a type in the data of a map of which nothing else is known. */
const DEFAULTS: Readonly<Partial<Record<ValueType, KeyExpression>>> = {
  ipv4_addr: 'ip daddr',
  ipv6_addr: 'ip6 daddr',
  inet_proto: 'meta l4proto',
  inet_service: 'th dport',
  mark: 'meta mark',
  ifname: 'meta iifname',
  iface_index: 'meta iif',
  nf_proto: 'meta nfproto',
  integer: 'numgen random mod 2',
};

/** The expressions that stand for types; undefined if one has none. */
export function defaultExpressions(types: ValueTypes): KeyExpression[] | undefined {
  const found = (typeof types === 'string' ? [types] : types).map((type) => DEFAULTS[type]);
  return found.every((each) => each !== undefined) ? found : undefined;
}

/** Whether a value is an expression that `typeof` can name. */
export function isKeyExpression(value: unknown): value is KeyExpression {
  return typeof value === 'string' && (Object.hasOwn(NUMBERS, value) || numgenOf(value) !== undefined);
}

/** Rule of such values. */
export const KEY_EXPRESSION_RULE = `must be one of ${Object.keys(NUMBERS).join(', ')}, numgen random mod N, numgen inc mod N`;

/** The user data of such expressions: that of a concatenation, if there are several. */
export function writeKeyExpressions(type: number, expressions: readonly KeyExpression[]): UserDatum {
  const [first, ...others] = expressions;
  const single = first !== undefined && others.length === 0;
  return { type, value: single ? one(first) : concatenation(expressions) };
}

/** The user data of a verdict as data. */
export function verdictExpression(type: number): UserDatum {
  return { type, value: expression(EXPRESSION.verdict, []) };
}

/** Whether user data is that of a verdict. */
export function isVerdictExpression({ value }: UserDatum): boolean {
  return split(value)?.kind === EXPRESSION.verdict;
}

function concatenation(expressions: readonly KeyExpression[]): Uint8Array {
  const parts = expressions.map((each, index): UserDatum => ({ type: index, value: one(each) }));
  return expression(EXPRESSION.concatenation, parts);
}

function one(name: KeyExpression): Uint8Array {
  const numgen = numgenOf(name);
  if (numgen) {
    const { type, modulus } = numgen;
    return expression(EXPRESSION.numgen, [numberDatum(0, type), numberDatum(1, modulus), numberDatum(2, 0)]);
  }
  const numbers = NUMBERS[name as keyof typeof NUMBERS];
  const kind = numbers.length === 1 ? EXPRESSION.meta : EXPRESSION.payload;
  return expression(
    kind,
    numbers.map((number, index) => numberDatum(index, number as number)),
  );
}

function expression(kind: number, parts: readonly UserDatum[]): Uint8Array {
  return writeUserData([
    numberDatum(KIND as number, kind),
    { type: PARTS as number, value: writeUserData(parts) },
  ]);
}

function numgenOf(name: string): { readonly type: number; readonly modulus: number } | undefined {
  const [, type, digits] = /^numgen (inc|random) mod ([1-9][0-9]{0,9})$/.exec(name) ?? [];
  const modulus = Number(digits);
  return modulus <= 0xffff_ffff ? { type: type === 'random' ? 1 : 0, modulus } : undefined;
}

/** The expressions of user data; undefined if one is unknown here. */
export function readKeyExpressions({ value }: UserDatum): KeyExpression[] | undefined {
  const found = split(value);
  // So nft 1.1.7 writes those of a set that was made with `type`.
  if (found && isOfType(found)) return [];
  if (found?.kind !== EXPRESSION.concatenation) {
    const name = nameOf(value);
    return name === undefined ? undefined : [name];
  }
  const names = found.parts.map((part) => nameOf(part.value));
  return names.every((name) => name !== undefined) ? names : undefined;
}

/** Whether user data have the type of a value in place of an expression. */
function isOfType({ kind, parts }: { kind: number; parts: UserDatum[] }): boolean {
  if (kind === EXPRESSION.value) return parts.length === 0;
  return kind === EXPRESSION.concatenation && parts[0]?.value.length === 0;
}

function split(bytes: Uint8Array): { kind: number; parts: UserDatum[] } | undefined {
  const [kind, parts, ...others] = readUserData(bytes) ?? [];
  if (kind?.type !== KIND || parts?.type !== PARTS || others.length > 0) return undefined;
  const number = numberOfDatum(kind);
  const list = readUserData(parts.value);
  return number === undefined || list === undefined ? undefined : { kind: number, parts: list };
}

function nameOf(bytes: Uint8Array): KeyExpression | undefined {
  const found = split(bytes);
  if (!found?.parts.every(({ type }, index) => type === index)) return undefined;
  const numbers = found.parts.map(numberOfDatum);
  if (found.kind === EXPRESSION.payload || found.kind === EXPRESSION.meta) {
    const isMeta = found.kind === EXPRESSION.meta;
    return numbers.length === (isMeta ? 1 : 2) ? NAMES.get(numbers.join()) : undefined;
  }
  const [type, modulus, offset] = numbers;
  if (found.kind !== EXPRESSION.numgen || numbers.length !== 3 || offset !== 0) return undefined;
  const name = `numgen ${type === 1 ? 'random' : 'inc'} mod ${modulus}`;
  return type !== undefined && type <= 1 && isKeyExpression(name) ? name : undefined;
}
