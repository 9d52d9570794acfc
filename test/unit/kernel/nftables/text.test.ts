// A ruleset as text. The expected texts are those of nft 1.0.6 for the same ruleset; test/kernel/nftables-text.test.ts compares more of
// them with nft itself.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { formatRuleset } from '../../../../src/kernel/nftables/text/ruleset.js';
import type { SetContent } from '../../../../src/kernel/nftables/text/sets.js';
import { timeText } from '../../../../src/kernel/nftables/text/values.js';
import type {
  BaseChain,
  Chain,
  Element,
  Expression,
  NftSet,
  Rule,
} from '../../../../src/kernel/nftables/types.js';
import { bytesOf } from '../../../../src/kernel/nftables/values/values.js';
import { layoutOf } from '../../../../src/kernel/nftables/values/valueTypes.js';

const TABLE = { family: 'ip', table: 'kube-proxy' } as const;
const MASK = 0x4000;

const daddr: Expression = { kind: 'payload', base: 'network', offset: 16, length: 4, register: 1 };
const saddr: Expression = { kind: 'payload', base: 'network', offset: 12, length: 4, register: 1 };
const l4proto = (register: number): Expression => ({ kind: 'meta', key: 'l4proto', register });
const dport = (register: number): Expression => ({
  kind: 'payload',
  base: 'transport',
  offset: 2,
  length: 2,
  register,
});
const mark: Expression = { kind: 'meta', key: 'mark', register: 1 };
const equal = (data: Uint8Array): Expression => ({ kind: 'cmp', operator: 'eq', source: 1, data });
const bits = (mask: number, xor: number): Expression => ({
  kind: 'bitwise',
  source: 1,
  register: 1,
  mask: bytesOf('mark', mask >>> 0),
  xor: bytesOf('mark', xor),
});

function set(
  name: string,
  shape: Pick<NftSet, 'key'> & Partial<NftSet>,
  elements: Element[] = [],
): SetContent {
  const keyLength = typeof shape.key === 'number' ? 0 : layoutOf(shape.key).length;
  return { set: { ...TABLE, name, flags: [], keyLength, handle: 1n, ...shape }, elements };
}

const SETS = [
  set('cluster-ips', { key: 'ipv4_addr', comment: 'Active' }, [
    { key: '10.0.0.2', comment: 'hello' },
    { key: '10.0.0.1' },
    { key: '9.0.0.1' },
  ]),
  set('service-ips', { key: ['ipv4_addr', 'inet_proto', 'inet_service'], data: 'verdict' }, [
    { key: ['10.96.0.1', 'tcp', 443], data: { verdict: 'goto', chain: 'service-A/b' }, comment: 'x/y' },
    { key: ['10.96.0.2', 'udp', 53], data: { verdict: 'drop' } },
  ]),
  set('affinity', { key: 'ipv4_addr', flags: ['dynamic', 'timeout'], size: 65535, timeout: 10_800_000n }, [
    { key: '10.0.0.1', expires: 61_001n },
  ]),
  set('__map0', { key: 'integer', data: ['ipv4_addr', 'inet_service'], anonymous: true }, [
    { key: 1, data: ['10.1.1.2', 80] },
    { key: 0, data: ['10.1.1.1', 80] },
  ]),
  set('__set1', { key: 'ipv4_addr', flags: ['interval', 'constant'], anonymous: true }, [
    { key: '10.0.0.128', keyEnd: '10.0.1.255' },
    { key: '10.0.0.0', keyEnd: '10.0.0.127' },
    { key: '0.0.0.0', keyEnd: '255.255.255.255' },
  ]),
];

const RULES: readonly [text: string, ...expressions: Expression[]][] = [
  ['jump services', { kind: 'verdict', verdict: { verdict: 'jump', chain: 'services' } }],
  [
    'ip daddr @cluster-ips ip saddr != 10.244.0.0/16 meta mark set meta mark | 0x00004000',
    daddr,
    { kind: 'lookup', set: 'cluster-ips', source: 1 },
    { kind: 'payload', base: 'network', offset: 12, length: 2, register: 1 },
    { kind: 'cmp', operator: 'neq', source: 1, data: Uint8Array.of(10, 244) },
    mark,
    bits(~MASK, MASK),
    { kind: 'metaSet', key: 'mark', source: 1 },
  ],
  [
    'meta mark & 0x00004000 != 0x00000000 meta mark set meta mark ^ 0x00004000 masquerade fully-random',
    mark,
    bits(MASK, 0),
    { kind: 'cmp', operator: 'neq', source: 1, data: new Uint8Array(4) },
    mark,
    bits(0xffff_ffff, MASK),
    { kind: 'metaSet', key: 'mark', source: 1 },
    { kind: 'masq', flags: ['fully-random'] },
  ],
  [
    'ip daddr . meta l4proto . th dport vmap @service-ips',
    daddr,
    l4proto(9),
    dport(10),
    { kind: 'lookup', set: 'service-ips', source: 1, register: 0 },
  ],
  [
    'meta l4proto tcp dnat ip to numgen random mod 2 map { 0 : 10.1.1.1 . 80, 1 : 10.1.1.2 . 80 }',
    l4proto(1),
    equal(Uint8Array.of(6)),
    { kind: 'numgen', type: 'random', modulus: 2, register: 1 },
    { kind: 'lookup', set: '__map0', source: 1, register: 1 },
    { kind: 'nat', type: 'dnat', family: 'ip', address: 1, port: 9 },
  ],
  [
    'meta l4proto tcp dnat to 10.1.1.1:8080',
    l4proto(1),
    equal(Uint8Array.of(6)),
    { kind: 'immediate', register: 1, data: bytesOf('ipv4_addr', '10.1.1.1') },
    { kind: 'immediate', register: 2, data: bytesOf('inet_service', 8080) },
    { kind: 'nat', type: 'dnat', family: 'ip', address: 1, port: 2 },
  ],
  [
    'ip saddr != { 0.0.0.0/0, 10.0.0.0/25, 10.0.0.128-10.0.1.255 } drop',
    saddr,
    { kind: 'lookup', set: '__set1', source: 1, invert: true },
    { kind: 'verdict', verdict: { verdict: 'drop' } },
  ],
  [
    'update @affinity { ip saddr }',
    saddr,
    { kind: 'dynset', operation: 'update', set: 'affinity', source: 1 },
  ],
  [
    'ct state new tcp dport 80 counter packets 0 bytes 0 reject',
    { kind: 'ct', key: 'state', register: 1 },
    { ...bits(0, 0), mask: bytesOf('ct_state', 'new'), xor: new Uint8Array(4) } as Expression,
    { kind: 'cmp', operator: 'neq', source: 1, data: new Uint8Array(4) },
    l4proto(1),
    equal(Uint8Array.of(6)),
    dport(1),
    equal(bytesOf('inet_service', 80)),
    { kind: 'counter' },
    { kind: 'reject', type: 'icmp', code: 3 },
  ],
  [
    'dnat ip to ip saddr map @absent',
    saddr,
    { kind: 'lookup', set: 'absent', source: 1, register: 1 },
    { kind: 'nat', type: 'dnat', family: 'ip', address: 1, port: 9 },
  ],
  [
    '[xt match] [register 9] [0x05]',
    { kind: 'unknown', name: 'xt match', data: new Uint8Array(2) },
    { kind: 'cmp', operator: 'eq', source: 9, data: Uint8Array.of(5) },
  ],
];

const chain = (name: string, more: Partial<Chain> = {}): Chain => ({
  ...TABLE,
  name,
  handle: 1n,
  use: 0,
  ...more,
});

it('a ruleset as nft lists it', () => {
  const rules = RULES.map(([text, ...expressions], i): Rule => {
    return {
      ...TABLE,
      chain: 'c',
      expressions,
      handle: BigInt(i + 1),
      ...(i === 0 ? { comment: text } : {}),
    };
  });
  const text = formatRuleset({
    tables: [
      { family: 'ip', name: 'kube-proxy', comment: 'rules for kube-proxy', flags: [], handle: 1n, use: 0 },
    ],
    chains: [chain('c'), chain('reject-chain', { comment: 'a helper' })],
    rules,
    sets: SETS,
    objects: [
      { ...TABLE, name: 'q', type: 'quota', bytes: 25n << 20n, used: 10n, over: true, handle: 1n, use: 0 },
    ],
  });
  assert.equal(
    text,
    `table ip kube-proxy {
	comment "rules for kube-proxy"
	quota q {
		over 25 mbytes used 10 bytes
	}

	set cluster-ips {
		type ipv4_addr
		comment "Active"
		elements = { 9.0.0.1, 10.0.0.1,
			     10.0.0.2 comment "hello" }
	}

	map service-ips {
		type ipv4_addr . inet_proto . inet_service : verdict
		elements = { 10.96.0.2 . udp . 53 : drop,
			     10.96.0.1 . tcp . 443 comment "x/y" : goto service-A/b }
	}

	set affinity {
		type ipv4_addr
		size 65535
		flags dynamic,timeout
		timeout 3h
		elements = { 10.0.0.1 expires 1m1s1ms }
	}

	chain c {
${RULES.map(([rule], i) => `\t\t${rule}${i === 0 ? ` comment "${rule}"` : ''}\n`).join('')}	}

	chain reject-chain {
		comment "a helper"
	}
}
`,
  );
});

const PRIORITIES: readonly [base: Omit<BaseChain, 'type'>, text: string][] = [
  [{ hook: 'prerouting', priority: -110 }, 'hook prerouting priority dstnat - 10;'],
  [{ hook: 'output', priority: -110 }, 'hook output priority -110;'],
  [{ hook: 'output', priority: -100 }, 'hook output priority -100;'],
  [{ hook: 'input', priority: 5, policy: 'drop' }, 'hook input priority filter + 5; policy drop;'],
  [
    { hook: 'postrouting', priority: 100, policy: 'accept' },
    'hook postrouting priority srcnat; policy accept;',
  ],
  [{ hook: 'input', priority: 30 }, 'hook input priority 30;'],
  [
    { hook: 'ingress', priority: 0, devices: ['a', 'b'] },
    'hook ingress devices = { "a", "b" } priority filter;',
  ],
];

for (const [base, text] of PRIORITIES) {
  it(`a base chain: ${text}`, () => {
    const all = formatRuleset({
      tables: [{ family: 'ip', name: 'kube-proxy', flags: ['dormant'], handle: 1n, use: 0 }],
      chains: [chain('b', { base: { type: 'filter', ...base } })],
      rules: [],
      sets: [],
      objects: [],
    });
    assert.equal(
      all,
      `table ip kube-proxy {\n\tflags dormant\n\n\tchain b {\n\t\ttype filter ${text}\n\t}\n}\n`,
    );
  });
}

it('times', () => {
  assert.equal(timeText(0n), '0s');
  assert.equal(timeText(10_800_000n), '3h');
  assert.equal(timeText(93_784_005n), '1d2h3m4s5ms');
});
