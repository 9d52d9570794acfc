// Every verb and every type on a real kernel, with ipset(8) as witness.
// Needs: ipset
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type EntryOf,
  formatEntry,
  type Ipset,
  openIpset,
  type SetDefinition,
  type SetEntry,
} from '../../src/kernel/ipset/index.js';
import { exists, savedEntries, savedHeader, temporary, ipset as tool } from '../support/tables/ipset.js';

let ipset: Ipset;
before(async () => {
  ipset = await openIpset();
});
after(() => ipset.close());

interface Case {
  readonly set: Omit<SetDefinition, 'name'>;
  /** The output of `ipset save` behind the name. */
  readonly header: string;
  readonly entries: readonly (readonly [entry: SetEntry, text: string])[];
}

const tcp80 = { protocol: 'tcp', port: 80 } as const;

const cases: readonly Case[] = [
  {
    set: { type: 'hash:ip', family: 4, hashSize: 64, maxElements: 100 },
    header: 'hash:ip family inet hashsize 64 maxelem 100',
    entries: [
      [{ address: '10.0.0.1' }, '10.0.0.1'],
      [{ address: '255.255.255.255' }, '255.255.255.255'],
    ],
  },
  {
    set: { type: 'hash:ip', family: 6 },
    header: 'hash:ip family inet6 hashsize 1024 maxelem 65536',
    entries: [[{ address: 'fd00::1' }, 'fd00::1']],
  },
  {
    set: { type: 'hash:net', family: 4 },
    header: 'hash:net family inet hashsize 1024 maxelem 65536',
    entries: [
      [{ address: '10.0.0.0', prefix: 8 }, '10.0.0.0/8'],
      [{ address: '128.0.0.0', prefix: 1 }, '128.0.0.0/1'],
      [{ address: '10.0.0.1', prefix: 32 }, '10.0.0.1'],
      [{ address: '10.0.0.2' }, '10.0.0.2'],
    ],
  },
  {
    set: { type: 'hash:net', family: 6 },
    header: 'hash:net family inet6 hashsize 1024 maxelem 65536',
    entries: [
      [{ address: 'fd00::', prefix: 32 }, 'fd00::/32'],
      [{ address: 'fd00::1', prefix: 128 }, 'fd00::1'],
    ],
  },
  {
    set: { type: 'hash:ip,port', family: 4 },
    header: 'hash:ip,port family inet hashsize 1024 maxelem 65536',
    entries: [
      [{ address: '10.96.0.10', protocol: 'udp', port: 53 }, '10.96.0.10,udp:53'],
      [{ address: '10.96.0.10', protocol: 'tcp', port: 65535 }, '10.96.0.10,tcp:65535'],
      [{ address: '10.96.0.10', protocol: 'sctp', port: 1 }, '10.96.0.10,sctp:1'],
    ],
  },
  {
    set: { type: 'hash:ip,port', family: 6 },
    header: 'hash:ip,port family inet6 hashsize 1024 maxelem 65536',
    entries: [[{ address: 'fd00::1', ...tcp80 }, 'fd00::1,tcp:80']],
  },
  {
    set: { type: 'hash:ip,port,ip', family: 4 },
    header: 'hash:ip,port,ip family inet hashsize 1024 maxelem 65536',
    entries: [[{ address: '10.0.0.1', ...tcp80, address2: '10.0.0.2' }, '10.0.0.1,tcp:80,10.0.0.2']],
  },
  {
    set: { type: 'hash:ip,port,ip', family: 6 },
    header: 'hash:ip,port,ip family inet6 hashsize 1024 maxelem 65536',
    entries: [[{ address: 'fd00::1', ...tcp80, address2: 'fd00::2' }, 'fd00::1,tcp:80,fd00::2']],
  },
  {
    set: { type: 'hash:ip,port,net', family: 4 },
    header: 'hash:ip,port,net family inet hashsize 1024 maxelem 65536',
    entries: [
      [{ address: '10.0.0.1', ...tcp80, address2: '10.0.0.0', prefix2: 8 }, '10.0.0.1,tcp:80,10.0.0.0/8'],
      [{ address: '10.0.0.1', ...tcp80, address2: '10.1.2.3', prefix2: 32 }, '10.0.0.1,tcp:80,10.1.2.3'],
      [{ address: '10.0.0.1', ...tcp80, address2: '10.1.2.4' }, '10.0.0.1,tcp:80,10.1.2.4'],
    ],
  },
  {
    set: { type: 'hash:ip,port,net', family: 6 },
    header: 'hash:ip,port,net family inet6 hashsize 1024 maxelem 65536',
    entries: [
      [{ address: 'fd00::1', ...tcp80, address2: 'fd00::', prefix2: 64 }, 'fd00::1,tcp:80,fd00::/64'],
    ],
  },
  {
    set: { type: 'bitmap:port' },
    header: 'bitmap:port range 0-65535',
    entries: [
      [{ port: 0 }, '0'],
      [{ port: 30080 }, '30080'],
      [{ port: 65535 }, '65535'],
    ],
  },
  {
    set: { type: 'bitmap:port', range: [30000, 32767] },
    header: 'bitmap:port range 30000-32767',
    entries: [[{ port: 30080 }, '30080']],
  },
];

for (const { set, header, entries } of cases) {
  test(`${header}: create, add, list, delete, flush, destroy`, async (t) => {
    temporary(t, 'knp-a');
    const definition = { ...set, name: 'knp-a' } as SetDefinition;
    await ipset.create(definition);
    assert.equal(savedHeader('knp-a'), `create knp-a ${header}`);

    for (const [entry] of entries) await ipset.add(definition, entry as EntryOf);
    const texts = entries.map(([, text]) => text).sort();
    assert.deepEqual(savedEntries('knp-a'), texts);

    const state = await ipset.get('knp-a');
    assert.deepEqual(state?.entries.map(formatEntry).sort(), texts);
    const { revision, references, elements, extended, memorySize, bucketSize, initval, ...listed } =
      state?.set ?? assert.fail('not listed');
    const defaults =
      set.type === 'bitmap:port' ? { range: [0, 65535] } : { hashSize: 1024, maxElements: 65536 };
    assert.deepEqual(listed, { ...defaults, ...definition });
    assert.deepEqual(
      { references, elements, extended },
      { references: 0, elements: texts.length, extended: false },
    );
    assert.ok(revision > 0 && (memorySize ?? 0) > 0);
    assert.equal(bucketSize !== undefined && initval !== undefined, set.type !== 'bitmap:port');
    assert.deepEqual(
      (await ipset.list()).find(({ name }) => name === 'knp-a'),
      state?.set,
    );

    const [first] = entries[0] ?? assert.fail('no entry');
    await ipset.delete(definition, first as EntryOf);
    assert.deepEqual(
      savedEntries('knp-a'),
      entries
        .slice(1)
        .map(([, text]) => text)
        .sort(),
    );
    await ipset.flush('knp-a');
    assert.deepEqual(savedEntries('knp-a'), []);
    await ipset.destroy('knp-a');
    assert.equal(exists('knp-a'), false);
    assert.equal(await ipset.get('knp-a'), undefined);
  });
}

test('it is not an error when an object exists already, or is absent already', async (t) => {
  temporary(t, 'knp-a');
  const set: SetDefinition = { name: 'knp-a', type: 'hash:ip,port', family: 4, maxElements: 100 };
  const entry = { address: '10.0.0.1', ...tcp80 };
  await ipset.create(set);
  await ipset.create(set);
  await ipset.create({ ...set, hashSize: 4096 });
  await ipset.add(set, entry);
  await ipset.add(set, entry);
  assert.deepEqual(savedEntries('knp-a'), ['10.0.0.1,tcp:80']);
  await ipset.delete(set, entry);
  await ipset.delete(set, entry);
  assert.deepEqual(savedEntries('knp-a'), []);
  assert.equal(savedHeader('knp-a'), 'create knp-a hash:ip,port family inet hashsize 1024 maxelem 100');
});

test('a set with other parameters than asked for is EEXIST, and stays as it is', async (t) => {
  temporary(t, 'knp-a', 'knp-b', 'knp-c');
  const set: SetDefinition = { name: 'knp-a', type: 'hash:ip,port', family: 4, maxElements: 100 };
  await ipset.create(set);
  await ipset.create({ name: 'knp-b', type: 'bitmap:port', range: [1, 100] });
  tool('create', 'knp-c', 'hash:ip,port', 'maxelem', '100', 'counters');
  const others: readonly SetDefinition[] = [
    { ...set, maxElements: 101 },
    { ...set, family: 6 },
    { ...set, type: 'hash:ip' },
    { ...set, name: 'knp-b' },
    { ...set, name: 'knp-c' },
    { name: 'knp-b', type: 'bitmap:port', range: [1, 101] },
    { name: 'knp-a', type: 'bitmap:port' },
  ];
  for (const other of others) {
    await assert.rejects(
      ipset.create(other),
      { name: 'NetlinkError', code: 'EEXIST' },
      JSON.stringify(other),
    );
  }
  assert.equal(savedHeader('knp-a'), 'create knp-a hash:ip,port family inet hashsize 1024 maxelem 100');
});

test('a set that is referred to cannot be destroyed', async (t) => {
  temporary(t, 'knp-list', 'knp-a');
  await ipset.create({ name: 'knp-a', type: 'hash:ip', family: 4 });
  tool('create', 'knp-list', 'list:set');
  tool('add', 'knp-list', 'knp-a');
  assert.equal((await ipset.get('knp-a'))?.set.references, 1);
  await assert.rejects(ipset.destroy('knp-a'), {
    code: 'EBUSY',
    operation: 'ipset.destroy',
    target: 'knp-a',
  });
  assert.ok(exists('knp-a'));
});

test('swap exchanges the entries of two sets', async (t) => {
  temporary(t, 'knp-a', 'knp-b', 'knp-c');
  const a: SetDefinition = { name: 'knp-a', type: 'hash:ip', family: 4, maxElements: 10 };
  const b: SetDefinition = { ...a, name: 'knp-b', maxElements: 20 };
  for (const set of [a, b]) await ipset.create(set);
  await ipset.add(a, { address: '10.0.0.1' });
  await ipset.add(b, { address: '10.0.0.2' });
  await ipset.swap('knp-a', 'knp-b');
  assert.deepEqual([savedEntries('knp-a'), savedEntries('knp-b')], [['10.0.0.2'], ['10.0.0.1']]);
  assert.equal((await ipset.get('knp-a'))?.set.maxElements, 20);

  await ipset.create({ name: 'knp-c', type: 'hash:ip', family: 6 });
  await assert.rejects(ipset.swap('knp-a', 'knp-c'), { code: 'IPSET_ERR_TYPE_MISMATCH' });
  await assert.rejects(ipset.swap('knp-a', 'knp-none'), { code: 'ENOENT', target: 'knp-a knp-none' });
  await assert.rejects(ipset.swap('knp-none', 'knp-a'), { code: 'ENOENT' });
});

test('a set that does not exist is ENOENT', async () => {
  const set: SetDefinition = { name: 'knp-none', type: 'hash:ip', family: 4 };
  for (const promise of [
    ipset.flush('knp-none'),
    ipset.destroy('knp-none'),
    ipset.add(set, { address: '10.0.0.1' }),
    ipset.delete(set, { address: '10.0.0.1' }),
  ]) {
    await assert.rejects(promise, { name: 'NetlinkError', code: 'ENOENT', errno: 2 });
  }
});

test('an entry for a set of another type or family does not reach the set', async (t) => {
  temporary(t, 'knp-a');
  await ipset.create({ name: 'knp-a', type: 'hash:ip,port', family: 4 });
  const mismatch = { code: 'IPSET_ERR_TYPE_MISMATCH', kernelMessage: 'the set is of type hash:ip,port inet' };
  await assert.rejects(
    ipset.add({ name: 'knp-a', type: 'hash:ip', family: 4 }, { address: '10.0.0.1' }),
    mismatch,
  );
  await assert.rejects(
    ipset.add({ name: 'knp-a', type: 'hash:ip,port', family: 6 }, { address: 'fd00::1', ...tcp80 }),
    mismatch,
  );
  assert.deepEqual(savedEntries('knp-a'), []);
});

test('a set that somebody else made anew with another type is seen as it is now', async (t) => {
  temporary(t, 'knp-a');
  await ipset.create({ name: 'knp-a', type: 'hash:ip', family: 4 });
  await ipset.add({ name: 'knp-a', type: 'hash:ip', family: 4 }, { address: '10.0.0.1' });
  tool('destroy', 'knp-a');
  tool('create', 'knp-a', 'hash:ip,port', 'family', 'inet6');
  const now: SetDefinition = { name: 'knp-a', type: 'hash:ip,port', family: 6 };
  await ipset.add(now, { address: 'fd00::1', ...tcp80 });
  assert.deepEqual(savedEntries('knp-a'), ['fd00::1,tcp:80']);
});

test('names of 31 bytes, in any script', async (t) => {
  const names = ['x'.repeat(31), `knp-${'é'.repeat(13)}x`];
  temporary(t, ...names);
  for (const name of names) {
    await ipset.create({ name, type: 'hash:ip', family: 4 });
    assert.equal((await ipset.get(name))?.set.name, name);
  }
});

test('closed: later calls are refused, earlier ones end', async () => {
  const closing = await openIpset();
  const earlier = closing.list();
  closing.close();
  await earlier;
  await assert.rejects(closing.list(), { code: 'ERR_CLOSED' });
  await assert.rejects(closing.flush('knp-none'), { code: 'ERR_CLOSED' });
});
