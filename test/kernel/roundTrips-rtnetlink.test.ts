// Objects of rtnetlink on a real kernel: deleted and written back as they are listed, with ip(8) as witness; nexthop objects, alternative
// names, and attributes that the library does not know.
// Needs: ipvs, dummy device
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { Family } from '../../src/kernel/net/address.js';
import { openRtnetlink, type Rtnetlink } from '../../src/kernel/rtnetlink/index.js';
import { makeNamespace, type Namespace } from '../support/namespaces/netns.js';
import { type Kind, rtnetlinkRoundTrips } from '../support/roundTrips/rtnetlink.js';
import { batch, ipJson } from '../support/tables/rtnetlink/ip.js';

const SETUP = [
  // Bridges need IPv6, which may be a module.
  'link add br0 type bridge',
  'link add va type veth peer name vb',
  ...['va', 'vb'].map((link) => `link set ${link} up`),
  'addr add 10.1.0.1/24 dev va',
  'addr add fd01::1/64 dev va nodad',
];

const opened: { rtnetlink: Rtnetlink; namespace: Namespace }[] = [];
const close = async () => {
  for (const { rtnetlink, namespace } of opened.splice(0)) {
    await rtnetlink.close();
    namespace.remove();
  }
};
after(close);

async function open(): Promise<{ rtnetlink: Rtnetlink; namespace: Namespace }> {
  const namespace = makeNamespace();
  batch(namespace, SETUP);
  const both = { namespace, rtnetlink: await openRtnetlink({ netns: namespace.path }) };
  opened.push(both);
  return both;
}

const COMMANDS: Readonly<Record<Kind, string>> = {
  addresses: 'addr show dev va',
  routes: 'route show table all',
  rules: 'rule show',
  neighbours: 'neigh show nud all',
  nexthops: 'nexthop show',
};
/** What passes with the time, and what the kernel makes by itself in its own time. */
const PASSING = new Set([
  'valid_life_time',
  'preferred_life_time',
  'expires',
  'used',
  'confirmed',
  'updated',
]);

function show(namespace: Namespace, kind: Kind, family: Family): unknown[] {
  return ipJson(namespace, `-${family} ${COMMANDS[kind]}`)
    .filter(
      (each) => each['protocol'] !== 'kernel' && !/^(fe80|ff)/.test(String(each['local'] ?? each['dst'])),
    )
    .map((each) => Object.fromEntries(Object.entries(each).filter(([name]) => !PASSING.has(name))));
}

rtnetlinkRoundTrips(async () => {
  const { rtnetlink, namespace } = await open();
  return { rtnetlink, show: (kind, family) => show(namespace, kind, family) };
});

describe('routes by nexthop objects are deleted and written back as they are listed', () => {
  const ROWS = [
    ['10.9.0.0/16', 'id 7 via 10.1.0.2 dev va', [{ gateway: '10.1.0.2', link: 'va', weight: 1, flags: [] }]],
    ['10.9.0.0/16', 'id 7 blackhole', undefined],
    ['fd09::/64', 'id 7 via fd01::2 dev va', [{ gateway: 'fd01::2', link: 'va', weight: 1, flags: [] }]],
  ] as const;
  for (const [destination, nexthop, resolved] of ROWS) {
    it(`${destination} by ${nexthop}`, async () => {
      const { rtnetlink, namespace } = await open();
      const list = async () =>
        (await rtnetlink.listRoutes().toArray()).filter((route) => route.nextHopId !== undefined);
      batch(namespace, [`nexthop add ${nexthop}`, `route add ${destination} nhid 7`]);
      const family = destination.includes(':') ? 6 : 4;
      const shown = show(namespace, 'routes', family);
      const [listed = assert.fail()] = await list();
      if (resolved) assert.deepEqual(listed.resolved, resolved);
      await rtnetlink.deleteRoute(listed);
      assert.deepEqual(await list(), []);
      await rtnetlink.addRoute(listed);
      assert.deepEqual(await list(), [listed]);
      assert.deepEqual(show(namespace, 'routes', family), shown);
    });
  }

  it('a group of them', async () => {
    const { rtnetlink, namespace } = await open();
    batch(namespace, [
      ...['nexthop add id 1 via 10.1.0.2 dev va', 'nexthop add id 2 via 10.1.0.3 dev va'],
      ...['nexthop add id 7 group 1,3/2', 'route add 10.9.0.0/16 nhid 7'],
    ]);
    const find = async () =>
      (await rtnetlink.listRoutes({ family: 4 }).toArray()).find((each) => each.nextHopId);
    const listed = (await find()) ?? assert.fail();
    assert.deepEqual(
      listed.resolved?.map(({ gateway, weight }) => `${gateway} ${weight}`),
      ['10.1.0.2 3', '10.1.0.3 1'],
    );
    await rtnetlink.deleteRoute(listed);
    assert.equal(await find(), undefined);
  });
});

it('a route and a nexthop object with an encapsulation show its attributes, and are not written or deleted without them', async () => {
  const { rtnetlink, namespace } = await open();
  const encap = 'encap ip id 5 dst 10.1.0.9 dev va';
  batch(namespace, [`route add 10.9.0.0/16 ${encap}`, `nexthop add id 7 ${encap}`]);
  const routes = await rtnetlink.listRoutes({ family: 4 }).toArray();
  const route = routes.find(({ destination }) => destination === '10.9.0.0/16') ?? assert.fail();
  const nextHop = (await rtnetlink.getNextHop(7)) ?? assert.fail();
  // RTA_ENCAP and RTA_ENCAP_TYPE, NHA_ENCAP and NHA_ENCAP_TYPE.
  assert.deepEqual(route.attributes?.map(({ type }) => type).sort(), [21, 22]);
  assert.deepEqual(nextHop.attributes?.map(({ type }) => type).sort(), [7, 8]);
  const refused = { name: 'TypeError', message: /attributes must be left out: the library has no field for/ };
  await assert.rejects(rtnetlink.addRoute(route), refused);
  await assert.rejects(rtnetlink.deleteRoute(route), refused);
  await assert.rejects(rtnetlink.addNextHop(nextHop), refused);
  await rtnetlink.deleteRoute({ destination: route.destination });
  await rtnetlink.deleteNextHop(nextHop);
});

describe('links', () => {
  it('have alternative names of any length, which ip gives and takes too', async () => {
    const { rtnetlink, namespace } = await open();
    const names = ['short', 'x'.repeat(16), 'x'.repeat(127)];
    for (const name of names) {
      batch(namespace, [`link property add dev va altname ${name}`]);
      assert.deepEqual((await rtnetlink.getLink(name))?.alternativeNames, [name]);
      await rtnetlink.deleteAlternativeName('va', name);
      await rtnetlink.addAlternativeName('vb', name);
    }
    assert.deepEqual(ipJson(namespace, 'link show dev vb')[0]?.['altnames'], names);
    await rtnetlink.deleteLink('x'.repeat(127));
    assert.equal(await rtnetlink.getLink('vb'), undefined);
    assert.equal(await rtnetlink.getLink('y'.repeat(127)), undefined);
  });

  it('have an alias of 255 bytes, and lose it', async () => {
    const { rtnetlink, namespace } = await open();
    const longest = 'x'.repeat(255);
    await rtnetlink.setLink('va', { alias: longest });
    assert.equal((await rtnetlink.getLink('va'))?.alias, longest);
    await assert.rejects(rtnetlink.setLink('va', { alias: `${longest}x` }), { name: 'RangeError' });
    await rtnetlink.setLink('va', { alias: 'left' });
    assert.equal(ipJson(namespace, 'link show dev va')[0]?.['ifalias'], 'left');
    await rtnetlink.setLink('va', { alias: '' });
    assert.equal(ipJson(namespace, 'link show dev va')[0]?.['ifalias'], undefined);
    assert.equal((await rtnetlink.getLink('va'))?.alias, undefined);
  });

  it('are read without the other links if they refer to none', async () => {
    const { rtnetlink } = await open();
    await rtnetlink.addLink('br', 'bridge');
    await rtnetlink.setLink('va', { master: 'br' });
    const [bridge, port] = [await rtnetlink.getLink('br'), await rtnetlink.getLink('va')];
    assert.deepEqual(
      [bridge?.link, bridge?.master, port?.link, port?.master],
      [undefined, undefined, 'vb', 'br'],
    );
  });
});
