// The contract of nftables: elements that are listed as bytes, as the kernel and the fake have them.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type {
  Element,
  ElementValue,
  ListedElementBytes,
  NewElement,
  Nftables,
  SetName,
} from '../../../src/kernel/nftables/types.js';
import { bytesOf } from '../../../src/kernel/nftables/values/values.js';
import { refused } from './refusals.js';

const T = { family: 'ip', table: 'bytes' } as const;

/** Sets, and elements that have nothing but a key and data. */
const PLAIN: readonly [what: string, set: SetName, elements: readonly NewElement[]][] = [
  ['a set of addresses', { ...T, name: 's', key: 'ipv4_addr' }, [{ key: '10.0.0.1' }, { key: '10.0.0.2' }]],
  [
    'a set whose keys need padding',
    { ...T, name: 's', key: 'inet_service' },
    [80, 443, 8080].map((key) => ({ key })),
  ],
  [
    'a map of IPv4',
    { ...T, name: 'm', key: 'ipv4_addr', data: ['ipv4_addr', 'inet_service'] },
    [
      { key: '10.0.0.1', data: ['10.244.0.1', 80] },
      { key: '10.0.0.2', data: ['10.244.0.2', 443] },
    ],
  ],
  [
    'a map of IPv6 whose data need padding',
    { ...T, name: 'm', key: 'ipv6_addr', data: 'inet_service' },
    [
      { key: 'fd00::1', data: 80 },
      { key: 'fd00::2', data: 443 },
    ],
  ],
  [
    'a map of concatenations',
    {
      ...T,
      name: 'm',
      key: ['ipv6_addr', 'inet_proto', 'inet_service', 'integer'],
      data: ['ipv6_addr', 'inet_service'],
    },
    Array.from({ length: 3000 }, (_, i) => ({
      key: ['fd00::1', 'tcp', 1 + (i >> 4), i],
      data: [`fd01::${(i + 1).toString(16)}`, 80],
    })),
  ],
];

/** The elements that bytes stand for, as hexadecimal digits, in order. */
function digits(set: SetName, elements: readonly NewElement[]): string[] {
  const hex = (types: SetName['key'], value: ElementValue) =>
    Buffer.from(bytesOf(types, value)).toString('hex');
  return elements
    .map(({ key, data }) => {
      const hasData = set.data !== undefined && set.data !== 'verdict';
      return hex(set.key, key) + (hasData ? ` ${hex(set.data, data as ElementValue)}` : '');
    })
    .sort();
}

function listedDigits(pieces: readonly ListedElementBytes[]): string[] {
  return pieces
    .flatMap(({ count, keys, data }) => {
      const part = (bytes: Uint8Array, i: number) => {
        const length = bytes.length / count;
        return Buffer.from(bytes.subarray(i * length, (i + 1) * length)).toString('hex');
      };
      return Array.from({ length: count }, (_, i) => part(keys, i) + (data ? ` ${part(data, i)}` : ''));
    })
    .sort();
}

const othersOf = (pieces: readonly ListedElementBytes[]): readonly Element[] =>
  pieces.flatMap(({ others }) => others);

/** Registers the tests. `open` opens the ruleset of a network namespace, which is empty. */
export function nftablesElementBytesContract(open: () => Promise<Nftables>): void {
  const opened = async (set: SetName, elements: readonly NewElement[]) => {
    const nftables = await open();
    const results = await nftables.apply([
      { do: 'addTable', table: { family: 'ip', name: 'bytes' } },
      { do: 'addSet', set },
      { do: 'addElements', set, elements },
    ]);
    assert.deepEqual(results, [undefined, undefined, undefined]);
    return nftables;
  };

  for (const [what, set, elements] of PLAIN)
    it(`lists elements as bytes: ${what}`, async () => {
      const nftables = await opened(set, elements);
      const pieces = await nftables.listElementBytes(set).toArray();
      assert.deepEqual(listedDigits(pieces), digits(set, elements));
      assert.deepEqual(othersOf(pieces), []);
      assert.ok(pieces.every(({ data }) => (data === undefined) === (set.data === undefined)));
      assert.ok(elements.length < 1000 || pieces.length > 1, 'a piece for each message');
      for (const { count, keys } of pieces) await nftables.deleteElements(set, { count, keys });
      assert.deepEqual(await nftables.listElementBytes(set).toArray(), [], 'an empty set');
    });

  it('lists elements that have more than a key and data beside those that are bytes', async () => {
    const set: SetName = { ...T, name: 'm', key: 'ipv4_addr', data: 'inet_service', flags: ['timeout'] };
    const plain = ['10.0.0.1', '10.0.0.3', '10.0.0.5'].map((key) => ({ key, data: 80 }));
    const more: NewElement[] = [
      { key: '10.0.0.2', data: 81, comment: 'the second' },
      { key: '10.0.0.4', data: 82, timeout: 90_000n },
    ];
    const nftables = await opened(set, [...plain, ...more]);
    const pieces = await nftables.listElementBytes(set).toArray();
    assert.deepEqual(listedDigits(pieces), digits(set, plain));
    const others = othersOf(pieces).map(({ expires: _, attributes: __, ...rest }) => rest);
    assert.deepEqual(
      others.sort((a, b) => (String(a.key) < String(b.key) ? -1 : 1)),
      more,
    );
  });

  it('lists elements of other lengths than the types that were given as others', async () => {
    const set: SetName = { ...T, name: 'm', key: 'ipv4_addr', data: 'ipv4_addr' };
    const nftables = await opened(set, [{ key: '10.0.0.1', data: '10.0.0.2' }]);
    const key = bytesOf('ipv4_addr', '10.0.0.1');
    const data = bytesOf('ipv4_addr', '10.0.0.2');
    for (const [shape, other] of [
      [
        { key: 'inet_service', data: 'ipv4_addr' },
        { key, data: '10.0.0.2' },
      ],
      [
        { key: 'ipv4_addr', data: 'inet_service' },
        { key: '10.0.0.1', data },
      ],
      [{ key: 'ipv4_addr' }, { key: '10.0.0.1', data }],
    ] as const) {
      const pieces = await nftables.listElementBytes({ ...T, name: 'm', ...shape }).toArray();
      assert.deepEqual(listedDigits(pieces), []);
      assert.deepEqual(othersOf(pieces), [other]);
    }
  });

  it('lists no elements of a set that does not exist as bytes', async () => {
    const nftables = await opened({ ...T, name: 's', key: 'ipv4_addr' }, []);
    await refused(
      nftables.listElementBytes({ ...T, name: 'none', key: 'ipv4_addr' }).toArray(),
      'ENOENT 2 nftables.listElementBytes set ip bytes none',
    );
  });

  it('refuses to list elements as bytes that have none', async () => {
    const nftables = await open();
    for (const [wrong, field, rule] of [
      [{}, 'set.key', /must be types of values, whose lengths are known/],
      [{ key: 5 }, 'set.key', /must be types of values, whose lengths are known/],
      [{ key: 'address' }, 'set.key', /must be a type of values/],
      [{ key: 'ipv4_addr', data: 5 }, 'set.data', /must be types of values, whose lengths are known/],
      [
        { key: 'ipv4_addr', data: 'verdict' },
        'set.data',
        /must be types of values: listElements has verdicts/,
      ],
      [{ key: 'ipv4_addr', flags: ['interval'] }, 'set.flags', /must be without interval/],
      [{ key: 'ipv4_addr', flags: 'interval' }, 'set.flags', /./],
    ] as const)
      assert.throws(
        () => nftables.listElementBytes({ ...T, name: 's', ...wrong } as never),
        (error: Error) => error.message.includes(field) && rule.test(error.message),
        JSON.stringify(wrong),
      );
  });
}
