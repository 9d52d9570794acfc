import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readListing } from '../../../../src/kernel/ipset/listing.js';
import { formatEntry } from '../../../../src/kernel/ipset/values/entry.js';
import { readAll } from '../../../../src/kernel/shared/listing.js';

/** An attribute as it follows a record. */
function attribute(type: number, ...value: number[]): number[] {
  const padding = new Array<number>((4 - (value.length % 4)) % 4).fill(0);
  return [value.length, 0, type, 0, ...value, ...padding];
}

/** A set of IPv4 with one entry on 10.0.0.1, as the addon lists it. */
function listing(
  record: { fields: number; protocol?: number; port?: number },
  ...rest: number[]
): Uint8Array {
  const set = new Uint8Array(92);
  set[0] = 4;
  set[24] = 1;
  set.set(Buffer.from('a'), 28);
  set.set(Buffer.from('hash:ip'), 60);
  const entry = new Uint8Array(40);
  const { fields, protocol = 0, port = 0 } = record;
  entry.set([fields, protocol, 0, 0, port & 255, port >> 8, 4, rest.length / 4, 10, 0, 0, 1]);
  return Uint8Array.from([...set, ...entry, ...rest]);
}

const bytesOf = (text: string) => [...Buffer.from(`${text}\0`)];
const ADDRESS = { fields: 1 };
const PORT = 1 | 4 | 8;

const cases: readonly (readonly [name: string, listed: Uint8Array, entry: object, text: string])[] = [
  [
    'UDP-Lite',
    listing({ fields: PORT, protocol: 136, port: 53 }),
    { protocol: 136, port: 53 },
    '10.0.0.1,136:53',
  ],
  [
    'ICMP',
    listing({ fields: PORT, protocol: 1, port: 53 }),
    { protocol: 1, icmp: { type: 0, code: 53 } },
    '10.0.0.1,1:0/53',
  ],
  ['a protocol without ports', listing({ fields: PORT, protocol: 47 }), { protocol: 47 }, '10.0.0.1,47:0'],
  ['ICMPv6 in a set of IPv4', listing({ fields: PORT, protocol: 58 }), { protocol: 58 }, '10.0.0.1,58:0'],
  ['a mark', listing(ADDRESS, ...attribute(10, 0, 0, 0, 0x63)), { mark: 0x63 }, '10.0.0.1,0x00000063'],
  [
    'a MAC address',
    listing(ADDRESS, ...attribute(17, 1, 2, 3, 4, 5, 254)),
    { mac: '01:02:03:04:05:fe' },
    '10.0.0.1,01:02:03:04:05:FE',
  ],
  [
    'a member of a list',
    listing(ADDRESS, ...attribute(18, ...bytesOf('other'))),
    { set: 'other' },
    '10.0.0.1,other',
  ],
  [
    'an interface',
    listing(ADDRESS, ...attribute(23, ...bytesOf('eth')), ...attribute(8, 0, 0, 0, 0x82)),
    { interface: 'eth', physdev: true, wildcard: true },
    '10.0.0.1,physdev:eth wildcard',
  ],
  [
    'a timeout, and unknown flags',
    listing(ADDRESS, ...attribute(6, 0, 0, 2, 88), ...attribute(8, 0, 1, 0, 0)),
    {
      timeout: 600,
      attributes: [{ type: 8, value: Uint8Array.of(0, 1, 0, 0) }],
    },
    '10.0.0.1',
  ],
];

for (const [name, listed, entry, text] of cases) {
  it(`an entry is listed without loss: ${name}`, async () => {
    const [state] = await readAll(readListing(listed));
    assert.deepEqual(state?.entries, [{ address: '10.0.0.1', ...entry }]);
    assert.equal(formatEntry(state?.entries[0] ?? {}), text);
  });
}
