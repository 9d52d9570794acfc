// Conditions by the names of fields have the expressions of the text with the same condition, for every field of the table of the text.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Expression, NewSet, TableFamily } from '../../../../src/kernel/nftables/index.js';
import {
  CT_FIELDS,
  HEADER_FIELDS,
  META_NAMES,
  META_TYPES,
} from '../../../../src/kernel/nftables/text/fields.js';
import {
  type Condition,
  expressionsOf,
  type Matches,
  match,
  parseRuleset,
  type RulesetError,
} from '../../../../src/kernel/nftables/text/index.js';
import { isBitmask, type LoadedType } from '../../../../src/kernel/nftables/text/values.js';
import { SYMBOLS } from '../../../../src/kernel/nftables/values/symbols.js';

const PORTS = {
  family: 'inet',
  table: 't',
  name: 'ports',
  key: 'inet_service',
  flags: ['interval'],
} as const;
const MARKS = { family: 'inet', table: 't', name: 'marks', key: 'mark', flags: ['interval'] } as const;

/** The expressions of a rule in the notation of nft, or what it must be. */
function expressionsIn(family: TableFamily, rule: string): readonly Expression[] | string {
  const sets = [PORTS, MARKS]
    .map(({ name, key }) => `set ${name} {\ntype ${key}\nflags interval\n}\n`)
    .join('');
  try {
    const operations = parseRuleset(`table ${family} t {\n${sets}chain c {\n${rule}\n}\n}\n`);
    return operations.flatMap((each) => (each.do === 'addRule' ? each.rule.expressions : []));
  } catch (error) {
    const { problems } = error as RulesetError;
    return problems[0]?.rule.replace(/^`.*?` /, '') ?? '';
  }
}

/** Two values of each type, from the lower to the higher; the texts of those whose text is another one. */
const VALUES: Readonly<Partial<Record<LoadedType, readonly (string | number)[]>>> = {
  ipv4_addr: ['10.0.0.1', '10.0.0.9'],
  ipv6_addr: ['fd00::1', 'fd00::9'],
  ether_addr: ['02:00:00:00:00:01', '02:00:00:00:00:02'],
  ifname: ['eth0', 'eth1'],
  name: ['ftp', 'tftp'],
  time: ['1s', '2s'],
  classid: ['1:1', '1:2'],
};

function valuesOf(type: LoadedType): readonly (string | number)[] {
  if (type === 'boolean') return ['exists'];
  const names = Object.keys(SYMBOLS[type as keyof typeof SYMBOLS] ?? {});
  return (
    VALUES[type] ?? (isBitmask(type) ? names.slice(0, 2) : names.length > 1 ? names.slice(0, 1) : [0, 1])
  );
}

const textOf = (type: LoadedType, value: string | number) =>
  type === 'ifname' || type === 'name' ? `"${value}"` : String(value);

/** Every field: its words, its type, and the function that makes its condition, of {@link match} or of `match.not`. */
function fields(
  matches: Matches,
): [words: string, type: LoadedType, make: (...values: unknown[]) => Condition][] {
  const at = (...path: readonly string[]) =>
    path.reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], matches) as never;
  const ct = Object.entries(CT_FIELDS).map(([key, [type, name = key]]) => [name, type] as const);
  return [
    ...HEADER_FIELDS.map(({ header, name, type }) => [`${header} ${name}`, type, at(header, name)] as never),
    ...Object.entries(META_TYPES).map(([key, type]) => {
      const name = META_NAMES[key as keyof typeof META_TYPES] ?? key;
      return [`meta ${name}`, type, at('meta', name)] as never;
    }),
    ...ct.map(([name, type]) => [`ct ${name}`, type, at('ct', name)] as never),
    ...(['original', 'reply'] as const).flatMap((direction) =>
      ct.map(([name, type]) => [`ct ${direction} ${name}`, type, at('ct', direction, name)] as never),
    ),
  ];
}

/** The family in whose tables a field is read, and what is before it. */
function placeOf(words: string): [family: TableFamily, before: string] {
  if (/^ct (?:original |reply )?(?:s|d)addr$/.test(words)) return ['ip', ''];
  if (words.startsWith('ct') && /proto-/.test(words)) return ['inet', 'meta l4proto tcp '];
  return [words.startsWith('arp') ? 'arp' : 'inet', ''];
}

describe('a condition of a field', () => {
  it('has the expressions of the text, for every field, and so has its opposite', () => {
    let compared = 0;
    for (const [words, type, make] of fields(match)) {
      const [, , deny] = fields(match.not).find(([other]) => other === words) ?? assert.fail(words);
      const [family, before] = placeOf(words);
      const values = valuesOf(type);
      const [first, last] = values.map((value) => textOf(type, value));
      const same = (condition: Condition, text: string) => {
        const expected = expressionsIn(family, `${before}${words} ${text}`);
        const made = () => expressionsOf(family, before === '' ? [condition] : [before, condition]);
        if (typeof expected === 'string') {
          assert.throws(
            made,
            ({ message }: Error) => message.includes(expected),
            `${words} ${text}: ${expected}`,
          );
          return;
        }
        compared++;
        assert.deepEqual(made(), expected, `${words} ${text}`);
      };
      same(make(values[0]), `${first}`);
      same(deny(values[0]), isBitmask(type) ? `! ${first}` : `!= ${first}`);
      if (isBitmask(type)) same(make(...values), `${first},${last}`);
      if (isBitmask(type) || values.length < 2 || first?.startsWith('"')) continue;
      const [from, to] = values;
      same(make({ from, to }), `${first}-${last}`);
      same(deny({ from, to }), `!= ${first}-${last}`);
      same(make({ from }), `>= ${first}`);
      same(make({ to }), `<= ${last}`);
      same(deny({ to }), `> ${last}`);
      same(deny({ from }), `< ${first}`);
    }
    assert.ok(compared > 1200, `only ${compared} conditions`);
  });

  it('of several values has a set, of a network its prefix, and of a set of the table its name', () => {
    const rows: readonly [Condition, string][] = [
      [match.ip.saddr('10.0.0.0/8'), 'ip saddr 10.0.0.0/8'],
      [match.ip6.daddr('fd00::/12'), 'ip6 daddr fd00::/12'],
      [match.not.ip.saddr('10.0.0.0/8', '192.0.2.1'), 'ip saddr != { 10.0.0.0/8, 192.0.2.1 }'],
      [match.tcp.dport(22, { from: 80, to: 90 }), 'tcp dport { 22, 80-90 }'],
      [match.icmp.type('echo-request', 'echo-reply'), 'icmp type { echo-request, echo-reply }'],
      [match.meta.iifname('eth*'), 'iifname "eth*"'],
      [match.meta.l4proto('tcp', 'udp'), 'meta l4proto { tcp, udp }'],
      [match.ct.state('established', 'related'), 'ct state established,related'],
      [match.ct.original['ip saddr']('10.0.0.1'), 'ct original ip saddr 10.0.0.1'],
      [match.ct.bytes({ from: 2n ** 40n }), `ct bytes >= ${2 ** 40}`],
      [match.ct.expiration({ from: '1m' }), 'ct expiration >= 1m'],
      [match.th.dport(PORTS), 'th dport @ports'],
      [match.not.meta.mark(MARKS), 'meta mark != @marks'],
    ];
    for (const [condition, text] of rows)
      assert.deepEqual(expressionsOf('inet', [condition]), expressionsIn('inet', text), text);
  });

  it('is joined with others, statements and expressions: what several imply is there once', () => {
    const parts = [
      match.ip.saddr('10.0.0.0/8'),
      { kind: 'counter' },
      match.tcp.sport(53),
      match.tcp.dport({ from: 1024 }),
      'meta mark set 0x1',
      { kind: 'verdict', verdict: { verdict: 'accept' } },
    ] as const;
    for (const family of ['ip', 'inet', 'bridge', 'netdev'] as const) {
      const expected = expressionsIn(
        family,
        'ip saddr 10.0.0.0/8 counter tcp sport 53 tcp dport >= 1024 meta mark set 0x1 accept',
      );
      assert.deepEqual(expressionsOf(family, parts), expected);
    }
    assert.deepEqual(expressionsOf('ip', []), []);
  });

  const refused: readonly [what: string, parts: readonly unknown[], error: RegExp][] = [
    [
      'an address of the other family',
      [match.ip.saddr('fd00::1')],
      /^parts\[0\] \(ip saddr\) must be an IPv4 address/,
    ],
    [
      'a port above 65535',
      [match.tcp.dport(65_536)],
      /^parts\[0\] \(tcp dport\) must be .* 65535.*, found 65536$/,
    ],
    ['a fraction', [match.tcp.dport(1.5)], /found 1\.5$/],
    ['bits behind a prefix', [match.ip.saddr('10.0.0.1/8')], /must have zeros behind the 8 bits/],
    ['a name that is none', [match.ct.state('old')], /^parts\[0\] \(ct state\) must be/],
    ['a range of names', [match.meta.iifname({ from: 'a', to: 'b' } as never)], /must be a name/],
    [
      'more of the rule in a value',
      [match.ip.saddr('10.0.0.1 accept')],
      /must be an IPv4 address.*found '10\.0\.0\.1 accept'$/,
    ],
    ['a set by its sign', [match.tcp.dport('@ports' as never)], /must be a value, found '@ports'$/],
    ['a set with other elements', [match.ip.saddr(PORTS)], /must be a set of ipv4_addr/],
    ['no value', [(match.tcp.dport as () => Condition)()], /found \[\]$/],
    [
      'two protocols',
      [match.tcp.dport(80), match.udp.dport(53)],
      /^parts\[1\] \(udp dport\) must be of packets of protocol 6/,
    ],
    [
      'another family of packets',
      [match.ip.saddr('10.0.0.1'), match.ip6.saddr('fd00::1')],
      /^parts\[1\] \(ip6 saddr\) must be of packets of ip/,
    ],
    [
      'an unknown statement',
      ['counters'],
      /^parts\[0\] must be statements of nft: `counters` is no statement/,
    ],
    [
      'a text that changes the part before it',
      [match.ct.state('new'), ', invalid'],
      /^parts\[1\] must be statements of nft: `,` is no statement/,
    ],
    ['a comment', ['counter comment "a"'], /must have no comment/],
    [
      'what is behind a verdict',
      ['accept', match.tcp.dport(80)],
      /^parts\[1\] \(tcp dport\) must be the end of the rule/,
    ],
    ['what is no part', [5], /^parts\[0\] must be a condition/],
  ];
  for (const [what, parts, error] of refused) {
    it(`refuses ${what}, and names it`, () => {
      assert.throws(
        () => expressionsOf('inet', parts as never),
        ({ message }: Error) => {
          assert.match(message.replace('nftables.expressionsOf: ', ''), error);
          return true;
        },
      );
    });
  }

  it('takes the object with which a set is added', () => {
    const set: NewSet = PORTS;
    assert.equal(match.th.dport(set).field, 'th dport');
    // @ts-expect-error: the table has no such field.
    assert.throws(() => match.tcp.color(1), TypeError);
    // @ts-expect-error: an address is a text.
    match.ip.saddr(10);
  });
});
