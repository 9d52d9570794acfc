// Notifications of changes: which of them are reported.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { NftablesEvent } from '../../../../src/kernel/nftables/types.js';
import type { Resync } from '../../../../src/kernel/shared/types.js';
import type { DisturbedCheck } from '../../../../src/modes/mode.js';
import type { Item } from '../../../../src/modes/nftables/plan/items.js';
import type { NftablesKernel } from '../../../../src/modes/nftables/program/kernel.js';
import { OwnGenerations } from '../../../../src/modes/nftables/program/ownGenerations.js';
import { watchTables } from '../../../../src/modes/nftables/program/watch.js';

type Event = NftablesEvent | Resync;

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
  const nftables = { watch: stream, generation: async () => ({ id, pid: 0, program: '' }) };
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

const generation = (id: number): Event => ({
  kind: 'generation',
  generation: { id, pid: 1, program: 'nft' },
});
const change = (family: 'ip' | 'ip6' | 'inet', table: string): Event =>
  ({ kind: 'chain', change: 'new', chain: { family, table, name: 'services', handle: 1n, use: 0 } }) as const;

it('changes in our tables, once for each transaction', async () => {
  assert.deepEqual(await reports([change('ip', 'kube-proxy'), change('ip', 'kube-proxy'), generation(2)]), [
    true,
  ]);
  assert.deepEqual(
    await reports([change('ip', 'kube-proxy'), generation(1), change('ip', 'kube-proxy'), generation(2)]),
    [false, true],
  );
});

it('changes in other tables, and in families that are not programmed', async () => {
  const others = [
    change('ip', 'other'),
    change('inet', 'kube-proxy'),
    change('ip6', 'kube-proxy'),
    generation(2),
  ];
  assert.deepEqual(await reports(others), []);
});

it('each kind of change', async () => {
  const where = { family: 'ip', table: 'kube-proxy', name: 'x' } as const;
  const kinds = [
    { kind: 'table', change: 'deleted', table: { family: 'ip', name: 'kube-proxy' } },
    { kind: 'rule', change: 'new', rule: where },
    { kind: 'set', change: 'new', set: where },
    { kind: 'elements', change: 'new', set: where, elements: [] },
    { kind: 'object', change: 'new', object: where },
  ] as unknown as Event[];
  for (const event of kinds) assert.deepEqual(await reports([event, generation(5)]), [true], event.kind);
});

it('lost notifications, and a watch that fails: anything may have changed', async () => {
  assert.deepEqual(await reports([{ kind: 'resync', lost: true }]), [true]);
  assert.deepEqual(await reports([new Error('the socket is closed')]), [true]);
});

it('nothing after it was closed', async () => {
  assert.deepEqual(await reports([change('ip', 'kube-proxy'), generation(2)], true), []);
  assert.deepEqual(await reports([new Error('the socket is closed')], true), []);
});
