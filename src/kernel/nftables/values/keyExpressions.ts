// The expressions that `typeof` names ↔ user data of sets (`expr_ops.build_udata` and `parse_udata` of nft 1.0.6).
import type { KeyExpression, ValueType, ValueTypes } from './types.js';
import { numberDatum, numberOfDatum, readUserData, type UserDatum, writeUserData } from './userData.js';
import { isValueType } from './valueTypes.js';

/** `enum expr_types` */
const EXPRESSION = {
  ...{ verdict: 1, value: 4, payload: 7, meta: 9, ct: 12, concatenation: 13, numgen: 23 },
} as const;
/** Types in the user data of one expression: its type, and what it is made of. */
const [KIND, PARTS] = [0, 1];

/** Fields of headers (`enum proto_desc_id`): their numbers from the first one that is named, and the bits of those that are integers. */
const HEADERS: Readonly<Record<string, readonly [header: number, fields: string]>> = {
  icmp: [4, 'type code checksum:16 id:16 sequence:16'],
  udp: [6, 'sport dport length:16 checksum:16'],
  udplite: [7, 'sport dport'],
  tcp: [8, 'sport dport sequence:32 ackseq:32 - - flags window:16 checksum:16 urgptr:16'],
  dccp: [9, 'sport dport type'],
  sctp: [10, 'sport dport vtag:32 checksum:32'],
  th: [11, 'sport dport'],
  ip: [
    12,
    'version:4 hdrlength:4 dscp ecn length:16 id:16 frag-off:16 ttl:8 protocol checksum:16 saddr daddr',
  ],
  ip6: [13, 'version:4 dscp ecn flowlabel:20 length:16 nexthdr hoplimit:8 saddr daddr'],
  icmpv6: [14, 'type code checksum:16 - - id:16 sequence:16'],
  vlan: [16, 'pcp:3 dei:1 - id:12 type'],
  ether: [17, 'daddr saddr type'],
};
/** `enum nft_meta_keys` */
const META = {
  ...{ length: 0, protocol: 1, priority: 2, mark: 3, iif: 4, oif: 5, iifname: 6, oifname: 7, iiftype: 8 },
  ...{ skuid: 10, skgid: 11, nfproto: 15, l4proto: 16, pkttype: 19, cpu: 20, cgroup: 23 },
};
/** `enum nft_ct_keys` */
const CT = { state: 0, direction: 1, status: 2, mark: 3, l3proto: 7, protocol: 10 };
const CT_OF_DIRECTION = {
  ...{ 'proto-src': 11, 'proto-dst': 12 },
  ...{ 'ip saddr': 19, 'ip daddr': 20, 'ip6 saddr': 21, 'ip6 daddr': 22 },
};
const ANY_DIRECTION = 0xffff_ffff;
/** The place of the number of bits among the numbers of a field. */
const BITS = 4;
/** `enum proto_bases` */
const BASES = { ll: 1, nh: 2, th: 3, ih: 4 } as const;

/** What an expression is in user data: its kind, and its numbers by their places. */
interface Described {
  readonly kind: number;
  readonly numbers: readonly (readonly [place: number, number: number])[];
  /** Of an integer in network order. */
  readonly bits?: number;
}

const NAMED: ReadonlyMap<string, Described> = new Map([
  ...Object.entries(HEADERS).flatMap(([header, [number, fields]]) =>
    fields.split(' ').flatMap((field, index): [string, Described][] => {
      const [name = '-', bits] = field.split(':');
      const numbers = [[0, number] as const, [1, index + 1] as const];
      const integer = bits === undefined ? {} : { bits: Number(bits) };
      return name === '-' ? [] : [[`${header} ${name}`, { kind: EXPRESSION.payload, numbers, ...integer }]];
    }),
  ),
  ...Object.entries(META).map(([key, number]): [string, Described] => [
    `meta ${key}`,
    { kind: EXPRESSION.meta, numbers: [[0, number]] },
  ]),
  ...Object.entries(CT).map(([key, number]) => ctOf(`ct ${key}`, number, ANY_DIRECTION)),
  ...Object.entries(CT_OF_DIRECTION).flatMap(([key, number]) =>
    ['original', 'reply'].map((direction, index) => ctOf(`ct ${direction} ${key}`, number, index)),
  ),
]);
const NAMES = new Map(
  [...NAMED].map(([name, { kind, numbers }]) => [`${kind} ${numbers.join()}`, name as KeyExpression]),
);

function ctOf(name: string, key: number, direction: number): [string, Described] {
  const numbers = [[0, key] as const, [1, direction] as const];
  return [name, { kind: EXPRESSION.ct, numbers }];
}

/** What an expression is in user data; undefined if it is unknown here. */
function describedBy(name: string): Described | undefined {
  const known = NAMED.get(name);
  if (known) return known;
  const [, base, offset, length] = /^@(ll|nh|th|ih),(0|[1-9]\d{0,3}),([1-9]\d{0,2})$/.exec(name) ?? [];
  if (base !== undefined) {
    const numbers = [0, 0, BASES[base as keyof typeof BASES], Number(offset)].map(
      (each, i) => [i, each] as const,
    );
    return { kind: EXPRESSION.payload, numbers, bits: Number(length) };
  }
  const numgen = numgenOf(name);
  if (!numgen) return undefined;
  const numbers = [numgen.type, numgen.modulus, 0].map((each, i) => [i, each] as const);
  return { kind: EXPRESSION.numgen, numbers };
}

/** The type of an expression that nft calls an integer; undefined if the library has none. */
export function integerTypeOf(expression: KeyExpression): ValueType | undefined {
  const bits = describedBy(expression)?.bits;
  const type = bits === undefined ? 'integer' : `integer${8 * Math.ceil(bits / 8)}`;
  return isValueType(type) ? type : undefined;
}

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
  return typeof value === 'string' && describedBy(value) !== undefined;
}

/** Rule of such values. */
export const KEY_EXPRESSION_RULE =
  'must be what typeof names, of those that the library has: a field of a header such as ip saddr or @th,16,16, a key of meta or of ct, numgen random mod N, numgen inc mod N';

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
  const { kind, numbers, bits } = describedBy(name) as Described;
  const all = bits === undefined ? numbers : [...numbers, [BITS, bits] as const];
  return expression(
    kind,
    all.map(([place, number]) => numberDatum(place, number)),
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
  if (!found) return undefined;
  const numbers = found.parts.map((part) => [part.type, numberOfDatum(part)] as const);
  // nft 1.0.6 leaves the number of bits out.
  const places = numbers.filter(([place]) => place !== BITS || found.kind !== EXPRESSION.payload);
  const known = NAMES.get(`${found.kind} ${places.join()}`);
  if (known) return known;
  const [first, second, third, fourth, fifth] = numbers.map(([, number]) => number);
  if (!numbers.every(([place], index) => place === index)) return undefined;
  if (found.kind === EXPRESSION.payload && numbers.length === 5 && first === 0 && second === 0) {
    const base = Object.entries(BASES).find(([, number]) => number === third)?.[0];
    const name = `@${base},${fourth},${fifth}`;
    return isKeyExpression(name) ? name : undefined;
  }
  if (found.kind !== EXPRESSION.numgen || numbers.length !== 3 || third !== 0) return undefined;
  const name = `numgen ${first === 1 ? 'random' : 'inc'} mod ${second}`;
  return first !== undefined && first <= 1 && isKeyExpression(name) ? name : undefined;
}
