// The contract of links with settings, routes, rules and neighbours: the behaviour that the kernel and the fake share.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type {
  NewRoute,
  NewRule,
  Rtnetlink,
  RtnetlinkOperation,
} from '../../../src/kernel/rtnetlink/types.js';
import { outcomes, refused } from './refusals.js';

type Open = () => Promise<Rtnetlink>;

/** Two ends of a veth that are up, the first with an address of each family. */
async function withVeth(open: Open): Promise<Rtnetlink> {
  const rtnetlink = await open();
  await rtnetlink.addLink('va', 'veth', { peer: { name: 'vb' } });
  for (const link of ['va', 'vb']) await rtnetlink.setLink(link, { up: true });
  await rtnetlink.addAddress({ link: 'va', address: '10.1.0.1', prefix: 24 });
  await rtnetlink.addAddress({ link: 'va', address: 'fd01::1', prefix: 64, flags: ['nodad'] });
  return rtnetlink;
}

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
export function rtnetlinkObjectsContract(open: Open): void {
  links(open);
  addresses(open);
  routes(open);
  rules(open);
  neighbours(open);
}

function links(open: Open): void {
  it('creates links with settings, and changes them', async () => {
    const rtnetlink = await open();
    await rtnetlink.addLink('br', 'bridge', { mtu: 1400, bridge: { stp: true, forwardDelay: 5 } });
    await rtnetlink.addLink('va', 'veth', { address: '02:00:00:00:00:AA', peer: { name: 'vb', mtu: 1300 } });
    const bridge = (await rtnetlink.getLink('br')) ?? assert.fail();
    assert.deepEqual([bridge.mtu, bridge.bridge?.stp, bridge.bridge?.forwardDelay], [1400, true, 5]);
    const peer = (await rtnetlink.getLink('vb')) ?? assert.fail();
    assert.deepEqual([peer.kind, peer.mtu, peer.link, peer.state], ['veth', 1300, 'va', 'down']);
    assert.equal((await rtnetlink.getLink(peer.index))?.name, 'vb');
    await rtnetlink.setLink('va', { up: true, master: 'br', mtu: 1350, txQueueLength: 10, alias: 'left' });
    const port = (await rtnetlink.getLink('va')) ?? assert.fail();
    assert.deepEqual(
      [port.up, port.master, port.mtu, port.txQueueLength, port.alias, port.address],
      [true, 'br', 1350, 10, 'left', '02:00:00:00:00:aa'],
    );
    assert.equal(port.bridgePort?.priority, 32);
    await rtnetlink.setLink('va', { bridgePort: { hairpin: true } });
    assert.equal((await rtnetlink.getLink('va'))?.bridgePort?.hairpin, true);
    await rtnetlink.setLink('va', { master: null, up: false, name: 'vc' });
    const renamed = (await rtnetlink.getLink('vc')) ?? assert.fail();
    assert.deepEqual(
      [renamed.index, renamed.up, renamed.master, renamed.bridgePort],
      [port.index, false, undefined, undefined],
    );
    assert.equal((await rtnetlink.getLink('vb'))?.link, 'vc');
    await rtnetlink.deleteLink(peer.index);
    assert.equal(await rtnetlink.getLink('vc'), undefined);
  });

  it("refuses changes of links with the kernel's error numbers", async () => {
    const rtnetlink = await open();
    await rtnetlink.addLink('br', 'bridge');
    await rtnetlink.addLink('br2', 'bridge');
    await rtnetlink.addLink('va', 'veth', { peer: { name: 'vb' } });
    const operations: RtnetlinkOperation[] = [
      { do: 'setLink', link: 'none', settings: { up: true } },
      { do: 'setLink', link: 'va', settings: { master: 'none' } },
      { do: 'setLink', link: 'va', settings: { master: 'vb' } },
      { do: 'setLink', link: 'br', settings: { master: 'br2' } },
      { do: 'setLink', link: 'lo', settings: { master: 'br' } },
      { do: 'setLink', link: 'va', settings: { name: 'br' } },
      { do: 'setLink', link: 'va', settings: { mtu: 67 } },
      { do: 'setLink', link: 'va', settings: { bridge: { stp: true } } },
      { do: 'setLink', link: 'va', settings: { bridgePort: { hairpin: true } } },
      { do: 'addLink', name: 'va', kind: 'veth' },
      { do: 'addLink', name: 'vx', kind: 'veth', settings: { peer: { name: 'vb' } } },
      { do: 'addLink', name: 'vx', kind: 'bridge', settings: { index: 1 } },
      { do: 'addLink', name: 'vx', kind: 'veth', settings: { peer: { up: true } } },
      { do: 'deleteLink', name: 4_000 },
    ];
    assert.deepEqual(outcomes(await rtnetlink.apply(operations)), [
      'ENODEV 19 rtnetlink.setLink dev none',
      'ENODEV 19 rtnetlink.setLink dev va',
      'EOPNOTSUPP 95 rtnetlink.setLink dev va',
      'ELOOP 40 rtnetlink.setLink dev br',
      'EINVAL 22 rtnetlink.setLink dev lo',
      'EEXIST 17 rtnetlink.setLink dev va',
      'EINVAL 22 rtnetlink.setLink dev va',
      'EOPNOTSUPP 95 rtnetlink.setLink dev va',
      'EOPNOTSUPP 95 rtnetlink.setLink dev va',
      'EEXIST 17 rtnetlink.addLink dev va type veth',
      'EEXIST 17 rtnetlink.addLink dev vx type veth',
      'EEXIST 17 rtnetlink.addLink dev vx type bridge',
      'ENOTCONN 107 rtnetlink.addLink dev vx type veth',
      'ENODEV 19 rtnetlink.deleteLink dev 4000',
    ]);
  });

  it('finds the link of each operation at its place in the batch', async () => {
    const rtnetlink = await open();
    const route: NewRoute = { destination: '10.9.0.0/16', link: 'v2' };
    const operations: RtnetlinkOperation[] = [
      { do: 'addLink', name: 'v1', kind: 'veth', settings: { peer: { name: 'vp' } } },
      { do: 'setLink', link: 'vp', settings: { up: true } },
      { do: 'addRoute', route },
      { do: 'setLink', link: 'v1', settings: { up: false, name: 'v2' } },
      { do: 'setLink', link: 'v2', settings: { up: true } },
      { do: 'addRoute', route },
      { do: 'deleteLink', name: 'v2' },
      { do: 'addRoute', route },
    ];
    const target = '10.9.0.0/16 dev v2';
    assert.deepEqual(outcomes(await rtnetlink.apply(operations)), [
      'done',
      'done',
      `ENODEV 19 rtnetlink.addRoute ${target}`,
      'done',
      'done',
      'done',
      'done',
      `ENODEV 19 rtnetlink.addRoute ${target}`,
    ]);
  });
}

function addresses(open: Open): void {
  it('keeps the settings of addresses', async () => {
    const rtnetlink = await withVeth(open);
    const address = { link: 'va', address: '10.2.0.1', prefix: 24 };
    await rtnetlink.addAddress({
      ...address,
      broadcast: '10.2.0.255',
      label: 'va:1',
      scope: 'link',
      metric: 50,
      flags: ['noprefixroute'],
      validLifetime: 3000,
      preferredLifetime: 2000,
    });
    const find = async () =>
      (await rtnetlink.listAddresses('va')).find((each) => each.address === '10.2.0.1');
    const { validLifetime = 0, preferredLifetime = 0, ...rest } = (await find()) ?? assert.fail();
    assert.deepEqual(rest, {
      ...address,
      broadcast: '10.2.0.255',
      label: 'va:1',
      scope: 'link',
      metric: 50,
      flags: ['noprefixroute'],
    });
    assert.ok(validLifetime > 2900 && validLifetime <= 3000, String(validLifetime));
    assert.ok(preferredLifetime > 1900 && preferredLifetime <= 2000, String(preferredLifetime));
    await rtnetlink.replaceAddress(address);
    assert.equal((await find())?.validLifetime, undefined);
    await rtnetlink.replaceAddress({ ...address, validLifetime: 100 });
    assert.equal(((await find())?.validLifetime ?? 0) > 90, true);
    await rtnetlink.addAddress({ link: 'va', address: '10.3.0.1', peer: '10.3.0.2', prefix: 32 });
    const peers = (await rtnetlink.listAddresses('va')).map(({ peer }) => peer);
    assert.ok(peers.includes('10.3.0.2'), String(peers));
    await rtnetlink.replaceAddress({ link: 'va', address: '10.4.0.1', prefix: 24 });
    assert.ok((await rtnetlink.listAddresses('va')).some((each) => each.address === '10.4.0.1'));
    await rtnetlink.addAddress({ link: 'lo', address: '127.1.2.3', prefix: 32 });
    assert.deepEqual(
      (await rtnetlink.listAddresses('lo'))
        .map(({ address: text, scope }) => `${text} ${scope}`)
        .filter((line) => line.startsWith('127.1')),
      ['127.1.2.3 host'],
    );
  });
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

  it('has routes of both families, of several types, tables and ways', async () => {
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

  it('finds the route of a packet', async () => {
    const rtnetlink = await withVeth(open);
    await rtnetlink.apply([
      { do: 'addRoute', route: { destination: '10.9.0.0/16', gateway: '10.1.0.2' } },
      { do: 'addRoute', route: { destination: '10.9.1.0/24', gateway: '10.1.0.3' } },
      { do: 'addRoute', route: { destination: '10.9.2.0/24', type: 'unreachable' } },
      { do: 'addRoute', route: { destination: '10.9.3.0/24', type: 'blackhole' } },
      { do: 'addRoute', route: { destination: '10.9.4.0/24', type: 'prohibit' } },
      { do: 'addRoute', route: { destination: '10.9.0.0/16', gateway: '10.1.0.9', table: 100 } },
      { do: 'addRule', rule: { mark: { value: 5 }, table: 100 } },
    ]);
    const way = async (address: string, mark?: number) => {
      const { gateway, link, preferredSource, type } = await rtnetlink.getRoute(
        address,
        mark === undefined ? {} : { mark },
      );
      return `${type} ${gateway ?? '-'} ${link} ${preferredSource}`;
    };
    assert.equal(await way('10.1.0.7'), 'unicast - va 10.1.0.1');
    assert.equal(await way('10.1.0.1'), 'local - lo 10.1.0.1');
    assert.equal(await way('10.9.7.7'), 'unicast 10.1.0.2 va 10.1.0.1');
    assert.equal(await way('10.9.1.7'), 'unicast 10.1.0.3 va 10.1.0.1');
    assert.equal(await way('10.9.1.7', 5), 'unicast 10.1.0.9 va 10.1.0.1');
    await refused(rtnetlink.getRoute('10.9.2.1'), 'EHOSTUNREACH 113 rtnetlink.getRoute 10.9.2.1');
    await refused(rtnetlink.getRoute('10.9.3.1'), 'EINVAL 22 rtnetlink.getRoute 10.9.3.1');
    await refused(rtnetlink.getRoute('10.9.4.1'), 'EACCES 13 rtnetlink.getRoute 10.9.4.1');
    await refused(rtnetlink.getRoute('192.0.2.1'), 'ENETUNREACH 101 rtnetlink.getRoute 192.0.2.1');
    await refused(
      rtnetlink.getRoute('10.1.0.7', { outputLink: 'none' }),
      'ENODEV 19 rtnetlink.getRoute 10.1.0.7',
    );
  });
}

function rules(open: Open): void {
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

function neighbours(open: Open): void {
  it('adds, changes, replaces and deletes neighbours and proxies', async () => {
    const rtnetlink = await withVeth(open);
    const id = { link: 'va', address: '10.1.0.9' };
    const hardwareAddress = '02:00:00:00:00:09';
    await rtnetlink.addNeighbour({ ...id, hardwareAddress });
    await refused(
      rtnetlink.addNeighbour({ ...id, hardwareAddress }),
      'EEXIST 17 rtnetlink.addNeighbour 10.1.0.9 dev va',
    );
    const found = (await rtnetlink.getNeighbour(id)) ?? assert.fail();
    assert.deepEqual(
      [found.state, found.hardwareAddress, found.flags, found.family],
      ['permanent', hardwareAddress, [], 4],
    );
    await rtnetlink.changeNeighbour({ ...id, state: 'noarp' });
    assert.equal((await rtnetlink.getNeighbour(id))?.state, 'noarp');
    await rtnetlink.replaceNeighbour({ link: 'va', address: 'fd01::9', hardwareAddress, flags: ['router'] });
    await rtnetlink.addNeighbour({ link: 'va', address: '10.1.0.10', proxy: true });
    const listed = await rtnetlink.listNeighbours({ link: 'va' }).toArray();
    const ours = listed.filter(({ address }) => address === '10.1.0.9' || address === 'fd01::9');
    assert.deepEqual(ours.map(({ address, flags }) => `${address} ${flags.join()}`).sort(), [
      '10.1.0.9 ',
      'fd01::9 router',
    ]);
    const proxies = await rtnetlink.listNeighbours({ proxy: true }).toArray();
    assert.deepEqual(
      proxies.map(({ address, link, proxy }) => `${address} ${link} ${proxy}`),
      ['10.1.0.10 va true'],
    );
    await rtnetlink.deleteNeighbour(proxies[0] ?? assert.fail());
    await rtnetlink.deleteNeighbour(found);
    assert.equal((await rtnetlink.getNeighbour(id))?.hardwareAddress, undefined);
    const none = { link: 'va', address: '10.1.0.77' };
    await refused(rtnetlink.deleteNeighbour(none), 'ENOENT 2 rtnetlink.deleteNeighbour 10.1.0.77 dev va');
    await refused(
      rtnetlink.changeNeighbour({ ...none, hardwareAddress }),
      'ENOENT 2 rtnetlink.changeNeighbour 10.1.0.77 dev va',
    );
    await refused(rtnetlink.addNeighbour(none), 'EINVAL 22 rtnetlink.addNeighbour 10.1.0.77 dev va');
    await refused(
      rtnetlink.addNeighbour({ ...none, link: 'none', hardwareAddress }),
      'ENODEV 19 rtnetlink.addNeighbour 10.1.0.77 dev none',
    );
    assert.throws(
      () => rtnetlink.listNeighbours({ proxy: 1 } as never),
      /filter.proxy must be true or false/,
    );
  });

  it('reports changes of routes, rules and neighbours', async () => {
    const rtnetlink = await withVeth(open);
    const lines: string[] = [];
    for await (const event of rtnetlink.watch({ kinds: ['route', 'rule', 'neighbour'] })) {
      if (event.kind === 'resync') {
        await rtnetlink.apply([
          { do: 'addRoute', route: { destination: '10.9.0.0/16', gateway: '10.1.0.2' } },
          { do: 'addRule', rule: { priority: 10, table: 100 } },
          {
            do: 'addNeighbour',
            neighbour: { link: 'va', address: '10.1.0.9', hardwareAddress: '02:00:00:00:00:09' },
          },
          { do: 'deleteRule', rule: { priority: 10 } },
          { do: 'deleteRoute', route: { destination: '10.9.0.0/16' } },
        ]);
        continue;
      }
      const sign = event.deleted ? '-' : '+';
      if (event.kind === 'route' && event.route.gateway) {
        lines.push(`${sign} ${event.route.destination} ${event.route.gateway} ${event.route.link}`);
        if (event.deleted) break;
      }
      if (event.kind === 'rule') lines.push(`${sign} ${event.rule.priority} ${event.rule.table}`);
      if (event.kind === 'neighbour' && event.neighbour.address === '10.1.0.9') {
        lines.push(`${sign} ${event.neighbour.address} ${event.neighbour.link} ${event.neighbour.state}`);
      }
    }
    assert.deepEqual(lines, [
      '+ 10.9.0.0/16 10.1.0.2 va',
      '+ 10 100',
      '+ 10.1.0.9 va permanent',
      '- 10 100',
      '- 10.9.0.0/16 10.1.0.2 va',
    ]);
  });

  it('reports the features of the kernel', async () => {
    const rtnetlink = await open();
    const before = await rtnetlink.listLinks();
    const { linkKinds, ipv6, rules: hasRules } = await rtnetlink.capabilities();
    assert.deepEqual([linkKinds.veth, linkKinds.bridge, ipv6, hasRules], [true, true, true, true]);
    assert.deepEqual((await rtnetlink.listLinks()).length, before.length);
  });
}
