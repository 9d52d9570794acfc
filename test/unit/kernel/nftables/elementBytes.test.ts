// Elements that are given as bytes: the messages are those of the same elements as objects, and what is wrong is named.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { writeInSteps } from '../../../../src/kernel/nftables/transaction/write.js';
import type {
  ElementBytes,
  NewElement,
  NftablesOperation,
  SetName,
} from '../../../../src/kernel/nftables/types.js';
import { bytesOf } from '../../../../src/kernel/nftables/values/values.js';
import { atOnce } from '../../../../src/kernel/steps.js';
import { FakeNftables } from '../../../../src/kernel/testing/index.js';

const IN = { family: 'ip', table: 't' } as const;
const MAP: SetName = {
  ...IN,
  name: 'm',
  key: ['ipv4_addr', 'inet_proto', 'inet_service', 'integer'],
  data: ['ipv4_addr', 'inet_service'],
};
const SET: SetName = { ...IN, name: 's', key: 'ether_addr' };

/** Elements of the map, and the same ones as bytes. */
function manyOf(count: number): readonly [objects: NewElement[], bytes: ElementBytes] {
  const objects = Array.from({ length: count }, (_, i) => ({
    key: [`10.0.${i >> 8}.${i & 255}`, 'tcp', 80 + (i % 7), i],
    data: [`10.9.${i >> 8}.${i & 255}`, 1 + i],
  }));
  const keys = Buffer.concat(objects.map(({ key }) => bytesOf(MAP.key, key)));
  const data = Buffer.concat(objects.map((each) => bytesOf(['ipv4_addr', 'inet_service'], each.data)));
  return [objects, { count, keys, data }];
}

/** The bytes of a transaction. */
function written(operation: NftablesOperation): string {
  const { pieces, invalid, release } = atOnce(writeInSteps([operation], undefined));
  assert.deepEqual([...invalid.values()], []);
  const bytes = Buffer.concat(pieces).toString('hex');
  release();
  return bytes;
}

describe('elements as bytes', () => {
  for (const count of [1, 3, 1024, 1025, 5000])
    it(`${count} make the messages of as many objects`, () => {
      const [objects, bytes] = manyOf(count);
      assert.equal(
        written({ do: 'addElements', set: MAP, elements: bytes }),
        written({ do: 'addElements', set: MAP, elements: objects }),
      );
      const names = objects.map(({ key }) => ({ key }));
      assert.equal(
        written({ do: 'deleteElements', set: MAP, elements: { count, keys: bytes.keys } }),
        written({ do: 'deleteElements', set: MAP, elements: names }),
      );
    });

  it('of a length that is no multiple of 4', () => {
    const addresses = ['02:00:00:00:00:01', '02:00:00:00:00:02'];
    const keys = Buffer.concat(addresses.map((address) => bytesOf('ether_addr', address)));
    assert.equal(
      written({ do: 'addElements', set: SET, elements: { count: 2, keys } }),
      written({ do: 'addElements', set: SET, elements: addresses.map((key) => ({ key })) }),
    );
  });

  it('none make no message', () => {
    const none: NewElement[] = [];
    const elements = { count: 0, keys: new Uint8Array(), data: new Uint8Array() };
    assert.equal(
      written({ do: 'addElements', set: MAP, elements }),
      written({ do: 'addElements', set: MAP, elements: none }),
    );
  });

  it('are listed, and the one that the kernel refuses is named', async () => {
    const nftables = new FakeNftables();
    await nftables.apply([
      { do: 'addTable', table: { family: 'ip', name: 't' } },
      { do: 'addSet', set: MAP },
    ]);
    const [objects, bytes] = manyOf(2000);
    const [result] = await nftables.apply([{ do: 'addElements', set: MAP, elements: bytes }]);
    assert.equal(result, undefined);
    const listed = await nftables.listElements(MAP).toArray();
    assert.deepEqual(
      listed.map(({ key }) => key),
      objects.map(({ key }) => key),
    );
    const { keys } = bytes;
    const last = keys.subarray(1999 * 16);
    await nftables.deleteElements(MAP, { count: 1, keys: last });
    const [refused] = await nftables.apply([
      { do: 'deleteElements', set: MAP, elements: { count: 2000, keys } },
    ]);
    assert.equal(refused?.code, 'ENOENT');
    assert.equal(refused?.target, `element ip t m { 0x${Buffer.from(last).toString('hex')} }`);
    assert.equal((await nftables.listElements(MAP).toArray()).length, 1999);
  });
});

describe('elements as bytes that are refused', () => {
  const RANGES: SetName = { ...IN, name: 'r', key: 'ipv4_addr', flags: ['interval'] };
  const VERDICTS: SetName = { ...IN, name: 'v', key: 'ipv4_addr', data: 'verdict' };
  const four = new Uint8Array(4);
  for (const [what, set, elements, field, rule] of [
    ['no object', SET, 5, 'elements', /must be an array of elements, or/],
    ['bytes themselves', SET, four, 'elements', /must be an array of elements, or/],
    ['another field', SET, { count: 0, keys: four, comment: 'c' }, 'elements.comment', /is not a field/],
    ['a count that is no integer', SET, { count: 0.5, keys: four }, 'elements.count', /must be an integer/],
    ['a count without bytes', SET, { count: 1 }, 'elements.keys', /must be a Uint8Array of 6 bytes/],
    [
      'too few bytes',
      SET,
      { count: 2, keys: four },
      'elements.keys',
      /must be a Uint8Array of 12 bytes: 6 for each/,
    ],
    [
      'a map without data',
      MAP,
      { count: 1, keys: new Uint8Array(16) },
      'elements.data',
      /of 8 bytes: 8 for each/,
    ],
    [
      'a set with data',
      SET,
      { count: 1, keys: new Uint8Array(6), data: four },
      'elements.data',
      /is of maps/,
    ],
    ['intervals', RANGES, { count: 1, keys: four }, 'elements', /the set has the flag interval/],
    ['verdicts', VERDICTS, { count: 1, keys: four, data: four }, 'elements', /the data are verdicts/],
  ] as const)
    it(what, () => {
      const operation = { do: 'addElements', set, elements } as unknown as NftablesOperation;
      const { invalid, release } = atOnce(writeInSteps([operation], undefined));
      release();
      const message = invalid.get(0)?.message ?? '';
      assert.ok(message.includes(field), message);
      assert.match(message, rule);
    });

  it('data of those that are deleted', () => {
    const elements = { count: 1, keys: new Uint8Array(16), data: new Uint8Array(8) };
    const { invalid } = atOnce(writeInSteps([{ do: 'deleteElements', set: MAP, elements }], undefined));
    assert.match(invalid.get(0)?.message ?? '', /elements.data.*is not a field/);
  });
});
