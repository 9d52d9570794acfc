import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Family } from '../../../src/net/address.js';
import { nodeIdentity } from '../../../src/services/nodeIdentity.js';

const cases: [
  rule: string,
  addresses: string[],
  bind: string,
  ipv4: string,
  ipv6: string,
  primary: Family,
][] = [
  ['knows loopback alone of an unknown node', [], '0.0.0.0', '127.0.0.1', '::1', 4],
  [
    'takes the first address of each family',
    ['192.0.2.5', '192.0.2.6', 'fd00::5'],
    '0.0.0.0',
    '192.0.2.5',
    'fd00::5',
    4,
  ],
  ['lets the first address decide the family', ['fd00::5', '192.0.2.5'], '::', '192.0.2.5', 'fd00::5', 6],
  [
    'puts bindAddress above the addresses of its family',
    ['192.0.2.5', 'fd00::5'],
    '192.0.2.9',
    '192.0.2.9',
    'fd00::5',
    4,
  ],
  ['lets bindAddress decide the family', ['192.0.2.5', 'fd00::5'], 'fd00::9', '192.0.2.5', 'fd00::9', 6],
  ['takes bindAddress of an unknown node', [], 'fd00::9', '127.0.0.1', 'fd00::9', 6],
];
for (const [rule, addresses, bind, ipv4, ipv6, primaryFamily] of cases) {
  it(rule, () => {
    assert.deepEqual(nodeIdentity(addresses, bind), { nodeIPs: { 4: ipv4, 6: ipv6 }, primaryFamily });
  });
}
