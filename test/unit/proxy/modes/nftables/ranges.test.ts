// Matches for addresses in several networks, in the form that nft chooses.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Family } from '../../../../../src/kernel/net/address.js';
import { addressInAny } from '../../../../../src/proxy/modes/nftables/plan/ranges.js';
import { ruleText } from '../../../../../src/proxy/modes/nftables/program/ruleText.js';
import type { Part } from '../../../../../src/proxy/modes/nftablesRules/plan/expressions.js';
import { isOwnSetName } from '../../../../../src/proxy/modes/nftablesRules/plan/setNames.js';

const textOf = (family: Family, part: Part) => ruleText(family, { expressions: part });

/** Networks → the text of the match, and the elements of the rule's set. */
const CASES: readonly (readonly [
  family: Family,
  networks: readonly string[],
  text: string,
  elements: readonly (readonly [key: string, keyEnd?: string])[] | 'compared',
])[] = [
  [4, ['10.0.0.0/8'], 'ip saddr 10.0.0.0/8', 'compared'],
  [4, ['10.0.0.1/32'], 'ip saddr 10.0.0.1', 'compared'],
  [4, ['10.0.0.9/32', '10.0.0.10/32'], 'ip saddr { 10.0.0.9, 10.0.0.10 }', [['10.0.0.9'], ['10.0.0.10']]],
  [4, ['10.0.0.9/32', '10.0.0.9/32'], 'ip saddr { 10.0.0.9 }', [['10.0.0.9']]],
  [4, ['10.0.0.128/25', '10.0.0.0/25'], 'ip saddr { 10.0.0.0/24 }', [['10.0.0.0', '10.0.0.255']]],
  [
    4,
    ['10.0.0.0/24', '10.0.1.0/24', '10.0.2.0/24'],
    'ip saddr { 10.0.0.0-10.0.2.255 }',
    [['10.0.0.0', '10.0.2.255']],
  ],
  [
    4,
    ['172.30.0.7/32', '10.0.0.0/8', '10.1.0.0/16'],
    'ip saddr { 10.0.0.0/8, 172.30.0.7 }',
    [
      ['10.0.0.0', '10.255.255.255'],
      ['172.30.0.7', '172.30.0.7'],
    ],
  ],
  [
    4,
    ['255.255.255.0/24', '0.0.0.0/1'],
    'ip saddr { 0.0.0.0/1, 255.255.255.0/24 }',
    [
      ['0.0.0.0', '127.255.255.255'],
      ['255.255.255.0', '255.255.255.255'],
    ],
  ],
  [
    6,
    ['fd00::/65', 'fd00:0:0:0:8000::/65', 'fd01::1/128'],
    'ip6 saddr { fd00::/64, fd01::1 }',
    [
      ['fd00::', 'fd00::ffff:ffff:ffff:ffff'],
      ['fd01::1', 'fd01::1'],
    ],
  ],
  [6, ['::1/128', '::/128'], 'ip6 saddr { ::, ::1 }', [['::'], ['::1']]],
];

for (const [family, networks, text, elements] of CASES) {
  it(networks.join(', '), () => {
    const part = addressInAny(family, 'saddr', networks, 'services');
    assert.equal(textOf(family, part), text);
    const lookup = part.find(({ kind }) => kind === 'lookup');
    if (elements === 'compared') {
      assert.equal(lookup, undefined);
      return;
    }
    assert.ok(lookup?.kind === 'lookup' && typeof lookup.set === 'object');
    const { set } = lookup;
    assert.deepEqual(
      set.elements.map(({ key, keyEnd }) => (keyEnd === undefined ? [key] : [key, keyEnd])),
      elements,
    );
    const intervals = elements.some(([, end]) => end !== undefined);
    assert.deepEqual(set.flags, intervals ? ['interval'] : undefined);
    assert.ok(isOwnSetName(set.name ?? ''));
  });
}

it('addresses outside of all', () => {
  const outside = addressInAny(4, 'saddr', ['10.0.0.9/32', '10.0.0.10/32'], 'services', true);
  assert.equal(textOf(4, outside), 'ip saddr != { 10.0.0.9, 10.0.0.10 }');
  assert.ok(outside.some((expression) => expression.kind === 'lookup' && expression.invert));
  assert.equal(
    textOf(4, addressInAny(4, 'daddr', ['10.0.0.0/12'], 'services', true)),
    'ip daddr != 10.0.0.0/12',
  );
});
