// Messages about nexthop objects.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encodeNextHop, readNextHop } from '../../../../src/kernel/rtnetlink/nexthops/codec.js';
import { listed, NAMES, only } from '../../../support/tables/rtnetlink/messages.js';
import { CAPTURED_NAMES, NEXT_HOPS } from '../../../support/tables/rtnetlink/samples.js';

describe('nexthop objects', () => {
  for (const [title, object] of Object.entries(NEXT_HOPS)) {
    it(`are read as they are written: ${title}`, () => {
      const read = only(listed(encodeNextHop('add', object)), (message) =>
        readNextHop(message, CAPTURED_NAMES),
      );
      assert.deepEqual(read, { scope: 'global', ...object });
      // What was listed may be written, and deleted.
      assert.deepEqual(listed(encodeNextHop('add', read)), listed(encodeNextHop('add', object)));
      const deleted = only(listed(encodeNextHop('delete', read)), (message) => readNextHop(message, NAMES));
      assert.deepEqual([deleted.id, deleted.link, deleted.group], [object.id, undefined, undefined]);
    });
  }

  it('by a link without a known name have its index', () => {
    const bytes = listed(encodeNextHop('add', { id: 7, link: 99 }));
    assert.equal(only(bytes, (message) => readNextHop(message, NAMES)).link, 99);
  });

  it('show attributes that are unknown, and are not written with them', () => {
    const writer = encodeNextHop('add', { id: 7, link: 'va' });
    writer.attribute(7, () => writer.u16(1)); // NHA_ENCAP_TYPE
    writer.attribute(3, () => writer.u16(9)); // NHA_GROUP_TYPE
    const read = only(listed(writer), (message) => readNextHop(message, CAPTURED_NAMES));
    assert.deepEqual(
      read.attributes?.map(({ type }) => type),
      [7, 3],
    );
    assert.equal(encodeNextHop('add', read).check.invalid?.field, 'nextHop.attributes');
    assert.equal(encodeNextHop('delete', read).check.invalid, undefined);
  });

  it('are refused without what they need, and with what they exclude', () => {
    const faults = [
      { id: 0, link: 'va' },
      { id: 7 },
      { id: 7, blackhole: true, link: 'va' },
      { id: 7, fdb: true },
      { id: 7, fdb: true, gateway: '10.0.0.1', link: 'va' },
      { id: 7, group: [], link: 'va' },
      { id: 7, group: [] },
      { id: 7, group: [{ id: 1, weight: 65_536 }] },
      { id: 7, link: 'va', resilient: {} },
      { id: 7, group: [{ id: 1 }], resilient: { buckets: 0 } },
      { id: 7, link: 'va', family: 4, gateway: 'fd00::1' },
    ].map((object) => {
      const { invalid } = encodeNextHop('add', object as never).check;
      return `${invalid?.field} ${invalid?.rule}`.slice(0, 50);
    });
    assert.deepEqual(faults, [
      'nextHop.id must be an integer from 1 to 4294967295',
      'nextHop.link must be given, or another of link, gr',
      'nextHop.link excludes blackhole',
      'nextHop.gateway must be given with fdb',
      'nextHop.link excludes fdb',
      'nextHop.link excludes group',
      'nextHop.group must be an array of nexthops',
      'nextHop.group[0].weight must be an integer from 1 ',
      'nextHop.group must be given with resilient',
      'nextHop.resilient.buckets must be an integer from ',
      'nextHop.gateway must be an IPv4 address',
    ]);
  });
});
