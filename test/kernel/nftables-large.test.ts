// Transactions of nftables that are large: buffers, errors that do not fit, the event loop, and calls that end early.
// Needs: nftables
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import {
  NetlinkError,
  type Nftables,
  type NftablesOperation,
  openNftables,
} from '../../src/kernel/nftables/index.js';
import { ADDRESSES, chain, counted, T, table } from '../support/contract/nftablesRuleset.js';
import { startScript } from '../support/namespaces/lines.js';
import { makeNamespace, type Namespace } from '../support/namespaces/netns.js';

let namespace: Namespace;
let nftables: Nftables;

before(async () => {
  namespace = makeNamespace();
  nftables = await openNftables({ netns: namespace.path, timeout: 60_000 });
});
after(async () => {
  await nftables.close();
  namespace.remove();
});
beforeEach(() => namespace.run('nft', 'flush', 'ruleset'));

const PORTS = { ...T, name: 'ports', key: ['ipv4_addr', 'inet_service'] } as const;
const address = (i: number) => `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;
const elements = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ key: [address(i), 80] as const }));
const failing = (count: number): NftablesOperation[] =>
  Array.from({ length: count }, (_, i) => ({ do: 'deleteChain', chain: { ...T, name: `none-${i}` } }));
const codes = (results: readonly ({ readonly code: string } | undefined)[]) => {
  const counts: Record<string, number> = {};
  for (const result of results) counts[result?.code ?? 'done'] = (counts[result?.code ?? 'done'] ?? 0) + 1;
  return counts;
};

/** Counts the turns of the event loop until `work` ends. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isUnderWay = true;
  const end = () => {
    isUnderWay = false;
  };
  work.then(end, end);
  while (isUnderWay) {
    await nextTurn();
    turns++;
  }
  await work;
  return turns;
}

describe('large transactions', () => {
  it('names each of 3000 operations that fail', async () => {
    await nftables.apply([table]);
    const results = await nftables.apply([...failing(3000), chain('c')]);
    assert.deepEqual(codes(results), { ENOENT: 3000, ERR_ROLLED_BACK: 1 });
    assert.equal(results[2999]?.target, 'chain ip t none-2999');
    // Late replies would be taken for those to the next transaction.
    assert.deepEqual(await nftables.apply([chain('c')]), [undefined]);
  });

  it('has the errors that fit, if very many operations fail', async () => {
    await nftables.apply([table]);
    const operations = failing(100_000);
    const results = await nftables.apply(operations);
    const { ENOENT = 0, ERR_ROLLED_BACK = 0, ...others } = codes(results);
    assert.deepEqual(others, {});
    assert.equal(ENOENT + ERR_ROLLED_BACK, 100_000);
    assert.ok(ENOENT > 10_000 && ERR_ROLLED_BACK > 10_000, `${ENOENT} ${ERR_ROLLED_BACK}`);
    assert.match(results.at(-1)?.kernelMessage ?? '', /and others whose errors were lost$/);
    assert.deepEqual(await nftables.apply([chain('c')]), [undefined]);
  });

  for (const [size, count] of [
    ['1 MB', 20_000],
    ['30 MB', 600_000],
  ] as const) {
    it(`sends ${size} as one transaction, and lets the event loop turn`, async () => {
      const operations: readonly NftablesOperation[] = [
        table,
        { do: 'addSet', set: PORTS },
        { do: 'addElements', set: PORTS, elements: elements(count) },
      ];
      const { id } = await nftables.generation();
      let results: unknown;
      const turns = await turnsDuring(
        nftables.apply(operations).then((found) => {
          results = found;
        }),
      );
      assert.deepEqual(results, [undefined, undefined, undefined]);
      assert.equal((await nftables.generation()).id, id + 1);
      assert.ok(turns > count / 10_000, String(turns));
      let listed = 0;
      for await (const _ of nftables.listElements(PORTS)) listed++;
      assert.equal(listed, count);
    });
  }

  it('undoes 1 MB for its last element', async () => {
    await nftables.apply([table, { do: 'addSet', set: PORTS }]);
    const all = [...elements(20_000), { key: ['10.0.0.5', 80] as const }];
    const [result] = await nftables.apply([
      { do: 'addElements', set: PORTS, elements: all, exclusive: true },
    ]);
    assert.equal(result?.code, 'EEXIST');
    assert.equal(result?.target, 'element ip t ports { 10.0.0.5 . 80 }');
    assert.deepEqual(await nftables.listElements(PORTS).toArray(), []);
  });

  it('ends a call early whose transaction is under way, and waits for it with the next', async () => {
    await nftables.apply([table, { do: 'addSet', set: PORTS }]);
    const abort = new AbortController();
    const call = nftables.apply([{ do: 'addElements', set: PORTS, elements: elements(50_000) }], {
      signal: abort.signal,
    });
    abort.abort(new Error('early'));
    await assert.rejects(call, /early/);
    // The event loop did not turn, so that nothing was sent.
    assert.deepEqual(await nftables.apply([chain('c')]), [undefined]);
    assert.deepEqual(await nftables.listElements(PORTS).toArray(), []);
  });

  it('finishes what is under way when it is closed', async () => {
    const other = await openNftables({ netns: namespace.path });
    const under = other.apply([
      table,
      { do: 'addSet', set: PORTS },
      { do: 'addElements', set: PORTS, elements: elements(50_000) },
    ]);
    await other.close();
    assert.deepEqual(await under, [undefined, undefined, undefined]);
    await assert.rejects(other.apply([table]), { code: 'ERR_CLOSED' });
    assert.equal((await nftables.listElements(PORTS).toArray()).length, 50_000);
  });

  it('lists all transactions but at most the one that is being committed, while another client changes the ruleset', async () => {
    await using other = await openNftables({ netns: namespace.path });
    const rules = (name: string, count: number): NftablesOperation[] =>
      Array.from({ length: count }, (_, i) => counted(name, `${name}-${i}`));
    await nftables.apply([table, chain('a'), chain('b'), ...rules('a', 2000), ...rules('b', 2000)]);
    let isOver = false;
    let changes = 0;
    const counts = new Set<number>();
    let interrupted = 0;
    const change = async () => {
      for (; changes < 60 || (counts.size < 2 && interrupted === 0); changes++) {
        await other.apply([counted('a', 'more'), counted('b', 'more')]);
        await delay(10);
      }
    };
    const changing = change().finally(() => {
      isOver = true;
    });
    while (!isOver) {
      try {
        const listed = await nftables.listRules({ ...T }).toArray();
        const count = (name: string) => listed.filter((rule) => rule.chain === name).length;
        // The kernel raises the generation a moment before its rules are in force, and marks no listing for that.
        assert.ok(Math.abs(count('a') - count('b')) <= 1, `${count('a')} ${count('b')}`);
        counts.add(count('a'));
      } catch (error) {
        // It changed during each of ten attempts.
        if (!(error instanceof NetlinkError) || error.code !== 'ERR_INTERRUPTED') throw error;
        interrupted++;
      }
    }
    await changing;
    assert.ok(counts.size > 1 || interrupted > 0, `${counts.size} ${interrupted}`);
    const listed = await nftables.listRules({ ...T }).toArray();
    assert.equal(listed.length, 4000 + 2 * changes);
  });

  // The one that watches is a process that is stopped meanwhile, since a thread may read as fast as the kernel writes.
  it('reports that notifications were lost', async (t) => {
    await nftables.apply([table, { do: 'addSet', set: ADDRESSES }]);
    const script = `
      import { openNftables } from '${new URL('../../src/kernel/nftables/index.js', import.meta.url)}';
      const nftables = await openNftables({ netns: '${namespace.path}' });
      for await (const event of nftables.watch({ receiveBuffer: 4096 })) {
        if (event.kind === 'resync') console.log(event.lost ? 'lost' : 'watching');
      }`;
    const { child, lines } = startScript(t, script);
    assert.equal((await lines.next()).value, 'watching');
    child.kill('SIGSTOP');
    const many = Array.from({ length: 20_000 }, (_, i) => ({ key: address(i) }));
    await nftables.addElements(ADDRESSES, many);
    child.kill('SIGCONT');
    assert.equal((await lines.next()).value, 'lost');
  });
});
