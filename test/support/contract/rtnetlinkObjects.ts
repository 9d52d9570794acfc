// The contract of links with settings, addresses, routes, rules and neighbours: the behaviour that the kernel and the fake share.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { NewRoute, RtnetlinkOperation } from '../../../src/kernel/rtnetlink/types.js';
import { outcomes, refused } from './refusals.js';
import { rtnetlinkStatisticsContract } from './rtnetlinkKinds.js';
import { rtnetlinkNamesContract } from './rtnetlinkNames.js';
import { rtnetlinkNamespaceIdsContract } from './rtnetlinkNamespaceIds.js';
import { rtnetlinkNextHopsContract } from './rtnetlinkNextHops.js';
import { rtnetlinkRoutingContract } from './rtnetlinkRouting.js';
import { rtnetlinkStatesContract } from './rtnetlinkStates.js';
import { type Open, withVeth } from './rtnetlinkVeth.js';

/**
 * Registers the tests.
 *
 * @param renamesLinksThatAreUp whether the kernel does, as since Linux 6.2
 */
export function rtnetlinkObjectsContract(open: Open, renamesLinksThatAreUp: boolean): void {
  links(open);
  renamings(open, renamesLinksThatAreUp);
  addresses(open);
  rtnetlinkRoutingContract(open);
  rtnetlinkStatesContract(open);
  rtnetlinkStatisticsContract(open);
  rtnetlinkNamesContract(open);
  rtnetlinkNextHopsContract(open);
  rtnetlinkNamespaceIdsContract(open);
  neighbours(open);
}

function renamings(open: Open, whileUp: boolean): void {
  it(`renames a link that is down${whileUp ? ', and one that is up' : ''}`, async () => {
    const rtnetlink = await open();
    await rtnetlink.addLink('va', 'veth', { peer: { name: 'vb' } });
    await rtnetlink.setLink('va', { name: 'vc' });
    await rtnetlink.setLink('vc', { up: true });
    const changes: RtnetlinkOperation[] = [
      { do: 'setLink', link: 'vc', settings: { name: 'vc' } },
      { do: 'setLink', link: 'vc', settings: { name: 'vb' } },
      { do: 'setLink', link: 'vc', settings: { name: 'vd' } },
      // The name is changed first.
      { do: 'setLink', link: whileUp ? 'vd' : 'vc', settings: { up: false, name: 've' } },
    ];
    const results = await rtnetlink.apply(changes);
    assert.deepEqual(
      results.map((error) => error?.code),
      whileUp ? [undefined, 'EEXIST', undefined, undefined] : Array(4).fill('EBUSY'),
    );
    const link = (await rtnetlink.getLink(whileUp ? 've' : 'vc')) ?? assert.fail();
    assert.equal(link.up, !whileUp);
    assert.equal((await rtnetlink.getLink('vb'))?.link, link.name);
  });
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
    await rtnetlink.setLink('va', { master: null, up: false });
    await rtnetlink.setLink('va', { name: 'vc' });
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
