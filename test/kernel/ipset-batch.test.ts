// Batches: thousands of operations in one call, exact results for each, order, listings in several messages.
// Needs: ipset
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type EntryOf,
  formatEntry,
  type Ipset,
  type IpsetOperation,
  type OperationResult,
  openIpset,
  type SetDefinition,
  type SetEntry,
} from '../../src/kernel/ipset/index.js';
import { savedEntries, temporary, ipset as tool } from '../support/tables/ipset.js';

let ipset: Ipset;
before(async () => {
  ipset = await openIpset();
});
after(() => ipset.close());

/** Entries of hash:ip,port that are all different. */
function entryOf(i: number): EntryOf<'hash:ip,port'> & SetEntry {
  return { address: `10.1.${(i >> 8) & 255}.${i & 255}`, protocol: 'tcp', port: 80 + (i >> 16) };
}

function add(set: SetDefinition, entry: SetEntry): IpsetOperation {
  return { do: 'add', set, entry } as IpsetOperation;
}

/** The places of the failures, by code. */
function failuresOf(results: readonly OperationResult[]): Record<string, number[]> {
  const places: Record<string, number[]> = {};
  for (const [i, result] of results.entries()) {
    if (result) {
      places[result.code] ??= [];
      places[result.code]?.push(i);
    }
  }
  return places;
}

test('5 000 operations: exactly the bad ones fail, each with its own error', async (t) => {
  temporary(t, 'knp-a');
  const set: SetDefinition = { name: 'knp-a', type: 'bitmap:port', range: [10_001, 19_999] };
  const operations: IpsetOperation[] = [{ do: 'create', set }];
  for (let i = 1; i < 5000; i++) operations.push(add(set, { port: 10_000 + i }));
  // At the edges of a commit, one after another, and the last.
  const unknown = [64, 65, 66, 1000, 4999];
  const refused = [1, 63, 128, 129, 2500, 4998];
  const malformed = [2, 3000];
  for (const i of unknown) operations[i] = add({ ...set, name: 'knp-none' }, { port: i });
  for (const i of refused) operations[i] = add(set, { port: i });
  for (const i of malformed) operations[i] = add(set, { port: 70_000 });

  const results = await ipset.apply(operations);
  assert.equal(results.length, operations.length);
  assert.deepEqual(failuresOf(results), {
    IPSET_ERR_BITMAP_RANGE: refused,
    ERR_INVALID_ARGUMENT: malformed,
    ENOENT: unknown,
  });
  assert.equal(results[64]?.operation, 'ipset.add');
  assert.equal(results[64]?.target, 'knp-none 64');
  const { message } = results[2] ?? assert.fail('no error');
  assert.match(
    message,
    /^ERR_INVALID_ARGUMENT: ipset\.add knp-a 70000: entry\.port must be an integer from 0 to/,
  );

  const bad = new Set([0, ...unknown, ...refused, ...malformed]);
  const expected = operations.flatMap((_, i) => (bad.has(i) ? [] : [`${10_000 + i}`]));
  assert.deepEqual(savedEntries('knp-a'), expected);
});

test('a full set refuses every new entry, and accepts those that it has', async (t) => {
  temporary(t, 'knp-a');
  const set: SetDefinition = {
    name: 'knp-a',
    type: 'hash:ip,port',
    family: 4,
    hashSize: 64,
    maxElements: 50,
  };
  await ipset.create(set);
  const first = await ipset.apply(Array.from({ length: 500 }, (_, i) => add(set, entryOf(i))));
  assert.deepEqual(failuresOf(first), { IPSET_ERR_HASH_FULL: Array.from({ length: 450 }, (_, i) => 50 + i) });
  assert.match(first[50]?.hint ?? '', /maxElements/);

  const again = await ipset.apply(Array.from({ length: 60 }, (_, i) => add(set, entryOf(i))));
  assert.deepEqual(failuresOf(again), { IPSET_ERR_HASH_FULL: Array.from({ length: 10 }, (_, i) => 50 + i) });
  const more = Array.from({ length: 20 }, (_, i) => add(set, entryOf(1000 + i)));
  const room = await ipset.apply([{ do: 'delete', set, entry: entryOf(7) } as IpsetOperation, ...more]);
  // One takes the place that is free. The kernel also lets one into the very slot of a deleted entry without counting
  // (mtype_add), and the hash decides by chance whether one of these comes to lie there.
  assert.equal(room[0], undefined);
  const refused = failuresOf(room)['IPSET_ERR_HASH_FULL']?.length ?? 0;
  assert.ok(refused === 18 || refused === 19, `${refused} were refused`);
});

// Entries so large that libipset's buffer holds fewer of them than are committed together: the set becomes full before
// it sends the first part of them by itself, and after.
for (const maxElements of [100, 120]) {
  test(`a set of large entries that is full with ${maxElements}`, async (t) => {
    temporary(t, 'knp-a');
    const set: SetDefinition = { name: 'knp-a', type: 'hash:ip,port,ip', family: 6, maxElements };
    await ipset.create(set);
    const entries = Array.from({ length: 300 }, (_, i): SetEntry => {
      const address = `fd00::${(i + 1).toString(16)}`;
      return { address, protocol: 'sctp', port: i, address2: address };
    });
    const results = await ipset.apply(entries.map((entry) => add(set, entry)));
    const refused = Array.from({ length: 300 - maxElements }, (_, i) => maxElements + i);
    assert.deepEqual(failuresOf(results), { IPSET_ERR_HASH_FULL: refused });
    assert.deepEqual(savedEntries('knp-a'), entries.slice(0, maxElements).map(formatEntry).sort());
  });
}

test('ports outside of the range of a bitmap', async (t) => {
  temporary(t, 'knp-a');
  const set: SetDefinition = { name: 'knp-a', type: 'bitmap:port', range: [100, 200] };
  await ipset.create(set);
  const ports = [99, 100, 150, 200, 201];
  const results = await ipset.apply(ports.map((port) => add(set, { port })));
  assert.deepEqual(failuresOf(results), { IPSET_ERR_BITMAP_RANGE: [0, 4] });
  assert.deepEqual(savedEntries('knp-a'), ['100', '150', '200']);
});

test('a batch keeps its order, across verbs, sets and types', async (t) => {
  temporary(t, 'knp-a', 'knp-b');
  const a: SetDefinition = { name: 'knp-a', type: 'hash:ip', family: 4 };
  const b: SetDefinition = { name: 'knp-b', type: 'hash:ip', family: 4 };
  const a6: SetDefinition = { name: 'knp-a', type: 'hash:net', family: 6 };
  const one = { address: '10.0.0.1' };
  const results = await ipset.apply([
    add(a, one), // 0: not there yet
    { do: 'create', set: a },
    { do: 'create', set: b },
    add(a, one),
    { do: 'delete', set: a, entry: one },
    add(a, one),
    add(b, { address: '10.0.0.2' }),
    { do: 'swap', name: 'knp-a', other: 'knp-b' },
    { do: 'delete', set: b, entry: one },
    add(b, { address: '10.0.0.3' }),
    { do: 'flush', name: 'knp-a' },
    { do: 'destroy', name: 'knp-a' },
    { do: 'destroy', name: 'knp-a' }, // 12: gone
    { do: 'create', set: a6 },
    add(a, one), // 14: of another type now
    add(a6, { address: 'fd00::', prefix: 16 }),
    { do: 'delete', set: a6, entry: { address: 'fd00::', prefix: 17 } },
  ]);
  assert.deepEqual(failuresOf(results), { ENOENT: [0, 12], IPSET_ERR_TYPE_MISMATCH: [14] });
  assert.deepEqual(savedEntries('knp-a'), ['fd00::/16']);
  assert.deepEqual(savedEntries('knp-b'), ['10.0.0.3']);
});

test('a set that another process has created anew with another type is noticed', async (t) => {
  temporary(t, 'knp-a');
  const old: SetDefinition = { name: 'knp-a', type: 'hash:ip', family: 4 };
  const now: SetDefinition = { name: 'knp-a', type: 'hash:ip,port', family: 4 };
  const one = { address: '10.0.0.1' };
  assert.deepEqual(failuresOf(await ipset.apply([{ do: 'create', set: old }, add(old, one)])), {});
  assert.deepEqual(failuresOf(await ipset.apply([{ do: 'delete', set: old, entry: one }])), {});
  tool('destroy', 'knp-a');
  tool('create', 'knp-a', 'hash:ip,port');
  assert.deepEqual(failuresOf(await ipset.apply([add(old, one)])), { IPSET_ERR_TYPE_MISMATCH: [0] });
  assert.deepEqual(failuresOf(await ipset.apply([add(now, entryOf(1))])), {});
  assert.deepEqual(failuresOf(await ipset.apply([add(now, entryOf(2))])), {});
  assert.deepEqual(savedEntries('knp-a'), ['10.1.0.1,tcp:80', '10.1.0.2,tcp:80']);
});

test('a prefix of one entry does not spill over to the next', async (t) => {
  temporary(t, 'knp-a');
  const set: SetDefinition = { name: 'knp-a', type: 'hash:ip,port,net', family: 4 };
  const web = { address: '10.0.0.1', protocol: 'tcp', port: 80 } as const;
  const results = await ipset.apply([
    { do: 'create', set },
    add(set, { ...web, address2: '10.0.0.0', prefix2: 8 }),
    add(set, { ...web, address2: '10.1.0.0' }),
  ]);
  assert.deepEqual(failuresOf(results), {});
  assert.deepEqual(savedEntries('knp-a'), ['10.0.0.1,tcp:80,10.0.0.0/8', '10.0.0.1,tcp:80,10.1.0.0']);
});

test('batches that are not awaited are carried out in the order in which they were made', async (t) => {
  temporary(t, 'knp-a');
  const set: SetDefinition = { name: 'knp-a', type: 'hash:ip', family: 4 };
  await ipset.create(set);
  const entries = Array.from({ length: 300 }, (_, i) => ({ address: `10.0.${i >> 8}.${i & 255}` }));
  const all = [];
  for (let round = 0; round < 10; round++) {
    all.push(ipset.apply(entries.map((entry) => add(set, entry))), ipset.flush('knp-a'));
  }
  all.push(ipset.add(set, { address: '10.9.9.9' }));
  await Promise.all(all);
  assert.deepEqual(savedEntries('knp-a'), ['10.9.9.9']);
});

test('an empty batch', async () => {
  assert.deepEqual(await ipset.apply([]), []);
});

for (const family of [4, 6] as const) {
  test(`7 000 entries of IPv${family}: written, listed in several messages, deleted`, async (t) => {
    temporary(t, 'knp-a');
    // A type without protocols: ipset(8) looks every one of them up in /etc/protocols.
    const set: SetDefinition = { name: 'knp-a', type: 'hash:ip', family, hashSize: 8192 };
    const addresses = Array.from({ length: 7000 }, (_, i) =>
      family === 4 ? `10.1.${i >> 8}.${i & 255}` : `fd00::1:${(i + 1).toString(16)}`,
    );
    const all = (verb: 'add' | 'delete') =>
      addresses.map((address): IpsetOperation => ({ do: verb, set, entry: { address } }));
    assert.deepEqual(failuresOf(await ipset.apply([{ do: 'create', set }, ...all('add')])), {});
    const state = await ipset.get('knp-a');
    assert.deepEqual(state?.entries.map(formatEntry).sort(), [...addresses].sort());
    assert.equal(state?.set.elements, 7000);
    assert.deepEqual(savedEntries('knp-a'), [...addresses].sort());
    assert.deepEqual(failuresOf(await ipset.apply(all('delete').slice(1))), {});
    assert.deepEqual(savedEntries('knp-a'), addresses.slice(0, 1));
  });
}

test('sets that somebody else made are listed without loss', async (t) => {
  temporary(t, 'knp-list', 'knp-net', 'knp-more', 'knp-icmp', 'knp-mac', 'knp-ip', 'knp-iface', 'knp-mask');
  tool('create', 'knp-net', 'hash:net');
  tool('add', 'knp-net', '10.0.0.0/8');
  tool('add', 'knp-net', '10.1.0.0/16', 'nomatch');
  tool('create', 'knp-list', 'list:set');
  tool('add', 'knp-list', 'knp-net');
  tool('create', 'knp-more', 'hash:ip', 'timeout', '600', 'comment', 'counters');
  tool('add', 'knp-more', '10.0.0.1', 'comment', 'why not');
  tool('create', 'knp-icmp', 'hash:ip,port');
  tool('add', 'knp-icmp', '10.0.0.1,icmp:0/53');
  tool('add', 'knp-icmp', '10.0.0.1,udplite:53');
  tool('add', 'knp-icmp', '10.0.0.1,gre:0');
  tool('create', 'knp-iface', 'hash:net,iface');
  tool('add', 'knp-iface', '10.0.0.0/8,lo');
  tool('add', 'knp-iface', '10.0.0.0/8,physdev:lo');
  tool('create', 'knp-mask', 'hash:ip', 'netmask', '24');
  tool('add', 'knp-mask', '10.0.0.1');
  tool('create', 'knp-mac', 'bitmap:ip,mac', 'range', '10.0.0.0/24');
  tool('add', 'knp-mac', '10.0.0.7,01:02:03:04:05:06');
  tool('create', 'knp-ip', 'bitmap:ip', 'range', '10.0.0.0/24');
  tool('add', 'knp-ip', '10.0.0.7');

  const sets = new Map((await ipset.list()).map((set) => [set.name, set]));
  const types = ['net', 'list', 'more', 'icmp', 'mac', 'ip'].map((name) => sets.get(`knp-${name}`)?.type);
  assert.deepEqual(types, ['hash:net', 'list:set', 'hash:ip', 'hash:ip,port', 'bitmap:ip,mac', 'bitmap:ip']);
  assert.deepEqual(
    [...sets.values()].filter(({ extended }) => extended).map(({ name }) => name),
    ['knp-more'],
  );
  assert.equal(sets.get('knp-net')?.references, 1);

  const entriesOf = async (name: string) => (await ipset.get(name))?.entries;
  assert.deepEqual((await entriesOf('knp-net'))?.map(formatEntry).sort(), [
    '10.0.0.0/8',
    '10.1.0.0/16 nomatch',
  ]);
  const [more] = (await entriesOf('knp-more')) ?? [];
  assert.equal(more?.address, '10.0.0.1');
  const { timeout = 0, ...rest } = more;
  assert.ok(timeout > 500 && timeout <= 600, `${timeout}`);
  assert.deepEqual(rest, { address: '10.0.0.1', packets: 0n, bytes: 0n, comment: 'why not' });
  const header = sets.get('knp-more');
  assert.deepEqual([header?.timeout, header?.counters, header?.comment], [600, true, true]);
  const sorted = async (name: string) =>
    [...((await entriesOf(name)) ?? [])].sort((a, b) => formatEntry(a).localeCompare(formatEntry(b)));
  assert.deepEqual(await sorted('knp-icmp'), [
    { address: '10.0.0.1', protocol: 1, icmp: { type: 0, code: 53 } },
    { address: '10.0.0.1', protocol: 136, port: 53 },
    { address: '10.0.0.1', protocol: 47 },
  ]);
  assert.deepEqual(await entriesOf('knp-mac'), [{ address: '10.0.0.7', mac: '01:02:03:04:05:06' }]);
  assert.deepEqual(await entriesOf('knp-ip'), [{ address: '10.0.0.7' }]);
  assert.deepEqual(await entriesOf('knp-list'), [{ set: 'knp-net' }]);
  assert.deepEqual(await sorted('knp-iface'), [
    { address: '10.0.0.0', prefix: 8, interface: 'lo' },
    { address: '10.0.0.0', prefix: 8, interface: 'lo', physdev: true },
  ]);
  assert.deepEqual(await entriesOf('knp-mask'), [{ address: '10.0.0.0' }]);
  assert.equal(sets.get('knp-mask')?.netmask, 24);
  assert.deepEqual(sets.get('knp-ip')?.range, ['10.0.0.0', '10.0.0.255']);
  for (const set of sets.values()) assert.equal(set.attributes, undefined, set.name);

  // Each of them can be deleted as it was listed: exceptions, and those with a timeout.
  for (const [name, type] of [
    ['knp-net', 'hash:net'],
    ['knp-more', 'hash:ip'],
    ['knp-icmp', 'hash:ip,port'],
  ] as const) {
    for (const entry of (await entriesOf(name)) ?? []) await ipset.delete({ name, type, family: 4 }, entry);
    assert.deepEqual(savedEntries(name), []);
  }
  // And added as the tool reads our notation.
  const icmp: SetDefinition = { name: 'knp-icmp', type: 'hash:ip,port', family: 4 };
  for (const entry of [
    { address: '10.0.0.1', protocol: 1, icmp: { type: 8, code: 0 } },
    { address: '10.0.0.1', protocol: 136, port: 53 },
    { address: '10.0.0.1', protocol: 47 },
  ]) {
    await ipset.add(icmp, entry);
    tool('test', 'knp-icmp', formatEntry(entry));
  }
});
