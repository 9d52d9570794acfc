// Names of routes and addresses: which are one object for the kernel. That the kernel agrees, test/support/contract/ tests.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type RouteName, sameAddress, sameRoute } from '../../../../src/kernel/rtnetlink/same.js';
import type { LinkAddressId } from '../../../../src/kernel/rtnetlink/types.js';
import { ADDRESS_PAIRS, ROUTE_PAIRS } from '../../../support/tables/rtnetlink/same.js';

describe('sameRoute', () => {
  for (const [a, b, isSame] of ROUTE_PAIRS) {
    it(`${isSame ? 'is true' : 'is false'}: ${JSON.stringify([a, b])}`, () => {
      assert.deepEqual([sameRoute(a, b), sameRoute(b, a), sameRoute(a, a)], [isSame, isSame, true]);
    });
  }

  it('takes the family and the table from what they depend on', () => {
    const same: [RouteName, RouteName][] = [
      [{ destination: 'default', gateway: 'fd00::1' }, { destination: '::/0' }],
      [{ destination: 'default', family: 6 }, { destination: '::/0' }],
      [{ destination: 'default' }, { destination: '0.0.0.0/0' }],
      [
        { destination: '10.0.0.1', type: 'local' },
        { destination: '10.0.0.1/32', table: 'local' },
      ],
      [
        { destination: '10.0.0.1', table: 254 },
        { destination: '10.0.0.1', table: 'main' },
      ],
    ];
    for (const [a, b] of same) assert.ok(sameRoute(a, b), JSON.stringify([a, b]));
  });

  it('names the argument and the field that is invalid', () => {
    const valid = { destination: 'default' };
    assert.throws(() => sameRoute({ destination: 'x' }, valid), {
      message: /^rtnetlink\.sameRoute: route\.destination must be/,
    });
    assert.throws(() => sameRoute(valid, { ...valid, metric: -1 }), {
      name: 'RangeError',
      message: /^rtnetlink\.sameRoute: other\.metric must be an integer/,
    });
    assert.throws(() => sameRoute(valid, undefined as never), {
      message: /sameRoute: other must be an object/,
    });
  });
});

describe('sameAddress', () => {
  for (const [a, b, isSame] of ADDRESS_PAIRS) {
    it(`${isSame ? 'is true' : 'is false'}: ${JSON.stringify([a, b])}`, () => {
      assert.deepEqual([sameAddress(a, b), sameAddress(b, a), sameAddress(a, a)], [isSame, isSame, true]);
    });
  }

  it('knows no name and no index that are one link', () => {
    const of = (link: string | number): LinkAddressId => ({ link, address: '10.0.0.1', prefix: 32 });
    assert.equal(sameAddress(of('1'), of(1)), false);
    assert.equal(sameAddress(of(1), of(1)), true);
    assert.equal(sameAddress(of('a'), of('b')), false);
  });

  it('names the argument and the field that is invalid', () => {
    const valid = { link: 'a', address: '10.0.0.1', prefix: 32 };
    assert.throws(() => sameAddress(valid, { ...valid, prefix: 33 }), {
      message: /^rtnetlink\.sameAddress: other\.prefix must be an integer from 0 to 32/,
    });
    assert.throws(() => sameAddress({ ...valid, link: '' }, valid), {
      message: /address\.link must be a name/,
    });
  });
});
