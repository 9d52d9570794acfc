// The contract of links and addresses: the behaviour that the kernel and the fake share.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Rtnetlink, RtnetlinkOperation } from '../../../src/kernel/rtnetlink/types.js';
import { closed, outcomes, refused } from './refusals.js';

const on = (address: string, prefix: number, link = 'knp0') => ({ link, address, prefix });

async function addressesOf(rtnetlink: Rtnetlink, link: string): Promise<string[]> {
  return (await rtnetlink.listAddresses(link))
    .map(({ address, prefix, scope }) => `${address}/${prefix} ${scope}`)
    .sort();
}

/** Registers the tests. `open` returns a network namespace with only lo, which is down; `kind` is a kind of link. */
export function rtnetlinkContract(open: () => Promise<Rtnetlink>, kind: string): void {
  it('lists the added objects, as the kernel writes them', async () => {
    const rtnetlink = await open();
    await rtnetlink.addLink('knp0', kind);
    const link = (await rtnetlink.getLink('knp0')) ?? assert.fail();
    assert.deepEqual([link.name, link.kind, link.mtu, link.up], ['knp0', kind, 1500, false]);
    assert.ok(link.index > 1);
    const lo = (await rtnetlink.getLink('lo')) ?? assert.fail();
    assert.deepEqual([lo.index, lo.kind, lo.mtu, lo.flags.includes('loopback')], [1, '', 65536, true]);
    assert.ok((await rtnetlink.listLinks()).some(({ name }) => name === 'knp0'));
    await rtnetlink.addAddress(on('10.96.0.1', 32));
    // Octal for iproute2.
    await assert.rejects(rtnetlink.addAddress(on('010.96.0.1', 32)), { name: 'RangeError' });
    await rtnetlink.addAddress(on('10.96.0.1', 16));
    await rtnetlink.addAddress(on('FD00::1', 128));
    await rtnetlink.addAddress(on('fe80::1', 64));
    assert.deepEqual(await addressesOf(rtnetlink, 'knp0'), [
      '10.96.0.1/16 global',
      '10.96.0.1/32 global',
      'fd00::1/128 global',
      'fe80::1/64 link',
    ]);
    assert.equal((await rtnetlink.listAddresses()).filter((each) => each.link === 'knp0').length, 4);
    // A listed object can be used as its own name.
    const [listed] = await rtnetlink.listAddresses('knp0');
    await rtnetlink.deleteAddress(listed ?? assert.fail());
    assert.equal((await rtnetlink.listAddresses('knp0')).length, 3);
    await rtnetlink.deleteLink('knp0');
    assert.equal(await rtnetlink.getLink('knp0'), undefined);
    assert.deepEqual(
      (await rtnetlink.listAddresses()).filter((each) => each.link === 'knp0'),
      [],
    );
  });

  it("fails with the kernel's error numbers", async () => {
    const rtnetlink = await open();
    await refused(
      rtnetlink.addLink('knp0', 'nonesuch'),
      'EOPNOTSUPP 95 rtnetlink.addLink dev knp0 type nonesuch',
    );
    await refused(rtnetlink.deleteLink('knp0'), 'ENODEV 19 rtnetlink.deleteLink dev knp0');
    await refused(rtnetlink.deleteLink('lo'), 'EOPNOTSUPP 95 rtnetlink.deleteLink dev lo');
    await refused(rtnetlink.listAddresses('knp0'), 'ENODEV 19 rtnetlink.listAddresses dev knp0');
    await refused(
      rtnetlink.addAddress(on('10.0.0.1', 32)),
      'ENODEV 19 rtnetlink.addAddress 10.0.0.1/32 dev knp0',
    );
    await refused(
      rtnetlink.deleteAddress(on('10.0.0.1', 32)),
      'ENODEV 19 rtnetlink.deleteAddress 10.0.0.1/32 dev knp0',
    );
    await rtnetlink.addLink('knp0', kind);
    await refused(rtnetlink.addLink('knp0', kind), `EEXIST 17 rtnetlink.addLink dev knp0 type ${kind}`);
    for (const [address, prefix, other] of [
      ['10.0.0.1', 32, 24],
      ['fd00::1', 128, 64],
    ] as const) {
      const gone = (length: number) =>
        `EADDRNOTAVAIL 99 rtnetlink.deleteAddress ${address}/${length} dev knp0`;
      await refused(rtnetlink.deleteAddress(on(address, prefix)), gone(prefix));
      await rtnetlink.addAddress(on(address, prefix));
      await refused(
        rtnetlink.addAddress(on(address, prefix)),
        `EEXIST 17 rtnetlink.addAddress ${address}/${prefix} dev knp0`,
      );
      await refused(rtnetlink.deleteAddress(on(address, other)), gone(other));
    }
    // An IPv6 address exists only once, with any prefix.
    await refused(
      rtnetlink.addAddress(on('fd00::1', 64)),
      'EEXIST 17 rtnetlink.addAddress fd00::1/64 dev knp0',
    );
  });

  it('continues after a failed operation, and leaves out invalid operations', async () => {
    const rtnetlink = await open();
    const operations: RtnetlinkOperation[] = [
      { do: 'addAddress', address: on('10.0.0.1', 32) },
      { do: 'addLink', name: 'knp0', kind },
      { do: 'addAddress', address: on('10.0.0.1', 33) },
      { do: 'addAddress', address: on('10.0.0.1', 32) },
      { do: 'addAddress', address: on('10.0.0.1', 32) },
      { do: 'deleteAddress', address: on('10.0.0.2', 32) },
    ];
    assert.deepEqual(outcomes(await rtnetlink.apply(operations)), [
      'ENODEV 19 rtnetlink.addAddress 10.0.0.1/32 dev knp0',
      'done',
      'ERR_INVALID_ARGUMENT 0 rtnetlink.addAddress 10.0.0.1/33 dev knp0',
      'done',
      'EEXIST 17 rtnetlink.addAddress 10.0.0.1/32 dev knp0',
      'EADDRNOTAVAIL 99 rtnetlink.deleteAddress 10.0.0.2/32 dev knp0',
    ]);
    assert.deepEqual(await addressesOf(rtnetlink, 'knp0'), ['10.0.0.1/32 global']);
  });

  it('rejects invalid arguments, and names the field', async () => {
    const rtnetlink = await open();
    const broken: [Promise<unknown>, RegExp][] = [
      [rtnetlink.addLink('a/b', kind), /^rtnetlink.addLink: name must be a name .* without slash/],
      [
        rtnetlink.getLink('x'.repeat(128)),
        /^rtnetlink.getLink: link must be .* alternative name of 16 to 127/,
      ],
      [rtnetlink.deleteLink(''), /^rtnetlink.deleteLink: link must be a name of 1 to 15 bytes/],
      [rtnetlink.getLink(0), /^rtnetlink.getLink: link must be an integer from 1 to/],
      [rtnetlink.listAddresses(''), /^rtnetlink.listAddresses: link must be a name/],
      [
        rtnetlink.addAddress({ ...on('10.0.0.1', 32), scope: 'far' } as never),
        /address.scope must be one of global, site, link, host, nowhere/,
      ],
      [
        rtnetlink.addAddress({ ...on('10.0.0.1', 32), colour: 'x' } as never),
        /^rtnetlink.addAddress: address.colour is not a field/,
      ],
      [
        rtnetlink.addAddress({ ...on('10.0.0.1', 32), label: 'x' }),
        /label must be knp0, or begin with knp0:/,
      ],
      [rtnetlink.addAddress({ ...on('fd00::1', 64), broadcast: '10.0.0.1' }), /address.broadcast must be/],
      [rtnetlink.addAddress({ ...on('10.0.0.1', 32), peer: 'fd00::1' }), /address.peer must be an IPv4/],
      [
        rtnetlink.addAddress({ ...on('10.0.0.1', 32), validLifetime: 5, preferredLifetime: 6 }),
        /preferredLifetime must not be longer/,
      ],
      [rtnetlink.addLink('knp0', kind, { vlan: { id: 1 } }), /settings.vlan is of the kind vlan/],
      [
        rtnetlink.addLink('knp0', 'vlan', { link: 'lo', vlan: { id: 4096 } }),
        /settings.vlan.id must be an integer from 0 to 4095/,
      ],
      [rtnetlink.addLink('knp0', kind, { speed: 1 } as never), /settings.speed is not a field of a new link/],
      [
        rtnetlink.setLink('knp0', { bridge: { forwardDelay: -1 } }),
        /settings.bridge.forwardDelay must be a number/,
      ],
      [rtnetlink.setLink('knp0', { up: 1 } as never), /settings.up must be true or false/],
      [rtnetlink.addRoute({ destination: '10.0.0.0/33' }), /^rtnetlink.addRoute: route.destination must be/],
      [rtnetlink.addRoute({ destination: 'default', gateway: 'x' }), /route.gateway must be an IPv4 or IPv6/],
      [rtnetlink.addRoute({ destination: 'default', via: '10.0.0.1' } as never), /route.via is not a field/],
      [
        rtnetlink.addRoute({
          ...{ destination: 'default', link: 'knp0', nextHops: [{ gateway: '10.0.0.1' }] },
        } as never),
        /route.link excludes nextHops/,
      ],
      [
        rtnetlink.addRoute({ destination: 'default', nextHops: [{ gateway: '10.0.0.1', weight: 257 }] }),
        /route.nextHops\[0\].weight must be an integer from 1 to 256/,
      ],
      [
        rtnetlink.addRule({ from: '10.0.0.0/8', to: 'fd00::/8' }),
        /rule.to must be an IPv4 address or prefix/,
      ],
      [rtnetlink.addRule({ sourcePorts: { first: 2, last: 1 } }), /rule.sourcePorts must be a range/],
      [rtnetlink.addRule({ action: 'drop' } as never), /rule.action must be one of lookup/],
      [
        rtnetlink.addNeighbour({ link: 'knp0', address: '10.0.0.1', hardwareAddress: '1g' }),
        /neighbour.hardwareAddress must be a hardware address/,
      ],
      [rtnetlink.addNeighbour({ address: '10.0.0.1' } as never), /neighbour.link must be a name/],
      [rtnetlink.getRoute('10.0.0.0/8'), /^rtnetlink.getRoute: address must be an IPv4 or IPv6 address/],
      [rtnetlink.listRules(5 as never), /^rtnetlink.listRules: family must be 4 or 6/],
      [rtnetlink.deleteAddress(on('10.0.0.1/8', 32)), /address.address must be an IPv4 or IPv6 address/],
    ];
    for (const [call, message] of broken) await assert.rejects(call, { message });
    assert.throws(() => rtnetlink.listRoutes({ colour: 1 } as never), /filter.colour is not a field/);
    assert.throws(() => rtnetlink.listNeighbours({ family: 5 } as never), /filter.family must be 4 or 6/);
    assert.throws(() => rtnetlink.watch({ kinds: ['colour'] } as never), /kinds must be an array of link/);
  });

  it('rejects every call after close()', async () => {
    const rtnetlink = await open();
    await closed(
      rtnetlink,
      () => rtnetlink.listLinks(),
      () => rtnetlink.addLink('knp0', kind),
      () => rtnetlink.apply([]),
    );
  });

  it('names the client whose request an event is of', async () => {
    const rtnetlink = await open();
    const port = await rtnetlink.port();
    assert.ok(Number.isInteger(port) && port > 0, String(port));
    await rtnetlink.addLink('knp0', kind);
    for await (const event of rtnetlink.watch({ kinds: ['address'] })) {
      if (event.kind === 'resync') await rtnetlink.addAddress(on('10.96.0.1', 32));
      else {
        assert.deepEqual([event.kind, event.sender], ['address', port]);
        break;
      }
    }
    assert.equal(await rtnetlink.port(), port);
    await rtnetlink.deleteLink('knp0');
  });

  it('notifies of changes, after a first resync', async () => {
    const rtnetlink = await open();
    const lines: string[] = [];
    for await (const event of rtnetlink.watch({ kinds: ['link', 'address'] })) {
      if (event.kind === 'resync') {
        lines.push(event.lost ? 'lost' : 'resync');
        await rtnetlink.addLink('knp0', kind);
        await rtnetlink.addAddress(on('10.96.0.1', 32));
        await rtnetlink.deleteAddress(on('10.96.0.1', 32));
        await rtnetlink.deleteLink('knp0');
        continue;
      }
      const sign = event.deleted ? '-' : '+';
      if (event.kind !== 'link' && event.kind !== 'address') assert.fail(event.kind);
      const { link, address } =
        event.kind === 'link' ? { link: event.link.name, address: '' } : event.address;
      const line = `${sign} ${link} ${address}`.trimEnd();
      // The kernel may repeat an event.
      if (lines.at(-1) !== line) lines.push(line);
      if (line === '- knp0') break;
    }
    assert.deepEqual(lines, ['resync', '+ knp0', '+ knp0 10.96.0.1', '- knp0 10.96.0.1', '- knp0']);
  });

  it('reports a link that is renamed as a loss: its addresses have the new name', async () => {
    const rtnetlink = await open();
    await rtnetlink.addLink('knp0', kind);
    await rtnetlink.addAddress(on('10.96.0.1', 32));
    const iterator = rtnetlink.watch({ kinds: ['link', 'address'] })[Symbol.asyncIterator]();
    const start = { kind: 'resync', lost: false, receiveBuffer: 1 << 20 };
    assert.deepEqual(await iterator.next(), { done: false, value: start });
    await rtnetlink.setLink('knp0', { name: 'knp1' });
    const { value: loss } = await iterator.next();
    assert.ok(loss?.kind === 'resync' && loss.lost);
    const named = (await rtnetlink.listAddresses()).filter(({ address }) => address === '10.96.0.1');
    assert.deepEqual(
      named.map(({ link }) => link),
      ['knp1'],
    );
    await iterator.return?.();
  });

  it('ends the iterations of a client that is closed, and starts none after it', async () => {
    const rtnetlink = await open();
    const iterator = rtnetlink.watch()[Symbol.asyncIterator]();
    await iterator.next();
    const waiting = iterator.next();
    await rtnetlink.close();
    assert.equal((await waiting).done, true);
    const late = rtnetlink.watch()[Symbol.asyncIterator]();
    await assert.rejects(late.next(), { code: 'ERR_CLOSED', operation: 'rtnetlink.watch' });
    assert.equal((await late.next()).done, true);
    assert.throws(() => rtnetlink.watch({ group: 1 } as never), /rtnetlink\.watch: group is not an option/);
  });
}
