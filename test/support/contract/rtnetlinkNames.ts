// The contract of names: links by their index, and routes and addresses that are one object. The kernel and the fake share it.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { sameAddress, sameRoute } from '../../../src/kernel/rtnetlink/same.js';
import type { RtnetlinkOperation } from '../../../src/kernel/rtnetlink/types.js';
import { ADDRESS_PAIRS, ROUTE_PAIRS } from '../tables/rtnetlink/same.js';
import { outcomes } from './refusals.js';
import { type Open, withVeth } from './rtnetlinkVeth.js';

/** Registers the tests. */
export function rtnetlinkNamesContract(open: Open): void {
  it('refuses to add what sameRoute and sameAddress say is there, and nothing else', async () => {
    const rtnetlink = await withVeth(open);
    const wrong: unknown[] = [];
    const expect = async (operations: readonly RtnetlinkOperation[], isSame: boolean) => {
      const [first, second] = outcomes(await rtnetlink.apply(operations)).map((text) => text.split(' ')[0]);
      if (first !== 'done' || second !== (isSame ? 'EEXIST' : 'done'))
        wrong.push([first, second, operations]);
    };
    for (const [a, b, isSame] of ROUTE_PAIRS) {
      assert.equal(sameRoute(a, b), isSame);
      await expect(
        [a, b].map((route) => ({ do: 'addRoute', route })),
        isSame,
      );
      // The second first: without a metric, a deletion takes the route with the lowest.
      const added = isSame ? [a] : [b, a];
      const deleted = await rtnetlink.apply(added.map((route) => ({ do: 'deleteRoute', route })));
      if (deleted.some((error) => error)) wrong.push([deleted, a, b]);
    }
    for (const [a, b, isSame] of ADDRESS_PAIRS) {
      assert.equal(sameAddress(a, b), isSame);
      await expect(
        [a, b].map((address) => ({ do: 'addAddress', address })),
        isSame,
      );
      const added = isSame ? [a] : [b, a];
      const deleted = await rtnetlink.apply(added.map((address) => ({ do: 'deleteAddress', address })));
      if (deleted.some((error) => error)) wrong.push([deleted, a, b]);
    }
    assert.deepEqual(wrong, []);
  });

  it('takes a link by its index wherever it takes one by its name', async () => {
    const rtnetlink = await withVeth(open);
    const { index } = (await rtnetlink.getLink('va')) ?? assert.fail();
    await rtnetlink.addLink('br', 'bridge');
    const bridge = (await rtnetlink.getLink('br'))?.index ?? assert.fail();
    await rtnetlink.addAddress({ link: index, address: '10.2.0.1', prefix: 24 });
    const addresses = await rtnetlink.listAddresses(index);
    assert.deepEqual(addresses, await rtnetlink.listAddresses('va'));
    assert.equal(addresses.find(({ address }) => address === '10.2.0.1')?.link, 'va');
    await rtnetlink.deleteAddress({ link: index, address: '10.2.0.1', prefix: 24 });
    await rtnetlink.addRoute({ destination: '10.9.0.0/16', link: index });
    await rtnetlink.addRoute({
      destination: '10.8.0.0/16',
      nextHops: [{ link: index, gateway: '10.1.0.2' }],
    });
    const routes = await rtnetlink.listRoutes({ link: index, family: 4 }).toArray();
    assert.equal(routes.find(({ destination }) => destination === '10.9.0.0/16')?.link, 'va');
    assert.equal((await rtnetlink.getRoute('10.9.0.1', { outputLink: index })).link, 'va');
    await rtnetlink.deleteRoute({ destination: '10.9.0.0/16', link: index });
    const neighbour = { link: index, address: '10.1.0.9' };
    await rtnetlink.addNeighbour({ ...neighbour, hardwareAddress: '02:00:00:00:00:09' });
    assert.equal((await rtnetlink.getNeighbour(neighbour))?.link, 'va');
    assert.ok((await rtnetlink.listNeighbours({ link: index, family: 4 }).toArray()).length > 0);
    await rtnetlink.deleteNeighbour(neighbour);
    assert.equal(await rtnetlink.getNeighbour(neighbour), undefined);
    await rtnetlink.setLink(index, { master: bridge });
    assert.equal((await rtnetlink.getLink(index))?.master, 'br');
    await rtnetlink.setLink(index, { master: null });
  });

  it('gives a link alternative names, and takes them wherever it takes a name', async () => {
    const rtnetlink = await withVeth(open);
    const long = 'x'.repeat(127);
    for (const name of ['uplink', long]) await rtnetlink.addAlternativeName('va', name);
    await rtnetlink.addAlternativeName(long, 'third');
    assert.deepEqual((await rtnetlink.getLink('uplink'))?.alternativeNames, ['uplink', long, 'third']);
    for (const link of ['uplink', long]) {
      const route = { destination: '10.9.0.0/16', link };
      const neighbour = { link, address: '10.1.0.9' };
      await rtnetlink.addAddress({ link, address: '10.2.0.1', prefix: 24 });
      await rtnetlink.addRoute(route);
      await rtnetlink.addNeighbour({ ...neighbour, hardwareAddress: '02:00:00:00:00:09' });
      await rtnetlink.setLink(link, { group: link.length });
      const { group } = (await rtnetlink.getLink('va')) ?? assert.fail();
      const routes = await rtnetlink.listRoutes({ link, family: 4 }).toArray();
      assert.ok(routes.some(({ destination }) => destination === route.destination));
      assert.deepEqual([group, (await rtnetlink.getNeighbour(neighbour))?.link], [link.length, 'va']);
      assert.deepEqual(await rtnetlink.listAddresses(link), await rtnetlink.listAddresses('va'));
      await rtnetlink.deleteAddress({ link, address: '10.2.0.1', prefix: 24 });
      await rtnetlink.deleteRoute(route);
      await rtnetlink.deleteNeighbour(neighbour);
    }
    const results = await rtnetlink.apply([
      { do: 'addAlternativeName', link: 'vb', name: 'uplink' },
      { do: 'addAlternativeName', link: 'vb', name: 'va' },
      { do: 'addLink', name: 'uplink', kind: 'bridge' },
      { do: 'addAlternativeName', link: 'none', name: 'other' },
      { do: 'deleteAlternativeName', link: 'va', name: 'other' },
      { do: 'deleteAlternativeName', link: 'vb', name: 'uplink' },
      { do: 'deleteAlternativeName', link: 'va', name: 'va' },
      { do: 'deleteAlternativeName', link: 'uplink', name: 'uplink' },
      { do: 'deleteAlternativeName', link: 'va', name: long },
      { do: 'deleteAlternativeName', link: 'va', name: 'third' },
    ]);
    assert.deepEqual(
      outcomes(results).map((outcome) => outcome.split(' ')[0]),
      ['EEXIST', 'EEXIST', 'EEXIST', 'ENODEV', 'ENOENT', 'EINVAL', 'EINVAL', 'done', 'done', 'done'],
    );
    assert.equal(results[0]?.target, 'dev vb altname uplink');
    assert.equal((await rtnetlink.getLink('va'))?.alternativeNames, undefined);
    assert.equal(await rtnetlink.getLink('uplink'), undefined);
  });

  it('refuses an index that no link has', async () => {
    const rtnetlink = await withVeth(open);
    const link = 4_000;
    const results = await rtnetlink.apply([
      { do: 'addAddress', address: { link, address: '10.2.0.1', prefix: 24 } },
      { do: 'addRoute', route: { destination: '10.9.0.0/16', link } },
      { do: 'addNeighbour', neighbour: { link, address: '10.1.0.9', hardwareAddress: '02:00:00:00:00:09' } },
      { do: 'setLink', link: 'va', settings: { master: link } },
    ]);
    assert.deepEqual(outcomes(results), [
      'ENODEV 19 rtnetlink.addAddress 10.2.0.1/24 dev 4000',
      'ENODEV 19 rtnetlink.addRoute 10.9.0.0/16 dev 4000',
      'ENODEV 19 rtnetlink.addNeighbour 10.1.0.9 dev 4000',
      'EINVAL 22 rtnetlink.setLink dev va',
    ]);
    await assert.rejects(rtnetlink.listAddresses(link), { code: 'ENODEV' });
    await assert.rejects(rtnetlink.listAddresses(0), {
      message: /^rtnetlink\.listAddresses: link must be .*an index/,
    });
  });
}
