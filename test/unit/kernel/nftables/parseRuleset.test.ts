// The text of nft as operations, and back. test/kernel/nftables-text.test.ts compares both with nft itself.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type NftablesOperation, throwOnFailure } from '../../../../src/kernel/nftables/index.js';
import {
  formatRuleset,
  parseRuleset,
  parseRulesetAsync,
  RulesetError,
} from '../../../../src/kernel/nftables/text/index.js';
import { FakeNftables } from '../../../../src/kernel/testing/index.js';
import { sample } from '../../../support/extent.js';
import { inOrder } from '../../../support/nftables/listed.js';
import { RULE_LINES, SETS } from '../../../support/nftables/ruleLines.js';
import { rulesetOf } from '../../../support/nftables/rulesetOf.js';
import { FIREWALL, KUBE_PROXY, SETS_AND_OBJECTS } from '../../../support/nftables/rulesets.js';
import { ROOT } from '../../../support/paths.js';

const LINKS = new Map([[1, 'lo']]);
const printed = (operations: readonly NftablesOperation[]) =>
  formatRuleset({ ...rulesetOf(operations), links: LINKS });

describe('rules, as nft lists them, are read and printed again', () => {
  for (const [family, lines] of Object.entries(RULE_LINES))
    for (const line of lines)
      it(`${family}: ${line}`, () => {
        const text = `table ${family} t {\n${family === 'inet' ? SETS : ''}\tchain other {\n\t}\n\n\tchain c {\n\t\t${line}\n\t}\n}\n`;
        assert.equal(printed(parseRuleset(text)), text);
      });
});

/** The lines of each block, without their order among blocks. */
function blocksOf(text: string): Map<string, string[]> {
  const blocks = new Map<string, string[]>();
  let table = '';
  let lines: string[] = [];
  for (const line of inOrder(text)) {
    if (line.startsWith('table ')) table = line;
    const isHead = /^(?:table|set|map|chain|counter|quota|limit|synproxy|flowtable) .*\{$/.test(line);
    if (isHead) lines = [];
    if (isHead) blocks.set(`${table} ${line}`, lines);
    else if (line !== '}' && line !== '') lines.push(line.replace(/^(elements = \{ )(.*?),? \}$/, '$1$2 }'));
  }
  return blocks;
}

const folder = join(ROOT, 'test/oracle/recordings');
const RECORDINGS = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('nft.txt') && existsSync(join(folder, path)))
  .map((path): [string, string] => [path, readFileSync(join(folder, path), 'utf8')]);

describe('rulesets, as nft lists them, are read, applied and listed again', () => {
  it('there are recordings', () => assert.ok(RECORDINGS.length > 50, String(RECORDINGS.length)));

  const own = [
    ['KUBE_PROXY', KUBE_PROXY],
    ['FIREWALL', FIREWALL],
    ['SETS_AND_OBJECTS', SETS_AND_OBJECTS],
  ] as const;
  const texts = [...own, ...sample(RECORDINGS, 10)] as const;
  for (const [name, text] of texts)
    it(name, async () => {
      const [first, second] = [new FakeNftables(), new FakeNftables()];
      throwOnFailure(await first.apply(parseRuleset(text)));
      const listed = first.dump();
      throwOnFailure(await second.apply(parseRuleset(listed)));
      assert.equal(second.dump(), listed);
      if (!own.some(([, each]) => each === text) || text === SETS_AND_OBJECTS)
        assert.deepEqual(blocksOf(listed), blocksOf(text));
    });
});

it('objects, sets, elements, and the order of the operations', () => {
  const text = `table inet t { # handle 1
	flags dormant
	comment "a table"
	counter c {
		comment "counted"
		packets 5 bytes 7
	}
	map m {
		typeof ip daddr . meta mark : ip daddr . tcp dport
		size 10
		flags timeout
		timeout 1d2h
		comment "a map"
		elements = { 10.0.0.1 . 0x00000005 timeout 1h expires 30m5s comment "x" : 10.1.0.1 . 80,
			     10.0.0.2 . 0x00000006 : 10.1.0.2 . 81 }
	}
	chain a { type nat hook prerouting priority dstnat + 5; policy drop; accept; }
	chain b {
		comment "regular"
		iif "eth5" drop comment "a rule" # handle 7
	}
}
table netdev n {
	chain i {
		type filter hook ingress devices = { "eth0", "lo" } priority -5; policy accept;
	}
}
`;
  const T = { family: 'inet', table: 't' } as const;
  const set = {
    ...{ ...T, name: 'm', key: ['ipv4_addr', 'mark'], data: ['ipv4_addr', 'inet_service'] },
    ...{ flags: ['timeout'], keyExpressions: ['ip daddr', 'meta mark'] },
    dataExpressions: ['ip daddr', 'tcp dport'],
  };
  assert.deepEqual(parseRuleset(text, { links: new Map([[5, 'eth5']]) }), [
    { do: 'addTable', table: { family: 'inet', name: 't', flags: ['dormant'], comment: 'a table' } },
    {
      do: 'addChain',
      chain: {
        ...{ ...T, name: 'a' },
        base: { type: 'nat', hook: 'prerouting', priority: -95, policy: 'drop' },
      },
    },
    { do: 'addChain', chain: { ...T, name: 'b', comment: 'regular' } },
    {
      do: 'addObject',
      object: { ...T, name: 'c', type: 'counter', comment: 'counted', packets: 5n, bytes: 7n },
    },
    { do: 'addSet', set: { ...set, size: 10, timeout: 93_600_000n, comment: 'a map' } },
    {
      do: 'addElements',
      set,
      elements: [
        {
          ...{ key: ['10.0.0.1', 5], data: ['10.1.0.1', 80], comment: 'x' },
          ...{ timeout: 3_600_000n, expires: 1_805_000n },
        },
        { key: ['10.0.0.2', 6], data: ['10.1.0.2', 81] },
      ],
    },
    {
      do: 'addRule',
      rule: { ...T, chain: 'a', expressions: [{ kind: 'verdict', verdict: { verdict: 'accept' } }] },
    },
    {
      do: 'addRule',
      rule: {
        ...{ ...T, chain: 'b', comment: 'a rule' },
        expressions: [
          { kind: 'meta', key: 'iif', register: 1 },
          { kind: 'cmp', operator: 'eq', source: 1, data: new Uint8Array(Uint32Array.of(5).buffer) },
          { kind: 'verdict', verdict: { verdict: 'drop' } },
        ],
      },
    },
    { do: 'addTable', table: { family: 'netdev', name: 'n' } },
    {
      do: 'addChain',
      chain: {
        ...{ family: 'netdev', table: 'n', name: 'i' },
        base: { type: 'filter', hook: 'ingress', priority: -5, policy: 'accept', devices: ['eth0', 'lo'] },
      },
    },
  ]);
});

/** The expressions of a rule of `inet`, behind maps. */
function expressionsOf(rule: string) {
  const maps = `\tmap wide {\n\t\ttype ipv6_addr . ipv6_addr : mark\n\t}\n\tmap ports {\n\t\ttype ipv4_addr : inet_service\n\t}\n`;
  const operations = parseRuleset(`table inet t {\n${maps}\tchain c {\n\t\t${rule}\n\t}\n}\n`);
  return operations.flatMap((each) => (each.do === 'addRule' ? each.rule.expressions : []));
}

describe('registers of a statement', () => {
  it('data are behind a key of 32 bytes', () => {
    const expressions = expressionsOf('update @wide { ip6 saddr . ip6 daddr : 5 }');
    assert.deepEqual(
      expressions.flatMap((each) => ('register' in each && each.kind !== 'meta' ? [each.register] : [])),
      [1, 2, 3],
    );
    assert.deepEqual(expressions.at(-1), {
      ...{ kind: 'dynset', operation: 'update', set: 'wide', source: 1, dataSource: 3 },
    });
  });

  it('the conditions of data are before the key is loaded', () => {
    const kinds = expressionsOf('update @ports { ip saddr : tcp sport }').map(({ kind }) => kind);
    assert.deepEqual(kinds, ['meta', 'cmp', 'meta', 'cmp', 'payload', 'payload', 'dynset']);
  });

  it('a key has room', () => {
    const key = Array(5).fill('ip6 saddr').join(' . ');
    for (const rule of [`${key} { fd00::1 }`, `jhash ${key.slice(0, 45)} mod 2 1`])
      assert.throws(() => expressionsOf(rule), /have room in 64 bytes of registers/);
  });
});

describe('a field of some types of messages only has a condition of the type', () => {
  const types = { icmp: 'echo-reply, echo-request', icmpv6: 'echo-request, echo-reply' };
  for (const [header, list] of Object.entries(types))
    for (const field of ['id 5', 'sequence 1-5'])
      it(`${header} ${field}`, () => {
        const plain = printed(parseRuleset(inChainOf('inet', `${header} ${field}`)));
        const whole = inChainOf('inet', `${header} type { ${list} } ${header} ${field}`);
        assert.equal(plain, whole);
        assert.equal(printed(parseRuleset(whole)), whole);
      });
});

const inChainOf = (family: string, rule: string) => `table ${family} t {\n\tchain c {\n\t\t${rule}\n\t}\n}\n`;

/** Other texts of rules that nft lists. */
const FORMS: readonly [text: string, listed: string][] = [
  ['tcp dport eq 80', 'tcp dport 80'],
  ['tcp dport ne 80', 'tcp dport != 80'],
  ['meta skuid gt 3000', 'meta skuid > 3000'],
  ['mark and 0xff == 0x1', 'meta mark & 0x000000ff == 0x00000001'],
  ['ct mark set ct mark and 0xffff or 0x1', 'ct mark set ct mark & 0x0000ffff | 0x00000001'],
  ['ct mark set 0x11 or 0x22', 'ct mark set 0x00000033'],
  ['ct mark xor 0x23 == 0x11', 'ct mark 0x00000032'],
  ['tcp flags & (fin | syn) == syn', 'tcp flags syn / fin,syn'],
  ['tcp dport { 20-30, 1-5, 6-9, 3-7 }', 'tcp dport { 1-9, 20-30 }'],
  ['limit rate 1 mbytes / second burst 2kbytes', 'limit rate 1 mbytes/second burst 2 kbytes'],
  ['counter bytes 5 packets 6', 'counter packets 6 bytes 5'],
  ['ct expiration 90', 'ct expiration 1m30s'],
  ['ct event set new | related', 'ct event set new,related'],
  ['fib daddr check missing', 'fib daddr oif missing'],
  ['meta nfproto ipv4 reject', 'reject with icmp port-unreachable'],
  ['icmp mtu 1280', 'icmp type destination-unreachable icmp mtu 1280'],
];
describe('other texts of rules', () => {
  for (const [text, listed] of FORMS)
    it(text, () => assert.equal(printed(parseRuleset(inChainOf('inet', text))), inChainOf('inet', listed)));
});

it('a text without tables has no operations', () => {
  for (const text of ['', '\n', '# nothing\n', ' \t\r\n']) assert.deepEqual(parseRuleset(text), []);
});

/** The table of a broken statement in a chain of `ip`. */
const inChain = (rule: string) => inChainOf('ip', rule);
const inSet = (line: string) => `table ip t {\n\tset s {\n\t\ttype ipv4_addr\n\t\t${line}\n\t}\n}\n`;

const BROKEN: readonly [text: string, line: number, column: number, rule: RegExp][] = [
  ['bogus', 1, 1, /^`bogus` must be a table: a listing has no commands and no definitions$/],
  ['flush ruleset', 1, 1, /^`flush` must be a table/],
  ['define port = 80', 1, 1, /^`define` must be a table/],
  ['add rule ip t c accept', 1, 1, /^`add` must be a table/],
  ['table bogus t {\n}\n', 1, 7, /^`bogus` must be one of ip, ip6/],
  ['table ip {\n}}\n', 2, 2, /^`}` has no opening brace$/],
  ['table ip t {\n\tchain c {\n', 2, 2, /^`chain` has no closing brace$/],
  ['table ip t {\n\ttunnel f {\n\t\tid 5\n\t}\n}\n', 2, 2, /^`tunnel` is no kind of object/],
  ['table ip t {\n\tflowtable f {\n\t\thook egress priority 0\n\t}\n}\n', 3, 8, /must be `ingress`/],
  ['table ip t {\n\tct helper h {\n\t\ttype "ftp" protocol sctp\n\t}\n}\n', 3, 23, /must be one of tcp, udp/],
  [
    'table ip t {\n\tct timeout h {\n\t\tprotocol tcp\n\t\tpolicy = { opened : 3s }\n\t}\n}\n',
    2,
    2,
    /must be times, by/,
  ],
  ['table ip t {\n\tcounter c {\n\t\tbytes 5\n\t}\n}\n', 3, 3, /is no statement of a counter/],
  ['table ip t {\n\tquota q {\n\t\t5 pounds\n\t}\n}\n', 3, 5, /`pounds` must be one of bytes, kbytes/],
  ['table ip t {\n\tflags dormant,lazy\n}\n', 2, 16, /`lazy` must be one of dormant, owner/],
  ['table ip t {\n\tcomment none\n}\n', 2, 10, /`none` must be a comment, in quotation marks/],
  [`table ip ${'n'.repeat(256)} {\n}\n`, 1, 1, /table\.name must be a name of 1 to 255 bytes/],
  [inChain('type filter hook bogus priority 0;'), 3, 20, /`bogus` must be one of prerouting/],
  [inChain('type filter hook input priority high;'), 3, 35, /`high` must be an integer, or the name/],
  [inChain('type filter hook input priority 5000000000;'), 2, 2, /chain\.base\.priority must be an integer/],
  [inChain('ip saddr 10.0.0'), 3, 12, /^`10\.0\.0` must be an IPv4 address$/],
  [inChain('ip saddr 10.0.0.1/33'), 3, 12, /must be an integer from 0 to 32/],
  [inChain('ip saddr 10.0.0.1/24'), 3, 12, /must have zeros behind the 24 bits/],
  [inChain('ip saddr'), 3, 11, /^the end must be a value$/],
  [inChain('ip saddr 10.0.0.1 bogus'), 3, 21, /`bogus` is no statement that the library has/],
  [inChain('ip bogus 5'), 3, 6, /`bogus` is no field of ip/],
  [inChain('ip6 saddr fd00::1'), 3, 3, /must be of packets of ip/],
  [inChain('tcp dport 80 udp dport 53'), 3, 16, /must be of packets of protocol 6/],
  [inChain('tcp dport 65536'), 3, 13, /must be an integer from 0 to 65535/],
  [inChain('tcp dport http'), 3, 13, /`http` must be an integer from 0 to 65535/],
  [inChain('tcp dport > 80-90'), 3, 15, /must be one value/],
  [inChain('tcp dport { 80'), 1, 1, /^`table` has no closing brace$/],
  ['table ip t {\n\tchain c {\n\t\ttcp dport { 80\n', 3, 13, /^`{` has no closing brace$/],
  [inChain('tcp dport { }'), 3, 15, /`}` must be an integer/],
  [inChain('tcp dport < { 80 }'), 3, 15, /only `!=` is compared/],
  [inChain('ip saddr . tcp dport 80'), 3, 24, /must be a set: several values/],
  [inChain('ip saddr @none'), 3, 12, /`@none` must be a set that the table has/],
  [inChain('ct original zone { 5, 6 }'), 3, 20, /no set of such values/],
  [inChain('tcp option maxseg size . ip daddr { 5 . 10.0.0.1 }'), 3, 37, /no set of such values/],
  [inChain('meta mark set ip ttl'), 3, 17, /`ip` must be a value of 4 bytes/],
  [inChain('meta mark set bogus'), 3, 17, /`bogus` must be an integer/],
  [inChain('ct state sleepy'), 3, 12, /must be an integer from 0 to 4294967295, or one of invalid/],
  [inChain('ct state < new'), 3, 14, /are compared with/],
  [inChain('iif "eth9"'), 3, 7, /^"eth9" must be a link that `links` has/],
  [inChain('tcp dport 80 dnat to 10.0.0.1:99999'), 3, 24, /must be an integer from 0 to 65535/],
  [inChain('dnat to fd00::1'), 3, 11, /must be an address of ip/],
  [inChain('snat ip6 to fd00::1'), 3, 3, /must be of packets of ip/],
  [inChain('limit rate 5/fortnight'), 3, 14, /must be a rate per second/],
  [inChain('log level loud'), 3, 13, /must be one of emerg/],
  [inChain('reject with icmpv6 no-route'), 3, 15, /must be a rejection of the family/],
  [inChain('queue to 5-2'), 3, 12, /must be the number of a queue/],
  [inChain('update @none { ip saddr }'), 3, 10, /must be a set that the table has/],
  [inChain('accept comment "open'), 3, 18, /needs a quotation mark at its end/],
  [inChain('accept comment "a" drop'), 3, 22, /must be the end of the statement/],
  [inChain(`accept comment "${'c'.repeat(129)}"`), 3, 3, /rule\.comment must be a text of at most 128 bytes/],
  [inChain('redirect to :80'), 3, 12, /must be behind a condition of the protocol/],
  [inChain('tproxy to 127.0.0.1'), 3, 3, /must be behind a condition of the protocol/],
  [inChain('ct original proto-dst 80'), 3, 3, /must be behind a condition of the protocol/],
  [inChain('meta nfproto ipv4'), 3, 3, /must be of the family inet/],
  [inChain('tcp dport 20-10'), 3, 13, /must be a range from the lower/],
  [inChain('dnat to 10.0.0.9-10.0.0.1'), 3, 11, /must be a range from the lower/],
  [inChain('limit rate 5/second burst 0 packets'), 3, 29, /must be an integer from 1/],
  [inChain('log level audit prefix "x"'), 3, 7, /nothing beside `level audit`/],
  [inChain('rt ip6 nexthop fd00::1'), 3, 10, /must be of packets of ip/],
  [inChain('socket transparent 5'), 3, 22, /must be at most 1/],
  [inChain('meta nftrace 2'), 3, 16, /must be at most 1/],
  [inChain('accept drop'), 3, 10, /must be the end of the rule/],
  [inChainOf('arp', 'tcp dport 80'), 3, 3, /must be of packets of arp/],
  [inChain('icmp type redirect icmp id 5'), 3, 22, /must be of messages of another type/],
  [inChain('meta mark set meta mark | 0x10 & 0xff'), 3, 34, /must be behind parentheses/],
  [inChain('meta mark set meta mark & 0xff << 8'), 3, 34, /must be behind parentheses/],
  [inChain('meta mark set ip saddr'), 3, 17, /must be a value of mark, and is one of ipv4_addr/],
  [inChain('masquerade accept'), 3, 14, /must be the end of the rule/],
  [inChain('reject counter'), 3, 10, /must be the end of the rule/],
  [inChain('meta l4proto { tcp, udp } tcp dport 80'), 3, 29, /that there may be several/],
  [inChain('meta l4proto != tcp redirect to :80'), 3, 32, /must be behind a condition of the protocol/],
  [inChainOf('inet', 'meta nfproto { ipv4, ipv6 } ip saddr 10.0.0.1'), 3, 31, /that there may be several/],
  [inChainOf('inet', 'meta nfproto ipv6 ct original ip saddr 10.0.0.1'), 3, 36, /must be of packets of ip6/],
  [inChain('ct original saddr . meta mark { 10.0.0.1 . 5 }'), 3, 3, /must have the family of the address/],
  [
    inChain('snat ip to ip saddr map { 10.0.0.1 : 10.0.0.2 . 80 }'),
    3,
    23,
    /behind a condition of the protocol/,
  ],
  [inChainOf('bridge', 'ether type ip vlan id 1'), 3, 17, /must be of frames with one tag/],
  [inChainOf('bridge', 'vlan id 4096'), 3, 11, /must be at most 4095/],
  [inChainOf('inet', 'arp operation request'), 3, 3, /must be of packets of inet/],
  [inChain('meta day 7'), 3, 12, /must be at most 6/],
  [inChain('ip dscp & 0x3 == 0x1'), 3, 11, /changes bits of whole bytes only/],
  [inChain('limit rate 1 gbytes/second'), 3, 14, /must be a unit of bytes/],
  [inChain('numgen random mod 0 1'), 3, 21, /must be an integer from 1/],
  [inChain('@nh,4,8 5'), 3, 7, /must be a multiple of 8 bits/],
  [inChain('fwd to "lo"'), 3, 10, /must be of the family netdev/],
  [inSet('elements = { 10.0.0.1, 10.0.0 }'), 4, 26, /`10\.0\.0` must be an IPv4 address/],
  [inSet('elements = { 10.0.0.0/8 }'), 4, 16, /keyEnd is of sets with the flag interval/],
  [inSet('elements = { 10.0.0.1 last }'), 4, 25, /`last` must be the end of the statement/],
  [inSet('elements = { 10.0.0.1,, 10.0.0.2 }'), 4, 25, /`,` has no element before it/],
  [inSet('elements = { 10.0.0.1 : drop }'), 4, 25, /`:` must be the end of the statement/],
  [inSet('flags interval,fast'), 4, 18, /must be one of constant, dynamic/],
  [inSet('gc-interval 5'), 4, 15, /must be a time/],
  [inSet('last'), 4, 3, /is no statement of a set/],
  [inSet('timeout 5x'), 4, 11, /must be a time/],
  ['table ip t {\n\tset s {\n\t\telements = { 5 }\n\t}\n}\n', 2, 2, /must have a type, before its elements/],
  ['table ip t {\n\tset s {\n\t\ttype bogus\n\t}\n}\n', 3, 8, /`bogus` must be one of/],
  ['table ip t {\n\tmap m {\n\t\ttype mark\n\t}\n}\n', 3, 12, /^the end must be `:`$/],
  ['table ip t {\n\tset s {\n\t\ttypeof ip bogus\n\t}\n}\n', 3, 10, /must be what typeof names/],
];

const cut = (line: string) => (line.length > 200 ? `${line.slice(0, 200)}…` : line);

describe('a broken text', () => {
  for (const [text, line, column, rule] of BROKEN)
    it(JSON.stringify(text.replace(/(\w)\1{20,}/g, '$1…')), () => {
      assert.throws(
        () => parseRuleset(text),
        (error) => {
          assert.ok(error instanceof RulesetError);
          const [problem] = error.problems;
          assert.ok(problem);
          assert.match(problem.rule, rule);
          assert.deepEqual([problem.line, problem.column], [line, column], problem.rule);
          assert.equal(problem.text, cut(text.split('\n')[line - 1] ?? ''));
          assert.ok(error.message.startsWith(`line ${line}, column ${column}: ${problem.rule}`));
          return true;
        },
      );
    });

  it('has all of its problems, and nothing of a block that cannot be read', () => {
    const text = `table ip t {
	tunnel f {
		hook ingress { 5 }
	}
	chain c {
		accept
		bogus
		drop
		ip saddr x
	}
}
`;
    assert.throws(
      () => parseRuleset(text),
      (error) => {
        assert.ok(error instanceof RulesetError);
        assert.deepEqual(
          error.problems.map(({ line }) => line),
          [2, 7, 9],
        );
        assert.match(error.message, /\(and 2 more\)$/);
        return true;
      },
    );
  });
});

/** The text in pieces of so many characters. */
async function* piecesOf(text: string, size: number): AsyncGenerator<string> {
  for (let start = 0; start < text.length; start += size) yield text.slice(start, start + size);
}

describe('in time slices', () => {
  it('is read as at once, however it is divided', async () => {
    const expected = parseRuleset(FIREWALL);
    for (const input of [FIREWALL, piecesOf(FIREWALL, 1), piecesOf(FIREWALL, 1000)])
      assert.deepEqual(await parseRulesetAsync(input), expected);
    await assert.rejects(parseRulesetAsync(piecesOf('table ip t {\nbogus\n}', 3)), RulesetError);
  });

  it('lets other callbacks run within a long line, and ends when it is aborted', async () => {
    const addresses = Array.from({ length: 20_000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`);
    const text = inSet(`elements = { ${addresses.join(', ')} }`);
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const operations = await parseRulesetAsync(text);
    clearInterval(timer);
    assert.ok(turns > 2, `${turns} turns of the event loop`);
    const [elements] = operations.filter((operation) => operation.do === 'addElements');
    assert.equal((elements as { readonly elements: readonly unknown[] }).elements.length, addresses.length);
    const reason = new Error('enough');
    const abort = new AbortController();
    setTimeout(() => abort.abort(reason), 0);
    await assert.rejects(parseRulesetAsync(text, { signal: abort.signal }), reason);
  });
});
