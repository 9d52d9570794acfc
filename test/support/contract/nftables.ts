// The contract of nftables: transactions and their errors, as the kernel and the fake have them.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { NetlinkError } from '../../../src/kernel/errors.js';
import { formatRuleset, readRuleset } from '../../../src/kernel/nftables/text/index.js';
import type { Nftables, NftablesOperation } from '../../../src/kernel/nftables/types.js';
import {
  ADDRESSES,
  CLIENTS,
  chain,
  counted,
  DESTINATION,
  MAP,
  NETWORKS,
  ruleset,
  T,
  table,
} from './nftablesRuleset.js';
import { closed, outcomes, refused } from './refusals.js';

/** Registers the tests. `open` opens the ruleset of a network namespace, which is empty. */
export function nftablesContract(open: () => Promise<Nftables>): void {
  const opened = async () => {
    const nftables = await open();
    assert.deepEqual(
      outcomes(await nftables.apply(ruleset)),
      ruleset.map(() => 'done'),
    );
    return nftables;
  };
  /** Codes and targets of the results; `done`, or `undone` for what was rolled back. */
  const results = async (nftables: Nftables, operations: readonly NftablesOperation[], generation?: number) =>
    (await nftables.apply(operations, { generation })).map((result) => {
      if (result === undefined) return 'done';
      return result.code === 'ERR_ROLLED_BACK' ? 'undone' : `${result.code} ${result.target}`;
    });

  it('carries a transaction out, and again where nothing changes', async () => {
    const nftables = await opened();
    const { id } = await nftables.generation();
    const same: readonly NftablesOperation[] = [
      { do: 'addTable', table: { family: 'ip', name: 't', comment: 'a table' } },
      { do: 'addElements', set: ADDRESSES, elements: [{ key: '10.0.0.1' }] },
      { do: 'addObject', object: { ...T, name: 'seen', type: 'counter' } },
    ];
    assert.deepEqual(await results(nftables, same), ['done', 'done', 'done']);
    assert.equal((await nftables.generation()).id, id);
    assert.deepEqual(await nftables.apply([]), []);
    assert.deepEqual(await results(nftables, [{ do: 'addElements', set: ADDRESSES, elements: [] }]), [
      'done',
    ]);
  });

  it('reads the whole ruleset, as one transaction left it, and that of one table', async () => {
    const nftables = await opened();
    await nftables.addTable({ family: 'ip6', name: 'other' });
    const whole = await readRuleset(nftables);
    assert.deepEqual(whole.tables, await nftables.listTables().toArray());
    assert.deepEqual(whole.chains, await nftables.listChains().toArray());
    assert.deepEqual(whole.rules, await nftables.listRules().toArray());
    assert.deepEqual(whole.objects, await nftables.listObjects().toArray());
    assert.deepEqual(
      whole.sets.map(({ set }) => set),
      await nftables.listSets().toArray(),
    );
    const { elements } = whole.sets.find(({ set }) => set.name === ADDRESSES.name) ?? assert.fail();
    assert.deepEqual(elements, await nftables.listElements(ADDRESSES).toArray());
    const one = await readRuleset(nftables, { family: 'ip6', table: 'other' });
    assert.deepEqual([one.tables.map(({ name }) => name), one.chains, one.sets], [['other'], [], []]);
    assert.match(formatRuleset(whole), /^table ip t \{/);
    // Each reading finds another ruleset than the one before it.
    const { generation } = nftables;
    let id = 0;
    nftables.generation = async () => ({ ...(await generation.call(nftables)), id: id++ });
    await assert.rejects(readRuleset(nftables), {
      code: 'ERR_INTERRUPTED',
      operation: 'nftables.readRuleset',
    });
    nftables.generation = generation;
  });

  it('names each operation that fails, and undoes the others', async () => {
    const nftables = await opened();
    const { id } = await nftables.generation();
    const operations: readonly NftablesOperation[] = [
      chain('new'),
      counted('new', 'first'),
      { do: 'addElements', set: ADDRESSES, elements: [{ key: '10.0.0.3' }] },
      { do: 'deleteChain', chain: { ...T, name: 'none' } },
      { do: 'flushSet', set: ADDRESSES },
      counted('none', 'second'),
    ];
    assert.deepEqual(await results(nftables, operations), [
      'undone',
      'undone',
      'undone',
      'ENOENT chain ip t none',
      'undone',
      'ENOENT rule ip t none',
    ]);
    const [, , , first, undone] = await nftables.apply(operations);
    assert.match(
      undone?.kernelMessage ?? '',
      /^another operation of the transaction failed: ENOENT: .*, and 1 more$/,
    );
    assert.equal(first?.errno, 2);
    assert.equal((await nftables.generation()).id, id);
    await refused(nftables.flushChain({ ...T, name: 'new' }), 'ENOENT 2 nftables.flushChain chain ip t new');
    const deleted = nftables.deleteElements(ADDRESSES, [{ key: '10.0.0.3' }]);
    await refused(deleted, 'ENOENT 2 nftables.deleteElements element ip t addresses { 10.0.0.3 }');
    await nftables.deleteElements(ADDRESSES, [{ key: '10.0.0.1' }]);
  });

  it('names the element that fails', async () => {
    const nftables = await opened();
    const added = await results(nftables, [
      {
        do: 'addElements',
        set: MAP,
        elements: [
          { key: ['10.0.0.9', 'tcp', 80], data: { verdict: 'accept' } },
          { key: ['10.0.0.1', 'tcp', 80], data: { verdict: 'accept' } },
        ],
      },
    ]);
    assert.deepEqual(added, ['EEXIST element ip t vips { 10.0.0.1 . tcp . 80 }']);
    const many = Array.from({ length: 3000 }, (_, i) => ({ key: `10.9.${i >> 8}.${i & 255}` }));
    const exclusive = await results(nftables, [
      { do: 'addElements', set: ADDRESSES, elements: [...many, { key: '10.0.0.2' }], exclusive: true },
    ]);
    assert.deepEqual(exclusive, ['EEXIST element ip t addresses { 10.0.0.2 }']);
    const missing = await results(nftables, [
      { do: 'deleteElements', set: NETWORKS, elements: [{ key: '10.3.0.0' }, { key: '10.4.0.0' }] },
    ]);
    assert.deepEqual(missing, ['ENOENT element ip t networks { 10.4.0.0 }']);
  });

  it('accepts an equal object, and refuses another one of the same name', async () => {
    const nftables = await opened();
    const base = { type: 'filter', hook: 'input', priority: -10 } as const;
    const again = (operation: NftablesOperation) => results(nftables, [operation]);
    assert.deepEqual(await again({ ...table, exclusive: true } as NftablesOperation), ['EEXIST table ip t']);
    assert.deepEqual(await again({ do: 'addChain', chain: { ...T, name: 'input', base } }), ['done']);
    assert.deepEqual(await again({ do: 'addChain', chain: { ...T, name: 'web', base } }), [
      'EEXIST chain ip t web',
    ]);
    const chains = [
      { ...T, name: 'input', base: { ...base, priority: 5 } },
      { ...T, name: 'input', base: { ...base, hook: 'output' } },
    ] as const;
    for (const other of chains) {
      assert.deepEqual(await again({ do: 'addChain', chain: other }), ['EOPNOTSUPP chain ip t input']);
    }
    assert.deepEqual(await again({ do: 'addSet', set: ADDRESSES }), ['done']);
    assert.deepEqual(await again({ do: 'addSet', set: { ...ADDRESSES, key: 'inet_service' } }), [
      'EEXIST set ip t addresses',
    ]);
    assert.deepEqual(await again({ do: 'addSet', set: { ...ADDRESSES, flags: ['interval'] } }), [
      'EEXIST set ip t addresses',
    ]);
    assert.deepEqual(await again({ do: 'addSet', set: ADDRESSES, exclusive: true }), [
      'EEXIST set ip t addresses',
    ]);
    const object = { ...T, name: 'seen', type: 'counter' } as const;
    assert.deepEqual(await again({ do: 'addObject', object, exclusive: true }), ['EEXIST counter ip t seen']);
  });

  it('replaces an element by deleting it before, in one transaction', async () => {
    const nftables = await opened();
    const key = ['10.0.0.1', 'tcp', 80] as const;
    const replaced = await results(nftables, [
      { do: 'deleteElements', set: MAP, elements: [{ key }] },
      { do: 'addElements', set: MAP, elements: [{ key, data: { verdict: 'drop' } }] },
      { do: 'deleteChain', chain: { ...T, name: 'web' } },
    ]);
    assert.deepEqual(replaced, ['done', 'done', 'done']);
  });

  it('deletes nothing that is in use', async () => {
    const nftables = await opened();
    const used = async (operation: NftablesOperation) => (await results(nftables, [operation]))[0];
    assert.equal(await used({ do: 'deleteChain', chain: { ...T, name: 'web' } }), 'EBUSY chain ip t web');
    assert.equal(await used({ do: 'deleteSet', set: ADDRESSES }), 'EBUSY set ip t addresses');
    const seen = { ...T, name: 'seen', type: 'counter' } as const;
    assert.equal(await used({ do: 'deleteObject', object: seen }), 'EBUSY counter ip t seen');
    const freed: readonly NftablesOperation[] = [
      { do: 'flushTable', table: { family: 'ip', name: 't' } },
      { do: 'flushSet', set: MAP },
      { do: 'deleteChain', chain: { ...T, name: 'web' } },
      { do: 'deleteSet', set: ADDRESSES },
      { do: 'deleteObject', object: seen },
    ];
    assert.deepEqual(
      await results(nftables, freed),
      freed.map(() => 'done'),
    );
    await nftables.deleteTable({ family: 'ip', name: 't' });
    await refused(nftables.addChain({ ...T, name: 'x' }), 'ENOENT 2 nftables.addChain chain ip t x');
  });

  it('deletes what may be missing', async () => {
    const nftables = await opened();
    const missing: readonly NftablesOperation[] = [
      { do: 'deleteTable', table: { family: 'ip6', name: 'none' }, ifExists: true },
      { do: 'deleteChain', chain: { ...T, name: 'none' }, ifExists: true },
      { do: 'deleteRule', rule: { ...T, chain: 'web', handle: 12345n }, ifExists: true },
      { do: 'deleteSet', set: { ...T, name: 'none' }, ifExists: true },
      { do: 'deleteElements', set: ADDRESSES, elements: [{ key: '10.0.0.77' }], ifExists: true },
      { do: 'deleteObject', object: { ...T, name: 'none', type: 'quota' }, ifExists: true },
    ];
    assert.deepEqual(
      await results(nftables, missing),
      missing.map(() => 'done'),
    );
    for (const operation of missing) {
      const { ifExists: _, ...strict } = operation as Extract<NftablesOperation, { ifExists?: unknown }>;
      const [result] = await nftables.apply([strict as NftablesOperation]);
      assert.equal(result?.code, 'ENOENT', operation.do);
    }
  });

  it('refuses what a chain cannot have', async () => {
    const nftables = await opened();
    const rule = (name: string, ...expressions: object[]): NftablesOperation =>
      ({ do: 'addRule', rule: { ...T, chain: name, expressions } }) as NftablesOperation;
    const masquerade = { kind: 'masq' };
    const jump = (target: string) => ({ kind: 'verdict', verdict: { verdict: 'jump', chain: target } });
    assert.deepEqual(await results(nftables, [rule('input', masquerade)]), ['EOPNOTSUPP rule ip t input']);
    assert.deepEqual(await results(nftables, [rule('nat', DESTINATION, masquerade)]), [
      'EOPNOTSUPP rule ip t nat',
    ]);
    const [itself, base, missing, set] = await Promise.all([
      results(nftables, [rule('web', jump('web'))]),
      results(nftables, [rule('web', jump('input'))]),
      results(nftables, [rule('web', jump('none'))]),
      results(nftables, [rule('web', DESTINATION, { kind: 'lookup', set: 'none', source: 1 })]),
    ]);
    assert.match(itself?.[0] ?? '', /^EMLINK rule ip t web/);
    assert.match(base?.[0] ?? '', /^EOPNOTSUPP rule ip t web/);
    assert.match(missing?.[0] ?? '', /^ENOENT rule ip t web/);
    assert.match(set?.[0] ?? '', /^ENOENT rule ip t web/);
    const elements = [{ key: ['10.9.9.9', 'tcp', 1], data: { verdict: 'goto', chain: 'none' } }] as const;
    const [element] = await nftables.apply([{ do: 'addElements', set: MAP, elements }]);
    assert.equal(element?.code, 'ENOENT');
  });

  it('has a hint that names what is missing or taken, and none where the kernel has more causes', async () => {
    const nftables = await opened();
    const rule = (...expressions: object[]): NftablesOperation =>
      ({ do: 'addRule', rule: { ...T, chain: 'web', expressions } }) as NftablesOperation;
    const verdict = { kind: 'verdict', verdict: { verdict: 'jump', chain: 'none' } };
    const object = { kind: 'objref', type: 'counter', name: 'none' };
    const gone = {
      do: 'addElements',
      set: { ...ADDRESSES, name: 'none' },
      elements: [{ key: '10.0.0.1' }],
    } as const;
    const other = [{ key: ['10.0.0.1', 'tcp', 80], data: { verdict: 'accept' } }] as const;
    const inside = [{ key: '10.1.2.0', keyEnd: '10.1.2.255' }];
    const rows: readonly (readonly [NftablesOperation, code: string, hint: RegExp | undefined])[] = [
      [rule(verdict), 'ENOENT', /^the chain that it names does not exist in the table$/],
      [rule(DESTINATION, { kind: 'lookup', set: 'none', source: 1 }), 'ENOENT', /^the set that it names/],
      [rule(object), 'ENOENT', /^the object or map that it names/],
      [
        counted('none', 'x'),
        'ENOENT',
        /^its table, its chain or the rule that it names does not exist, or what/,
      ],
      [
        { do: 'addChain', chain: { family: 'ip', table: 'none', name: 'x' } },
        'ENOENT',
        /^its table does not/,
      ],
      [
        { do: 'flushChain', chain: { ...T, name: 'none' } },
        'ENOENT',
        /^its table or the chain does not exist$/,
      ],
      [gone, 'ENOENT', /^its table or set does not exist, or a chain or an object that an element names$/],
      [{ do: 'deleteChain', chain: { ...T, name: 'none' } }, 'ENOENT', undefined],
      [{ do: 'deleteSet', set: { ...T, name: 'vips' } }, 'EBUSY', /^delete what refers to it before/],
      [{ do: 'addElements', set: MAP, elements: other }, 'EEXIST', /^a key is there with other data: [^;]*$/],
      [
        { do: 'addElements', set: NETWORKS, elements: inside },
        'EEXIST',
        /^an interval overlaps another one$/,
      ],
      [
        { do: 'addElements', set: ADDRESSES, elements: [{ key: '10.0.0.1' }], exclusive: true },
        ...(['EEXIST', /^a key is there already$/] as const),
      ],
    ];
    for (const [operation, code, hint] of rows) {
      const [error] = await nftables.apply([operation]);
      assert.equal(error?.code, code, operation.do);
      const given = (error as NetlinkError).hint;
      if (hint === undefined) assert.equal(given, undefined, operation.do);
      else assert.match(given ?? '', hint, operation.do);
    }
  });

  it('refuses a set of a rule whose name another set has', async () => {
    const nftables = await opened();
    const rule = (name: string): NftablesOperation => {
      const set = { key: 'ipv4_addr', elements: [{ key: '10.0.0.1' }], name } as const;
      const expressions = [DESTINATION, { kind: 'lookup', set, source: 1 } as const];
      return { do: 'addRule', rule: { ...T, chain: 'web', expressions } };
    };
    assert.deepEqual(await results(nftables, [rule('once')]), ['done']);
    const refusal = 'EEXIST rule ip t web set of the rule';
    assert.deepEqual(await results(nftables, [rule('once')]), [refusal]);
    assert.deepEqual(await results(nftables, [rule('vips')]), [refusal]);
    assert.deepEqual(await results(nftables, [rule('twice'), rule('twice')]), ['undone', refusal]);
    const emptied = [{ do: 'flushChain', chain: { ...T, name: 'web' } }, rule('once')] as const;
    assert.deepEqual(await results(nftables, emptied), ['done', 'done']);
  });

  it('refuses intervals that overlap, and lifetimes of sets without', async () => {
    const nftables = await opened();
    const [overlap] = await nftables.apply([
      { do: 'addElements', set: NETWORKS, elements: [{ key: '10.1.2.0', keyEnd: '10.1.2.255' }] },
    ]);
    assert.equal(overlap?.code, 'EEXIST');
    const [lifetime] = await nftables.apply([
      { do: 'addElements', set: ADDRESSES, elements: [{ key: '10.0.0.8', timeout: 1000n }] },
    ]);
    assert.equal(lifetime?.code, 'EINVAL');
    await nftables.addElements(CLIENTS, [{ key: '10.0.0.8', timeout: 1000n }]);
    await nftables.addElements(NETWORKS, [{ key: '10.2.0.0', keyEnd: '10.2.255.255' }]);
  });

  it('is based on a generation', async () => {
    const nftables = await opened();
    const { id } = await nftables.generation();
    assert.deepEqual(await results(nftables, [chain('a')], id + 1), ['ERESTART chain ip t a']);
    assert.deepEqual(await results(nftables, [chain('a'), chain('b')], id), ['done', 'done']);
    assert.equal((await nftables.generation()).id, id + 1);
    assert.deepEqual(await results(nftables, [chain('c'), chain('d')], id), [
      'ERESTART chain ip t c',
      'ERESTART chain ip t d',
    ]);
    await refused(nftables.flushChain({ ...T, name: 'c' }), 'ENOENT 2 nftables.flushChain chain ip t c');
  });

  it('sends nothing of a transaction with an invalid operation', async () => {
    const nftables = await opened();
    const { id } = await nftables.generation();
    const invalid = { do: 'addChain', chain: { ...T, name: '' } } as const;
    const broken = { do: 'addElements', set: ADDRESSES, elements: [{ key: '10.0.0.256' }] } as const;
    const outcome = await nftables.apply([chain('a'), invalid, broken, null as never]);
    assert.deepEqual(
      outcome.map((result) => result?.code),
      ['ERR_ROLLED_BACK', 'ERR_INVALID_ARGUMENT', 'ERR_INVALID_ARGUMENT', 'ERR_INVALID_ARGUMENT'],
    );
    assert.match(outcome[1]?.kernelMessage ?? '', /^chain\.name must be a name of 1 to 255 bytes/);
    assert.match(outcome[2]?.kernelMessage ?? '', /^elements\[0\]\.key must be an IPv4 address/);
    assert.match(outcome[0]?.kernelMessage ?? '', /nothing was sent$/);
    assert.equal((await nftables.generation()).id, id);
    await assert.rejects(nftables.addChain(invalid.chain), RangeError);
    await assert.rejects(nftables.apply({} as never), TypeError);
    await assert.rejects(nftables.apply([], { generation: 0 }), /nftables\.apply: generation must be/);
    await assert.rejects(nftables.apply([], { genid: 1 } as never), TypeError);
    const many = Array.from({ length: 2500 }, () => ({ key: '10.0.0.1' }));
    const far = nftables.addElements(ADDRESSES, [...many, { key: 5 as never }]);
    await assert.rejects(far, /elements\[2500\]\.key/);
  });

  it('reports each transaction as a batch', async () => {
    const nftables = await open();
    const batches: string[] = [];
    nftables.onBatch = ({ names, results: all }) => {
      batches.push(
        `${names.join(' ')}: ${all.map((each) => (each as { code?: string } | undefined)?.code ?? 'done').join(' ')}`,
      );
    };
    await nftables.apply([table, chain('a')]);
    await assert.rejects(nftables.deleteChain({ ...T, name: 'none' }));
    assert.deepEqual(batches, ['addTable addChain: done done', 'deleteChain: ENOENT']);
  });

  it('carries transactions out in the order of the calls', async () => {
    const nftables = await open();
    const many = Array.from({ length: 5000 }, (_, i) => ({ key: `10.9.${i >> 8}.${i & 255}` }));
    const calls = [
      nftables.apply([
        table,
        { do: 'addSet', set: ADDRESSES },
        { do: 'addElements', set: ADDRESSES, elements: many },
      ]),
      nftables.apply([{ do: 'deleteElements', set: ADDRESSES, elements: [{ key: '10.9.19.135' }] }]),
      nftables.apply([{ do: 'flushSet', set: ADDRESSES }]),
    ];
    assert.deepEqual(outcomes((await Promise.all(calls)).flat()), ['done', 'done', 'done', 'done', 'done']);
  });

  it('rejects every call after close()', async () => {
    const nftables = await open();
    await closed(
      nftables,
      () => nftables.apply([table]),
      () => nftables.addTable({ family: 'ip', name: 't' }),
      () => nftables.generation(),
      () => nftables.listTables().toArray(),
      () => nftables.getElements(ADDRESSES, [{ key: '10.0.0.1' }]),
      () => nftables.getTable({ family: 'ip', name: 't' }),
      () => nftables.watch()[Symbol.asyncIterator]().next(),
    );
  });

  it('ends calls early, before they are sent', async () => {
    const nftables = await open();
    const signal = AbortSignal.abort(new Error('early'));
    await assert.rejects(nftables.apply([table], { signal }), /early/);
    await assert.rejects(nftables.addTable({ family: 'ip', name: 't' }, { signal }), /early/);
    assert.equal((await nftables.generation()).id, 1);
  });
}
