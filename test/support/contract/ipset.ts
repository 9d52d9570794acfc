// The contract of ipset: the behaviour that the kernel with libipset and the fake share.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Ipset, IpsetOperation } from '../../../src/kernel/ipset/types.js';
import { chosen, entriesOf, PORTS, SET, web } from './ipsetSets.js';
import { ipsetVerbsContract } from './ipsetVerbs.js';
import { closed, outcomes, refused } from './refusals.js';

/** Registers the tests. `open` returns an ipset without sets. */
export function ipsetContract(open: () => Promise<Ipset>): void {
  it('lists the added objects, as the kernel writes them', async () => {
    const ipset = await open();
    await ipset.create({ ...SET, hashSize: 1000, maxElements: 3 });
    await ipset.create(PORTS);
    await ipset.create({ name: 'n', type: 'hash:net', family: 6 });
    await assert.rejects(ipset.add(SET, { ...web, address: '010.0.0.1' }), { name: 'RangeError' });
    await ipset.add(SET, web);
    await ipset.add(SET, { address: '10.0.0.2', protocol: 1, icmp: { type: 8, code: 0 } });
    await ipset.add(SET, { address: '10.0.0.2', protocol: 47 });
    await ipset.add({ name: 'n', type: 'hash:net', family: 6 }, { address: 'FD00::', prefix: 16 });
    await ipset.add({ name: 'n', type: 'hash:net', family: 6 }, { address: 'fd00::1', prefix: 128 });
    assert.deepEqual(chosen((await ipset.get('a'))?.set ?? assert.fail()), {
      ...SET,
      ...{ hashSize: 1024, maxElements: 3, references: 0, elements: 3, extended: false },
    });
    assert.deepEqual(await entriesOf(ipset, 'a'), ['10.0.0.1,tcp:80', '10.0.0.2,1:8/0', '10.0.0.2,47:0']);
    assert.deepEqual(
      (await ipset.get('a'))?.entries.find(({ icmp }) => icmp !== undefined),
      { address: '10.0.0.2', protocol: 1, icmp: { type: 8, code: 0 } },
    );
    assert.deepEqual(await entriesOf(ipset, 'n'), ['fd00::/16', 'fd00::1']);
    assert.deepEqual((await ipset.list()).map(({ name }) => name).sort(), ['a', 'n', 'p']);
    assert.deepEqual((await ipset.get('p'))?.set.range, [30000, 32767]);
    assert.equal(await ipset.get('none'), undefined);
    await ipset.delete(SET, web);
    await ipset.delete(SET, web);
    assert.equal((await ipset.get('a'))?.entries.length, 2);
    await ipset.flush('a');
    assert.deepEqual(await entriesOf(ipset, 'a'), []);
  });

  it('fails with the error numbers of the kernel and of ipset', async () => {
    const ipset = await open();
    await refused(ipset.add(SET, web), 'ENOENT 2 ipset.add a 10.0.0.1,tcp:80');
    await refused(ipset.delete(SET, web), 'ENOENT 2 ipset.delete a 10.0.0.1,tcp:80');
    await refused(ipset.flush('a'), 'ENOENT 2 ipset.flush a');
    await refused(ipset.destroy('a'), 'ENOENT 2 ipset.destroy a');
    await refused(ipset.swap('a', 'b'), 'ENOENT 2 ipset.swap a b');
    await ipset.create({ ...SET, maxElements: 1 });
    await refused(ipset.swap('a', 'b'), 'ENOENT 4101 ipset.swap a b');
    await ipset.create({ ...SET, maxElements: 1 });
    await refused(ipset.create(SET), 'EEXIST 17 ipset.create a');
    await refused(ipset.create({ ...SET, type: 'hash:ip' }), 'EEXIST 17 ipset.create a');
    await refused(ipset.create({ ...SET, family: 6, maxElements: 1 }), 'EEXIST 17 ipset.create a');
    await ipset.add(SET, web);
    await ipset.add(SET, web);
    await refused(
      ipset.add(SET, { ...web, port: 81 }),
      'IPSET_ERR_HASH_FULL 4352 ipset.add a 10.0.0.1,tcp:81',
    );
    const other = { name: 'a', type: 'hash:ip', family: 4 } as const;
    await refused(
      ipset.add(other, { address: '10.0.0.1' }),
      'IPSET_ERR_TYPE_MISMATCH 4102 ipset.add a 10.0.0.1',
    );
    await refused(
      ipset.delete(other, { address: '10.0.0.1' }),
      'IPSET_ERR_TYPE_MISMATCH 4102 ipset.delete a 10.0.0.1',
    );
    await ipset.create(PORTS);
    await refused(ipset.create({ ...PORTS, range: [1, 2] } as const), 'EEXIST 17 ipset.create p');
    await refused(ipset.add(PORTS, { port: 80 }), 'IPSET_ERR_BITMAP_RANGE 4352 ipset.add p 80');
    await refused(ipset.swap('a', 'p'), 'IPSET_ERR_TYPE_MISMATCH 4102 ipset.swap a p');
    assert.deepEqual(await entriesOf(ipset, 'a'), ['10.0.0.1,tcp:80']);
  });

  it('exchanges the contents of two sets', async () => {
    const ipset = await open();
    await ipset.create(SET);
    await ipset.create({ ...SET, name: 'b', maxElements: 7 });
    await ipset.add(SET, web);
    await ipset.swap('a', 'b');
    assert.deepEqual(await entriesOf(ipset, 'b'), ['10.0.0.1,tcp:80']);
    assert.equal((await ipset.get('a'))?.set.maxElements, 7);
    await ipset.destroy('a');
    assert.equal(await ipset.get('a'), undefined);
  });

  it('continues after a failed operation, and leaves out invalid operations', async () => {
    const ipset = await open();
    const operations: IpsetOperation[] = [
      { do: 'create', set: SET },
      { do: 'add', set: SET, entry: { ...web, port: -1 } },
      { do: 'add', set: SET, entry: web },
      { do: 'add', set: { ...SET, name: 'none' }, entry: web },
      { do: 'add', set: SET, entry: { ...web, port: 81 } },
      { do: 'delete', set: SET, entry: web },
      { do: 'flush', name: 'none' },
    ];
    assert.deepEqual(outcomes(await ipset.apply(operations)), [
      'done',
      'ERR_INVALID_ARGUMENT 0 ipset.add a 10.0.0.1,tcp:-1',
      'done',
      'ENOENT 2 ipset.add none 10.0.0.1,tcp:80',
      'done',
      'done',
      'ENOENT 2 ipset.flush none',
    ]);
    assert.deepEqual(await entriesOf(ipset, 'a'), ['10.0.0.1,tcp:81']);
  });

  it('rejects invalid arguments, and names the field', async () => {
    const ipset = await open();
    await ipset.create(SET);
    const broken: [Promise<unknown>, RegExp][] = [
      [
        ipset.create({ ...SET, timeouts: 600 } as never),
        /^ipset.create: set.timeouts is not a field of a set, found 600$/,
      ],
      [ipset.create({ ...SET, range: [1, 2] } as never), /set.range must be left out for hash:ip,port/],
      [ipset.create(SET, { strict: 1 } as never), /^ipset.create: strict must be true or false, found 1$/],
      [
        ipset.create(SET, { strictly: true } as never),
        /^ipset.create: strictly is not an option, found true$/,
      ],
      [
        ipset.add(SET, { ...web, ttl: 5 } as never),
        /^ipset.add: entry.ttl is not a field of an entry, found 5$/,
      ],
      [
        ipset.test(SET, { ...web, lastPort: 90 }),
        /^ipset.test: entry.lastPort must be left out for a test of hash:ip,port, found 90$/,
      ],
      [ipset.rename('a', ''), /^ipset.rename: newName must be a name of 1 to 31 bytes/],
      [ipset.grow('a', { maxElements: 0 }), /^ipset.grow: maxElements must be an integer from 1 to/],
      [ipset.grow('a', { size: 5 } as never), /^ipset.grow: size is not an option, found 5$/],
      [ipset.add({ ...SET, tipe: 1 } as never, web), /set.tipe is not a field of a set/],
      [ipset.add(SET, { ...web, mark: 1 } as never), /entry.mark must be left out for hash:ip,port/],
      [ipset.add(SET, { ...web, protocol: 1 }), /entry.port must be left out for protocol 1/],
      [
        ipset.add(SET, { ...web, icmp: { type: 0, code: 0 } } as never),
        /entry.icmp must be left out for protocol tcp/,
      ],
      [ipset.add(SET, { ...web, attributes: [] } as never), /entry.attributes must be left out/],
      [ipset.get(''), /^ipset.get: name must be a name of 1 to 31 bytes/],
      [
        ipset.flushAll({} as never),
        /^ipset.flushAll: confirm must be 'remove every entry of every set', found undefined$/,
      ],
      [ipset.flushAll(undefined as never), /^ipset.flushAll: confirm must be/],
      [
        ipset.destroyAll({} as never),
        /^ipset.destroyAll: confirm must be 'destroy every set', found undefined$/,
      ],
      [ipset.destroyAll({ confirm: 'destroy every set', now: 1 } as never), /now is not an option/],
      [ipset.flush('x'.repeat(32)), /^ipset.flush: name must be a name of 1 to 31 bytes/],
    ];
    for (const [call, message] of broken) await assert.rejects(call, { message });
    const [result] = await ipset.apply([{ do: 'flush', name: 'a', force: true } as never]);
    assert.match(
      result?.message ?? '',
      /ERR_INVALID_ARGUMENT: ipset.flush a: force is not a field of the operation flush/,
    );
    assert.deepEqual(await entriesOf(ipset, 'a'), []);
  });

  ipsetVerbsContract(open);

  it('rejects every call after close()', async () => {
    const ipset = await open();
    await closed(
      ipset,
      () => ipset.list(),
      () => ipset.get('a'),
      () => ipset.create(SET),
      () => ipset.apply([]),
      () => ipset.test(SET, web),
      () => ipset.entries('a').toArray(),
      () => ipset.types(),
      () => ipset.capabilities(),
      () => ipset.grow('a', {}),
      () => ipset.rename('a', 'b'),
      () => ipset.flushAll({ confirm: 'remove every entry of every set' }),
    );
  });
}
