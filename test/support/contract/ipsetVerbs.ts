// The contract of ipset, second part: extensions, ranges, lists, and the verbs beside add and delete.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { NetlinkError } from '../../../src/kernel/errors.js';
import type { Ipset, SetDefinition } from '../../../src/kernel/ipset/types.js';
import { formatEntry } from '../../../src/kernel/ipset/values/entry.js';
import { chosen, entriesOf, PORTS, SET, web } from './ipsetSets.js';
import { outcomes, refused } from './refusals.js';

/** Throws the error of one, or of the first, operation, without its target. */
function undirected(error: unknown): never {
  const [first = error] = error instanceof AggregateError ? error.errors : [error];
  assert.ok(first instanceof NetlinkError, String(first));
  const { code, errno, operation } = first;
  throw new NetlinkError({ code, errno, operation });
}

/** Registers the tests. `open` returns an ipset without sets. */
export function ipsetVerbsContract(open: () => Promise<Ipset>): void {
  it('has every extension of entries', async () => {
    const ipset = await open();
    const set: SetDefinition = {
      ...{ name: 'x', type: 'hash:ip', family: 4 },
      ...{ timeout: 600, counters: true, comment: true, skbInfo: true, forceAdd: true, netmask: 24 },
    };
    await ipset.create(set);
    await ipset.create(set);
    await refused(ipset.create({ ...set, timeout: 601 }), 'EEXIST 17 ipset.create x');
    await refused(ipset.create({ ...set, netmask: 25 }), 'EEXIST 17 ipset.create x');
    const marks = { skbMark: 0x1111, skbMask: 0xff00_ffff, skbPrio: 0x10010, skbQueue: 10 };
    const full = { packets: 42n, bytes: 2n ** 63n, comment: 'ö, and more', ...marks };
    await ipset.add(set, { address: '10.0.1.9', timeout: 0, ...full });
    await ipset.add(set, { address: '10.0.2.9', timeout: 2_147_483 });
    await ipset.add(set, { address: '10.0.3.9' });
    const { entries = [], set: header } = (await ipset.get('x')) ?? assert.fail();
    const { elements, references, extended, hashSize, maxElements, ...listed } = chosen(header);
    assert.deepEqual(listed, set);
    assert.deepEqual([elements, references, extended, hashSize, maxElements], [3, 0, true, 1024, 65536]);
    const [first, second, third] = [...entries].sort((a, b) => formatEntry(a).localeCompare(formatEntry(b)));
    assert.deepEqual(first, { address: '10.0.1.0', timeout: 0, ...full });
    const { timeout: long = 0 } = second ?? {};
    const { timeout: left = 0 } = third ?? {};
    assert.ok(long > 2_147_400 && left > 500 && left <= 600, `${long} ${left}`);
    assert.deepEqual(third, { address: '10.0.3.0', timeout: left, packets: 0n, bytes: 0n });
    // Added again, an entry gets the extensions that it is added with, and keeps its counters if that has none.
    await ipset.add(set, { address: '10.0.1.9', comment: 'other' });
    const again = (await ipset.get('x'))?.entries.find(({ address }) => address === '10.0.1.0');
    assert.deepEqual(
      [again?.comment, again?.packets, again?.skbMark, (again?.timeout ?? 0) > 0],
      ['other', 42n, undefined, true],
    );
    for (const entry of entries) await ipset.delete(set, entry);
    assert.deepEqual(await entriesOf(ipset, 'x'), []);
  });

  it('refuses extensions that the set does not have', async () => {
    const ipset = await open();
    await ipset.create(SET);
    const refusals = [
      [{ timeout: 5 }, 'IPSET_ERR_TIMEOUT 4107'],
      [{ packets: 5n }, 'IPSET_ERR_COUNTER 4111'],
      [{ comment: 'x' }, 'IPSET_ERR_COMMENT 4112'],
      [{ skbQueue: 1 }, 'IPSET_ERR_SKBINFO 4114'],
    ] as const;
    for (const [extension, expected] of refusals) {
      await refused(ipset.add(SET, { ...web, ...extension }), `${expected} ipset.add a 10.0.0.1,tcp:80`);
      await ipset.delete(SET, { ...web, ...extension });
    }
    assert.deepEqual(await entriesOf(ipset, 'a'), []);
  });

  it('adds and deletes ranges', async () => {
    const ipset = await open();
    const addresses: SetDefinition = { name: 'b', type: 'bitmap:ip', range: ['10.0.0.0', '10.0.0.255'] };
    const nets: SetDefinition = { name: 'n', type: 'hash:net', family: 4 };
    for (const set of [SET, PORTS, addresses, nets]) await ipset.create(set);
    assert.equal((await ipset.get('b'))?.set.family, 4);
    await ipset.add(SET, { ...web, lastAddress: '10.0.0.2', lastPort: 81 });
    await ipset.add(PORTS, { port: 30000, lastPort: 30002 });
    await ipset.add(addresses, { address: '10.0.0.8', prefix: 30 });
    await ipset.add(addresses, { address: '10.0.0.1', lastAddress: '10.0.0.2' });
    await ipset.add(nets, { address: '10.0.0.1', lastAddress: '10.0.0.6' });
    assert.deepEqual(await entriesOf(ipset, 'a'), [
      ...['10.0.0.1,tcp:80', '10.0.0.1,tcp:81', '10.0.0.2,tcp:80', '10.0.0.2,tcp:81'],
    ]);
    assert.deepEqual(await entriesOf(ipset, 'p'), ['30000', '30001', '30002']);
    assert.deepEqual(await entriesOf(ipset, 'b'), [
      ...['10.0.0.1', '10.0.0.10', '10.0.0.11', '10.0.0.2', '10.0.0.8', '10.0.0.9'],
    ]);
    assert.deepEqual(await entriesOf(ipset, 'n'), ['10.0.0.1', '10.0.0.2/31', '10.0.0.4/31', '10.0.0.6']);
    await ipset.delete(PORTS, { port: 30000, lastPort: 30001 });
    await ipset.delete(nets, { address: '10.0.0.1', lastAddress: '10.0.0.3' });
    assert.deepEqual(await entriesOf(ipset, 'p'), ['30002']);
    assert.deepEqual(await entriesOf(ipset, 'n'), ['10.0.0.4/31', '10.0.0.6']);
    const outside = { address: '10.0.0.250', lastAddress: '10.0.1.5' };
    await refused(
      ipset.add(addresses, outside),
      'IPSET_ERR_BITMAP_RANGE 4352 ipset.add b 10.0.0.250-10.0.1.5',
    );
    await refused(
      ipset.create({ ...addresses, name: 'c', range: ['10.0.0.0', '10.1.0.0'] }),
      'IPSET_ERR_BITMAP_RANGE_SIZE 4353 ipset.create c',
    );
  });

  it('keeps the order of a list', async () => {
    const ipset = await open();
    const list: SetDefinition = { name: 'l', type: 'list:set' };
    for (const name of ['a', 'b', 'c']) await ipset.create({ ...SET, name });
    await ipset.create(list);
    await ipset.add(list, { set: 'a' });
    await ipset.add(list, { set: 'b', before: 'a' });
    await ipset.add(list, { set: 'c', after: 'b' });
    const members = async () => (await ipset.get('l'))?.entries.map(({ set }) => set);
    assert.deepEqual(await members(), ['b', 'c', 'a']);
    assert.equal((await ipset.get('a'))?.set.references, 1);
    assert.equal((await ipset.list()).at(-1)?.name, 'l');
    assert.equal(await ipset.test(list, { set: 'c', after: 'b' }), true);
    assert.equal(await ipset.test(list, { set: 'c', before: 'b' }), false);
    await refused(ipset.add(list, { set: 'none' }), 'IPSET_ERR_NAME 4352 ipset.add l none');
    await refused(ipset.add(list, { set: 'l' }), 'IPSET_ERR_LOOP 4353 ipset.add l l');
    await refused(
      ipset.add(list, { set: 'a', before: 'none' }),
      'IPSET_ERR_NAMEREF 4355 ipset.add l a before none',
    );
    await refused(
      ipset.delete(list, { set: 'a', before: 'b' }),
      'IPSET_ERR_REF_EXIST 4357 ipset.delete l a before b',
    );
    await refused(ipset.destroy('a'), 'EBUSY 4100 ipset.destroy a');
    await refused(
      ipset.destroyAll({ confirm: 'destroy every set' }),
      'EBUSY 4100 ipset.destroyAll undefined',
    );
    await refused(ipset.rename('a', 'd'), 'IPSET_ERR_REFERENCED 4108 ipset.rename a d');
    await ipset.delete(list, { set: 'a' });
    await ipset.destroy('a');
    await ipset.flushAll({ confirm: 'remove every entry of every set' });
    assert.deepEqual(await members(), []);
    await ipset.destroyAll({ confirm: 'destroy every set' });
    assert.deepEqual(await ipset.list(), []);
  });

  it('tests entries, and matches networks with their exceptions', async () => {
    const ipset = await open();
    const nets: SetDefinition = { name: 'n', type: 'hash:net', family: 4 };
    await ipset.create(SET);
    await ipset.create(nets);
    await ipset.add(SET, web);
    await ipset.add(nets, { address: '10.0.0.0', prefix: 8 });
    await ipset.add(nets, { address: '10.1.0.0', prefix: 16, noMatch: true });
    const tested = async (...entries: Parameters<Ipset['test']>[1][]) =>
      Promise.all(entries.map((entry) => ipset.test(nets, entry)));
    assert.deepEqual(
      [await ipset.test(SET, web), await ipset.test(SET, { ...web, port: 81 })],
      [true, false],
    );
    assert.deepEqual(
      await tested({ address: '10.2.3.4' }, { address: '10.1.2.3' }, { address: '11.0.0.1' }),
      [true, false, false],
    );
    assert.deepEqual(
      await tested(
        { address: '10.0.0.0', prefix: 8 },
        { address: '10.0.0.0', prefix: 9 },
        { address: '10.1.0.0', prefix: 16, noMatch: true },
      ),
      [true, false, true],
    );
    await refused(ipset.test({ ...SET, name: 'none' }, web), 'ENOENT 2 ipset.test none 10.0.0.1,tcp:80');
    await refused(
      ipset.test({ ...nets, name: 'a' }, { address: '10.0.0.1' }),
      'IPSET_ERR_TYPE_MISMATCH 4102 ipset.test a 10.0.0.1',
    );
  });

  it('is strict where that is asked for', async () => {
    const ipset = await open();
    const strict = { strict: true };
    await ipset.create(SET, strict);
    await refused(ipset.create(SET, strict), 'EEXIST 17 ipset.create a');
    await ipset.add(SET, web, strict);
    await refused(ipset.add(SET, web, strict), 'IPSET_ERR_EXIST 4103 ipset.add a 10.0.0.1,tcp:80');
    await ipset.delete(SET, web, strict);
    await refused(ipset.delete(SET, web, strict), 'IPSET_ERR_EXIST 4103 ipset.delete a 10.0.0.1,tcp:80');
    const add = (port: number) => ({ do: 'add', set: SET, entry: { ...web, port }, strict: true }) as const;
    assert.deepEqual(outcomes(await ipset.apply([add(1), add(2), add(1), add(3), add(2)])), [
      ...['done', 'done', 'IPSET_ERR_EXIST 4103 ipset.add a 10.0.0.1,tcp:1', 'done'],
      'IPSET_ERR_EXIST 4103 ipset.add a 10.0.0.1,tcp:2',
    ]);
    assert.equal((await ipset.get('a'))?.entries.length, 3);
  });

  it('renames', async () => {
    const ipset = await open();
    await ipset.create(SET);
    await ipset.create({ ...SET, name: 'b' });
    await ipset.add(SET, web);
    await refused(ipset.rename('a', 'b'), 'EEXIST 4101 ipset.rename a b');
    await refused(ipset.rename('none', 'c'), 'ENOENT 2 ipset.rename none c');
    await ipset.rename('a', 'c');
    assert.deepEqual(await entriesOf(ipset, 'c'), ['10.0.0.1,tcp:80']);
    await ipset.add({ ...SET, name: 'c' }, { ...web, port: 81 });
    assert.equal(await ipset.get('a'), undefined);
  });

  it('lists entries one after another', async () => {
    const ipset = await open();
    await ipset.create(SET);
    await ipset.add(SET, { ...web, lastPort: 1079 });
    const listing = ipset.entries('a');
    const ports = new Set<number | undefined>();
    for await (const { port } of listing) ports.add(port);
    assert.equal(ports.size, 1000);
    await ipset.delete(SET, web);
    assert.equal((await listing.toArray()).length, 999);
    await refused(ipset.entries('none').toArray(), 'ENOENT 2 ipset.entries none');
    const aborted = { signal: AbortSignal.abort() };
    await assert.rejects(ipset.entries('a', aborted).toArray(), { name: 'AbortError' });
    await assert.rejects(ipset.add(SET, web, aborted), { name: 'AbortError' });
    assert.equal((await ipset.get('a'))?.entries.length, 999);
  });

  it('grows a full set', async () => {
    const ipset = await open();
    const set: SetDefinition = {
      ...{ name: 'a', type: 'hash:ip', family: 4, hashSize: 64, maxElements: 2 },
      ...{ timeout: 0, comment: true, bucketSize: 4 },
    };
    const list: SetDefinition = { name: 'l', type: 'list:set' };
    await ipset.create(set);
    await ipset.create(list);
    await ipset.add(list, { set: 'a' });
    await ipset.add(set, { address: '10.0.0.1', comment: 'one' });
    await ipset.add(set, { address: '10.0.0.2', timeout: 1000 });
    await ipset.grow('a', { maxElements: 100, hashSize: 128 });
    const { set: header, entries } = (await ipset.get('a')) ?? assert.fail();
    assert.deepEqual(
      [header.maxElements, header.hashSize, header.comment, header.bucketSize, header.references],
      [100, 128, true, 4, 1],
    );
    assert.deepEqual(entries.map(({ address, comment }) => `${address} ${comment}`).sort(), [
      '10.0.0.1 one',
      '10.0.0.2 undefined',
    ]);
    assert.equal(entries.find(({ comment }) => comment)?.timeout, 0);
    await ipset.add(set, { address: '10.0.0.3' });
    assert.deepEqual((await ipset.list()).map(({ name }) => name).sort(), ['a', 'l']);
    // Too small: the set stays as it is.
    await refused(
      ipset.grow('a', { maxElements: 1 }).catch(undirected),
      'IPSET_ERR_HASH_FULL 4352 ipset.add undefined',
    );
    assert.equal((await ipset.get('a'))?.set.maxElements, 100);
    assert.deepEqual((await ipset.list()).map(({ name }) => name).sort(), ['a', 'l']);
    await refused(ipset.grow('none', {}), 'ENOENT 2 ipset.grow none');
    await assert.rejects(ipset.grow('l', {}), { name: 'RangeError', message: /must be the name of a hash/ });
  });

  it('says what it can do', async () => {
    const ipset = await open();
    const { protocol, types, library, hint } = await ipset.capabilities();
    assert.deepEqual([protocol?.[0], hint], [6, undefined]);
    assert.match(library?.version ?? '', /^13/);
    assert.deepEqual(await ipset.types(), types);
    const [least, greatest] = types.find(({ name }) => name === 'hash:ip')?.revisions ?? assert.fail();
    assert.ok(least <= greatest);
  });
}
