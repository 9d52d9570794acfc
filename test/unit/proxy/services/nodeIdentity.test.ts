import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Family } from '../../../../src/kernel/net/address.js';
import { nodeIdentity } from '../../../../src/proxy/services/nodeIdentity.js';

const cases: [
  rule: string,
  addresses: string[],
  bind: string,
  ipv4: string,
  ipv6: string,
  primary: Family,
][] = [
  ['the node IPs of an unknown node are loopback addresses', [], '0.0.0.0', '127.0.0.1', '::1', 4],
  [
    'the node IPs are the first addresses of each family',
    ['192.0.2.5', '192.0.2.6', 'fd00::5'],
    '0.0.0.0',
    '192.0.2.5',
    'fd00::5',
    4,
  ],
  [
    'the first address determines the primary family',
    ['fd00::5', '192.0.2.5'],
    '::',
    '192.0.2.5',
    'fd00::5',
    6,
  ],
  [
    'bindAddress has priority over the addresses of its family',
    ['192.0.2.5', 'fd00::5'],
    '192.0.2.9',
    '192.0.2.9',
    'fd00::5',
    4,
  ],
  [
    'bindAddress determines the primary family',
    ['192.0.2.5', 'fd00::5'],
    'fd00::9',
    '192.0.2.5',
    'fd00::9',
    6,
  ],
  ['bindAddress is the node IP of an unknown node', [], 'fd00::9', '127.0.0.1', 'fd00::9', 6],
];
for (const [rule, addresses, bind, ipv4, ipv6, primaryFamily] of cases) {
  it(rule, () => {
    assert.deepEqual(nodeIdentity(addresses, bind), { nodeIPs: { 4: ipv4, 6: ipv6 }, primaryFamily });
  });
}
