// Values of every kind that nftables has here, for tests that write and read each of them.
import type {
  Expression,
  NewChain,
  NewElement,
  NewFlowTable,
  NewObject,
  NewSet,
  NewTable,
  SetName,
} from '../../../src/kernel/nftables/types.js';

/** The table of everything below. */
export const TABLE = { family: 'inet', table: 'everything' } as const;

const bytes = (...values: number[]) => Uint8Array.from(values);

/** Expressions by kind: the compiler demands at least one of each. */
const BY_KIND: {
  readonly [Kind in Exclude<Expression['kind'], 'unknown'>]: readonly [
    Omit<Extract<Expression, { kind: Kind }>, 'kind'>,
    ...Omit<Extract<Expression, { kind: Kind }>, 'kind'>[],
  ];
} = {
  payload: [
    { base: 'network', offset: 16, length: 4, register: 1 },
    { base: 'link', offset: 0, length: 6, register: 2 },
    { base: 'transport', offset: 2, length: 2, register: 23 },
    { base: 'inner', offset: 0, length: 1, register: 8 },
  ],
  payloadSet: [
    { base: 'network', offset: 1, length: 1, source: 1 },
    {
      base: 'network',
      offset: 12,
      length: 4,
      source: 1,
      checksum: { type: 'inet', offset: 10, pseudoHeader: true },
    },
    { base: 'network', offset: 8, length: 16, source: 1, checksum: { type: 'none', pseudoHeader: true } },
    { base: 'transport', offset: 0, length: 2, source: 1, checksum: { type: 'sctp', offset: 8 } },
  ],
  meta: [
    { key: 'mark', register: 1 },
    { key: 'random', register: 1 },
    { key: 36, register: 4 },
  ],
  metaSet: [
    { key: 'mark', source: 1 },
    { key: 'nftrace', source: 9 },
  ],
  ct: [
    { key: 'state', register: 1 },
    { key: 'proto-dst', direction: 'original', register: 1 },
    { key: 'src_ip', direction: 'reply', register: 1 },
    { key: 4, register: 1 },
  ],
  ctSet: [
    { key: 'mark', source: 1 },
    { key: 'zone', direction: 'original', source: 1 },
  ],
  cmp: (['eq', 'neq', 'lt', 'lte', 'gt', 'gte'] as const).map((operator, i) => ({
    operator,
    source: 1,
    data: new Uint8Array(4 + i),
  })) as unknown as [Omit<Extract<Expression, { kind: 'cmp' }>, 'kind'>],
  range: [
    { operator: 'eq', source: 1, from: bytes(0, 80), to: bytes(0, 90) },
    { operator: 'neq', source: 1, from: bytes(10, 0, 0, 0), to: bytes(10, 0, 0, 9) },
  ],
  bitwise: [{ source: 1, register: 9, mask: bytes(0xff, 0xbf, 0xff, 0xff), xor: bytes(0, 0x40, 0, 0) }],
  shift: [
    { source: 1, register: 1, length: 4, direction: 'left', bits: 8 },
    { source: 1, register: 1, length: 4, direction: 'right', bits: 31 },
  ],
  byteorder: [
    { source: 1, register: 1, to: 'network', length: 4, size: 4 },
    { source: 1, register: 1, to: 'host', length: 8, size: 2 },
  ],
  lookup: [
    { set: 'addresses', source: 1 },
    { set: 'addresses', source: 1, invert: true },
    { set: 'marks', source: 1, register: 9 },
    { set: 'verdicts', source: 1, register: 0 },
  ],
  immediate: [
    { register: 1, data: bytes(10, 0, 0, 1) },
    { register: 2, data: new Uint8Array(64).fill(7) },
  ],
  verdict: [
    ...(['accept', 'drop', 'continue', 'return'] as const).map((verdict) => ({ verdict: { verdict } })),
    { verdict: { verdict: 'break' } },
    { verdict: { verdict: 'jump', chain: 'regular' } },
    { verdict: { verdict: 'goto', chain: 'c'.repeat(255) } },
  ] as unknown as [Omit<Extract<Expression, { kind: 'verdict' }>, 'kind'>],
  dynset: [
    { operation: 'update', set: 'recent', source: 1 },
    { operation: 'add', set: 'recent', source: 1, timeout: 5000n, invert: true },
    { operation: 'delete', set: 'recent', source: 1 },
    { operation: 'add', set: 'map', source: 1, dataSource: 2 },
    {
      operation: 'add',
      set: 'recent',
      source: 1,
      expressions: [{ kind: 'limit', rate: 10n, unit: 1n, burst: 5 }],
    },
    {
      operation: 'add',
      set: 'recent',
      source: 1,
      expressions: [
        { kind: 'counter', bytes: 0n, packets: 0n },
        { kind: 'connlimit', count: 3 },
      ],
    },
  ],
  nat: [
    { type: 'dnat', family: 'ip', address: 1, port: 9 },
    { type: 'snat', family: 'ip6', address: 1, addressEnd: 2 },
    {
      type: 'dnat',
      family: 'ip',
      address: 1,
      addressEnd: 2,
      port: 3,
      portEnd: 4,
      flags: ['random', 'persistent'],
    },
    { type: 'snat', family: 'ip', address: 1, flags: ['netmap'] },
  ],
  masq: [{}, { flags: ['fully-random'] }, { port: 1, portEnd: 2, flags: ['random'] }],
  redir: [{}, { port: 1 }, { port: 1, portEnd: 2, flags: ['persistent'] }],
  reject: [{ type: 'icmp', code: 3 }, { type: 'icmp' }, { type: 'tcp reset' }, { type: 'icmpx', code: 1 }],
  numgen: [
    { type: 'random', modulus: 2, register: 1 },
    { type: 'inc', modulus: 4_000_000_000, offset: 7, register: 1 },
  ],
  hash: [
    { type: 'jhash', modulus: 4, offset: 1, register: 2, source: 1, length: 12, seed: 0xdeadbeef },
    { type: 'symhash', modulus: 2, register: 1 },
  ],
  fib: [
    { result: 'type', flags: ['daddr'], register: 1 },
    { result: 'oif', flags: ['saddr', 'mark', 'iif'], register: 1 },
    { result: 'oifname', flags: ['daddr', 'oif'], register: 1 },
    { result: 'oif', flags: ['saddr'], present: true, register: 1 },
  ],
  counter: [
    { bytes: 0n, packets: 0n },
    { bytes: 2n ** 64n - 1n, packets: 2n ** 33n },
  ],
  limit: [
    { rate: 400n, unit: 60n, burst: 5 },
    { rate: 1_000_000n, unit: 1n, burst: 0, of: 'bytes', over: true },
  ],
  quota: [
    { bytes: 1000n, used: 0n },
    { bytes: 1000n, over: true, used: 5n },
  ],
  log: [
    {},
    { prefix: 'drop: ', level: 4 },
    { group: 2, snaplen: 80, queueThreshold: 10, prefix: '' },
    { level: 7, flags: 15 },
  ],
  objref: [
    { type: 'counter', name: 'c' },
    { type: 'quota', name: 'q' },
    { type: 'limit', name: 'l' },
  ],
  objrefMap: [{ set: 'objects', source: 1 }],
  synproxy: [{}, { mss: 1460, windowScale: 7, flags: ['timestamp', 'sack-perm'] }, { windowScale: 0 }],
  flowOffload: [{ table: 'f' }],
  notrack: [{}],
  exthdr: [
    { type: 44, offset: 2, length: 2, register: 1 },
    { type: 2, offset: 2, length: 2, operation: 'tcpopt', register: 1 },
    { type: 43, offset: 0, length: 1, present: true, register: 1 },
    { type: 7, offset: 0, length: 1, operation: 'ipv4', register: 1 },
    { type: 0, offset: 4, length: 4, operation: 'sctp', register: 1 },
  ],
  exthdrSet: [{ type: 2, offset: 2, length: 2, operation: 'tcpopt', source: 1 }],
  rt: [
    { key: 'classid', register: 1 },
    { key: 'nexthop4', register: 1 },
    { key: 'nexthop6', register: 1 },
    { key: 'tcpmss', register: 1 },
    { key: 'xfrm', register: 1 },
  ],
  socket: [
    { key: 'transparent', register: 1 },
    { key: 'mark', register: 1 },
    { key: 'wildcard', register: 1 },
    { key: 'cgroupv2', level: 2, register: 1 },
  ],
  queue: [{ first: 3 }, { first: 0, total: 65535, flags: ['bypass', 'fanout'] }],
  tproxy: [
    { family: 'ip', address: 1, port: 2 },
    { family: 'ip6', address: 1 },
    { family: 'inet', port: 1 },
  ],
  dup: [{ address: 1 }, { address: 1, device: 2 }],
  fwd: [{ device: 1 }],
  connlimit: [{ count: 10 }, { count: 1, over: true }],
};

/** Several of each kind of expression, as the library lists them. */
export const EXPRESSIONS: readonly Expression[] = Object.entries(BY_KIND).flatMap(([kind, list]) =>
  list.map((fields) => ({ kind, ...fields }) as Expression),
);

/** Tables. */
export const TABLES: readonly NewTable[] = [
  { family: 'ip', name: 't', flags: [] },
  { family: 'ip6', name: 'x'.repeat(255), flags: ['dormant'], comment: 'für alle' },
  { family: 'inet', name: 'owned', flags: ['owner', 'persist', 64] },
  { family: 'arp', name: 'a', flags: [], comment: '' },
  { family: 'bridge', name: 'b', flags: [], comment: 'c'.repeat(128) },
  { family: 99, name: 'n', flags: [] },
];

/** Chains. */
export const CHAINS: readonly NewChain[] = [
  { ...TABLE, name: 'regular' },
  { ...TABLE, name: 'with a comment', comment: 'as told' },
  { ...TABLE, name: 'b', base: { hook: 'prerouting', priority: -100, type: 'nat', policy: 'accept' } },
  {
    ...TABLE,
    name: 'c',
    base: { hook: 'postrouting', priority: 2147483647, type: 'filter', policy: 'drop' },
  },
  { ...TABLE, name: 'd', base: { hook: 'output', priority: -2147483648, type: 'route' } },
  { ...TABLE, name: 'e', base: { hook: 'ingress', priority: 0, type: 'filter', devices: ['eth0'] } },
  {
    family: 'netdev',
    table: 'n',
    name: 'f',
    base: { hook: 'egress', priority: 0, type: 'filter', devices: ['eth0', 'eth1'] },
  },
  { family: 'arp', table: 'a', name: 'g', base: { hook: 'input', priority: 0, type: 'filter' } },
  { ...TABLE, name: 'h', base: { hook: 9, priority: 1, type: 'filter' } },
];

/** Sets. */
export const SETS: readonly NewSet[] = [
  { ...TABLE, name: 's1', key: 'ipv4_addr', flags: [] },
  {
    ...TABLE,
    name: 's2',
    key: 'ipv6_addr',
    flags: ['constant', 'interval'],
    autoMerge: true,
    comment: 'Ranges',
  },
  {
    ...TABLE,
    name: 's3',
    key: 'ipv4_addr',
    flags: ['timeout', 'dynamic'],
    size: 65535,
    timeout: 10_800_000n,
  },
  { ...TABLE, name: 's4', key: ['ipv4_addr', 'inet_proto', 'inet_service'], data: 'verdict', flags: [] },
  { ...TABLE, name: 's5', key: ['ipv4_addr', 'inet_service'], flags: ['interval'] },
  { ...TABLE, name: 's6', key: 'integer', data: ['ipv4_addr', 'inet_service'], flags: [], size: 3 },
  {
    ...TABLE,
    name: 's7',
    key: ['ipv4_addr', 'inet_proto', 'inet_service', 'integer'],
    data: ['ipv4_addr', 'inet_service'],
    flags: [],
    keyExpressions: ['ip daddr', 'meta l4proto', 'th dport', 'numgen random mod 2'],
    comment: 'Endpoints',
  },
  {
    ...TABLE,
    name: 's8',
    key: 'mark',
    data: ['ipv4_addr', 'inet_service'],
    flags: [],
    keyExpressions: ['meta mark'],
    dataExpressions: ['ip daddr', 'tcp dport'],
  },
  { ...TABLE, name: 's9', key: 'ct_state', data: 'verdict', flags: [], keyExpressions: ['meta mark'] },
  { ...TABLE, name: 's10', key: ['ether_addr', 'ifname', 'iface_index'], flags: [0x200] },
  {
    ...TABLE,
    name: 's12',
    key: 'ipv4_addr',
    flags: ['timeout', 'dynamic'],
    size: 9,
    gcInterval: 5000,
    policy: 'memory',
    expressions: [{ kind: 'counter', bytes: 0n, packets: 0n }],
  },
  {
    ...TABLE,
    name: 's13',
    key: 'ipv4_addr',
    flags: ['dynamic'],
    expressions: [
      { kind: 'limit', rate: 1n, unit: 1n, burst: 5 },
      { kind: 'counter', bytes: 0n, packets: 0n },
    ],
  },
  { ...TABLE, name: 's14', key: 'ipv4_addr', objects: 'counter', flags: [] },
  {
    ...TABLE,
    name: 's15',
    key: 'ipv4_addr',
    data: ['ipv4_addr', 'inet_service'],
    dataIsInterval: true,
    flags: ['interval'],
  },
];

/** Elements, of sets without ends of intervals. */
export const ELEMENTS: readonly [set: SetName, elements: readonly NewElement[]][] = [
  [
    { ...TABLE, name: 's1', key: 'ipv4_addr' },
    [{ key: '10.0.0.1' }, { key: '10.0.0.2', comment: 'web:http' }],
  ],
  [
    { ...TABLE, name: 's3', key: 'ipv4_addr' },
    [
      { key: '10.0.0.1', timeout: 5000n, expires: 4000n },
      { key: '10.0.0.2', expires: 1n },
    ],
  ],
  [
    { ...TABLE, name: 's4', key: ['ipv4_addr', 'inet_proto', 'inet_service'], data: 'verdict' },
    [
      { key: ['10.0.0.1', 'tcp', 80], data: { verdict: 'goto', chain: 'service-A/b/tcp/http' } },
      { key: ['10.0.0.1', 99, 80], data: { verdict: 'drop' }, comment: 'c'.repeat(252) },
    ],
  ],
  [
    { ...TABLE, name: 's5', key: ['ipv4_addr', 'inet_service'], flags: ['interval'] },
    [{ key: ['10.0.0.0', 80], keyEnd: ['10.0.0.255', 90] }, { key: ['10.0.1.0', 80] }],
  ],
  [
    { ...TABLE, name: 's5', key: ['mark', 'inet_service'], flags: ['interval'] },
    [{ key: [1, 80], keyEnd: [5, 90] }],
  ],
  [
    { ...TABLE, name: 's6', key: 'integer', data: ['ipv6_addr', 'inet_service'] },
    [
      { key: 0, data: ['fd00::1', 8080] },
      { key: 4_294_967_295, data: ['::', 0] },
    ],
  ],
  [
    { ...TABLE, name: 's10', key: ['ether_addr', 'ifname', 'iface_index'] },
    [{ key: ['01:02:03:0a:05:ff', 'eth0', 7] }],
  ],
  [
    { ...TABLE, name: 's12', key: 'ipv4_addr', flags: ['timeout', 'dynamic'] },
    [
      {
        key: '10.0.0.1',
        timeout: 60_000n,
        expires: 50_000n,
        expressions: [{ kind: 'counter', bytes: 7n, packets: 2n }],
      },
      { key: new Uint8Array(), expressions: [{ kind: 'counter', bytes: 1n, packets: 1n }] },
    ],
  ],
  [{ ...TABLE, name: 's14', key: 'ipv4_addr', objects: 'counter' }, [{ key: '10.0.0.1', object: 'c' }]],
  [
    { ...TABLE, name: 's15', key: ['ipv4_addr', 'mark'], data: 'ipv4_addr', dataIsInterval: true },
    [
      { key: ['10.0.0.1', 1], data: '10.0.0.2', dataEnd: '10.0.0.9' },
      { key: ['10.0.0.2', 1], data: '10.0.0.3' },
    ],
  ],
  [
    { ...TABLE, name: 's11', key: 'ct_state', data: 'mark' },
    [
      { key: 'established', data: 0x4000 },
      { key: 6, data: 1 },
    ],
  ],
];

/** Objects, as the library lists them. */
export const OBJECTS: readonly NewObject[] = [
  { ...TABLE, name: 'c', type: 'counter', bytes: 0n, packets: 0n },
  { ...TABLE, name: 'd', type: 'counter', bytes: 7n, packets: 2n ** 40n, comment: 'Packets' },
  { ...TABLE, name: 'q', type: 'quota', bytes: 1000n, used: 0n },
  { ...TABLE, name: 'r', type: 'quota', bytes: 1000n, over: true, used: 5n },
  { ...TABLE, name: 'l', type: 'limit', rate: 400n, unit: 60n, burst: 5 },
  { ...TABLE, name: 'y', type: 'synproxy', mss: 1460, windowScale: 7, flags: ['timestamp', 'sack-perm'] },
];

/** Objects of conntrack, which not every kernel has. */
export const CONNECTION_OBJECTS: readonly NewObject[] = [
  { ...TABLE, name: 'h', type: 'ct helper', helper: 'ftp', network: 'ip', protocol: 'tcp' },
  {
    ...TABLE,
    name: 't',
    type: 'ct timeout',
    network: 'ip',
    protocol: 'udp',
    policy: { unreplied: 5, replied: 6 },
    comment: 'Short',
  },
  {
    ...TABLE,
    name: 'e',
    type: 'ct expectation',
    network: 'ip6',
    protocol: 'udp',
    port: 53,
    timeout: 60_000,
    size: 12,
  },
  { ...TABLE, name: 'm', type: 'secmark', context: 'system_u:object_r:ssh_t:s0' },
];

/** Flow tables. */
export const FLOW_TABLES: readonly NewFlowTable[] = [
  { ...TABLE, name: 'f', priority: 0 },
  { ...TABLE, name: 'g', priority: -150, devices: ['lo'], flags: ['counter'] },
  { ...TABLE, name: 'i', priority: 7, devices: ['eth0', 'veth*'], flags: ['offload', 0x10] },
];
