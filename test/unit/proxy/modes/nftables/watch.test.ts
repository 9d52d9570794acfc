// Notifications of changes: which of them are reported.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { NetlinkError } from '../../../../../src/kernel/errors.js';
import type { Commit, TableName } from '../../../../../src/kernel/nftables/types.js';
import type { Resync } from '../../../../../src/kernel/shared/types.js';
import { FakeNftables } from '../../../../../src/kernel/testing/nftables.js';
import type { DisturbedCheck } from '../../../../../src/proxy/modes/mode.js';
import { watchedTables } from '../../../../../src/proxy/modes/nftables/plan/fixedChains.js';
import { type Item, itemMap } from '../../../../../src/proxy/modes/nftables/plan/items.js';
import { TableWatch } from '../../../../../src/proxy/modes/nftablesRules/program/watch.js';

type Event = Commit | Resync;

/** Of our socket. */
const PORT = 7;
/** Elements in a large transaction. */
const MANY = 10_000;
/** Some time after which the watch has started again, in ms. */
const LATER = 150;

/** Notifications of a kernel, and transactions of this and of other programs. */
class Kernel {
  id = 0;
  subscriptions = 0;
  #listeners: ((event: Event | Error) => void)[] = [];

  async generation() {
    return { id: this.id, pid: 0, program: '' };
  }

  watchCommits() {
    this.subscriptions++;
    const waiting: (Event | Error)[] = [{ kind: 'resync', lost: false }];
    let wake = () => {};
    let isOpen = true;
    const listener = (event: Event | Error) => {
      waiting.push(event);
      wake();
    };
    this.#listeners.push(listener);
    const end = () => {
      isOpen = false;
      this.#listeners = this.#listeners.filter((each) => each !== listener);
      wake();
    };
    const next = async (): Promise<IteratorResult<Event, undefined>> => {
      while (isOpen && waiting.length === 0)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      const event = isOpen ? waiting.shift() : undefined;
      if (event instanceof Error) throw event;
      return event ? { done: false, value: event } : { done: true, value: undefined };
    };
    const stopped = async () => {
      end();
      return { done: true as const, value: undefined };
    };
    return { [Symbol.asyncIterator]: () => ({ next, return: stopped }) };
  }

  notify(event: Event | Error) {
    for (const listener of [...this.#listeners]) listener(event);
  }

  get isWatched() {
    return this.#listeners.length > 0;
  }

  commit(...tables: readonly TableName[]): [] {
    this.notify(commit(++this.id, ...tables));
    return [];
  }

  async port() {
    return PORT;
  }
}

/** A watch, with what it has reported. */
async function watching() {
  const kernel = new Kernel();
  const tables = new TableWatch<Item>({ nftables: kernel as never }, watchedTables([4]));
  const checks: DisturbedCheck<Item>[] = [];
  const watch = await tables.start({ disturbed: (check) => checks.push(check) });
  /** Whether each report since the last call is about another program. */
  const reports = async () => {
    await new Promise(setImmediate);
    return Promise.all(checks.splice(0).map((check) => check(new Map())));
  };
  return { kernel, tables, watch, reports };
}

/** The reports of a watch of these events. Generation 1 is ours. */
async function reports(events: readonly (Event | Error)[], close = false): Promise<boolean[]> {
  const { kernel, tables, watch, reports } = await watching();
  await tables.during(1, async () => {
    kernel.id++;
    return [];
  });
  if (close) watch.close();
  for (const event of events) kernel.notify(event);
  const all = await reports();
  watch.close();
  return all;
}

const commit = (id: number, ...tables: readonly TableName[]): Commit => ({
  kind: 'commit',
  generation: { id, pid: 1, program: 'nft' },
  tables,
  sender: PORT,
});
const OURS: TableName = { family: 'ip', name: 'kube-proxy' };
const OTHERS: readonly TableName[] = [
  { family: 'ip', name: 'other' },
  { family: 'inet', name: 'kube-proxy' },
  { family: 'ip6', name: 'kube-proxy' },
];

it('changes in our tables, once for each transaction', async () => {
  assert.deepEqual(await reports([commit(2, OURS)]), [true]);
  assert.deepEqual(await reports([commit(1, OURS), commit(2, OURS)]), [false, true]);
});

it('a transaction of another program while ours changed nothing, or is refused for want of what the other one deleted', async () => {
  const { kernel, tables, watch, reports } = await watching();
  const other = async (...results: (NetlinkError | undefined)[]) => {
    kernel.notify({ ...commit(++kernel.id, OURS), sender: PORT + 1 });
    return results;
  };
  const refused = new NetlinkError({ code: 'ENOENT', operation: 'nftables.apply' });
  for (const elements of [1, MANY])
    for (const error of elements === 1 ? [undefined, refused] : [refused]) {
      await tables.during(elements, () => other(error));
      await delay(elements === 1 ? 0 : LATER);
      assert.deepEqual(await reports(), [true], `${elements} ${error}`);
    }
  kernel.port = async () => {
    throw new NetlinkError({ code: 'ENOBUFS', operation: 'nftables.port' });
  };
  await tables.during(1, async () => kernel.commit(OURS));
  assert.deepEqual(await reports(), [true], 'our port cannot be read');
  watch.close();
});

it('a refused transaction is the reason to look for the table and the base chains', async () => {
  const nftables = new FakeNftables();
  const tables = new TableWatch<Item>({ nftables }, watchedTables([4]));
  const checks: DisturbedCheck<Item>[] = [];
  const watch = await tables.start({ disturbed: (check) => checks.push(check) });
  const known = itemMap([
    { kind: 'table', family: 4 },
    { kind: 'chain', family: 4, name: 'services', rules: [] },
    { kind: 'chain', family: 4, name: 'nat-output', rules: [] },
  ]);
  const look = async (items: ReadonlyMap<string, Item> = known) => {
    tables.look(4);
    return checks.pop()?.(items);
  };
  const chain = { family: 'ip', table: 'kube-proxy' } as const;
  assert.equal(await look(), true, 'the table');
  assert.equal(await look(new Map()), false, 'nothing was programmed yet');
  await nftables.addTable(OURS);
  await nftables.addChain({ ...chain, name: 'services' });
  assert.equal(await look(), true, 'a base chain');
  await nftables.addChain({ ...chain, name: 'nat-output' });
  assert.equal(await look(), false);
  nftables.readFault = (operation) => new NetlinkError({ code: 'ENOBUFS', operation });
  assert.equal(await look(), false, 'the failed transaction is retried');
  watch.close();
});

it('changes in other tables, and in families that are not programmed', async () => {
  assert.deepEqual(await reports([commit(2, ...OTHERS)]), []);
});

it('a change of our table among those of others', async () => {
  assert.deepEqual(await reports([commit(5, ...OTHERS, OURS)]), [true]);
});

it('lost notifications, and a watch that fails: anything may have changed', async () => {
  assert.deepEqual(await reports([{ kind: 'resync', lost: true }]), [true]);
  assert.deepEqual(await reports([new Error('the socket is closed')]), [true]);
});

it('nothing after it was closed', async () => {
  assert.deepEqual(await reports([commit(2, OURS)], true), []);
  assert.deepEqual(await reports([new Error('the socket is closed')], true), []);
});

it('large transactions are not notified of, and nothing of another program is missed', async () => {
  const { kernel, tables, watch, reports } = await watching();
  const ours = async () => {
    assert.equal(kernel.isWatched, false);
    return kernel.commit(OURS);
  };
  await tables.during(MANY, ours);
  await tables.during(1, ours);
  await tables.during(MANY, ours);
  await delay(LATER);
  assert.deepEqual(await reports(), []);
  assert.deepEqual([kernel.isWatched, kernel.subscriptions], [true, 2], 'it starts once after several');
  await tables.during(1, async () => kernel.commit(OURS));
  assert.deepEqual(await reports(), [false], 'a small one is recognized as before');
  kernel.commit(OURS);
  assert.deepEqual(await reports(), [true]);
  await tables.during(MANY, ours);
  kernel.commit(...OTHERS);
  await delay(LATER);
  assert.deepEqual(await reports(), [true], 'the tables of a generation without notification are not known');
  await assert.rejects(
    tables.during(MANY, async () => Promise.reject(new Error('refused'))),
    /refused/,
  );
  await delay(LATER);
  assert.deepEqual(await reports(), []);
  assert.deepEqual([kernel.isWatched, kernel.subscriptions], [true, 4]);
  watch.close();
  assert.equal(kernel.isWatched, false);
});

it('a commit that was notified of, and not read before a large transaction', async () => {
  const { kernel, tables, watch, reports } = await watching();
  kernel.commit(OURS);
  await tables.during(MANY, async () => kernel.commit(OURS));
  await delay(LATER);
  assert.deepEqual(await reports(), [true]);
  watch.close();
});

it('a large transaction while the watch starts again', async () => {
  const { kernel, tables, watch, reports } = await watching();
  const { generation } = kernel;
  await tables.during(MANY, async () => kernel.commit(OURS));
  let second: Promise<unknown> | undefined;
  kernel.generation = () => {
    kernel.generation = generation;
    second = tables.during(MANY, async () => {
      await delay(LATER);
      return kernel.commit(OURS);
    });
    return kernel.generation();
  };
  await delay(LATER);
  await second;
  await delay(LATER);
  assert.deepEqual(await reports(), []);
  assert.equal(kernel.isWatched, true);
  watch.close();
  assert.equal(kernel.isWatched, false);
});

it('a small transaction under way while the watch starts again', async () => {
  const { kernel, tables, watch, reports } = await watching();
  await tables.during(MANY, async () => kernel.commit(OURS));
  await tables.during(1, async () => {
    kernel.commit(OURS);
    await delay(LATER);
    return [];
  });
  assert.deepEqual(await reports(), [false], 'asked when it has ended');
  await tables.during(MANY, async () => kernel.commit(OURS));
  await tables.during(1, async () => {
    kernel.commit(OURS);
    kernel.commit(OURS);
    await delay(LATER);
    return [];
  });
  assert.deepEqual(await reports(), [true], 'one of the two generations is of another program');
  watch.close();
});

it('a watch that is closed during a large transaction or soon after it, or cannot start again', async () => {
  const closed = async (during: boolean) => {
    const { kernel, tables, watch, reports } = await watching();
    await tables.during(MANY, async () => {
      kernel.commit(OURS);
      if (during) watch.close();
      return [];
    });
    watch.close();
    await tables.during(MANY, async () => kernel.commit(OURS));
    await delay(LATER);
    assert.deepEqual([kernel.isWatched, await reports()], [false, []]);
  };
  await closed(true);
  await closed(false);
  const { kernel, tables, reports } = await watching();
  kernel.watchCommits = () => {
    throw new Error('no more descriptors');
  };
  await tables.during(MANY, async () => kernel.commit(OURS));
  await delay(LATER);
  assert.deepEqual(await reports(), [true]);
});
