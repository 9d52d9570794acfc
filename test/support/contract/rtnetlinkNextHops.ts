// The contract of nexthop objects: the behaviour that the kernel and the fake share.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { NewNextHopObject, RtnetlinkOperation } from '../../../src/kernel/rtnetlink/types.js';
import { messageOf, outcomes } from './refusals.js';
import { type Open, withVeth } from './rtnetlinkVeth.js';

const WAY = { id: 7, link: 'va', gateway: '10.1.0.2' } as const;

/** Registers the tests. */
export function rtnetlinkNextHopsContract(open: Open): void {
  it('lists nexthop objects as the kernel has them, and changes and deletes them', async () => {
    const rtnetlink = await withVeth(open);
    await rtnetlink.setLink('lo', { up: true });
    await rtnetlink.addNextHop(WAY);
    await rtnetlink.addNextHop({ id: 8, link: 'va', gateway: 'FD01::2', protocol: 'static' });
    await rtnetlink.addNextHop({ id: 9, blackhole: true, family: 6 });
    await rtnetlink.addNextHop({ id: 10, group: [{ id: 7 }, { id: 8, weight: 3 }] });
    const common = { protocol: 'unspec', flags: [] } as const;
    const way = { ...common, id: 7, scope: 'link', family: 4, link: 'va', gateway: '10.1.0.2' };
    const all = [
      way,
      { ...common, id: 8, protocol: 'static', scope: 'link', family: 6, link: 'va', gateway: 'fd01::2' },
      { ...common, id: 9, scope: 'global', family: 6, blackhole: true },
      {
        ...{ ...common, id: 10, scope: 'global' },
        group: [
          { id: 7, weight: 1 },
          { id: 8, weight: 3 },
        ],
      },
    ];
    const list = async (filter = {}) => rtnetlink.listNextHops(filter).toArray();
    assert.deepEqual(await list(), all);
    assert.deepEqual(await list({ link: 'va' }), all.slice(0, 2));
    assert.deepEqual(await list({ family: 4 }), [way]);
    assert.deepEqual(await rtnetlink.getNextHop(7), way);
    assert.equal(await rtnetlink.getNextHop(77), undefined);
    await rtnetlink.replaceNextHop({ ...WAY, gateway: '10.1.0.3' });
    assert.equal((await rtnetlink.getNextHop(7))?.gateway, '10.1.0.3');
    await rtnetlink.deleteNextHop(all[1] ?? assert.fail());
    assert.deepEqual((await rtnetlink.getNextHop(10))?.group, [{ id: 7, weight: 1 }]);
    await rtnetlink.deleteNextHop({ id: 7 });
    assert.deepEqual(
      (await list()).map(({ id }) => id),
      [9],
    );
  });

  it('deletes nexthop objects with their link, and routes with their nexthop object', async () => {
    const rtnetlink = await withVeth(open);
    await rtnetlink.addNextHop(WAY);
    const route = { destination: '10.9.0.0/16', nextHopId: 7 } as const;
    const routes = async () =>
      (await rtnetlink.listRoutes({ family: 4 }).toArray()).filter(({ nextHopId }) => nextHopId === 7).length;
    await rtnetlink.addRoute(route);
    assert.equal(await routes(), 1);
    await rtnetlink.deleteNextHop(WAY);
    assert.equal(await routes(), 0);
    await rtnetlink.addNextHop(WAY);
    await rtnetlink.addRoute(route);
    await rtnetlink.setLink('va', { up: false });
    assert.deepEqual(await rtnetlink.listNextHops().toArray(), []);
    assert.equal(await routes(), 0);
  });

  it('refuses nexthop objects as the kernel does', async () => {
    const rtnetlink = await withVeth(open);
    await rtnetlink.addLink('br', 'bridge');
    await rtnetlink.addNextHop(WAY);
    const results = await rtnetlink.apply(REFUSED.map(([operation]) => operation));
    assert.deepEqual(
      outcomes(results).map((outcome, i) => [outcome, messageOf(results[i])]),
      REFUSED.map(([, ...expected]) => expected),
    );
  });
}

const add = (nextHop: NewNextHopObject): RtnetlinkOperation => ({ do: 'addNextHop', nextHop });

/** Operations that the kernel refuses, with their outcome and its message. */
const REFUSED: readonly (readonly [RtnetlinkOperation, outcome: string, message: string | undefined])[] = [
  [add(WAY), 'EEXIST 17 rtnetlink.addNextHop nexthop 7', undefined],
  [{ do: 'deleteNextHop', nextHop: { id: 8 } }, 'ENOENT 2 rtnetlink.deleteNextHop nexthop 8', undefined],
  [add({ id: 8, link: 'none' }), 'ENODEV 19 rtnetlink.addNextHop nexthop 8', 'there is no link none'],
  [add({ id: 8, link: 'br' }), 'ENETDOWN 100 rtnetlink.addNextHop nexthop 8', 'Nexthop device is not up'],
  [
    add({ id: 8, link: 'va', gateway: '10.99.0.1' }),
    'ENETUNREACH 101 rtnetlink.addNextHop nexthop 8',
    'Nexthop has invalid gateway',
  ],
  [
    add({ id: 8, blackhole: true }),
    'ENETDOWN 100 rtnetlink.addNextHop nexthop 8',
    'Device for nexthop is not up',
  ],
  [
    add({ id: 8, blackhole: true, family: 6 }),
    'ENETDOWN 100 rtnetlink.addNextHop nexthop 8',
    'Nexthop device is not up',
  ],
  [add({ id: 8, group: [{ id: 9 }] }), 'EINVAL 22 rtnetlink.addNextHop nexthop 8', 'Invalid nexthop id'],
  [
    { do: 'replaceNextHop', nextHop: { id: 7, group: [{ id: 7 }] } },
    'EINVAL 22 rtnetlink.replaceNextHop nexthop 7',
    'Can not replace a nexthop with a nexthop group.',
  ],
  [
    { do: 'addRoute', route: { destination: '10.9.0.0/16', nextHopId: 9 } },
    'EINVAL 22 rtnetlink.addRoute 10.9.0.0/16',
    'Nexthop id does not exist',
  ],
];
