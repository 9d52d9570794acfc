// What nftables lists is what was written, is deleted by what was listed, and is written again as it was: values of every kind.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  type Expression,
  type NewElement,
  type Nftables,
  type NftablesOperation,
  type SetName,
  throwOnFailure,
} from '../../../src/kernel/nftables/index.js';
import { CHAINS, ELEMENTS, EXPRESSIONS, OBJECTS, SETS, TABLE, TABLES } from '../nftables/everything.js';

/** Chains in which rules are tried: each expression is for one of them. */
const PLACES = ['regular', 'pre', 'post', 'mangle'] as const;

/** Values in all registers: kernels since 6.13 refuse to read one that nothing was written to. */
const FILLED: readonly Expression[] = [1, 2, 3, 4].map((register) => ({
  kind: 'immediate',
  register,
  data: new Uint8Array(16),
}));

const set = (name: string, shape: Omit<SetName, 'family' | 'table' | 'name'>): NftablesOperation => ({
  do: 'addSet',
  set: { ...TABLE, name, ...shape },
});

/** What the expressions refer to. */
const SURROUNDINGS: readonly NftablesOperation[] = [
  { do: 'addTable', table: { family: TABLE.family, name: TABLE.table } },
  ...['regular', 'x', 'c'.repeat(255), 'service-A/b/tcp/http'].map(
    (name) => ({ do: 'addChain', chain: { ...TABLE, name } }) as const,
  ),
  {
    do: 'addChain',
    chain: { ...TABLE, name: 'pre', base: { type: 'nat', hook: 'prerouting', priority: -100 } },
  },
  {
    do: 'addChain',
    chain: { ...TABLE, name: 'post', base: { type: 'nat', hook: 'postrouting', priority: 100 } },
  },
  {
    do: 'addChain',
    chain: { ...TABLE, name: 'mangle', base: { type: 'filter', hook: 'prerouting', priority: -150 } },
  },
  set('addresses', { key: 'ipv4_addr' }),
  set('marks', { key: 'ipv4_addr', data: 'mark' }),
  set('verdicts', { key: 'ipv4_addr', data: 'verdict' }),
  set('recent', { key: 'ipv4_addr', flags: ['dynamic', 'timeout'] }),
  set('map', { key: 'ipv4_addr', data: 'ipv4_addr', flags: ['dynamic', 'timeout'] }),
  { do: 'addObject', object: { ...TABLE, name: 'c', type: 'counter' } },
  { do: 'addObject', object: { ...TABLE, name: 'q', type: 'quota', bytes: 5n } },
  { do: 'addObject', object: { ...TABLE, name: 'l', type: 'limit', rate: 5n, unit: 1n } },
  set('objects', { key: 'ipv4_addr', objects: 'counter' }),
];

/** Registers of 4 bytes at which one of 16 bytes begins: the kernel lists the latter. */
const WIDE: ReadonlyMap<unknown, number> = new Map([
  [8, 1],
  [12, 2],
  [16, 3],
  [20, 4],
]);

/** An expression as the kernel lists it. */
function canonical(expression: Expression): Expression {
  const fields = Object.entries(expression).map(([name, value]) => {
    const isRegister = /^(?:register|source|address|port|device)/.test(name);
    return [name, isRegister ? (WIDE.get(value) ?? value) : value] as const;
  });
  const { kind, level, group } = expression as { kind: string; level?: number; group?: number };
  const isPlainLog = kind === 'log' && level === undefined && group === undefined;
  return { ...Object.fromEntries(fields), ...(isPlainLog && { level: 4 }) } as Expression;
}

/** Without what the kernel alone knows. */
function plain(object: object): object {
  const listed = [
    'handle',
    'after',
    'use',
    'count',
    'backend',
    'keyLength',
    'dataLength',
    'attributes',
    'userData',
  ];
  return Object.fromEntries(Object.entries(object).filter(([name]) => !listed.includes(name)));
}

const byKey = (elements: readonly NewElement[]) =>
  elements
    .map((element) => ({ ...element, ...(element.expires !== undefined && { expires: 1n }) }))
    .sort((a, b) => (String(a.key) < String(b.key) ? -1 : 1));

/**
 * Registers the tests. `open` opens an empty ruleset. `isOptional` tells for which values the error of a kernel without them, or one that
 * knows better, is expected.
 */
export function nftablesRoundTrips(
  open: () => Promise<Nftables>,
  isOptional: (value: object) => boolean = () => false,
): void {
  const surrounded = async () => {
    const nftables = await open();
    throwOnFailure(await nftables.apply(SURROUNDINGS));
    return nftables;
  };
  /** Whether the kernel did it; if it did not, the value must be an optional one. */
  const accepted = async (nftables: Nftables, value: object, ...operations: readonly NftablesOperation[]) => {
    const error = (await nftables.apply(operations)).find((each) => each && each.code !== 'ERR_ROLLED_BACK');
    assert.ok(!error || isOptional(value), `${error?.message} ${JSON.stringify(value, shown)}`);
    return !error;
  };

  it('every expression', async () => {
    const nftables = await surrounded();
    let count = 0;
    for (const expression of EXPRESSIONS) {
      // Few kernels have flow tables.
      if (expression.kind === 'flowOffload') continue;
      for (const name of PLACES) {
        const rule = { ...TABLE, chain: name, expressions: [...FILLED, expression], comment: 'c' };
        const [error] = await nftables.apply([{ do: 'addRule', rule }]);
        if (error) {
          assert.ok(
            name !== 'mangle' || isOptional(expression),
            `${error.message} ${JSON.stringify(expression, shown)}`,
          );
          continue;
        }
        const [listed = assert.fail()] = await nftables.listRules({ ...TABLE, chain: name }).toArray();
        assert.deepEqual(listed.expressions.slice(FILLED.length).map(canonical), [canonical(expression)]);
        assert.deepEqual([listed.comment, listed.attributes], ['c', undefined]);
        await nftables.deleteRule(listed);
        await nftables.addRule(listed);
        const [again] = await nftables.listRules({ ...TABLE, chain: name }).toArray();
        assert.deepEqual(plain(again ?? {}), plain(listed));
        await nftables.deleteRule(again ?? assert.fail());
        count++;
        break;
      }
    }
    assert.ok(count > EXPRESSIONS.length * 0.85, `${count} of ${EXPRESSIONS.length}`);
    assert.deepEqual(await nftables.listRules().toArray(), []);
  });

  it('every table', async () => {
    const nftables = await open();
    for (const table of TABLES) {
      if (!(await accepted(nftables, table, { do: 'addTable', table }))) continue;
      const [listed = assert.fail()] = await nftables.listTables().toArray();
      assert.deepEqual(plain(listed), table);
      await nftables.deleteTable(listed);
      await nftables.addTable(listed);
      await nftables.deleteTable(listed);
    }
    assert.deepEqual(await nftables.listTables().toArray(), []);
  });

  it('every chain', async () => {
    const nftables = await open();
    for (const chain of CHAINS) {
      const table = { family: chain.family, name: chain.table };
      if (!(await accepted(nftables, chain, { do: 'addTable', table }, { do: 'addChain', chain }))) continue;
      const [listed = assert.fail()] = await nftables
        .listChains({ family: chain.family, table: chain.table })
        .toArray();
      const base = chain.base && { policy: 'accept', ...chain.base };
      assert.deepEqual(plain(listed), { ...chain, ...(base && { base }) });
      await nftables.deleteChain(listed);
      await nftables.addChain(listed);
      await nftables.deleteTable(table);
    }
    assert.deepEqual(await nftables.listChains().toArray(), []);
  });

  it('every set', async () => {
    const nftables = await surrounded();
    const before = (await nftables.listSets().toArray()).length;
    for (const each of SETS) {
      if (!(await accepted(nftables, each, { do: 'addSet', set: each }))) continue;
      const find = async () =>
        (await nftables.listSets({ ...TABLE }).toArray()).find(({ name }) => name === each.name);
      const listed = (await find()) ?? assert.fail();
      assert.deepEqual(plain(listed), each);
      await nftables.deleteSet(listed);
      await nftables.addSet(listed as never);
      assert.deepEqual(plain((await find()) ?? {}), plain(listed));
      await nftables.deleteSet(listed);
    }
    assert.equal((await nftables.listSets().toArray()).length, before);
  });

  it('every element', async () => {
    const nftables = await surrounded();
    for (const [like, elements] of ELEMENTS) {
      const hasTime = elements.some(({ timeout, expires }) => timeout !== undefined || expires !== undefined);
      const flags = [...(like.flags ?? []), ...(hasTime ? (['timeout'] as const) : [])];
      const own = { ...like, name: 'elements', flags } as SetName;
      await nftables.addSet(own);
      for (const element of elements) {
        if (!(await accepted(nftables, element, { do: 'addElements', set: own, elements: [element] })))
          continue;
        const listed = await nftables.listElements(own).toArray();
        if (element.expires === 1n && listed.length === 0) continue; // it has vanished
        assert.deepEqual(byKey(listed), byKey([element]));
        await nftables.deleteElements(own, listed);
        await nftables.addElements(own, listed as NewElement[]);
        assert.equal((await nftables.listElements(own).toArray()).length, 1);
        await nftables.deleteElements(own, listed);
      }
      await nftables.deleteSet(own);
    }
  });

  it('every object', async () => {
    const nftables = await open();
    await nftables.addTable({ family: TABLE.family, name: TABLE.table });
    for (const object of OBJECTS) {
      if (!(await accepted(nftables, object, { do: 'addObject', object }))) continue;
      const [listed = assert.fail()] = await nftables.listObjects().toArray();
      assert.deepEqual(plain(listed), object);
      await nftables.deleteObject(listed as never);
      await nftables.addObject(listed as never);
      assert.deepEqual((await nftables.listObjects().toArray()).map(plain), [object]);
      await nftables.deleteObject(listed as never);
    }
    assert.deepEqual(await nftables.listObjects().toArray(), []);
  });
}

function shown(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
