// The table of types and options, driven through the library and read with ipset(8), and the other way round.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import {
  type EntryOf,
  formatSets,
  type Ipset,
  type IpsetOperation,
  openIpset,
  parseSets,
  type SetDefinition,
  type SetReference,
  type SetState,
  throwOnFailure,
} from '../../../src/kernel/ipset/index.js';
import { makeNamespace, type Namespace } from '../namespaces/netns.js';
import { asked, comparable, expected, NAMED, type NamedRow } from './ipsetLines.js';

function adds({ definition: set, entries }: NamedRow): IpsetOperation[] {
  return entries.map(([entry]) => ({ do: 'add', set, entry }) as IpsetOperation);
}

async function states(ipset: Ipset): Promise<SetState[]> {
  const all: SetState[] = [];
  for (const { name } of await ipset.list()) all.push((await ipset.get(name)) ?? assert.fail(name));
  return all;
}

/** Registers the tests, for the rows that this kernel supports; it must refuse the others. */
export function ipsetOptions(): void {
  let namespace: Namespace;
  let ipset: Ipset;
  let rows: NamedRow[];
  let others: NamedRow[];

  // For the mask of a network set, ipset 7.17 also prints the prefix length of the entry that it printed before.
  const save = () => namespace.run('ipset', 'save').replaceAll(/( bitmask [^\s/]+)\/\d+/g, '$1');
  const restore = (text: string) => namespace.run('sh', '-c', `printf %s "$1" | ipset restore`, 'sh', text);
  const empty = async () => {
    await ipset.flushAll({ confirm: 'remove every entry of every set' });
    await ipset.destroyAll({ confirm: 'destroy every set' });
  };

  before(async () => {
    namespace = makeNamespace();
    ipset = await openIpset({ netns: namespace.path });
    const revisions = new Map(
      (await ipset.types()).map(({ name, revisions: [, greatest] }) => [name, greatest]),
    );
    const isSupported = ({ set, revision = 0 }: NamedRow) => (revisions.get(set.type) ?? -1) >= revision;
    rows = NAMED.filter(isSupported);
    others = NAMED.filter((row) => !isSupported(row));
  });
  after(async () => {
    await ipset.close();
    namespace.remove();
  });

  it('the tool prints what the library writes, and the library can test and delete it', async () => {
    for (const row of rows) {
      await ipset.create(row.definition, { strict: true });
      throwOnFailure(await ipset.apply(adds(row)));
    }
    assert.deepEqual(comparable(save()), expected(rows));
    for (const { definition, entries } of rows) {
      for (const [entry] of entries) {
        const isRange = ['lastAddress', 'lastPort', 'lastAddress2'].some((field) => field in entry);
        const isNetwork = entry.prefix !== undefined && /:ip/.test(definition.type);
        if (isRange || isNetwork) continue;
        const place = { before: undefined, after: undefined } as object;
        assert.ok(
          await ipset.test(definition, { ...entry, ...place } as EntryOf),
          `${definition.type} ${JSON.stringify(entry, big)}`,
        );
      }
    }
    for (const { definition: set, entries } of rows) {
      for (const [{ before: _, after: __, ...entry }] of entries)
        await ipset.delete(set, entry as EntryOf, { strict: true });
    }
    assert.deepEqual(save().match(/^add .*/gm), null);
    await empty();
  });

  it('the library lists what the tool writes, and writes it again as it was', async () => {
    restore(asked(rows));
    const saved = save();
    const listed = await states(ipset);
    assert.deepEqual(comparable(formatSets(listed)), comparable(saved));
    for (const { definition } of rows) {
      const { set } =
        listed.find((state) => state.set.name === definition.name) ?? assert.fail(definition.name);
      for (const [field, value] of Object.entries(definition)) {
        assert.deepEqual(set[field as keyof SetDefinition], value, `${definition.type} ${field}`);
      }
      assert.equal(set.attributes, undefined, definition.type);
    }
    for (const { entries } of listed) for (const entry of entries) assert.equal(entry.attributes, undefined);
    // By its own text, and by that of the tool.
    for (const text of [formatSets(listed), saved]) {
      const { operations, problems } = parseSets(text, { strict: true });
      assert.deepEqual(problems, []);
      await empty();
      throwOnFailure(await ipset.apply(operations.map(({ operation }) => operation)));
      assert.deepEqual(comparable(save()), comparable(saved));
    }
    await empty();
    restore(formatSets(listed));
    assert.deepEqual(comparable(save()), comparable(saved));
    await empty();
  });

  it('the library reads the arguments that the tool reads', async () => {
    const { operations, problems } = parseSets(asked(rows));
    assert.deepEqual(problems, []);
    throwOnFailure(await ipset.apply(operations.map(({ operation }) => operation)));
    assert.deepEqual(comparable(save()), expected(rows));
    await empty();
  });

  it('options of a newer kernel are refused, and not ignored', async () => {
    for (const { definition, entries } of others) {
      const create = ipset.create(definition).then(async () => {
        for (const [entry] of entries) await ipset.add(definition as SetReference, entry as EntryOf);
      });
      await assert.rejects(create, ({ code }) => code === 'IPSET_ERR_FIND_TYPE' || code === 'EOPNOTSUPP');
    }
    await empty();
  });
}

function big(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value;
}
