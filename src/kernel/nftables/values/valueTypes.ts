// The types of keys and data: their numbers in nft (`enum datatypes` of include/datatype.h, nft 1.0.6), lengths and byte orders.
import type { ValueType, ValueTypes } from './types.js';

/** How the bytes of a value are made. */
export const FORM = {
  ipv4: 0,
  ipv6: 1,
  ether: 2,
  u8: 3,
  /** 16 bits, network order. */
  u16: 4,
  /** 32 bits, the machine's order. */
  u32: 5,
  /** A text in 16 bytes, zeros behind it. */
  name: 6,
  /** 32 bits, network order. */
  u32be: 7,
  /** 16 bits, the machine's order. */
  u16host: 8,
  /** Network order. */
  u24: 9,
  u64: 10,
  u128: 11,
} as const;
/** One of {@link FORM}. */
export type Form = (typeof FORM)[keyof typeof FORM];

/** Bytes of a value of each form. */
export const LENGTHS: Readonly<Record<Form, number>> = {
  ...{ 0: 4, 1: 16, 2: 6, 3: 1, 4: 2, 5: 4, 6: 16, 7: 4, 8: 2, 9: 3, 10: 8, 11: 16 },
};

const TYPES: Readonly<Record<ValueType, readonly [number: number, form: Form]>> = {
  nf_proto: [2, FORM.u8],
  integer: [4, FORM.u32],
  integer8: [4, FORM.u8],
  integer16: [4, FORM.u16],
  integer24: [4, FORM.u24],
  integer32: [4, FORM.u32be],
  integer64: [4, FORM.u64],
  integer128: [4, FORM.u128],
  ipv4_addr: [7, FORM.ipv4],
  ipv6_addr: [8, FORM.ipv6],
  ether_addr: [9, FORM.ether],
  ether_type: [10, FORM.u16],
  arp_op: [11, FORM.u16],
  inet_proto: [12, FORM.u8],
  inet_service: [13, FORM.u16],
  icmp_type: [14, FORM.u8],
  tcp_flag: [15, FORM.u8],
  dccp_pkttype: [16, FORM.u8],
  mh_type: [17, FORM.u8],
  time: [18, FORM.u32],
  mark: [19, FORM.u32],
  iface_index: [20, FORM.u32],
  iface_type: [21, FORM.u16host],
  realm: [22, FORM.u32],
  classid: [23, FORM.u32],
  uid: [24, FORM.u32],
  gid: [25, FORM.u32],
  ct_state: [26, FORM.u32],
  ct_dir: [27, FORM.u8],
  ct_status: [28, FORM.u32],
  icmpv6_type: [29, FORM.u8],
  pkt_type: [31, FORM.u8],
  icmp_code: [32, FORM.u8],
  icmpv6_code: [33, FORM.u8],
  devgroup: [35, FORM.u32],
  dscp: [36, FORM.u8],
  ecn: [37, FORM.u8],
  fib_addrtype: [38, FORM.u32],
  boolean: [39, FORM.u8],
  ct_event: [40, FORM.u32],
  ifname: [41, FORM.name],
  igmp_type: [42, FORM.u8],
  day: [45, FORM.u8],
};
/** The names of all types. */
export const VALUE_TYPES: readonly ValueType[] = Object.keys(TYPES) as ValueType[];
/** Of the numbers of several types, the first one. */
const NAMES: ReadonlyMap<number, ValueType> = new Map(
  [...VALUE_TYPES].reverse().map((name) => [TYPES[name][0], name]),
);

/** Bits of each type in the number of a concatenation. */
const TYPE_BITS = 6;
const TYPE_MASK = 2 ** TYPE_BITS - 1;
/** Most types of a concatenation: their number has 32 bits. */
export const MOST_PARTS = 5;
/** `NFT_DATA_VALUE_MAXLEN`: most bytes of a key, and of data. */
export const LONGEST_VALUE = 64;
/** `NFT_DATA_VERDICT`: the type of the data of a verdict map. */
export const VERDICT_TYPE = 0xffff_ff00;

/** Whether a value is the name of a type. */
export function isValueType(value: unknown): value is ValueType {
  return typeof value === 'string' && Object.hasOwn(TYPES, value);
}

/** The form of the values of a type. */
export function formOf(type: ValueType): Form {
  return TYPES[type][1];
}

/** The values of a key, or of data, in their bytes. */
export interface Layout {
  readonly types: readonly ValueType[];
  /** Whether values are lists, with each part padded to 4 bytes. */
  readonly isConcatenation: boolean;
  readonly forms: readonly Form[];
  /** Whether some of them are names of links. */
  readonly hasNames: boolean;
  /** Of each part, in bytes. */
  readonly offsets: readonly number[];
  /** Of the whole, in bytes. */
  readonly length: number;
}

/** The layouts that were asked for, by the places of their types in the list, with a bit for `interval` and one for a list: each rule may have a set. */
const LAYOUTS = new Map<number, Layout>();
const PLACES = new Map(VALUE_TYPES.map((type, place) => [type, place + 1]));

/** A number of types that no others have. */
function placeOfTypes(types: ValueTypes): number {
  if (typeof types === 'string') return PLACES.get(types) as number;
  let number = 0;
  for (const type of types) number = number * 2 ** TYPE_BITS + (PLACES.get(type) as number);
  return number;
}

/**
 * The layout of values of these types. In sets with the flag `interval`, all numbers are in network order, for the kernel compares keys
 * byte by byte.
 */
export function layoutOf(types: ValueTypes, isInterval = false): Layout {
  const number = 4 * placeOfTypes(types) + (typeof types === 'string' ? 0 : 2) + (isInterval ? 1 : 0);
  const known = LAYOUTS.get(number);
  if (known) return known;
  const layout = newLayout(types, isInterval);
  LAYOUTS.set(number, layout);
  return layout;
}

/** The forms in network order of those in the machine's. */
const IN_ORDER: Readonly<Partial<Record<Form, Form>>> = {
  [FORM.u32]: FORM.u32be,
  [FORM.u16host]: FORM.u16,
};

function newLayout(types: ValueTypes, isInterval: boolean): Layout {
  const isConcatenation = typeof types !== 'string';
  const list: readonly ValueType[] = isConcatenation ? [...types] : [types];
  const forms: Form[] = [];
  const offsets: number[] = [];
  let length = 0;
  for (const type of list) {
    const form = formOf(type);
    forms.push(isInterval ? (IN_ORDER[form] ?? form) : form);
    offsets.push(length);
    length += isConcatenation ? (LENGTHS[form] + 3) & ~3 : LENGTHS[form];
  }
  const hasNames = forms.includes(FORM.name);
  return { types: list, isConcatenation, forms, hasNames, offsets, length };
}

/** The number of types: that of a concatenation has 6 bits for each (`NFTA_SET_KEY_TYPE`, `NFTA_SET_DATA_TYPE`). */
export function numberOfTypes(types: ValueTypes): number {
  if (typeof types === 'string') return TYPES[types][0];
  let number = 0;
  for (const type of types) number = number * 2 ** TYPE_BITS + TYPES[type][0];
  return number;
}

/** The types of a number; undefined if one is unknown here, or if values of these types do not have this length, in bytes. `integers`: what integers among them are. */
export function typesOfNumber(
  number: number,
  length: number,
  integers: readonly (ValueType | undefined)[] = [],
): ValueTypes | undefined {
  if (number === TYPES.integer[0])
    return VALUE_TYPES.find((type) => TYPES[type][0] === number && LENGTHS[formOf(type)] === length);
  const list: ValueType[] = [];
  for (let rest = number; rest > 0; rest = Math.floor(rest / 2 ** TYPE_BITS)) {
    const type = NAMES.get(rest % (TYPE_MASK + 1));
    if (type === undefined) return undefined;
    list.unshift(type);
  }
  integers.forEach((type, i) => {
    if (list[i] === 'integer' && type) list[i] = type;
  });
  const [first, second, ...others] = list;
  if (first === undefined) return undefined;
  const types: ValueTypes = second === undefined ? first : [first, second, ...others];
  return layoutOf(types).length === length ? types : undefined;
}
