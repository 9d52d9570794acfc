// Lists of address:port as numbers.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Family } from '../../../../src/kernel/net/address.js';
import { AddressPorts, AddressPortsBuilder } from '../../../../src/kernel/net/addressPorts.js';
import { heapInUse } from '../../../support/measures/garbage.js';

const TEXTS: Readonly<Record<Family, readonly string[]>> = {
  4: ['0.0.0.0:0', '0.0.0.1:1', '10.0.0.9:80', '10.0.0.10:80', '10.0.0.10:81', '255.255.255.255:65535'],
  6: [
    ...['[::]:0', '[::1]:443', '[::ffff:10.0.0.1]:80', '[fd00::1]:80', '[fd00::1]:81'],
    ...['[fd00:0:0:1::1]:80', '[fe80::ffff:1]:1'],
  ],
};

function list(family: Family, ...texts: string[]): AddressPorts {
  const made = AddressPorts.ofTexts(family, texts);
  assert.ok(made, texts.join());
  return made;
}

for (const family of [4, 6] as const) {
  describe(`IPv${family}`, () => {
    const all = TEXTS[family];
    const [first = '', second = '', third = ''] = all;

    it('has each text once, sorted, whatever the order of the input', () => {
      for (const input of [all, [...all].reverse(), [...all, ...all], [third, first, second, ...all]]) {
        const made = list(family, ...input);
        assert.deepEqual([...made], all);
        assert.equal(made.size, all.length);
      }
    });

    it('gives address, port and bytes of an entry', () => {
      const made = list(family, ...all);
      for (const [i, text] of all.entries()) {
        assert.equal(made.textAt(i), text);
        assert.equal(`${made.portAt(i)}`, text.slice(text.lastIndexOf(':') + 1));
        const bytes = new Uint8Array(20);
        made.writeAddress(i, bytes, 2);
        const builder = new AddressPortsBuilder(family);
        builder.addBytes(bytes, 2, made.portAt(i));
        assert.deepEqual([...builder.build()], [text]);
        assert.ok(builder.add(made.addressAt(i), 7));
      }
    });

    it('compares with other lists', () => {
      const made = list(family, ...all);
      assert.ok(made.equals(list(family, ...all)));
      assert.ok(!made.equals(list(family, ...all.slice(1))));
      assert.ok(!made.equals(list(family, ...all.slice(1), family === 4 ? '9.9.9.9:9' : '[9::9]:9')));
      assert.ok(!made.equals(AddressPorts.none(family === 4 ? 6 : 4)));
      const few = list(family, third, first);
      assert.deepEqual([made.indexOf(few, 0), made.indexOf(few, 1)], [0, 2]);
      assert.equal(few.indexOf(made, 1), -1);
      assert.ok(few.compareAt(0, few, 1) < 0 && few.compareAt(1, few, 0) > 0);
    });

    it('compares with isDeepStrictEqual, as objects are compared', () => {
      assert.ok(isDeepStrictEqual(list(family, ...all), list(family, ...all)));
      assert.ok(!isDeepStrictEqual(list(family, ...all), list(family, ...all.slice(1))));
    });

    it('gives the same addresses another port', () => {
      const addresses = family === 4 ? ['10.0.0.1', '255.255.255.255'] : ['[fd00::1]', '[ffff::ffff:ffff]'];
      const at = (port: number) => list(family, ...addresses.map((address) => `${address}:${port}`));
      for (const [before, after] of [
        [80, 65_535],
        [65_535, 0],
        [0, 1],
      ] as const) {
        assert.deepEqual([...at(before).atPort(after)], [...at(after)]);
      }
      const made = at(80);
      assert.equal(made.atPort(80), made);
      assert.equal(AddressPorts.none(family).atPort(80), AddressPorts.none(family));
    });

    it('gives the order in which entries were added, and of two equal ones the preferred', () => {
      const built = (texts: readonly string[], prefer: (a: number, b: number) => number) => {
        const builder = new AddressPortsBuilder(family);
        for (const text of texts) builder.addFrom(list(family, text), 0);
        const { list: made, order } = builder.buildOrdered(prefer);
        assert.deepEqual([...made], all.slice(0, 3));
        return order;
      };
      assert.equal(
        built([first, second, third], () => 0),
        undefined,
      );
      assert.deepEqual(
        built([third, first, second], () => 0),
        [1, 2, 0],
      );
      assert.deepEqual(
        built([first, second, first, third], (a, b) => a - b),
        [0, 1, 3],
      );
      assert.deepEqual(
        built([first, second, first, third], (a, b) => b - a),
        [2, 1, 3],
      );
    });

    it('makes other lists', () => {
      const made = list(family, ...all);
      const few = list(family, third, first);
      assert.deepEqual(
        [...made.without(few)],
        all.filter((text) => text !== first && text !== third),
      );
      assert.deepEqual([...few.with(list(family, second, first))], [first, second, third]);
      assert.equal(
        made.filter(() => true),
        made,
      );
      assert.equal(
        made.filter(() => false),
        AddressPorts.none(family),
      );
      assert.equal(few.without(AddressPorts.none(family)), few);
      assert.equal(few.with(AddressPorts.none(family)), few);
      assert.equal(AddressPorts.none(family).with(few), few);
    });
  });
}

it('refuses texts that are not of the family', () => {
  for (const text of [
    '',
    '10.0.0.1',
    ':80',
    '10.0.0:80',
    '[fd00::1]:80',
    '[::ffff:10.0.0.1]:80',
    '10.0.0.1:',
  ]) {
    assert.equal(AddressPorts.ofTexts(4, [text]), undefined, text);
  }
  assert.equal(AddressPorts.ofTexts(6, ['10.0.0.1:80']), undefined);
  assert.equal(new AddressPortsBuilder(6).add('10.0.0.1', 80), false);
});

for (const [family, size] of [
  [4, 8],
  [6, 24],
] as const) {
  it(`takes ${size} bytes for an IPv${family} entry`, async () => {
    const before = await heapInUse();
    const made = manyOf(family);
    const each = ((await heapInUse()) - before) / made.size;
    assert.ok(Math.abs(each - size) <= size * 0.1, `${each} bytes for an IPv${family} entry`);
  });
}

/** So many that the code, which V8 compiles meanwhile, takes less than 3% of the bytes of the entries. */
const MANY = 400_000;

function manyOf(family: Family): AddressPorts {
  const builder = new AddressPortsBuilder(family);
  for (let i = 0; i < MANY; i++) {
    const high = i >> 8;
    const low = i & 255;
    builder.add(family === 4 ? `10.${high >> 8}.${high & 255}.${low}` : `fd00::${high}:${low}`, 80);
  }
  return builder.build();
}
