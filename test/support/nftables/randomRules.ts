// Random rules in the notation of nft, over the values that the packets of frames.ts have.
import { ADDRESSES, MARKS, NETWORKS, PORTS, TTLS } from './frames.js';

/** A family of tables whose rules are tried. */
export const RULE_FAMILIES = ['ip', 'ip6', 'inet'] as const;
export type RuleFamily = (typeof RULE_FAMILIES)[number];

/** What rules of every family refer to: the elements of intervals and of maps are values of the packets. */
export function setsOf(family: RuleFamily): string {
  const six = family === 'ip6';
  const [type, [a, b], [, network, other]] = six
    ? (['ipv6_addr', ADDRESSES[6], NETWORKS[6]] as const)
    : (['ipv4_addr', ADDRESSES[4], NETWORKS[4]] as const);
  return `
	set ports { type inet_service; flags interval; elements = { 22, 1024-2048 }; }
	set nets { type ${type}; flags interval; elements = { ${a}, ${other} }; }
	set pairs { type ${type} . inet_service; elements = { ${a} . 80, ${b} . 443 }; }
	set ranges { type ${type} . inet_service; flags interval; elements = { ${network} . 80-443, ${a} . 1024-5353 }; }
	map marks { type inet_service : mark; elements = { 80 : 0x1, 443 : 0x2, 53 : 0x10 }; }
	map verdicts { type ${type} : verdict; elements = { ${a} : return, ${b} : goto seen }; }
	set recent { type ${type}; size 65535; flags dynamic,timeout; timeout 1h; }
	map latest { type ${type} : mark; size 65535; flags dynamic,timeout; timeout 1h; }
	chain seen { counter; }
`;
}

/** Draws from lists. */
class Draw {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  one<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random() * list.length)] as T;
  }

  several<T>(list: readonly T[], most = 3): T[] {
    const count = 1 + Math.floor(this.#random() * most);
    return [...new Set(Array.from({ length: count }, () => this.one(list)))];
  }

  isLess(share: number): boolean {
    return this.#random() < share;
  }
}

const NUMBERS = (values: readonly number[]) => (draw: Draw) => comparison(draw, values, true);
const NAMES = (values: readonly string[]) => (draw: Draw) => comparison(draw, values, false);

/** A comparison of a value of a packet: with one, a range, a set, by size, or with some of its bits. */
function comparison(draw: Draw, values: readonly (number | string)[], isOrdered: boolean): string {
  const value = draw.one(values);
  const not = draw.isLess(0.3) ? '!= ' : '';
  if (draw.isLess(0.25)) return `${not}{ ${draw.several(values).join(', ')} }`;
  if (!isOrdered || draw.isLess(0.4)) return `${not}${value}`;
  const [from = 0, to = 0] = [Number(value), Number(draw.one(values))].sort((one, other) => one - other);
  if (from < to && draw.isLess(0.6)) return `${not}${from}-${to}`;
  return `${draw.one(['<', '>', '<=', '>='])} ${value === 0 ? 1 : value}`;
}

function address(family: 4 | 6) {
  return (draw: Draw): string => {
    const not = draw.isLess(0.3) ? '!= ' : '';
    const [one, network] = [draw.one(ADDRESSES[family]), draw.one(NETWORKS[family])];
    const range = family === 4 ? '10.0.0.1-10.0.0.200' : 'fd00::1-fd00::ff';
    const mask = family === 4 ? '& 255.255.0.255 == 10.0.0.2' : '& ffff::ffff == fd00::2';
    return draw.one([
      ...[`${not}${one}`, `${not}${network}`, `${not}${range}`, mask, `${not}@nets`],
      `${not}{ ${draw.several(ADDRESSES[family]).join(', ')} }`,
      `${not}{ ${one === '192.0.2.5' || one === '2001:db8::5' ? one : (NETWORKS[family][2] as string)}, ${range} }`,
    ]);
  };
}

type Condition = readonly [operand: string, rest: (draw: Draw) => string];

const PORT = NUMBERS(PORTS);
const named = (names: readonly string[], other: (draw: Draw) => string) => (draw: Draw) =>
  draw.isLess(0.2) ? `${draw.one(['', '!= '])}${draw.one(names)}` : other(draw);

/** Conditions of packets of both families. */
const OF_ANY: readonly Condition[] = [
  ...['tcp sport', 'tcp dport', 'udp sport', 'udp dport', 'th sport', 'th dport'].map(
    (field): Condition => [field, named(['@ports'], PORT)],
  ),
  ['tcp window', NUMBERS([100, 1000, 65_535])],
  ['tcp sequence', NUMBERS([1, 1000, 0xffff_0000])],
  ['tcp checksum', NUMBERS([0, 0x8000])],
  ['udp length', NUMBERS([8, 12, 20])],
  ['udp checksum', NUMBERS([0, 0x8000])],
  ['sctp dport', PORT],
  ['sctp vtag', NUMBERS([5, 77])],
  [
    'tcp flags',
    (draw) => draw.one(['syn', '! syn', '& (syn | ack) == syn', '!= 0x2', 'syn / fin,syn,rst,ack']),
  ],
  ['tcp flags', (draw) => draw.one(['== 0x2', 'ack', 'syn,ack', '& (fin | rst) != 0x0'])],
  ['tcp option maxseg size', NUMBERS([500, 1400])],
  [
    'tcp option',
    (draw) => draw.one(['maxseg exists', 'sack-perm exists', 'maxseg missing', 'timestamp exists']),
  ],
  ['meta l4proto', NAMES(['tcp', 'udp', 'icmp', 'ipv6-icmp', 'sctp'])],
  ['meta length', NUMBERS([40, 60, 72, 100])],
  ['meta mark', named(['0x10-0x20', '& 0x0f == 0x01', '& 0x10 != 0x00'], NUMBERS(MARKS))],
  ['ct mark', named(['& 0x3 == 0x1'], NUMBERS(MARKS))],
  [
    'ct state',
    (draw) => draw.one(['new', 'established', '!= new', 'invalid', 'established,related', '== new']),
  ],
  ['ct direction', NAMES(['original', 'reply'])],
  ['ct status', (draw) => draw.one(['seen-reply', 'assured', 'confirmed'])],
  ['ct protocol', NAMES(['tcp', 'udp'])],
  ['meta l4proto tcp ct original proto-dst', PORT],
  ['meta l4proto udp ct reply proto-src', PORT],
  ['meta pkttype', NAMES(['host', 'multicast', 'broadcast'])],
  ['meta iiftype', NAMES(['ether'])],
  ['iifname', NAMES(['"in0"', '"in*"', '"lo"', '"out0"'])],
  ['iif', NAMES(['"lo"'])],
  ['ether saddr', NAMES(['02:00:00:00:00:01', '02:00:00:00:00:02'])],
  ['fib daddr type', NAMES(['local', 'unicast', 'multicast'])],
  ['fib saddr . iif oif', (draw) => draw.one(['exists', 'missing'])],
  ['@th,0,16', NUMBERS([80, 443, 5353])],
  ['@th,16,8 & 0x0f', (draw) => draw.one(['== 0x1', '!= 0x0'])],
  ['meta mark and 0x3', NUMBERS([0, 1, 2])],
];

const ICMP_ECHO = [1, 77, 0xff00];
const ICMP = { 4: 'icmp', 6: 'icmpv6' } as const;

/** Conditions of packets of one family. */
function ofFamily(family: 4 | 6): readonly Condition[] {
  const header = family === 4 ? 'ip' : 'ip6';
  const icmp = ICMP[family];
  const types = ['echo-request', 'echo-reply', 'destination-unreachable'];
  return [
    ...[`${header} saddr`, `${header} daddr`, `ct original ${header} saddr`].map(
      (field): Condition => [field, address(family)],
    ),
    [`${icmp} type`, NAMES(types)],
    [`${icmp} code`, NUMBERS([0, 3, 4])],
    [`${icmp} id`, NUMBERS(ICMP_ECHO)],
    [`${icmp} sequence`, NUMBERS(ICMP_ECHO)],
    [`${icmp} type echo-request ${icmp} id`, NUMBERS(ICMP_ECHO)],
    [`${header} saddr . th dport`, (draw) => draw.one(['', '!= ']) + draw.one(['@pairs', '@ranges'])],
    [
      `${header} daddr . tcp dport`,
      (draw) => draw.one(['@pairs', '@ranges', `{ ${ADDRESSES[family][0]} . 80 }`]),
    ],
    [
      `${header} saddr . meta l4proto . th sport`,
      (draw) =>
        `{ ${draw.several(ADDRESSES[family]).map((one) => `${one} . ${draw.one(['tcp', 'udp'])} . ${draw.one(PORTS)}`)} }`,
    ],
    [`${header} saddr`, (draw) => draw.one(['@recent', '!= @recent'])],
    [`${header} dscp`, NAMES(['cs0', 'cs1', 'af11'])],
    ...(family === 4
      ? ([
          ['ip ttl', NUMBERS(TTLS)],
          ['ip id', NUMBERS([1, 77, 0xff00])],
          ['ip length', NUMBERS([40, 60, 72, 100])],
          ['ip protocol', NAMES(['tcp', 'udp', 'icmp', 'sctp'])],
          ['@nh,8,8 & 0xf0', (draw) => draw.one(['== 0x0', '== 0x20', '!= 0x20'])],
        ] satisfies Condition[])
      : ([
          ['ip6 hoplimit', NUMBERS(TTLS)],
          ['ip6 length', NUMBERS([20, 40, 60, 100])],
          ['ip6 nexthdr', NAMES(['tcp', 'udp', 'ipv6-icmp', 'hopopt'])],
          ['exthdr hbh', (draw) => draw.one(['exists', 'missing'])],
          ['hbh nexthdr', NAMES(['tcp', 'udp'])],
        ] satisfies Condition[])),
  ];
}

/** What a rule does at its end. */
function statement(draw: Draw, header: 'ip' | 'ip6', transport: string | undefined): string {
  const statements = [
    ...['', '', '', 'return', 'goto seen', 'continue'],
    ...[
      `meta mark set ${draw.one(MARKS)}`,
      'meta mark set meta mark | 0x10',
      'meta mark set meta mark & 0xf',
    ],
    ...['meta mark set ct mark', 'ct mark set meta mark', `ct mark set ${draw.one(MARKS)}`],
    ...['meta mark set tcp dport map @marks', 'meta mark set meta mark << 1'],
    ...['meta mark set tcp dport map { 80 : 0x1, 443 : 0x2 }', 'meta mark set numgen inc mod 4'],
    ...[
      'meta mark set jhash tcp sport . tcp dport mod 4 seed 0xabc',
      'tcp dport set 8080',
      'udp sport set 443',
    ],
    ...[`${header} saddr vmap @verdicts`, 'tcp dport vmap { 80 : return, 443 : goto seen }'],
    ...[
      'ct state vmap { new : return, established : goto seen }',
      'quota over 400 bytes',
      'numgen inc mod 3 1',
    ],
    ...[`update @recent { ${header} saddr }`, `add @recent { ${header} daddr }`],
    ...[`update @latest { ${header} saddr : meta mark }`, `meta mark set ${header} saddr map @latest`],
    ...[`update @latest { ${header} daddr : 0x1 }`],
  ];
  return draw.one(
    statements.filter(
      (each) => transport === undefined || !/\b(?:tcp|udp)\b/.test(each) || each.includes(transport),
    ),
  );
}

/** Conditions that name a protocol, which nft refuses beside those that demand another one. */
const NAMES_PROTOCOL = /^(?:meta l4proto|ct protocol|ip protocol|ip6 nexthdr)/;

/** A rule: conditions that a packet can meet at the same time, a counter, and a statement. */
export function randomRule(family: RuleFamily, random: () => number): string {
  const draw = new Draw(random);
  const version = family === 'ip' ? 4 : family === 'ip6' ? 6 : draw.one([4, 6] as const);
  const transport = draw.one(['tcp', 'tcp', 'udp', 'sctp', ICMP[version], undefined]);
  const fits = ([operand]: Condition) => {
    const [demanded = ''] = operand.match(/\b(?:tcp|udp|sctp|icmp|icmpv6)\b/) ?? [];
    if (demanded !== '') return demanded === transport;
    return transport === undefined || !NAMES_PROTOCOL.test(operand);
  };
  const table = [...OF_ANY, ...ofFamily(version)].filter(fits);
  const drawn = draw.several(table, 3);
  const naming = drawn.filter(([operand]) => NAMES_PROTOCOL.test(operand)).slice(0, 1);
  const conditions = [...naming, ...drawn.filter(([operand]) => !NAMES_PROTOCOL.test(operand))];
  const header = version === 4 ? 'ip' : 'ip6';
  const end = statement(draw, header, naming.length > 0 ? 'none' : transport);
  const texts = conditions.map(([operand, rest]) => `${operand} ${rest(draw)}`);
  const parts = texts.filter((each, i) => !texts.some((other, j) => j < i && isJoined(other, each)));
  const whole = (some: readonly string[]) => [...some, 'counter', end].join(' ').trim();
  const isOfNetwork = /\b(?:ip|ip6|icmp|icmpv6)\b/.test(whole(parts));
  return whole(isOfNetwork ? parts.filter((each) => !each.startsWith('ether')) : parts);
}

/**
 * Whether nft 1.0.6 makes one comparison of two, with another meaning: of fields beside each other in a header, of which one must be
 * another than a value, or has flags. It joins those of `ether` with the condition on the protocol that a field of the network layer
 * implies, also behind the counter.
 */
function isJoined(one: string, other: string): boolean {
  const [header] = one.split(' ', 1);
  return other.startsWith(`${header} `) && [one, other].some((each) => /!=|^tcp flags/.test(each));
}
