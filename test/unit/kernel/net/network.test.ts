import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseAddressAsIs } from '../../../../src/kernel/net/address.js';
import {
  canonicalNetwork,
  formatNetwork,
  networkContains,
  networkContainsBytes,
  parseNetwork,
  parseNetworkAsIs,
} from '../../../../src/kernel/net/network.js';

describe('parseNetwork', () => {
  const cases: [text: string, canonical: string | undefined][] = [
    ['10.244.1.7/16', '10.244.0.0/16'],
    ['10.244.1.7/32', '10.244.1.7/32'],
    ['10.244.1.7/0', '0.0.0.0/0'],
    ['10.244.1.7/13', '10.240.0.0/13'],
    ['FD00:10:244::1/48', 'fd00:10:244::/48'],
    ['fd00::1/128', 'fd00::1/128'],
    ['fd00::1/0', '::/0'],
    ['10.0.0.0/33', undefined],
    ['fd00::/129', undefined],
    ['10.0.0.0', undefined],
    ['10.0.0.0/', undefined],
    ['10.0.0.0/-1', undefined],
    ['10.0.0/8', undefined],
    ['/8', undefined],
    ['010.0.0.9/08', '10.0.0.0/8'],
    ['::ffff:10.0.0.9/28', '10.0.0.0/28'],
    ['::ffff:10.0.0.9/120', undefined],
  ];
  for (const [text, canonical] of cases) {
    it(`${text} is ${canonical ?? 'not a network'}`, () => {
      const network = parseNetwork(text);
      assert.equal(network && formatNetwork(network), canonical);
      assert.equal(canonicalNetwork(text), canonical);
    });
  }
});

it('a network of IPv4-mapped addresses stays one of IPv6 for the kernel', () => {
  const network = parseNetworkAsIs('::ffff:10.0.0.9/120') ?? assert.fail();
  assert.deepEqual([network.family, formatNetwork(network)], [6, '::ffff:10.0.0.0/120']);
  const contains = (address: string) =>
    networkContainsBytes(network, parseAddressAsIs(address) ?? assert.fail(address));
  assert.ok(contains('::ffff:10.0.0.255'));
  assert.ok(!contains('::ffff:10.0.1.0'));
  assert.ok(!contains('10.0.0.1'));
  // For Kubernetes its length is that of an IPv4 network.
  assert.equal(parseNetwork('::ffff:10.0.0.9/120'), undefined);
});

it('a network contains its addresses and no others', () => {
  const contains = (network: string, address: string) => {
    const parsed = parseNetwork(network);
    assert.ok(parsed);
    return networkContains(parsed, address);
  };
  assert.ok(contains('10.240.0.0/13', '10.247.255.255'));
  assert.ok(!contains('10.240.0.0/13', '10.248.0.0'));
  assert.ok(contains('0.0.0.0/0', '8.8.8.8'));
  assert.ok(!contains('0.0.0.0/0', 'fd00::1'));
  assert.ok(contains('fd00:10::/31', 'fd00:11::1'));
  assert.ok(!contains('fd00:10::/32', 'fd00:11::1'));
  assert.ok(!contains('fd00:10::/32', 'nonsense'));
});
