// Notifications of changes: which of them are reported.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Commit, TableName } from '../../../../src/kernel/nftables/types.js';
import type { Resync } from '../../../../src/kernel/shared/types.js';
import type { DisturbedCheck } from '../../../../src/modes/mode.js';
import type { Item } from '../../../../src/modes/nftables/plan/items.js';
import type { NftablesKernel } from '../../../../src/modes/nftables/program/kernel.js';
import { OwnGenerations } from '../../../../src/modes/nftables/program/ownGenerations.js';
import { watchTables } from '../../../../src/modes/nftables/program/watch.js';

type Event = Commit | Resync;

/** The reports of a watch of these events: whether each is about another program. Generation 1 is ours. */
async function reports(events: readonly (Event | Error)[], close = false): Promise<boolean[]> {
  async function* stream(): AsyncGenerator<Event> {
    yield { kind: 'resync', lost: false };
    for (const event of events) {
      if (event instanceof Error) throw event;
      yield event;
    }
  }
  let id = 0;
  const nftables = { watchCommits: stream, generation: async () => ({ id, pid: 0, program: '' }) };
  const own = new OwnGenerations(nftables);
  await own.during(async () => id++);
  const checks: DisturbedCheck<Item>[] = [];
  const kernel = { nftables } as unknown as NftablesKernel;
  const watch = await watchTables(
    kernel,
    own,
    { families: [4] },
    { disturbed: (check) => checks.push(check) },
  );
  if (close) watch.close();
  await new Promise(setImmediate);
  watch.close();
  return Promise.all(checks.map((check) => check(new Map())));
}

const commit = (id: number, ...tables: readonly TableName[]): Event => ({
  kind: 'commit',
  generation: { id, pid: 1, program: 'nft' },
  tables,
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
