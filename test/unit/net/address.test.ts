import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  canonicalAddress,
  familyOf,
  formatAddress,
  isLinkLocalIPv6,
  isLoopback,
  joinHostPort,
  parseAddress,
} from '../../../src/net/address.js';

describe('canonicalAddress', () => {
  const cases: [text: string, canonical: string | undefined][] = [
    ['10.96.0.1', '10.96.0.1'],
    ['010.096.000.001', '10.96.0.1'],
    ['255.255.255.255', '255.255.255.255'],
    ['10.0.0.300', undefined],
    ['10.0.0', undefined],
    ['10.0.0.1.2', undefined],
    ['10.0.0.0x1', undefined],
    [' 10.0.0.1', undefined],
    ['', undefined],
    ['FD00:0:0:0:0:0:0:00A', 'fd00::a'],
    ['fd00:96::70', 'fd00:96::70'],
    ['::', '::'],
    ['::1', '::1'],
    ['1::', '1::'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['::ffff:0a00:0001', '10.0.0.1'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
    ['fe80::1%eth0', undefined],
    ['1:2:3:4:5:6:7', undefined],
    ['1:2:3:4:5:6:7:8:9', undefined],
    ['1::2::3', undefined],
    ['1:2:3:4::5:6:7:8', undefined],
    ['12345::', undefined],
    ['1:2:3:4:5:6:7:1.2.3.4', undefined],
    ['1.2.3.4::', undefined],
    [':1', undefined],
    ['host.example', undefined],
  ];
  for (const [text, canonical] of cases) {
    it(`${JSON.stringify(text)} is ${canonical ?? 'no address'}`, () => {
      assert.equal(canonicalAddress(text), canonical);
    });
  }
});

it('bytes and text are two spellings of one address', () => {
  for (const text of ['0.0.0.0', '192.0.2.1', '::', '::1', 'fd00::1:0:0:1', 'ff02::1:ff00:1']) {
    const bytes = parseAddress(text);
    assert.ok(bytes);
    assert.equal(formatAddress(bytes), text);
  }
});

it('tells what an address is', () => {
  assert.equal(familyOf('10.0.0.1'), 4);
  assert.equal(familyOf('::1'), 6);
  assert.equal(joinHostPort('10.0.0.1', 80), '10.0.0.1:80');
  assert.equal(joinHostPort('fd00::1', 80), '[fd00::1]:80');
  assert.ok(isLoopback('127.1.2.3') && isLoopback('::1'));
  assert.ok(!isLoopback('128.0.0.1') && !isLoopback('::2'));
  assert.ok(isLinkLocalIPv6('fe80::1') && isLinkLocalIPv6('febf::1'));
  assert.ok(!isLinkLocalIPv6('fec0::1') && !isLinkLocalIPv6('fe8::1'));
});
