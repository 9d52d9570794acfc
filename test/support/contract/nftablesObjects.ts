// The contract of nftables: what is listed, and notified of, as the kernel and the fake have it.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type {
  Element,
  Nftables,
  NftablesEvent,
  NftablesOperation,
} from '../../../src/kernel/nftables/types.js';
import type { Resync } from '../../../src/kernel/shared/types.js';
import { ADDRESSES, CLIENTS, chain, counted, MAP, NETWORKS, ruleset, T, table } from './nftablesRuleset.js';
import { outcomes, refused } from './refusals.js';

/** Without what kernels number, and what differs between them. */
function plain<T extends object>(object: T): Partial<T> {
  const { handle: _, attributes: __, userData: ___, ...rest } = object as T & Record<string, unknown>;
  return rest as unknown as Partial<T>;
}

const byKey = (elements: readonly Element[]) =>
  elements.map(plain).sort((a, b) => (String(a.key) < String(b.key) ? -1 : 1));

/** Registers the tests. `open` opens the ruleset of a network namespace, which is empty. */
export function nftablesObjectsContract(open: () => Promise<Nftables>): void {
  const opened = async () => {
    const nftables = await open();
    assert.deepEqual(
      outcomes(await nftables.apply(ruleset)),
      ruleset.map(() => 'done'),
    );
    return nftables;
  };
  /** Comments of the rules of a chain. */
  const comments = async (nftables: Nftables, name: string) =>
    (await nftables.listRules({ ...T, chain: name }).toArray()).map(({ comment }) => comment);

  it('lists tables and chains', async () => {
    const nftables = await opened();
    await nftables.addTable({ family: 'ip6', name: 'other', flags: ['dormant'] });
    await nftables.addChain({ family: 'ip6', table: 'other', name: 'c' });
    const tables = await nftables.listTables().toArray();
    const [other, own] = tables.map(plain).sort((a, b) => (String(a.name) < String(b.name) ? -1 : 1));
    assert.deepEqual(other, { family: 'ip6', name: 'other', flags: ['dormant'], use: 1 });
    const { use, ...rest } = own ?? assert.fail();
    assert.deepEqual(rest, { family: 'ip', name: 't', flags: [], comment: 'a table' });
    // Kernels differ in whether they count the set of a rule.
    assert.ok(use === 8 || use === 9, String(use));
    assert.equal((await nftables.listTables({ family: 'ip6' }).toArray()).length, 1);
    const chains = await nftables.listChains({ ...T }).toArray();
    assert.deepEqual(chains.map(plain), [
      {
        ...T,
        name: 'input',
        base: { type: 'filter', hook: 'input', priority: -10, policy: 'accept' },
        use: 1,
      },
      {
        ...T,
        name: 'nat',
        base: { type: 'nat', hook: 'prerouting', priority: -100, policy: 'accept' },
        use: 1,
      },
      { ...T, name: 'web', comment: 'a chain', use: 2 },
    ]);
    assert.equal((await nftables.listChains().toArray()).length, 4);
    assert.deepEqual(await nftables.listChains({ family: 'ip', table: 'none' }).toArray(), []);
    await nftables.addChain({
      ...T,
      name: 'input',
      base: { type: 'filter', hook: 'input', priority: -10, policy: 'drop' },
    });
    assert.equal((await nftables.listChains({ ...T }).toArray())[0]?.base?.policy, 'drop');
  });

  it('gets a table, a chain and a set by their names, as listings have them', async () => {
    const nftables = await opened();
    for (const each of await nftables.listTables().toArray())
      assert.deepEqual(await nftables.getTable(each), each);
    for (const each of await nftables.listChains().toArray())
      assert.deepEqual(await nftables.getChain(each), each);
    const sets = await nftables.listSets().toArray();
    // One of them belongs to a rule.
    assert.ok(sets.some(({ anonymous }) => anonymous));
    for (const set of sets) assert.deepEqual(await nftables.getSet(set), set);
    assert.equal(await nftables.getTable({ family: 'ip', name: 'none' }), undefined);
    const none = { ...T, name: 'none' };
    for (const missing of [none, { ...none, table: 'none' }, { ...none, family: 'arp' }] as const) {
      assert.equal(await nftables.getSet(missing), undefined);
      assert.equal(await nftables.getChain(missing), undefined);
    }
    await assert.rejects(nftables.getSet({ ...T, name: '' }), /nftables\.getSet: set\.name must be/);
    await assert.rejects(
      nftables.getTable({ name: 't' } as never),
      /nftables\.getTable: table\.family must be/,
    );
    await assert.rejects(nftables.getChain(7 as never), /nftables\.getChain: chain must be/);
  });

  it('lists rules in their order, as they were written', async () => {
    const nftables = await opened();
    const [first] = await nftables.listRules({ ...T, chain: 'input' }).toArray();
    const written = ruleset.flatMap((each) => (each.do === 'addRule' ? [each.rule] : []));
    assert.deepEqual(plain(first ?? assert.fail()), written[0]);
    assert.equal((await nftables.listRules().toArray()).length, 3);
    assert.equal((await nftables.listRules({ ...T }).toArray()).length, 3);
    assert.deepEqual(await nftables.listRules({ ...T, chain: 'none' }).toArray(), []);
    const [web] = await nftables.listRules({ ...T, chain: 'web' }).toArray();
    assert.deepEqual(web?.expressions.at(-1), { kind: 'lookup', set: '__map0', source: 1, register: 1 });
  });

  it('adds rules at both ends of a chain, beside others, and in place of others', async () => {
    const nftables = await open();
    await nftables.apply([table, chain('c'), counted('c', 'a'), counted('c', 'b')]);
    const rule = (comment: string) => ({
      ...T,
      chain: 'c',
      expressions: [{ kind: 'counter' as const }],
      comment,
    });
    await nftables.insertRule(rule('first'));
    assert.deepEqual(await comments(nftables, 'c'), ['first', 'a', 'b']);
    const [, a, b] = await nftables.listRules({ ...T, chain: 'c' }).toArray();
    assert.equal(b?.after, a?.handle);
    const [handleOfA = 0n, handleOfB = 0n] = [a?.handle, b?.handle];
    await nftables.apply([
      { do: 'addRule', rule: rule('behind a'), after: handleOfA },
      { do: 'insertRule', rule: rule('before b'), before: handleOfB },
    ]);
    assert.deepEqual(await comments(nftables, 'c'), ['first', 'a', 'behind a', 'before b', 'b']);
    await nftables.replaceRule({ ...rule('other'), handle: handleOfA });
    await nftables.deleteRule({ ...T, chain: 'c', handle: handleOfB });
    assert.deepEqual(await comments(nftables, 'c'), ['first', 'other', 'behind a', 'before b']);
    await refused(
      nftables.deleteRule({ ...T, chain: 'c', handle: handleOfB }),
      `ENOENT 2 nftables.deleteRule rule ip t c handle ${handleOfB}`,
    );
    await nftables.flushChain({ ...T, name: 'c' });
    assert.deepEqual(await comments(nftables, 'c'), []);
  });

  it('lists sets and their elements', async () => {
    const nftables = await opened();
    const sets = await nftables.listSets({ ...T }).toArray();
    assert.deepEqual(
      sets.map(({ name }) => name),
      ['addresses', 'vips', 'networks', 'clients', '__map0'],
    );
    const [addresses, vips, networks, clients, map] = sets;
    assert.deepEqual([addresses?.key, addresses?.comment, addresses?.flags], ['ipv4_addr', 'a set', []]);
    assert.deepEqual([vips?.key, vips?.data], [MAP.key, 'verdict']);
    assert.deepEqual([networks?.flags, clients?.timeout, map?.anonymous], [['interval'], 60_000n, true]);
    assert.deepEqual(byKey(await nftables.listElements(ADDRESSES).toArray()), [
      { key: '10.0.0.1' },
      { key: '10.0.0.2', comment: 'the second' },
    ]);
    assert.deepEqual(byKey(await nftables.listElements(MAP).toArray()), [
      { key: ['10.0.0.1', 'tcp', 80], data: { verdict: 'goto', chain: 'web' } },
      { key: ['10.0.0.2', 'udp', 53], data: { verdict: 'drop' } },
    ]);
    assert.deepEqual(byKey(await nftables.listElements(NETWORKS).toArray()), [
      { key: '10.1.0.0', keyEnd: '10.1.255.255' },
      { key: '10.3.0.0' },
    ]);
    for (const set of sets) {
      const count = set.name === 'clients' ? 0 : 2;
      assert.equal((await nftables.listElements(set as never).toArray()).length, count, set.name);
    }
    // The set is read once: a key that is another one later changes nothing.
    let reads = 0;
    const changing = {
      ...{ ...T, name: 'addresses' },
      get key(): 'ipv4_addr' {
        return reads++ === 0 ? 'ipv4_addr' : (Object.create(null) as never);
      },
    } as const;
    assert.equal(byKey(await nftables.listElements(changing).toArray()).length, 2);
    const bytes = await nftables.listElements({ ...T, name: 'addresses' }).toArray();
    assert.deepEqual(bytes.map(({ key }) => [...(key as Uint8Array)].at(-1)).sort(), [1, 2]);
    await refused(
      nftables.listElements({ ...T, name: 'none' }).toArray(),
      'ENOENT 2 nftables.listElements set ip t none',
    );
  });

  it('gets the elements that a set has', async () => {
    const nftables = await opened();
    const keys = ['10.0.0.2', '10.0.0.9', '10.0.0.1'].map((key) => ({ key }));
    assert.deepEqual((await nftables.getElements(ADDRESSES, keys)).map(plain), [
      { key: '10.0.0.2', comment: 'the second' },
      { key: '10.0.0.1' },
    ]);
    const [network] = await nftables.getElements(NETWORKS, [{ key: '10.1.0.0', keyEnd: '10.1.255.255' }]);
    assert.deepEqual(plain(network ?? assert.fail()), { key: '10.1.0.0', keyEnd: '10.1.255.255' });
    const name = [{ key: ['10.0.0.2', 'udp', 53] }] as const;
    assert.deepEqual((await nftables.getElements(MAP, name)).map(plain), [
      { ...name[0], data: { verdict: 'drop' } },
    ]);
    assert.deepEqual(await nftables.getElements(ADDRESSES, []), []);
    await assert.rejects(
      nftables.getElements(ADDRESSES, [{ key: '10.0.0.1' }, { key: 5 }] as never),
      /elements\[1\]\.key/,
    );
  });

  it('lists lifetimes', async () => {
    const nftables = await opened();
    await nftables.addElements(CLIENTS, [
      { key: '10.0.0.1' },
      { key: '10.0.0.2', timeout: 90_000n, expires: 30_000n },
    ]);
    const elements = await nftables.listElements(CLIENTS).toArray();
    const of = (key: string) => elements.find((element) => element.key === key) ?? assert.fail();
    const isAbout = (value: bigint | undefined, expected: bigint) =>
      assert.ok(value !== undefined && value <= expected && value > expected - 20_000n, `${value}`);
    isAbout(of('10.0.0.1').expires, 60_000n);
    isAbout(of('10.0.0.2').expires, 30_000n);
    assert.equal(of('10.0.0.2').timeout, 90_000n);
  });

  it('lists objects', async () => {
    const nftables = await opened();
    await nftables.addObject({
      ...T,
      name: 'limit',
      type: 'quota',
      bytes: 1000n,
      over: true,
      comment: 'a quota',
    });
    const objects = (await nftables.listObjects({ ...T }).toArray()).map(plain);
    assert.deepEqual(
      objects.sort((a, b) => (String(a.name) < String(b.name) ? -1 : 1)),
      [
        {
          ...T,
          name: 'limit',
          type: 'quota',
          bytes: 1000n,
          over: true,
          used: 0n,
          comment: 'a quota',
          use: 0,
        },
        { ...T, name: 'seen', type: 'counter', packets: 0n, bytes: 0n, use: 1 },
      ],
    );
    await nftables.deleteObject({ ...T, name: 'limit', type: 'quota' });
    assert.equal((await nftables.listObjects().toArray()).length, 1);
  });

  it('deletes the set of a rule with the rule', async () => {
    const nftables = await opened();
    await nftables.flushChain({ ...T, name: 'web' });
    assert.ok((await nftables.listSets({ ...T }).toArray()).every(({ anonymous }) => !anonymous));
    await nftables.deleteTable({ family: 'ip', name: 't' });
    for (const listing of [
      nftables.listTables(),
      nftables.listChains(),
      nftables.listRules(),
      nftables.listSets(),
    ]) {
      assert.deepEqual(
        await (listing as AsyncIterable<unknown> & { toArray(): Promise<unknown[]> }).toArray(),
        [],
      );
    }
  });

  it('notifies of commits, with the tables that each changed', async () => {
    const nftables = await open();
    const commits = nftables.watchCommits()[Symbol.asyncIterator]();
    const next = async () => (await commits.next()).value ?? assert.fail();
    assert.equal((await next()).kind, 'resync');
    const other = { ...T, name: 'other' } as const;
    const inOther = { family: T.family, table: 'other', name: 'c' } as const;
    await nftables.apply([table, chain('c'), { do: 'addTable', table: { family: T.family, name: 'other' } }]);
    await nftables.apply([{ do: 'addChain', chain: inOther }, counted('c', 'a')]);
    const [first, second] = [await next(), await next()];
    assert.ok(first.kind === 'commit' && second.kind === 'commit');
    const own = { family: T.family, name: T.table };
    const others = { family: T.family, name: other.name };
    assert.deepEqual(first.tables, [own, others]);
    const port = await nftables.port();
    assert.deepEqual([first.sender, second.sender], [port, port]);
    assert.deepEqual(second.tables, [others, own]);
    assert.equal(second.generation.id, first.generation.id + 1);
    await commits.return?.();
  });

  it('names the client whose transaction an event is of', async () => {
    const nftables = await open();
    const port = await nftables.port();
    assert.ok(Number.isInteger(port) && port > 0, String(port));
    const events = nftables.watch()[Symbol.asyncIterator]();
    assert.equal((await events.next()).value?.kind, 'resync');
    await nftables.apply([table, chain('c')]);
    for (const kind of ['table', 'chain', 'generation']) {
      const { value: event } = await events.next();
      assert.ok(event && event.kind !== 'resync');
      assert.deepEqual([event.kind, event.sender], [kind, port]);
    }
    assert.equal(await nftables.port(), port);
    await events.return?.();
  });

  it('notifies of what a transaction changed, and of the generation behind it', async () => {
    const nftables = await open();
    const events = nftables.watch()[Symbol.asyncIterator]();
    const next = async () => (await events.next()).value ?? assert.fail();
    assert.equal((await next()).kind, 'resync');
    const until = async () => {
      const found: string[] = [];
      for (;;) {
        const event = await next();
        found.push(summary(event));
        if (event.kind === 'generation') return { found, id: event.generation.id };
      }
    };
    const operations: readonly NftablesOperation[] = [
      table,
      chain('c'),
      { do: 'addSet', set: ADDRESSES },
      { do: 'addElements', set: ADDRESSES, elements: [{ key: '10.0.0.1' }, { key: '10.0.0.2' }] },
      counted('c', 'a'),
      { do: 'addObject', object: { ...T, name: 'seen', type: 'counter' } },
    ];
    await nftables.apply([chain('missing'), table]);
    await nftables.apply(operations);
    const { found, id } = await until();
    assert.deepEqual(found, [
      'new table t',
      'new chain c',
      'new set addresses',
      'new elements addresses',
      'new elements addresses',
      'new rule c',
      'new object seen',
      'generation',
    ]);
    assert.equal(id, (await nftables.generation()).id);
    await nftables.apply([
      { do: 'deleteElements', set: ADDRESSES, elements: [{ key: '10.0.0.1' }] },
      { do: 'flushChain', chain: { ...T, name: 'c' } },
      { do: 'deleteChain', chain: { ...T, name: 'c' } },
    ]);
    assert.deepEqual((await until()).found, [
      'deleted elements addresses',
      'deleted rule c',
      'deleted chain c',
      'generation',
    ]);
    await events.return?.();
  });

  it('writes back what it lists', async () => {
    const nftables = await opened();
    const chains = await nftables.listChains({ ...T }).toArray();
    const rules = await nftables.listRules({ ...T, chain: 'input' }).toArray();
    await nftables.flushChain({ ...T, name: 'input' });
    await nftables.apply([
      ...chains.map((each): NftablesOperation => ({ do: 'addChain', chain: each })),
      ...rules.map((each): NftablesOperation => ({ do: 'addRule', rule: each })),
    ]);
    const again = await nftables.listRules({ ...T, chain: 'input' }).toArray();
    assert.deepEqual(again.map(plain), rules.map(plain));
  });
}

function summary(event: NftablesEvent | Resync): string {
  switch (event.kind) {
    case 'table':
      return `${event.change} table ${event.table.name}`;
    case 'chain':
      return `${event.change} chain ${event.chain.name}`;
    case 'set':
    case 'elements':
      return `${event.change} ${event.kind} ${event.set.name}`;
    case 'rule':
      return `${event.change} rule ${event.rule.chain}`;
    case 'object':
      return `${event.change} object ${event.object.name}`;
    default:
      return event.kind;
  }
}
