// The expressions that match and that load values, and how their fields lie in attributes (`NFTA_PAYLOAD_` and so on).
import { actions } from './actionShapes.js';
import { choice, data, integer, nameOrNumber, register, registerOrVerdict } from './formats.js';
import { LIMIT_PARTS, OBJECT_PARTS } from './objectParts.js';
import { checksum, lookedUp, maskAndXor } from './ownParts.js';
import { bits, field, fixed, ignored, optional, type Part, type Shape } from './parts.js';
import type { Comparison, CtKey, MetaKey } from './types.js';

const BASES = { link: 0, network: 1, transport: 2, inner: 3 } as const;
const place: readonly Part[] = [
  field('base', 2, choice(BASES)),
  field('offset', 3, integer('u32')),
  field('length', 4, integer('u32', 1, 255)),
];

/** `NFT_EXTHDR_OP_` */
const OPERATIONS = { ipv6: 0, tcpopt: 1, ipv4: 2, sctp: 3 } as const;
const optionPlace: readonly Part[] = [
  field('type', 2, integer('u8')),
  field('offset', 3, integer('u32', 0, 255)),
  field('length', 4, integer('u32', 1, 255)),
];

/** `enum nft_meta_keys` */
const META_KEYS: Readonly<Record<Exclude<MetaKey, number>, number>> = {
  len: 0,
  protocol: 1,
  priority: 2,
  mark: 3,
  iif: 4,
  oif: 5,
  iifname: 6,
  oifname: 7,
  iiftype: 8,
  oiftype: 9,
  skuid: 10,
  skgid: 11,
  nftrace: 12,
  rtclassid: 13,
  nfproto: 15,
  l4proto: 16,
  pkttype: 19,
  cpu: 20,
  iifgroup: 21,
  oifgroup: 22,
  cgroup: 23,
  random: 24,
  secpath: 25,
  iifkind: 26,
  oifkind: 27,
  time_day: 31,
  sdif: 33,
  sdifname: 34,
};

/** `enum nft_ct_keys` */
const CT_KEYS: Readonly<Record<Exclude<CtKey, number>, number>> = {
  state: 0,
  direction: 1,
  status: 2,
  mark: 3,
  expiration: 5,
  helper: 6,
  l3proto: 7,
  src: 8,
  dst: 9,
  protocol: 10,
  'proto-src': 11,
  'proto-dst': 12,
  labels: 13,
  pkts: 14,
  bytes: 15,
  avgpkt: 16,
  zone: 17,
  eventmask: 18,
  src_ip: 19,
  dst_ip: 20,
  src_ip6: 21,
  dst_ip6: 22,
  id: 23,
};
const direction = optional('direction', 3, choice({ original: 0, reply: 1 }, 'u8'));

const COMPARISONS: Readonly<Record<Comparison, number>> = { eq: 0, neq: 1, lt: 2, lte: 3, gt: 4, gte: 5 };

const matches: readonly Shape[] = [
  { kind: 'payload', name: 'payload', parts: [field('register', 1, register), ...place] },
  { kind: 'payloadSet', name: 'payload', parts: [field('source', 5, register), ...place, checksum] },
  {
    kind: 'meta',
    name: 'meta',
    parts: [field('register', 1, register), field('key', 2, nameOrNumber(META_KEYS))],
  },
  {
    kind: 'metaSet',
    name: 'meta',
    parts: [field('key', 2, nameOrNumber(META_KEYS)), field('source', 3, register)],
  },
  {
    kind: 'ct',
    name: 'ct',
    parts: [field('register', 1, register), field('key', 2, nameOrNumber(CT_KEYS)), direction],
  },
  {
    kind: 'ctSet',
    name: 'ct',
    parts: [field('key', 2, nameOrNumber(CT_KEYS)), direction, field('source', 4, register)],
  },
  {
    kind: 'cmp',
    name: 'cmp',
    parts: [field('source', 1, register), field('operator', 2, choice(COMPARISONS)), field('data', 3, data)],
  },
  {
    kind: 'range',
    name: 'range',
    parts: [
      field('source', 1, register),
      field('operator', 2, choice({ eq: 0, neq: 1 })),
      field('from', 3, data),
      field('to', 4, data),
    ],
  },
  {
    kind: 'bitwise',
    name: 'bitwise',
    parts: [
      field('source', 1, register),
      field('register', 2, register),
      fixed(6, 0, false), // since Linux 5.6; it is the default
      maskAndXor,
    ],
    settle: ({ mask, xor }) => (mask as Uint8Array).length === (xor as Uint8Array).length,
  },
  {
    kind: 'shift',
    name: 'bitwise',
    parts: [
      field('source', 1, register),
      field('register', 2, register),
      field('length', 3, integer('u32', 1, 64)),
      field('direction', 6, choice({ left: 1, right: 2 })),
      field('bits', 7, shiftBits()),
    ],
  },
  {
    kind: 'byteorder',
    name: 'byteorder',
    parts: [
      field('source', 1, register),
      field('register', 2, register),
      field('to', 3, choice({ host: 0, network: 1 })),
      field('length', 4, integer('u32', 1, 64)),
      field('size', 5, choiceOfNumbers(2, 4, 8)),
    ],
  },
  {
    kind: 'lookup',
    name: 'lookup',
    parts: [
      lookedUp({ set: 1, id: 4 }),
      ignored(4), // NFTA_LOOKUP_SET_ID, of messages to the kernel
      field('source', 2, register),
      optional('register', 3, registerOrVerdict),
      bits(5, { booleans: { invert: 1 } }),
    ],
  },
  {
    kind: 'numgen',
    name: 'numgen',
    parts: [
      field('register', 1, register),
      field('modulus', 2, integer('u32', 1)),
      field('type', 3, choice({ inc: 0, random: 1 })),
      optional('offset', 4, integer('u32'), 0),
    ],
  },
  {
    kind: 'hash',
    name: 'hash',
    parts: [
      optional('source', 1, register),
      field('register', 2, register),
      optional('length', 3, integer('u32', 1, 255)),
      field('modulus', 4, integer('u32', 1)),
      optional('seed', 5, integer('u32')),
      optional('offset', 6, integer('u32'), 0),
      field('type', 7, choice({ jhash: 0, symhash: 1 })),
    ],
  },
  {
    kind: 'fib',
    name: 'fib',
    parts: [
      field('register', 1, register),
      field('result', 2, choice({ oif: 1, oifname: 2, type: 3 })),
      bits(3, {
        booleans: { present: 32 },
        list: { name: 'flags', numbers: { saddr: 1, daddr: 2, mark: 4, iif: 8, oif: 16 }, isRequired: true },
      }),
    ],
  },
  {
    kind: 'exthdr',
    name: 'exthdr',
    parts: [
      field('register', 1, register),
      ...optionPlace,
      bits(5, { booleans: { present: 1 } }),
      optional('operation', 6, choice(OPERATIONS), 'ipv6'),
    ],
  },
  {
    kind: 'exthdrSet',
    name: 'exthdr',
    parts: [
      ...optionPlace,
      bits(5, { booleans: {} }),
      optional('operation', 6, choice(OPERATIONS), 'ipv6'),
      field('source', 7, register),
    ],
  },
  {
    kind: 'rt',
    name: 'rt',
    parts: [
      field('register', 1, register),
      field('key', 2, choice({ classid: 0, nexthop4: 1, nexthop6: 2, tcpmss: 3, xfrm: 4 })),
    ],
  },
  {
    kind: 'socket',
    name: 'socket',
    parts: [
      field('key', 1, choice({ transparent: 0, mark: 1, wildcard: 2, cgroupv2: 3 })),
      field('register', 2, register),
      optional('level', 3, integer('u32', 0, 255)),
    ],
  },
  {
    kind: 'connlimit',
    name: 'connlimit',
    parts: [field('count', 1, integer('u32', 1)), bits(2, { booleans: { over: 1 } })],
  },
  {
    kind: 'limit',
    name: 'limit',
    parts: LIMIT_PARTS,
  },
  { kind: 'quota', name: 'quota', parts: OBJECT_PARTS.quota },
];

/** All kinds. Of two with the same name in the kernel, an expression is the first one that has a field for each attribute. */
export const SHAPES: readonly Shape[] = [...matches, ...actions];

/** The number of bits, in `NFTA_BITWISE_DATA`: a value of 4 bytes in the machine's byte order. */
function shiftBits() {
  const number = integer('u32', 0, 511);
  const inner = (bytes: Uint8Array) => new Uint32Array(Uint8Array.from(bytes).buffer)[0];
  return {
    ...number,
    write: (writer: Parameters<typeof data.write>[0], attribute: number, value: number) =>
      data.write(writer, attribute, new Uint8Array(Uint32Array.of(value).buffer)),
    read: (attribute: Parameters<typeof data.read>[0]) => {
      const bytes = data.read(attribute);
      return bytes?.length === 4 ? inner(bytes) : undefined;
    },
  };
}

/** One of some numbers. */
function choiceOfNumbers(...numbers: readonly number[]) {
  const number = integer('u32');
  return {
    ...number,
    rule: `must be one of ${numbers.join(', ')}`,
    accepts: (value: unknown) => numbers.includes(value as number),
    read: (attribute: Parameters<typeof number.read>[0]) => {
      const value = number.read(attribute);
      return value !== undefined && numbers.includes(value) ? value : undefined;
    },
  };
}
