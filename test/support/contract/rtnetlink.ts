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
    assert.deepEqual([lo.index, lo.kind, lo.mtu, lo.flags & 8], [1, '', 65536, 8]);
    assert.ok((await rtnetlink.listLinks()).some(({ name }) => name === 'knp0'));
    await rtnetlink.addAddress(on('010.96.0.1', 32));
    await rtnetlink.addAddress(on('10.96.0.1', 16));
    await rtnetlink.addAddress(on('FD00::1', 128));
    await rtnetlink.addAddress(on('fe80::1', 64));
    assert.deepEqual(await addressesOf(rtnetlink, 'knp0'), [
      '10.96.0.1/16 0',
      '10.96.0.1/32 0',
      'fd00::1/128 0',
      'fe80::1/64 253',
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
    assert.deepEqual(await addressesOf(rtnetlink, 'knp0'), ['10.0.0.1/32 0']);
  });

  it('rejects invalid arguments, and names the field', async () => {
    const rtnetlink = await open();
    const broken: [Promise<unknown>, RegExp][] = [
      [rtnetlink.addLink('a/b', kind), /^rtnetlink.addLink: name must be neither/],
      [rtnetlink.getLink('x'.repeat(16)), /^rtnetlink.getLink: name must be a name of 1 to 15 bytes/],
      [rtnetlink.listAddresses(''), /^rtnetlink.listAddresses: link must be a name/],
      [
        rtnetlink.addAddress({ ...on('10.0.0.1', 32), scope: 254 } as never),
        /address.scope is no field of an address that is written/,
      ],
      [
        rtnetlink.addAddress({ ...on('10.0.0.1', 32), label: 'x' } as never),
        /^rtnetlink.addAddress: address.label is no field/,
      ],
      [rtnetlink.deleteAddress(on('10.0.0.1/8', 32)), /address.address must be an IPv4 or IPv6 address/],
    ];
    for (const [call, message] of broken) await assert.rejects(call, { message });
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

  it('notifies of changes, after a first resync', async () => {
    const rtnetlink = await open();
    const lines: string[] = [];
    for await (const event of rtnetlink.watch()) {
      if (event.kind === 'resync') {
        lines.push(event.lost ? 'lost' : 'resync');
        await rtnetlink.addLink('knp0', kind);
        await rtnetlink.addAddress(on('10.96.0.1', 32));
        await rtnetlink.deleteAddress(on('10.96.0.1', 32));
        await rtnetlink.deleteLink('knp0');
        continue;
      }
      const sign = event.deleted ? '-' : '+';
      const { link, address } =
        event.kind === 'link' ? { link: event.link.name, address: '' } : event.address;
      const line = `${sign} ${link} ${address}`.trimEnd();
      // The kernel may repeat an event.
      if (lines.at(-1) !== line) lines.push(line);
      if (line === '- knp0') break;
    }
    assert.deepEqual(lines, ['resync', '+ knp0', '+ knp0 10.96.0.1', '- knp0 10.96.0.1', '- knp0']);
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
    assert.throws(() => rtnetlink.watch({ group: 1 } as never), /rtnetlink\.watch: group is no option/);
  });
}
