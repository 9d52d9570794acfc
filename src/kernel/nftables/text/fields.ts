// The names of what expressions load: fields of headers, keys of meta and of ct, with their types.
import type { CtKey, Expression, MetaKey } from '../types.js';
import type { Known, MessageHeader, Need, Network } from './known.js';
import type { LoadedType } from './values.js';

/** A field of a header. */
export interface HeaderField<
  Header extends string = string,
  Name extends string = string,
  Type extends LoadedType = LoadedType,
> {
  readonly header: Header;
  readonly name: Name;
  /** In bytes, of the header. */
  readonly offset: number;
  readonly length: number;
  readonly type: Type;
  /** If it is some bits of its bytes: bits behind it, and its own. */
  readonly bits?: Bits;
}

/** Bits of a number in network order: those behind it, and its own. */
export type Bits = readonly [shift: number, count: number];

type Row = readonly [name: string, offset: number, length: number, type: LoadedType, bits?: Bits];

/** The fields of rows, with their names and types. */
type FieldsOf<Header extends string, Rows extends readonly Row[]> = {
  [Place in keyof Rows]: HeaderField<Header, Rows[Place][0], Rows[Place][3]>;
}[number][];

function header<Header extends string, const Rows extends readonly Row[]>(
  name: Header,
  rows: Rows,
): FieldsOf<Header, Rows>;
function header(name: string, rows: readonly Row[]): HeaderField[] {
  return rows.map(([field, offset, length, type, bits]) => ({
    ...{ header: name, name: field, offset, length, type },
    ...(bits && { bits }),
  }));
}

/** A mask of the bits of a field. */
export function maskOfBits([shift, count]: Bits, length: number): Uint8Array {
  const mask = ((1n << BigInt(count)) - 1n) << BigInt(shift);
  return Uint8Array.from({ length }, (_, i) => Number((mask >> BigInt(8 * (length - 1 - i))) & 0xffn));
}

const PORTS = [
  ['sport', 0, 2, 'inet_service'],
  ['dport', 2, 2, 'inet_service'],
] as const satisfies readonly Row[];
const ICMP = [
  ['checksum', 2, 2, 'number'],
  ['id', 4, 2, 'number'],
  ['sequence', 6, 2, 'number'],
] as const satisfies readonly Row[];

/** The types of messages that have a field, if not all have it. */
const MESSAGES: Readonly<Partial<Record<string, readonly number[]>>> = {
  'icmp id': [0, 8],
  'icmp sequence': [0, 8],
  'icmp mtu': [3],
  'icmp gateway': [5],
  'icmpv6 id': [128, 129],
  'icmpv6 sequence': [128, 129],
  'icmpv6 mtu': [2],
  'icmpv6 parameter-problem': [4],
  'icmpv6 max-delay': [130],
  'icmpv6 taddr': [130, 131, 132, 135, 136, 137],
  'icmpv6 daddr': [137],
};

/** Headers of the network layer. */
const NETWORK_FIELDS = {
  ip: header('ip', [
    ['version', 0, 1, 'number', [4, 4]],
    ['hdrlength', 0, 1, 'number', [0, 4]],
    ['dscp', 1, 1, 'dscp', [2, 6]],
    ['ecn', 1, 1, 'ecn', [0, 2]],
    ['length', 2, 2, 'number'],
    ['id', 4, 2, 'number'],
    ['frag-off', 6, 2, 'number'],
    ['ttl', 8, 1, 'number'],
    ['protocol', 9, 1, 'inet_proto'],
    ['checksum', 10, 2, 'number'],
    ['saddr', 12, 4, 'ipv4_addr'],
    ['daddr', 16, 4, 'ipv4_addr'],
  ]),
  ip6: header('ip6', [
    ['version', 0, 1, 'number', [4, 4]],
    ['dscp', 0, 2, 'dscp', [6, 6]],
    ['ecn', 1, 1, 'ecn', [4, 2]],
    ['flowlabel', 1, 3, 'number', [0, 20]],
    ['length', 4, 2, 'number'],
    ['nexthdr', 6, 1, 'inet_proto'],
    ['hoplimit', 7, 1, 'number'],
    ['saddr', 8, 16, 'ipv6_addr'],
    ['daddr', 24, 16, 'ipv6_addr'],
  ]),
  arp: header('arp', [
    ['htype', 0, 2, 'number'],
    ['ptype', 2, 2, 'ether_type'],
    ['hlen', 4, 1, 'number'],
    ['plen', 5, 1, 'number'],
    ['operation', 6, 2, 'arp_op'],
    ['saddr ether', 8, 6, 'ether_addr'],
    ['saddr ip', 14, 4, 'ipv4_addr'],
    ['daddr ether', 18, 6, 'ether_addr'],
    ['daddr ip', 24, 4, 'ipv4_addr'],
  ]),
};
const NETWORK: Readonly<Record<Network, readonly HeaderField[]>> = NETWORK_FIELDS;
const LINK = header('ether', [
  ['daddr', 0, 6, 'ether_addr'],
  ['saddr', 6, 6, 'ether_addr'],
  ['type', 12, 2, 'ether_type'],
]);
const VLAN = header('vlan', [
  ['id', 14, 2, 'number', [0, 12]],
  ['dei', 14, 1, 'number', [4, 1]],
  ['cfi', 14, 1, 'number', [4, 1]],
  ['pcp', 14, 1, 'number', [5, 3]],
  ['type', 16, 2, 'ether_type'],
]);
/** Headers of the transport layer, by the number of the protocol. */
const TRANSPORT_FIELDS = [
  [
    1,
    header('icmp', [
      ...ICMP,
      ['type', 0, 1, 'icmp_type'],
      ['code', 1, 1, 'icmp_code'],
      ['gateway', 4, 4, 'number'],
      ['mtu', 6, 2, 'number'],
    ]),
  ],
  [
    58,
    header('icmpv6', [
      ...ICMP,
      ['type', 0, 1, 'icmpv6_type'],
      ['code', 1, 1, 'icmpv6_code'],
      ['mtu', 4, 4, 'number'],
      ['parameter-problem', 4, 4, 'number'],
      ['max-delay', 4, 2, 'number'],
      ['taddr', 8, 16, 'ipv6_addr'],
      ['daddr', 24, 16, 'ipv6_addr'],
    ]),
  ],
  [
    6,
    header('tcp', [
      ...PORTS,
      ['sequence', 4, 4, 'number'],
      ['ackseq', 8, 4, 'number'],
      ['reserved', 12, 1, 'number', [0, 4]],
      ['doff', 12, 1, 'number', [4, 4]],
      ['flags', 13, 1, 'tcp_flag'],
      ['window', 14, 2, 'number'],
      ['checksum', 16, 2, 'number'],
      ['urgptr', 18, 2, 'number'],
    ]),
  ],
  [17, header('udp', [...PORTS, ['length', 4, 2, 'number'], ['checksum', 6, 2, 'number']])],
  [132, header('sctp', [...PORTS, ['vtag', 4, 4, 'number'], ['checksum', 8, 4, 'number']])],
  [33, header('dccp', [...PORTS, ['type', 8, 1, 'dccp_pkttype', [1, 4]]])],
  [136, header('udplite', [...PORTS, ['csumcov', 4, 2, 'number'], ['checksum', 6, 2, 'number']])],
  [
    2,
    header('igmp', [
      ['type', 0, 1, 'igmp_type'],
      ['mrt', 1, 1, 'number'],
      ['checksum', 2, 2, 'number'],
      ['group', 4, 4, 'ipv4_addr'],
    ]),
  ],
  [
    51,
    header('ah', [
      ['nexthdr', 0, 1, 'inet_proto'],
      ['hdrlength', 1, 1, 'number'],
      ['reserved', 2, 2, 'number'],
      ['spi', 4, 4, 'number'],
      ['sequence', 8, 4, 'number'],
    ]),
  ],
  [
    50,
    header('esp', [
      ['spi', 0, 4, 'number'],
      ['sequence', 4, 4, 'number'],
    ]),
  ],
  [
    108,
    header('comp', [
      ['nexthdr', 0, 1, 'inet_proto'],
      ['flags', 1, 1, 'hexadecimal'],
      ['cpi', 2, 2, 'number'],
    ]),
  ],
  [
    47,
    header('gre', [
      ['flags', 0, 1, 'number', [3, 5]],
      ['version', 1, 1, 'number', [0, 3]],
      ['protocol', 2, 2, 'ether_type'],
    ]),
  ],
] as const;
const TRANSPORT: ReadonlyMap<number, readonly HeaderField[]> = new Map<number, readonly HeaderField[]>(
  TRANSPORT_FIELDS,
);
const ANY_TRANSPORT = header('th', PORTS);

/** All fields of headers, by their literal names. */
export type AnyHeaderField =
  | (typeof NETWORK_FIELDS)[keyof typeof NETWORK_FIELDS][number]
  | (typeof LINK)[number]
  | (typeof VLAN)[number]
  | (typeof TRANSPORT_FIELDS)[number][1][number]
  | (typeof ANY_TRANSPORT)[number];

/** The types of keys of rt, their names, and their lengths in bytes, if they are others. */
export const ROUTE_FIELDS: Readonly<
  Record<
    Extract<Expression, { kind: 'rt' }>['key'],
    readonly [type: LoadedType, name: string, length?: number]
  >
> = {
  classid: ['realm', 'classid'],
  nexthop4: ['ipv4_addr', 'ip nexthop'],
  nexthop6: ['ipv6_addr', 'ip6 nexthop'],
  tcpmss: ['integer', 'mtu', 2],
  xfrm: ['boolean', 'ipsec', 1],
};

/** The types of results of fib. */
export const FIB_RESULTS = { oif: 'iface_index', oifname: 'ifname', type: 'fib_addrtype' } as const;

type Place = Pick<Extract<Expression, { kind: 'payload' }>, 'base' | 'offset' | 'length'>;

/** The fields of the header of a layer, as far as it is known which one that is. */
function fieldsOf(base: Place['base'], { network, transport, vlan, message }: Known): readonly HeaderField[] {
  if (base === 'link') return vlan ? [...LINK, ...VLAN] : LINK;
  if (base === 'network') return network && network !== 'several' ? NETWORK[network] : [];
  if (base === 'inner') return [];
  const fields = (typeof transport === 'number' && TRANSPORT.get(transport)) || ANY_TRANSPORT;
  return fields.filter(({ header, name }) => {
    const types = MESSAGES[`${header} ${name}`];
    return !types || message?.every((type) => types.includes(type));
  });
}

/** The field at a place of the packet, or one that begins there and is longer. */
export function fieldAt({ base, offset, length }: Place, known: Known): HeaderField | undefined {
  const isAddress = (type: LoadedType) => type === 'ipv4_addr' || type === 'ipv6_addr';
  return fieldsOf(base, known).find(
    (field) =>
      !field.bits &&
      field.offset === offset &&
      (field.length === length || (field.length > length && isAddress(field.type))),
  );
}

/** The field that is some bits of a place of the packet. */
export function bitsAt(
  { base, offset, length }: Place,
  mask: Uint8Array,
  known: Known,
): HeaderField | undefined {
  return fieldsOf(base, known).find(
    ({ bits, ...field }) =>
      bits &&
      field.offset === offset &&
      field.length === length &&
      Buffer.from(mask).equals(maskOfBits(bits, length)),
  );
}

/** A field by its name, with the base of its place. */
interface NamedField {
  readonly field: AnyHeaderField;
  readonly base: Place['base'];
  /** What a packet must be to have it. */
  readonly needs: readonly Need[];
}

/** The needs of a field of a header of the transport layer. */
function needsOfTransport(protocol: number, { header, name }: HeaderField): Need[] {
  const transport: Need = { layer: 'transport', protocol };
  const network = header === 'icmp' || header === 'igmp' ? 'ip' : header === 'icmpv6' ? 'ip6' : undefined;
  if (!network) return [transport];
  const needs: Need[] = [{ layer: 'network', network }, transport];
  const types = MESSAGES[`${header} ${name}`];
  if (types) needs.push({ layer: 'message', header: header as MessageHeader, types });
  return needs;
}

/** All fields by header and name: `tcp dport`. */
const BY_NAME: ReadonlyMap<string, NamedField> = new Map(
  [
    ...LINK.map((field): NamedField => ({ field, base: 'link', needs: [{ layer: 'link' }] })),
    ...VLAN.map(
      (field): NamedField => ({ field, base: 'link', needs: [{ layer: 'link' }, { layer: 'vlan' }] }),
    ),
    ...(['ip', 'ip6', 'arp'] as const).flatMap((network) =>
      NETWORK_FIELDS[network].map(
        (field): NamedField => ({ field, base: 'network', needs: [{ layer: 'network', network }] }),
      ),
    ),
    ...TRANSPORT_FIELDS.flatMap(([transport, fields]) =>
      fields.map(
        (field): NamedField => ({ field, base: 'transport', needs: needsOfTransport(transport, field) }),
      ),
    ),
    ...ANY_TRANSPORT.map((field): NamedField => ({ field, base: 'transport', needs: [] })),
  ].map((named) => [`${named.field.header} ${named.field.name}`, named]),
);
/** All fields of headers. */
export const HEADER_FIELDS: readonly HeaderField[] = [...BY_NAME.values()].map(({ field }) => field);
/** The names of all headers. */
export const HEADERS: ReadonlySet<string> = new Set(HEADER_FIELDS.map(({ header }) => header));

/** The field with this name. */
export function fieldNamed(header: string, name: string): NamedField | undefined {
  return BY_NAME.get(`${header} ${name}`);
}

const LENGTHS: Readonly<Partial<Record<LoadedType, number>>> = {
  ipv6_addr: 16,
  ether_addr: 6,
  ether_type: 2,
  inet_proto: 1,
  inet_service: 2,
  nf_proto: 1,
  pkt_type: 1,
  ct_dir: 1,
  ifname: 16,
  name: 16,
  iface_type: 2,
  day: 1,
};

/** The length of what an expression loads, in bytes. */
export function lengthOf(type: LoadedType): number {
  return LENGTHS[type] ?? 4;
}

const META = {
  len: 'integer',
  protocol: 'ether_type',
  priority: 'classid',
  mark: 'mark',
  iif: 'iface_index',
  oif: 'iface_index',
  iifname: 'ifname',
  oifname: 'ifname',
  iiftype: 'iface_type',
  oiftype: 'iface_type',
  skuid: 'uid',
  skgid: 'gid',
  nftrace: 'number',
  rtclassid: 'realm',
  nfproto: 'nf_proto',
  l4proto: 'inet_proto',
  pkttype: 'pkt_type',
  cpu: 'integer',
  iifgroup: 'devgroup',
  oifgroup: 'devgroup',
  cgroup: 'integer',
  random: 'integer',
  secpath: 'boolean',
  iifkind: 'ifname',
  oifkind: 'ifname',
  time_day: 'day',
  sdif: 'iface_index',
  sdifname: 'ifname',
} as const satisfies Partial<Record<Extract<MetaKey, string>, LoadedType>>;
/** The types of keys of meta; those that are written without `meta` are in {@link BARE}. */
export const META_TYPES: Readonly<Partial<Record<Extract<MetaKey, string>, LoadedType>>> = META;

/** The length of what a key of meta loads, in bytes. */
export function lengthOfMeta(key: MetaKey): number {
  if (key === 'nftrace' || key === 'secpath') return 1;
  return lengthOf((typeof key === 'string' ? META_TYPES[key] : undefined) ?? 'integer');
}

/** Keys of meta that nft reads without the word, and writes with it. */
export const WITHOUT_META: ReadonlySet<string> = new Set([
  ...['mark', 'iiftype', 'oiftype', 'skuid', 'skgid', 'nftrace', 'rtclassid', 'pkttype', 'cpu', 'cgroup'],
]);

/** Keys of meta that nft writes without the word. */
export const BARE: ReadonlySet<MetaKey> = new Set([
  'iif',
  'oif',
  'iifname',
  'oifname',
  'iifgroup',
  'oifgroup',
]);

/** Keys of meta and of ct whose numbers are in network order. */
export const IN_NETWORK_ORDER: ReadonlySet<MetaKey | CtKey> = new Set(['protocol', 'random', 'id']);

const NAMES_OF_META = { len: 'length', secpath: 'ipsec', time_day: 'day' } as const satisfies Partial<
  Record<MetaKey, string>
>;
/** Keys of meta whose names are others. */
export const META_NAMES: Readonly<Partial<Record<MetaKey, string>>> = NAMES_OF_META;
/** Types of keys of meta by their names in nft. */
export type MetaFields = {
  readonly [Key in keyof typeof META as Key extends keyof typeof NAMES_OF_META
    ? (typeof NAMES_OF_META)[Key]
    : Key]: (typeof META)[Key];
};

type CtRows = Readonly<
  Partial<Record<Extract<CtKey, string>, readonly [type: LoadedType, name?: string, length?: number]>>
>;
const CT = {
  state: ['ct_state'],
  direction: ['ct_dir'],
  status: ['ct_status'],
  mark: ['mark'],
  expiration: ['time'],
  helper: ['name'],
  l3proto: ['nf_proto'],
  protocol: ['inet_proto'],
  src: ['ipv4_addr', 'saddr'],
  dst: ['ipv4_addr', 'daddr'],
  src_ip: ['ipv4_addr', 'ip saddr'],
  dst_ip: ['ipv4_addr', 'ip daddr'],
  src_ip6: ['ipv6_addr', 'ip6 saddr'],
  dst_ip6: ['ipv6_addr', 'ip6 daddr'],
  'proto-src': ['inet_service'],
  'proto-dst': ['inet_service'],
  zone: ['integer', 'zone', 2],
  id: ['integer'],
  eventmask: ['ct_event', 'event'],
  bytes: ['integer', 'bytes', 8],
  pkts: ['integer', 'packets', 8],
  avgpkt: ['integer', 'avgpkt', 8],
} as const satisfies CtRows;
/** Types of keys of ct, with their names and their lengths, in bytes, if they are others. */
export const CT_FIELDS: CtRows = CT;

/** What a key of ct loads, of packets of this network layer. */
export function ctField(key: CtKey, network?: 'ip' | 'ip6') {
  const row = typeof key === 'string' ? CT_FIELDS[key] : undefined;
  const [listed, name = String(key), size] =
    row ?? (['integer', undefined, key === 'labels' ? 16 : 4] as const);
  const type: LoadedType = (key === 'src' || key === 'dst') && network === 'ip6' ? 'ipv6_addr' : listed;
  const isNetwork = ['ipv4_addr', 'ipv6_addr', 'inet_service'].includes(type) || IN_NETWORK_ORDER.has(key);
  return { type, name, length: size ?? lengthOf(type), isNetwork };
}

/** Types of keys of ct by their names in nft. */
export type CtFields = {
  readonly [Key in keyof typeof CT as (typeof CT)[Key] extends readonly [
    unknown,
    infer Name extends string,
    ...unknown[],
  ]
    ? Name
    : Key]: (typeof CT)[Key][0];
};

type Checksum = NonNullable<Extract<Expression, { kind: 'payloadSet' }>['checksum']>;

/** Checksums of headers: their types, and their places in bytes. */
const CHECKSUMS: Readonly<Record<string, Checksum>> = {
  ip: { type: 'inet', offset: 10 },
  tcp: { type: 'inet', offset: 16 },
  udp: { type: 'inet', offset: 6 },
  udplite: { type: 'inet', offset: 6 },
  icmp: { type: 'inet', offset: 2 },
  icmpv6: { type: 'inet', offset: 2 },
  sctp: { type: 'sctp', offset: 8 },
};
/** The fields that the checksums of transport headers cover. */
const COVERED: ReadonlySet<string> = new Set([
  ...['ip saddr', 'ip daddr', 'ip protocol', 'ip length'],
  ...['ip6 saddr', 'ip6 daddr', 'ip6 nexthdr', 'ip6 length'],
]);

/** The checksum that is corrected when a field is written, by its text; undefined if there is none. */
export function checksumOf(text: string): Checksum | undefined {
  const [header = ''] = text.split(' ');
  const checksum = Object.hasOwn(CHECKSUMS, header) ? CHECKSUMS[header] : undefined;
  return COVERED.has(text) ? { ...(checksum ?? { type: 'none' }), pseudoHeader: true } : checksum;
}

/** The bytes that are written for a field, of which others stay as they are. A checksum is of whole words of 16 bits. */
export interface WrittenBytes {
  readonly offset: number;
  readonly length: number;
  /** The bits of the field in them. */
  readonly mask: Uint8Array;
}

/** The bytes that are written for a field; undefined if they are those of the field. */
export function bytesAround({ header, offset, length, bits }: HeaderField): WrittenBytes | undefined {
  const isOdd = Object.hasOwn(CHECKSUMS, header) && length % 2 !== 0;
  if (!bits && !isOdd) return undefined;
  const own = bits ? maskOfBits(bits, length) : new Uint8Array(length).fill(0xff);
  const start = isOdd ? offset & ~1 : offset;
  const mask = new Uint8Array(isOdd ? length + 1 : length);
  mask.set(own, offset - start);
  return { offset: start, length: mask.length, mask };
}

/** The field for which these bytes are written, of which the others stay. */
export function fieldAround(
  { base, offset, length }: Place,
  kept: Uint8Array,
  known: Known,
): HeaderField | undefined {
  return fieldsOf(base, known).find((field) => {
    const around = bytesAround(field);
    const isSame = around?.offset === offset && around.length === length && kept.length === length;
    return isSame && around.mask.every((byte, i) => (byte ^ (kept[i] as number)) === 0xff);
  });
}
