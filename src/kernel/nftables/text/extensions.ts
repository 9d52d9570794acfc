// The names of extension headers, options and chunks (`exthdr`), and of their fields, as nft has them.
import type { Expression } from '../types.js';
import { type Bits, maskOfBits } from './fields.js';
import type { Need } from './known.js';
import type { LoadedType } from './values.js';

/** The place of a field: in bytes, of the header, option or chunk. */
export type ExtensionPlace = Pick<
  Extract<Expression, { kind: 'exthdr' }>,
  'operation' | 'type' | 'offset' | 'length'
>;

/** A field by its name, with its place. */
interface ExtensionField {
  /** In the notation of nft: `frag nexthdr`, `tcp option maxseg size`. */
  readonly text: string;
  readonly place: ExtensionPlace;
  readonly type: LoadedType;
  readonly bits?: Bits;
}

type Row = readonly [name: string, offset: number, length: number, type?: LoadedType, bits?: Bits];
type Operation = NonNullable<ExtensionPlace['operation']>;

const NEXT: readonly Row[] = [
  ['nexthdr', 0, 1, 'inet_proto'],
  ['hdrlength', 1, 1],
];
const LENGTH: Row = ['length', 1, 1];
const ROUTE: readonly Row[] = [['type', 0, 1], LENGTH, ['ptr', 2, 1], ['addr', 3, 4]];
const CHUNK: readonly Row[] = [
  ['type', 0, 1],
  ['flags', 1, 1],
  ['length', 2, 2],
];
const INIT: readonly Row[] = [
  ['init-tag', 4, 4],
  ['a-rwnd', 8, 4],
  ['num-outbound-streams', 12, 2],
  ['num-inbound-streams', 14, 2],
  ['initial-tsn', 16, 4],
];
/** Of some chunks, more than all have. */
const OF_CHUNKS: Readonly<Record<string, readonly Row[]>> = {
  data: [
    ['tsn', 4, 4],
    ['stream', 8, 2],
    ['ssn', 10, 2],
    ['ppid', 12, 4],
  ],
  init: INIT,
  'init-ack': INIT,
  sack: [
    ['cum-tsn-ack', 4, 4],
    ['a-rwnd', 8, 4],
    ['num-gap-ack-blocks', 12, 2],
    ['num-dup-tsns', 14, 2],
  ],
  shutdown: [['cum-tsn-ack', 4, 4]],
  ecne: [['lowest-tsn', 4, 4]],
  cwr: [['lowest-tsn', 4, 4]],
  'asconf-ack': [['seqno', 4, 4]],
  'forward-tsn': [['new-cum-tsn', 4, 4]],
  asconf: [['seqno', 4, 4]],
};
/** A block of `sack`, of 8 bytes. */
const block = (number: number): Row[] => [
  ['left', 2 + 8 * number, 4],
  ['right', 6 + 8 * number, 4],
];
const CHUNKS: Readonly<Record<string, number>> = {
  ...{ data: 0, init: 1, 'init-ack': 2, sack: 3, heartbeat: 4, 'heartbeat-ack': 5, abort: 6, shutdown: 7 },
  ...{ 'shutdown-ack': 8, error: 9, 'cookie-echo': 10, 'cookie-ack': 11, ecne: 12, cwr: 13 },
  ...{ 'shutdown-complete': 14, 'asconf-ack': 128, 'forward-tsn': 192, asconf: 193 },
};

/** What is known of the headers of an operation: the words before the names, numbers and fields by name. */
interface Family {
  readonly prefix: string;
  readonly types: Readonly<Record<string, readonly [type: number, fields: readonly Row[]]>>;
}

const FAMILIES: Readonly<Record<Operation, Family>> = {
  ipv6: {
    prefix: '',
    types: {
      hbh: [0, NEXT],
      rt: [43, [...NEXT, ['type', 2, 1], ['seg-left', 3, 1]]],
      frag: [
        44,
        [
          ['nexthdr', 0, 1, 'inet_proto'],
          ['reserved', 1, 1],
          ['frag-off', 2, 2, 'number', [3, 13]],
          ['reserved2', 3, 1, 'number', [1, 2]],
          ['more-fragments', 3, 1, 'number', [0, 1]],
          ['id', 4, 4],
        ],
      ],
      dst: [60, NEXT],
      mh: [135, [...NEXT, ['type', 2, 1, 'mh_type'], ['reserved', 3, 1], ['checksum', 4, 2]]],
      srh: [
        43,
        [
          ['last-entry', 4, 1],
          ['flags', 5, 1],
          ['tag', 6, 2],
        ],
      ],
    },
  },
  tcpopt: {
    prefix: 'tcp option ',
    types: {
      eol: [0, []],
      nop: [1, []],
      maxseg: [2, [LENGTH, ['size', 2, 2]]],
      window: [3, [LENGTH, ['count', 2, 1]]],
      'sack-perm': [4, [LENGTH]],
      sack: [5, [LENGTH, ...block(0)]],
      ...Object.fromEntries([0, 1, 2, 3].map((number) => [`sack${number}`, [5, block(number)]])),
      timestamp: [8, [LENGTH, ['tsval', 2, 4], ['tsecr', 6, 4]]],
      md5sig: [19, []],
      mptcp: [30, [LENGTH, ['subtype', 2, 1, 'number', [4, 4]]]],
      fastopen: [34, []],
    },
  },
  ipv4: {
    prefix: 'ip option ',
    types: {
      rr: [7, ROUTE],
      lsrr: [131, ROUTE],
      ssrr: [137, ROUTE],
      ra: [148, [['type', 0, 1], LENGTH, ['value', 2, 2]]],
    },
  },
  sctp: {
    prefix: 'sctp chunk ',
    types: Object.fromEntries(
      Object.entries(CHUNKS).map(([name, type]) => [name, [type, [...CHUNK, ...(OF_CHUNKS[name] ?? [])]]]),
    ),
  },
};

/** All fields by their names. */
const BY_NAME: ReadonlyMap<string, ExtensionField> = new Map(
  (Object.keys(FAMILIES) as Operation[]).flatMap((operation) => {
    const { prefix, types } = FAMILIES[operation];
    return Object.entries(types).flatMap(([name, [type, fields]]) =>
      fields.map(([field, offset, length, loaded = 'number', bits]): [string, ExtensionField] => {
        const text = `${prefix}${name} ${field}`;
        const place = placeOf(operation, type, offset, length);
        return [text, { text, place, type: loaded, ...(bits && { bits }) }];
      }),
    );
  }),
);

const keyOf = ({ operation = 'ipv6', type, offset, length }: ExtensionPlace) =>
  [operation, type, offset, length].join();
/** Of several names of a place, the first one. */
const BY_PLACE: ReadonlyMap<string, ExtensionField> = new Map(
  [...BY_NAME.values()]
    .flatMap((field) => (field.bits ? [] : [[keyOf(field.place), field] as const]))
    .reverse(),
);
const OF_BITS: readonly ExtensionField[] = [...BY_NAME.values()].filter(({ bits }) => bits);

/** The place of a field. That of IPv6 is the default operation. */
export function placeOf(operation: Operation, type: number, offset: number, length: number): ExtensionPlace {
  return { type, offset, length, ...(operation !== 'ipv6' && { operation }) };
}

/** The field at a place. */
export function extensionAt(place: ExtensionPlace): ExtensionField | undefined {
  return BY_PLACE.get(keyOf(place));
}

/** The field that is some bits of a place. */
export function extensionBitsAt(place: ExtensionPlace, mask: Uint8Array): ExtensionField | undefined {
  const isSame = ({ bits, place: other }: ExtensionField) =>
    bits && keyOf(other) === keyOf(place) && Buffer.from(mask).equals(maskOfBits(bits, place.length));
  return OF_BITS.find(isSame);
}

/** The field with this name: `frag nexthdr`. */
export function extensionNamed(text: string): ExtensionField | undefined {
  return BY_NAME.get(text);
}

/** The name of a header, an option or a chunk; the number of an option of TCP without a name. */
function nameOfExtension(operation: Operation, type: number): string | undefined {
  const { types } = FAMILIES[operation];
  const name = Object.keys(types).find((each) => types[each]?.[0] === type);
  return name ?? (operation === 'tcpopt' ? String(type) : undefined);
}

/** The number of a header, an option or a chunk; that of an option of TCP may be its number. */
export function typeOfExtension(operation: Operation, name: string): number | undefined {
  const { types } = FAMILIES[operation];
  if (Object.hasOwn(types, name)) return types[name]?.[0];
  return operation === 'tcpopt' && /^\d{1,3}$/.test(name) && Number(name) < 256 ? Number(name) : undefined;
}

/** The names of the extension headers of IPv6. */
export const IPV6_EXTENSIONS: readonly string[] = Object.keys(FAMILIES.ipv6.types);

/** What an `exthdr` loads, in the notation of nft; undefined if nft has none. */
export function extensionText(
  expression: Extract<Expression, { kind: 'exthdr' | 'exthdrSet' }>,
): string | undefined {
  const { operation = 'ipv6', type, offset, length } = expression;
  const present = expression.kind === 'exthdr' && expression.present;
  const name = nameOfExtension(operation, type);
  if (present) {
    if (name === undefined || offset !== 0 || length !== 1) return undefined;
    return `${operation === 'ipv6' ? 'exthdr ' : FAMILIES[operation].prefix}${name}`;
  }
  const field = extensionAt(expression);
  return (
    field?.text ?? (operation === 'tcpopt' ? `tcp option @${type},${offset * 8},${length * 8}` : undefined)
  );
}

/** What a packet must be to have it: an extension header or an option of the network layer is of one protocol. */
export function needsOfExtension({ operation = 'ipv6' }: Pick<ExtensionPlace, 'operation'>): readonly Need[] {
  if (operation === 'tcpopt' || operation === 'sctp') return [];
  return [{ layer: 'network', network: operation === 'ipv6' ? 'ip6' : 'ip' }];
}
