import assert from 'node:assert/strict';
import { isIPv4, isIPv6 } from 'node:net';
import { describe, it } from 'node:test';
import {
  canonicalAddress,
  canonicalAddressAsIs,
  familyOf,
  formatAddress,
  isLinkLocalIPv6,
  isLoopback,
  joinHostPort,
  numberOfIPv4,
  parseAddress,
  parseAddressAsIs,
} from '../../../../src/kernel/net/address.js';
import { parseNetwork, parseNetworkAsIs } from '../../../../src/kernel/net/network.js';
import { parsePrefix } from '../../../../src/kernel/rtnetlink/prefixes.js';

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
    it(`${JSON.stringify(text)} is ${canonical ?? 'not an address'}`, () => {
      assert.equal(canonicalAddress(text), canonical);
    });
  }
});

it('an IPv4-mapped address stays an IPv6 address for the kernel', () => {
  for (const text of ['::ffff:10.0.0.1', '::FFFF:a00:1', '0:0:0:0:0:ffff:10.0.0.1']) {
    assert.equal(canonicalAddressAsIs(text), '::ffff:10.0.0.1');
    assert.equal(parseAddressAsIs(text)?.length, 16);
    assert.equal(canonicalAddress(text), '10.0.0.1');
  }
  assert.equal(canonicalAddressAsIs('::ffff:0.0.0.0'), '::ffff:0.0.0.0');
  assert.equal(canonicalAddressAsIs('::ffff:0:0:1'), '::ffff:0:0:1');
  assert.equal(canonicalAddressAsIs('::1:ffff:10.0.0.1'), '::1:ffff:a00:1');
  assert.equal(canonicalAddressAsIs('10.0.0'), undefined);
});

it('octets with leading zeros are decimal for Kubernetes, and refused for the kernel: iproute2 and libc read them as octal', () => {
  for (const text of ['010.0.0.1', '10.0.0.01', '10.00.0.1', '::ffff:10.0.0.010', '::010.0.0.1']) {
    assert.ok(canonicalAddress(text), text);
    assert.equal(canonicalAddressAsIs(text), undefined, text);
    assert.equal(numberOfIPv4(text), undefined, text);
  }
  assert.equal(canonicalAddress('010.0.0.1'), '10.0.0.1');
  assert.equal(canonicalAddress('::ffff:10.0.0.010'), '10.0.0.10');
  assert.equal(canonicalAddressAsIs('0.10.100.0'), '0.10.100.0');
  assert.equal(parseNetwork('010.0.0.9/08')?.prefix, 8);
  for (const text of ['010.0.0.0/8', '10.0.0.0/08', '10.0.0.0/00']) {
    assert.equal(parseNetworkAsIs(text), undefined, text);
    assert.equal(parsePrefix(text), undefined, text);
  }
});

it('bytes and text convert to each other', () => {
  for (const text of ['0.0.0.0', '192.0.2.1', '::', '::1', 'fd00::1:0:0:1', 'ff02::1:ff00:1']) {
    const bytes = parseAddress(text);
    assert.ok(bytes);
    assert.equal(formatAddress(bytes), text);
  }
});

it('an address has a family and a scope', () => {
  assert.equal(familyOf('10.0.0.1'), 4);
  assert.equal(familyOf('::1'), 6);
  assert.equal(joinHostPort('10.0.0.1', 80), '10.0.0.1:80');
  assert.equal(joinHostPort('fd00::1', 80), '[fd00::1]:80');
  assert.ok(isLoopback('127.1.2.3') && isLoopback('::1'));
  assert.ok(!isLoopback('128.0.0.1') && !isLoopback('::2'));
  assert.ok(isLinkLocalIPv6('fe80::1') && isLinkLocalIPv6('febf::1'));
  assert.ok(!isLinkLocalIPv6('fec0::1') && !isLinkLocalIPv6('fe8::1'));
});

describe('the same addresses are valid in Node', () => {
  // Pseudo-random numbers, the same in every run.
  let seed = 20240817;
  const below = (bound: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return (seed >> 8) % bound;
  };
  const pick = (choices: string) => choices[below(choices.length)] ?? '';
  const octets = () => Array.from({ length: below(9) === 0 ? 3 : 4 }, () => below(280)).join('.');
  const group = () =>
    below(8) === 0
      ? ''
      : below(0x1_0000)
          .toString(16)
          .slice(0, 1 + below(4));

  function almostAddress(): string {
    if (below(4) === 0)
      return Array.from({ length: below(12) }, () => pick('0123456789abcdefF::..%g ')).join('');
    if (below(4) === 0) return octets();
    const groups = Array.from({ length: 1 + below(9) }, group);
    if (below(3) === 0) groups.splice(below(groups.length), 0, '');
    if (below(4) === 0) groups.push(octets());
    return `${below(5) === 0 ? '::' : ''}${groups.join(':')}${below(8) === 0 ? '::' : ''}`;
  }

  it('and their bytes are those in a URL', () => {
    let four = 0;
    let six = 0;
    for (let i = 0; i < 200_000; i++) {
      const text = almostAddress();
      const bytes = parseAddress(text);
      // isIPv6 accepts zones, which are not part of an address.
      const isSix = isIPv6(text) && !text.includes('%');
      assert.equal(bytes !== undefined, isIPv4(text) || isSix, JSON.stringify(text));
      if (!bytes) continue;
      if (isSix) six++;
      else four++;
      // WHATWG's parser is independent of isIPv6 and of our parser.
      const host = new URL(`http://${isSix ? `[${text}]` : text}`).hostname;
      const mapped = bytes.length === 4 && isSix;
      const ours = mapped ? `::ffff:${formatAddress(bytes)}` : formatAddress(bytes);
      assert.equal(isSix ? new URL(`http://[${ours}]`).hostname : ours, host, JSON.stringify(text));
    }
    assert.ok(four > 5_000 && six > 5_000, `${four} and ${six}`);
  });
});
