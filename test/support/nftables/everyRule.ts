// A rule for each expression that the library has, with the values and the comparisons that nft puts around it. The compiler demands
// every kind, and every key of meta and of ct.
import type { CtKey, Expression, MetaKey, TableFamily } from '../../../src/kernel/nftables/types.js';

/** A rule, of `inet` if it says nothing else. */
export interface AnyRule {
  readonly family?: TableFamily;
  readonly expressions: readonly Expression[];
}

type Of<Kind extends Expression['kind']> = Extract<Expression, { kind: Kind }>;
type Keys<Key> = Readonly<Record<Extract<Key, string>, readonly number[]>>;

const bytes = (...values: readonly number[]) => Uint8Array.from(values);
const ofLength = (length: number) => new Uint8Array(length).fill(1);
const name = (text: string) => [...Buffer.from(text.padEnd(16, '\0'))];
const equal = (data: Uint8Array): Expression => ({ kind: 'cmp', operator: 'eq', source: 1, data });
const constant = (register: number, data: Uint8Array): Expression => ({ kind: 'immediate', register, data });
const rule = (...expressions: readonly Expression[]): AnyRule => ({ expressions });

const isNetwork = (protocol: number): readonly Expression[] => [
  { kind: 'meta', key: 'nfproto', register: 1 },
  equal(bytes(protocol)),
];
const isTransport = (protocol: number): readonly Expression[] => [
  { kind: 'meta', key: 'l4proto', register: 1 },
  equal(bytes(protocol)),
];
const source: Expression = { kind: 'payload', base: 'network', offset: 12, length: 4, register: 1 };
const mark: Expression = { kind: 'meta', key: 'mark', register: 1 };
const order: Expression = { kind: 'byteorder', source: 1, register: 1, to: 'network', length: 4, size: 4 };

/** Values of the keys of meta, as bytes of a little-endian or big-endian machine: they say the same in both orders. */
const META: Keys<MetaKey> = {
  len: [1, 1, 1, 1],
  protocol: [0x86, 0xdd],
  priority: [1, 1, 1, 1],
  mark: [1, 1, 1, 1],
  iif: [1, 1, 1, 1],
  oif: [1, 1, 1, 1],
  iifname: name('eth0'),
  oifname: [...Buffer.from('eth')],
  iiftype: [5, 5],
  oiftype: [5, 5],
  skuid: [1, 1, 1, 1],
  skgid: [1, 1, 1, 1],
  nftrace: [1],
  rtclassid: [1, 1, 1, 1],
  nfproto: [10],
  l4proto: [6],
  pkttype: [2],
  cpu: [1, 1, 1, 1],
  iifgroup: [1, 1, 1, 1],
  oifgroup: [1, 1, 1, 1],
  cgroup: [1, 1, 1, 1],
  random: [1, 2, 3, 4],
  secpath: [1],
  iifkind: name('dummy'),
  oifkind: name('dummy'),
  time_day: [6],
  sdif: [1, 1, 1, 1],
  sdifname: name('vrf'),
};

/** Values of the keys of ct that nft can read. */
const CT: Omit<Keys<CtKey>, 'labels' | 'eventmask' | 'src' | 'dst'> = {
  state: [1, 1, 1, 1],
  direction: [1],
  status: [1, 1, 1, 1],
  mark: [1, 1, 1, 1],
  expiration: [1, 1, 1, 1],
  helper: name('ftp'),
  l3proto: [10],
  protocol: [6],
  'proto-src': [1, 2],
  'proto-dst': [1, 2],
  pkts: [1, 2, 3, 4, 5, 6, 7, 8],
  bytes: [1, 2, 3, 4, 5, 6, 7, 8],
  avgpkt: [1, 2, 3, 4, 5, 6, 7, 8],
  zone: [1, 2],
  src_ip: [10, 0, 0, 1],
  dst_ip: [10, 0, 0, 1],
  src_ip6: name('an address'),
  dst_ip6: name('an address'),
  id: [1, 2, 3, 4],
};

const entriesOf = <Key extends string>(keys: Readonly<Record<Key, readonly number[]>>) =>
  (Object.entries(keys) as [Key, readonly number[]][]).map(([key, data]) => [key, bytes(...data)] as const);

const BASES = ['link', 'network', 'transport', 'inner'] as const;
const place = (base: (typeof BASES)[number], length: number) => ({ base, offset: 40, length }) as const;

type Extension = readonly [before: readonly Expression[], place: Omit<Of<'exthdr'>, 'kind' | 'register'>];

/** Extension headers, options and chunks, with the comparison that a packet must pass before. */
const EXTENSIONS: readonly Extension[] = [
  ...[0, 43, 44, 60, 135].map((type) => [isNetwork(10), { type, offset: 0, length: 1 }] as const),
  [isNetwork(10), { type: 44, offset: 4, length: 4 }],
  [isNetwork(10), { type: 43, offset: 3, length: 1 }],
  ...[7, 131, 137, 148].map(
    (type) => [isNetwork(2), { operation: 'ipv4', type, offset: 2, length: type === 148 ? 2 : 1 }] as const,
  ),
  ...[2, 3, 4, 5, 8, 30].map((type) => [[], { operation: 'tcpopt', type, offset: 1, length: 1 }] as const),
  [[], { operation: 'tcpopt', type: 8, offset: 6, length: 4 }],
  [[], { operation: 'tcpopt', type: 77, offset: 2, length: 16 }],
  ...[0, 14, 193].map((type) => [[], { operation: 'sctp', type, offset: 2, length: 2 }] as const),
];

const NAT: readonly Omit<Of<'nat'>, 'kind'>[] = [
  { type: 'dnat', family: 'ip', address: 1, port: 2 },
  { type: 'snat', family: 'ip6', address: 1, addressEnd: 2, flags: ['persistent'] },
  { type: 'dnat', family: 'ip6', address: 1, port: 2, flags: ['random', 'fully-random'] },
  { type: 'dnat', family: 'ip', address: 1, addressEnd: 2, port: 3, portEnd: 4 },
];

/** The constants of registers 1, 2 and so on that a statement needs. */
function constantsOf(statement: Partial<Of<'nat'>>): readonly Expression[] {
  const { family, address, addressEnd, port, portEnd } = statement;
  const addressLength = family === 'ip6' ? 16 : 4;
  return [
    ...[address, addressEnd].map((register) => [register, addressLength] as const),
    ...[port, portEnd].map((register) => [register, 2] as const),
  ].flatMap(([register, length]) => (register ? [constant(register, ofLength(length))] : []));
}

const acting = (statement: Of<'nat' | 'masq' | 'redir' | 'tproxy'>, family?: TableFamily): AnyRule => ({
  ...(family !== undefined && { family }),
  expressions: [...isTransport(6), ...constantsOf(statement as Partial<Of<'nat'>>), statement],
});

/** Rules by the kind that they are for. Sets are those of `SETS` of ruleLines.ts. */
export const RULES_BY_KIND: Readonly<Record<Exclude<Expression['kind'], 'unknown'>, readonly AnyRule[]>> = {
  payload: [
    ...BASES.flatMap((base) =>
      [1, 2, 4, 16].map((length) =>
        rule({ kind: 'payload', ...place(base, length), register: 1 }, equal(ofLength(length))),
      ),
    ),
    rule(...isNetwork(2), source, equal(bytes(10, 0, 0, 1))),
    rule(
      ...isTransport(6),
      { kind: 'payload', base: 'transport', offset: 13, length: 1, register: 1 },
      equal(bytes(18)),
    ),
  ],
  payloadSet: [
    ...BASES.flatMap((base) =>
      [1, 2, 4, 16].map((length) =>
        rule(constant(1, ofLength(length)), { kind: 'payloadSet', ...place(base, length), source: 1 }),
      ),
    ),
    rule(...isTransport(6), constant(1, bytes(0, 80)), {
      ...{ kind: 'payloadSet', base: 'transport', offset: 2, length: 2, source: 1 },
      checksum: { type: 'inet', offset: 16 },
    }),
    rule(...isNetwork(2), constant(1, bytes(10, 0, 0, 1)), {
      ...{ kind: 'payloadSet', base: 'network', offset: 16, length: 4, source: 1 },
      checksum: { type: 'inet', offset: 10, pseudoHeader: true },
    }),
  ],
  meta: entriesOf(META).map(([key, data]) => rule({ kind: 'meta', key, register: 1 }, equal(data))),
  metaSet: entriesOf(META).flatMap(([key, data]) =>
    key === 'oifname' ? [] : [rule(constant(1, data), { kind: 'metaSet', key, source: 1 })],
  ),
  ct: entriesOf(CT).flatMap(([key, data]) => [
    rule(...isTransport(6), { kind: 'ct', key, register: 1 }, equal(data)),
    rule(...isTransport(6), { kind: 'ct', key, direction: 'reply', register: 1 }, equal(data)),
  ]),
  ctSet: [
    rule(constant(1, ofLength(4)), { kind: 'ctSet', key: 'mark', source: 1 }),
    rule(constant(1, ofLength(2)), { kind: 'ctSet', key: 'zone', direction: 'original', source: 1 }),
  ],
  cmp: (['eq', 'neq', 'lt', 'lte', 'gt', 'gte'] as const).flatMap((operator) => [
    rule(
      ...isTransport(6),
      ...[{ kind: 'payload', base: 'transport', offset: 2, length: 2, register: 1 } as const],
      {
        ...{ kind: 'cmp', operator, source: 1, data: bytes(0, 80) },
      },
    ),
    rule(mark, ...(operator === 'eq' || operator === 'neq' ? [] : [order]), {
      ...{ kind: 'cmp', operator, source: 1, data: ofLength(4) },
    }),
  ]),
  range: [
    rule(mark, order, {
      kind: 'range',
      operator: 'neq',
      source: 1,
      from: bytes(0, 0, 0, 1),
      to: ofLength(4),
    }),
  ],
  bitwise: [
    rule(
      mark,
      { kind: 'bitwise', source: 1, register: 1, mask: bytes(255, 0xf0, 255, 255), xor: bytes(0, 3, 0, 1) },
      {
        ...{ kind: 'metaSet', key: 'mark', source: 1 },
      },
    ),
  ],
  shift: (['left', 'right'] as const).map((direction) =>
    rule(
      mark,
      { kind: 'shift', source: 1, register: 1, length: 4, direction, bits: 8 },
      {
        ...{ kind: 'metaSet', key: 'mark', source: 1 },
      },
    ),
  ),
  byteorder: [rule(mark, order, { kind: 'cmp', operator: 'lt', source: 1, data: ofLength(4) })],
  lookup: [
    rule(...isNetwork(2), source, { kind: 'lookup', set: 'recent', source: 1 }),
    rule(...isNetwork(2), source, { kind: 'lookup', set: 'recent', source: 1, invert: true }),
    rule(...isNetwork(2), source, { kind: 'lookup', set: 'verdicts', source: 1, register: 0 }),
  ],
  immediate: [rule(constant(1, ofLength(4)), { kind: 'metaSet', key: 'mark', source: 1 })],
  verdict: [
    ...(['accept', 'drop', 'continue', 'return', 'break'] as const).map((verdict) =>
      rule({ kind: 'verdict', verdict: { verdict } }),
    ),
    ...(['jump', 'goto'] as const).map((verdict) =>
      rule({ kind: 'verdict', verdict: { verdict, chain: 'other' } }),
    ),
  ],
  dynset: [
    ...(['add', 'update', 'delete'] as const).map((operation) =>
      rule(...isNetwork(2), source, { kind: 'dynset', operation, set: 'recent', source: 1 }),
    ),
    rule(...isNetwork(2), source, {
      ...{ kind: 'dynset', operation: 'add', set: 'recent', source: 1, timeout: 5000n },
      expressions: [
        { kind: 'limit', rate: 10n, unit: 1n, burst: 5 },
        { kind: 'counter' },
        { kind: 'connlimit', count: 3 },
      ],
    }),
    rule(...isNetwork(2), source, constant(2, ofLength(4)), {
      ...{ kind: 'dynset', operation: 'update', set: 'seen', source: 1, dataSource: 2 },
    }),
  ],
  nat: NAT.map((fields) => acting({ kind: 'nat', ...fields })),
  masq: [acting({ kind: 'masq' }), acting({ kind: 'masq', port: 1, portEnd: 2, flags: ['random'] })],
  redir: [acting({ kind: 'redir' }), acting({ kind: 'redir', port: 1, flags: ['persistent'] })],
  reject: [
    rule(...isNetwork(2), { kind: 'reject', type: 'icmp', code: 3 }),
    rule(...isNetwork(10), { kind: 'reject', type: 'icmp', code: 6 }),
    rule(...isTransport(6), { kind: 'reject', type: 'tcp reset' }),
    ...[0, 1, 2, 3].map((code) => rule({ kind: 'reject', type: 'icmpx', code })),
  ],
  numgen: [
    rule({ kind: 'numgen', type: 'random', modulus: 2, offset: 3, register: 1 }, equal(ofLength(4))),
    rule({ kind: 'numgen', type: 'inc', modulus: 2, register: 1 }, equal(ofLength(4))),
  ],
  hash: [
    rule(
      ...isNetwork(2),
      { kind: 'payload', base: 'network', offset: 12, length: 4, register: 2 },
      { kind: 'hash', type: 'jhash', source: 2, length: 4, modulus: 5, offset: 1, seed: 7, register: 1 },
      equal(ofLength(4)),
    ),
    rule({ kind: 'hash', type: 'symhash', modulus: 5, offset: 1, register: 1 }, equal(ofLength(4))),
  ],
  fib: [
    rule({ kind: 'fib', result: 'oif', flags: ['saddr', 'iif'], register: 1 }, equal(ofLength(4))),
    rule({ kind: 'fib', result: 'oifname', flags: ['saddr'], register: 1 }, equal(bytes(...name('lo')))),
    rule({ kind: 'fib', result: 'type', flags: ['daddr', 'mark'], register: 1 }, equal(ofLength(4))),
    rule(
      { kind: 'fib', result: 'oif', flags: ['daddr', 'oif'], present: true, register: 1 },
      equal(new Uint8Array(4)),
    ),
  ],
  counter: [
    rule({ kind: 'counter', packets: 0n, bytes: 0n }),
    rule({ kind: 'counter', packets: 2n ** 33n, bytes: 2n ** 64n - 1n }),
  ],
  limit: [
    rule({ kind: 'limit', rate: 400n, unit: 60n, burst: 5 }),
    rule({ kind: 'limit', rate: 4n, unit: 604_800n, burst: 9, over: true }),
    rule({ kind: 'limit', rate: 1_000_000n, unit: 1n, burst: 2048, of: 'bytes', over: true }),
  ],
  quota: [rule({ kind: 'quota', bytes: 1000n }), rule({ kind: 'quota', bytes: 1000n, over: true, used: 5n })],
  log: [
    rule({ kind: 'log' }),
    rule({ kind: 'log', prefix: 'drop: ', level: 7, flags: 15 }),
    rule({ kind: 'log', group: 2, snaplen: 80, queueThreshold: 10 }),
    rule({ kind: 'log', level: 8 }),
  ],
  objref: [
    rule({ kind: 'objref', type: 'counter', name: 'passed' }),
    rule({ kind: 'objref', type: 'quota', name: 'month' }),
    rule({ kind: 'objref', type: 'limit', name: 'pace' }),
  ],
  objrefMap: [
    rule(...isNetwork(2), source, { kind: 'objrefMap', set: 'objects', source: 1 }),
    rule(...isNetwork(2), source, {
      kind: 'objrefMap',
      set: { key: 'ipv4_addr', objects: 'quota', elements: [{ key: '10.0.0.1', object: 'month' }] },
      source: 1,
    }),
  ],
  synproxy: [rule({ kind: 'synproxy', mss: 1460, windowScale: 7, flags: ['timestamp', 'sack-perm'] })],
  flowOffload: [rule({ kind: 'flowOffload', table: 'fast' })],
  notrack: [rule({ kind: 'notrack' })],
  exthdr: EXTENSIONS.flatMap(([before, fields]) => [
    rule(...before, { kind: 'exthdr', ...fields, register: 1 }, equal(ofLength(fields.length))),
    rule(
      ...before,
      { kind: 'exthdr', ...fields, offset: 0, length: 1, present: true, register: 1 },
      equal(bytes(0)),
    ),
  ]),
  exthdrSet: [
    rule(constant(1, bytes(5, 0x50)), {
      ...{ kind: 'exthdrSet', operation: 'tcpopt', type: 2, offset: 2, length: 2, source: 1 },
    }),
  ],
  rt: [
    rule({ kind: 'rt', key: 'classid', register: 1 }, equal(ofLength(4))),
    rule({ kind: 'rt', key: 'nexthop4', register: 1 }, equal(ofLength(4))),
    rule({ kind: 'rt', key: 'nexthop6', register: 1 }, equal(ofLength(16))),
    rule({ kind: 'rt', key: 'tcpmss', register: 1 }, equal(bytes(1, 2))),
    rule({ kind: 'rt', key: 'xfrm', register: 1 }, equal(bytes(1))),
  ],
  socket: [
    rule({ kind: 'socket', key: 'transparent', register: 1 }, equal(bytes(1))),
    rule({ kind: 'socket', key: 'mark', register: 1 }, equal(ofLength(4))),
    rule({ kind: 'socket', key: 'wildcard', register: 1 }, equal(bytes(0))),
    rule({ kind: 'socket', key: 'cgroupv2', level: 2, register: 1 }, equal(bytes(1, 2, 3, 4, 5, 6, 7, 8))),
  ],
  queue: [
    rule({ kind: 'queue', first: 3 }),
    rule({ kind: 'queue', first: 0, total: 65_535, flags: ['bypass', 'fanout'] }),
  ],
  tproxy: [
    acting({ kind: 'tproxy', family: 'ip', address: 1, port: 2 }),
    acting({ kind: 'tproxy', family: 'inet', port: 1 }),
    acting({ kind: 'tproxy', family: 'ip6', address: 1, port: 2 }, 'ip6'),
  ],
  dup: [
    { family: 'ip', expressions: [constant(1, ofLength(4)), { kind: 'dup', address: 1 }] },
    {
      family: 'ip6',
      expressions: [
        constant(1, ofLength(16)),
        constant(2, ofLength(4)),
        { kind: 'dup', address: 1, device: 2 },
      ],
    },
    { family: 'netdev', expressions: [constant(1, ofLength(4)), { kind: 'dup', device: 1 }] },
  ],
  fwd: [{ family: 'netdev', expressions: [constant(1, ofLength(4)), { kind: 'fwd', device: 1 }] }],
  connlimit: [rule({ kind: 'connlimit', count: 10 }), rule({ kind: 'connlimit', count: 1, over: true })],
};

/** Rules whose text cannot be read, with what the error says. docs/library.md lists them. */
export const UNREADABLE_RULES: readonly [AnyRule, RegExp][] = [
  [rule({ kind: 'meta', key: 36, register: 1 }, equal(ofLength(4))), /`36` is no key of meta/],
  [rule({ kind: 'ct', key: 4, register: 1 }, equal(ofLength(4))), /`4` is no key of ct/],
  [rule({ kind: 'ct', key: 'labels', register: 1 }, equal(ofLength(16))), /`labels` is no key of ct/],
  [
    rule({ kind: 'ct', key: 'src', direction: 'original', register: 1 }, equal(ofLength(4))),
    /must have the family of the address before it/,
  ],
  [
    rule(...isNetwork(2), constant(1, bytes(9)), {
      ...{ kind: 'payloadSet', base: 'network', offset: 8, length: 1, source: 1 },
      checksum: { type: 'inet', offset: 10 },
    }),
    /`\[payloadSet` is no statement that the library has/,
  ],
  [
    rule(
      ...isNetwork(10),
      { kind: 'exthdr', type: 44, offset: 2, length: 2, register: 1 },
      equal(ofLength(2)),
    ),
    /`\[exthdr` is no statement that the library has/,
  ],
  [
    rule(constant(1, ofLength(4)), {
      kind: 'nat',
      type: 'snat',
      family: 'ip',
      address: 1,
      flags: ['netmap'],
    }),
    /`netmap` must be the end of the rule/,
  ],
  [rule({ kind: 'limit', rate: 1n, unit: 7n }), /must be a rate per second/],
];
