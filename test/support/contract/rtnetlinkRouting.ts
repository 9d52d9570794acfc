// The contract of routes and rules: the behaviour that the kernel and the fake share.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { NewRoute, NewRule, RouteQuery, Rtnetlink } from '../../../src/kernel/rtnetlink/types.js';
import { PATIENCE } from '../../laboratory/patience.js';
import { outcomes, refused } from './refusals.js';
import { type Open, withVeth } from './rtnetlinkVeth.js';

async function routesOf(rtnetlink: Rtnetlink, table: 'main' | number = 'main'): Promise<string[]> {
  const routes = await rtnetlink.listRoutes({ table }).toArray();
  return routes
    .filter(({ protocol, destination }) => protocol !== 'kernel' && !destination.startsWith('ff00:'))
    .map(
      ({ destination, gateway = '-', link = '-', metric = 0, type }) =>
        `${type} ${destination} ${gateway} ${link} ${metric}`,
    );
}

/** Registers the tests. */
export function rtnetlinkRoutingContract(open: Open): void {
  routes(open);
  rules(open);
}

function routes(open: Open): void {
  it('adds, replaces, appends, changes and deletes routes', async () => {
    const rtnetlink = await withVeth(open);
    const route: NewRoute = { destination: '10.9.0.0/16', gateway: '10.1.0.2' };
    await rtnetlink.addRoute(route);
    await refused(rtnetlink.addRoute(route), 'EEXIST 17 rtnetlink.addRoute 10.9.0.0/16 via 10.1.0.2');
    await rtnetlink.replaceRoute({ ...route, gateway: '10.1.0.3' });
    assert.deepEqual(await routesOf(rtnetlink), ['unicast 10.9.0.0/16 10.1.0.3 va 0']);
    await rtnetlink.changeRoute({ ...route, gateway: '10.1.0.4' });
    await rtnetlink.appendRoute({ ...route, gateway: '10.1.0.5' });
    assert.deepEqual(await routesOf(rtnetlink), [
      'unicast 10.9.0.0/16 10.1.0.4 va 0',
      'unicast 10.9.0.0/16 10.1.0.5 va 0',
    ]);
    await rtnetlink.deleteRoute({ ...route, gateway: '10.1.0.4' });
    const [listed] = (await rtnetlink.listRoutes({ table: 'main' }).toArray()).filter(
      ({ gateway }) => gateway,
    );
    // A listed object can be used as its own name.
    await rtnetlink.deleteRoute(listed ?? assert.fail());
    assert.deepEqual(await routesOf(rtnetlink), []);
    const none = 'rtnetlink.deleteRoute 10.9.0.0/16';
    await refused(rtnetlink.deleteRoute({ destination: '10.9.0.0/16' }), `ESRCH 3 ${none}`);
    await refused(rtnetlink.changeRoute(route), 'ENOENT 2 rtnetlink.changeRoute 10.9.0.0/16 via 10.1.0.2');
  });

  it('has routes of both families, of several types, tables and nexthops', async () => {
    const rtnetlink = await withVeth(open);
    const added: NewRoute[] = [
      { destination: 'default', gateway: '10.1.0.2', metric: 7, preferredSource: '10.1.0.1' },
      { destination: 'default', gateway: 'fd01::2' },
      { destination: '10.5.0.0/16', type: 'blackhole' },
      { destination: '10.6.0.0/16', type: 'unreachable', table: 1000 },
      { destination: 'fd05::/64', type: 'prohibit', metric: 5 },
      { destination: '10.7.0.0/16', link: 'va', gateway: 'fd01::2' },
      { destination: '10.8.0.0/16', nextHops: [{ gateway: '10.1.0.2', weight: 3 }, { gateway: '10.1.0.3' }] },
    ];
    assert.deepEqual(
      outcomes(await rtnetlink.apply(added.map((route) => ({ do: 'addRoute', route })))),
      added.map(() => 'done'),
    );
    assert.deepEqual((await routesOf(rtnetlink)).map((line) => line.replace(' lo ', ' - ')).sort(), [
      'blackhole 10.5.0.0/16 - - 0',
      'prohibit fd05::/64 - - 5',
      'unicast 0.0.0.0/0 10.1.0.2 va 7',
      'unicast 10.7.0.0/16 fd01::2 va 0',
      'unicast 10.8.0.0/16 - - 0',
      'unicast ::/0 fd01::2 va 1024',
    ]);
    assert.deepEqual(await routesOf(rtnetlink, 1000), ['unreachable 10.6.0.0/16 - - 0']);
    assert.deepEqual(await routesOf(rtnetlink, 1001), []);
    const several = (await rtnetlink.listRoutes({ family: 4 }).toArray()).find(({ nextHops }) => nextHops);
    assert.deepEqual(several?.nextHops, [
      { gateway: '10.1.0.2', link: 'va', weight: 3, flags: [] },
      { gateway: '10.1.0.3', link: 'va', weight: 1, flags: [] },
    ]);
    assert.equal((await rtnetlink.listRoutes({ type: 'blackhole' }).toArray()).length, 1);
  });

  it("refuses routes with the kernel's error numbers", async () => {
    const rtnetlink = await withVeth(open);
    await rtnetlink.addLink('down', 'bridge');
    const broken: [NewRoute, string][] = [
      [{ destination: '10.9.0.0/16', link: 'none' }, 'ENODEV'],
      [{ destination: '10.9.0.0/16' }, 'ENODEV'],
      [{ destination: '10.9.0.0/16', link: 'down' }, 'ENETDOWN'],
      [{ destination: '10.9.0.0/16', gateway: '10.99.0.1' }, 'ENETUNREACH'],
      [{ destination: '10.9.0.1/16', link: 'va' }, 'EINVAL'],
      [{ destination: 'fd09::/64', gateway: 'fd99::1' }, 'EHOSTUNREACH'],
      [{ destination: '10.1.0.0/24', link: 'va', protocol: 'kernel' }, 'EEXIST'],
    ];
    const results = await rtnetlink.apply(broken.map(([route]) => ({ do: 'addRoute', route })));
    assert.deepEqual(
      results.map((result) => result?.code),
      broken.map(([, code]) => code),
    );
    assert.match(results[3]?.hint ?? '', /network with the gateway 10\.99\.0\.1: add an address/);
    assert.match(results[2]?.hint ?? '', /the link down is down/);
    // With the flag onlink, any gateway is reached by the link.
    await rtnetlink.addRoute({
      destination: '10.9.0.0/16',
      gateway: '10.99.0.1',
      link: 'va',
      flags: ['onlink'],
    });
    assert.deepEqual(await routesOf(rtnetlink), ['unicast 10.9.0.0/16 10.99.0.1 va 0']);
    // Routes are deleted with the state of their link.
    await rtnetlink.setLink('va', { up: false });
    assert.deepEqual(await routesOf(rtnetlink), []);
  });

  const FAMILIES = [
    {
      family: 4,
      at: (net: number, host: string) => `10.9.${net}.${host}`,
      net: 24,
      base: 16,
      own: '10.1.0.1',
    },
    {
      family: 6,
      at: (net: number, host: string) => `fd09:0:0:${net}::${host}`,
      net: 64,
      base: 16,
      own: 'fd01::1',
    },
  ] as const;
  for (const { family, at, net, base, own } of FAMILIES) {
    const by = (host: string | number) => own.replace(/1$/, String(host));
    it(`finds the route of a packet of IPv${family}`, async () => {
      const rtnetlink = await withVeth(open);
      const to = (number: number) => `${at(number, family === 4 ? '0' : '')}/${net}`;
      const all = family === 4 ? `10.9.0.0/${base}` : `fd09::/${base}`;
      const added: NewRoute[] = [
        { destination: all, gateway: by(2) },
        { destination: to(1), gateway: by(3) },
        { destination: to(2), type: 'unreachable' },
        { destination: to(3), type: 'blackhole' },
        { destination: to(4), type: 'prohibit' },
        { destination: all, gateway: by(9), table: 100 },
        { destination: all, gateway: by(8), table: 101 },
      ];
      const rules: NewRule[] = [
        { family, mark: { value: 5 }, table: 100 },
        { family, from: `${own}/${family === 4 ? 32 : 128}`, table: 101 },
      ];
      const results = await rtnetlink.apply([
        ...added.map((route) => ({ do: 'addRoute', route }) as const),
        ...rules.map((rule) => ({ do: 'addRule', rule }) as const),
      ]);
      assert.deepEqual(outcomes(results), Array(9).fill('done'));
      const way = async (address: string, query?: RouteQuery) => {
        const { gateway, link, preferredSource, type } = await rtnetlink.getRoute(address, query);
        return `${type} ${gateway ?? '-'} ${link} ${preferredSource ?? '-'}`;
      };
      assert.equal(await way(by(7)), `unicast - va ${own}`);
      const local = `local - lo ${own}`;
      // The kernel adds this route of an address of IPv6 from a workqueue, later than the address.
      const deadline = performance.now() + PATIENCE;
      while ((await way(own)) !== local && performance.now() < deadline) await delay(5);
      assert.equal(await way(own), local);
      assert.equal(await way(at(7, '7')), `unicast ${by(2)} va ${own}`);
      assert.equal(await way(at(1, '7')), `unicast ${by(3)} va ${own}`);
      assert.equal(await way(at(1, '7'), { mark: 5 }), `unicast ${by(9)} va ${own}`);
      assert.match(await way(at(1, '7'), { from: own }), new RegExp(`^unicast ${by(8)} va `));
      assert.equal(await way(by(7), { outputLink: 'va' }), `unicast - va ${own}`);
      const whole = await rtnetlink.getRoute(at(1, '7'), { fibMatch: true });
      assert.deepEqual([whole.destination, whole.gateway], [to(1), by(3)]);
      const exact = await rtnetlink.getRoute(at(1, '7'));
      assert.deepEqual(
        [exact.destination, exact.family, exact.table, exact.attributes],
        [`${at(1, '7')}/${family === 4 ? 32 : 128}`, family, 'main', undefined],
      );
      const question = (address: string) => `rtnetlink.getRoute ${address}`;
      for (const [address, error] of [
        [at(2, '1'), 'EHOSTUNREACH 113'],
        [at(3, '1'), 'EINVAL 22'],
        [at(4, '1'), 'EACCES 13'],
        [family === 4 ? '192.0.2.1' : '2001:db8::1', 'ENETUNREACH 101'],
      ] as const) {
        await refused(rtnetlink.getRoute(address), `${error} ${question(address)}`);
      }
      const byNone = rtnetlink.getRoute(by(7), { outputLink: 'none' });
      await refused(byNone, `ENODEV 19 ${question(by(7))}`);
    });
  }
}

/** Rules that the rule for the table local fulfils too. */
const WIDE_RULES: readonly NewRule[] = [
  {},
  { family: 6 },
  { priority: undefined as never, from: undefined as never },
  { from: '0.0.0.0/0', to: '0.0.0.0/0' },
  { from: '::/0' },
  { action: 'lookup', protocol: 'kernel' },
  { invert: false, tos: 0, l3mdev: false },
  { mark: { value: 0 } },
  { mark: { value: 0, mask: 0 } },
];

function rules(open: Open): void {
  it('deletes no rule without a field that few rules have', async () => {
    const rtnetlink = await withVeth(open);
    const before = await rtnetlink.listRules();
    for (const rule of WIDE_RULES) {
      await assert.rejects(rtnetlink.deleteRule(rule), {
        name: 'TypeError',
        message: /^rtnetlink\.deleteRule: rule must have a field that few rules have, as priority, from, to/,
      });
    }
    const results = await rtnetlink.apply(WIDE_RULES.map((rule) => ({ do: 'deleteRule', rule })));
    assert.deepEqual(
      results.map((result) => result?.code),
      WIDE_RULES.map(() => 'ERR_INVALID_ARGUMENT'),
    );
    assert.deepEqual(await rtnetlink.listRules(), before);
    const narrow: NewRule[] = [
      { priority: 0 },
      { family: 6, table: 'local' },
      { mark: { value: 0, mask: 1 } },
      { suppressPrefixLength: 0 },
      { to: '10.0.0.0/8' },
    ];
    assert.deepEqual(outcomes(await rtnetlink.apply(narrow.map((rule) => ({ do: 'deleteRule', rule })))), [
      'done',
      'done',
      'ENOENT 2 rtnetlink.deleteRule from all fwmark 0',
      'ENOENT 2 rtnetlink.deleteRule from all',
      'ENOENT 2 rtnetlink.deleteRule from all to 10.0.0.0/8',
    ]);
  });

  it('adds and deletes rules', async () => {
    const rtnetlink = await open();
    const texts = async (family: 4 | 6) =>
      (await rtnetlink.listRules(family)).map(
        ({ priority, action, table }) => `${priority} ${action} ${table ?? '-'}`,
      );
    assert.deepEqual(await texts(4), ['0 lookup local', '32766 lookup main', '32767 lookup default']);
    assert.deepEqual(await texts(6), ['0 lookup local', '32766 lookup main']);
    const rule: NewRule = {
      priority: 100,
      from: '10.0.0.0/8',
      to: '10.1.0.0/16',
      mark: { value: 1, mask: 255 },
      inputLink: 'eth9',
      ipProtocol: 6,
      destinationPorts: { first: 80, last: 90 },
      table: 1000,
      invert: true,
    };
    await rtnetlink.addRule(rule);
    const listed = (await rtnetlink.listRules(4)).find(({ priority }) => priority === 100) ?? assert.fail();
    for (const [field, value] of Object.entries(rule)) {
      assert.deepEqual(listed[field as keyof NewRule], value, field);
    }
    assert.equal(listed.protocol, 'boot');
    await refused(
      rtnetlink.addRule(rule),
      'EEXIST 17 rtnetlink.addRule priority 100 from 10.0.0.0/8 to 10.1.0.0/16 fwmark 1 iif eth9 lookup 1000',
    );
    await rtnetlink.deleteRule({ priority: 100 });
    await refused(
      rtnetlink.deleteRule({ priority: 100 }),
      'ENOENT 2 rtnetlink.deleteRule priority 100 from all',
    );
    await rtnetlink.addRule({ from: 'fd00::/8', action: 'blackhole' });
    await rtnetlink.addRule({ family: 6, goto: 32766, priority: 200 });
    assert.deepEqual(await texts(6), [
      '0 lookup local',
      '200 goto -',
      '32765 blackhole -',
      '32766 lookup main',
    ]);
    await refused(
      rtnetlink.addRule({ goto: 50, priority: 60 }),
      'EINVAL 22 rtnetlink.addRule priority 60 from all goto 50',
    );
  });
}
