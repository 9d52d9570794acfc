// The load figures: schedulers, events, options, and the tables of docs/schedulers.md. test/kernel/ipvs-schedulers.test.ts compares the
// schedulers with those of a kernel.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { EventQueue } from '../../../bench/schedulers/eventQueue.js';
import { loadFigures, loadOptions } from '../../../bench/schedulers/figures.js';
import { maglevTable, PLACES } from '../../../bench/schedulers/hash.js';
import { type SchedulerName, VirtualService } from '../../../bench/schedulers/schedulers.js';
import { loadMarkdown } from '../../../bench/schedulers/text.js';
import { ROOT } from '../../support/paths.js';

const DEFAULTS = {
  nodes: '1,10,100',
  endpoints: 10,
  clients: 500,
  rate: 500,
  open: 2000,
  order: 'equal',
  seed: 1,
};
const CLIENT = { address: 0x0af40001, port: 40_000 };

/** A virtual service, and its real servers in the order in which they were added. */
function serviceOf(scheduler: SchedulerName, weights: readonly number[]) {
  const service = new VirtualService(scheduler);
  const servers = weights.map((weight, i) => ({
    address: 0x0ac80001 + i,
    port: 8080,
    weight,
    active: 0,
    inactive: 0,
  }));
  for (const server of servers) service.add(server);
  const places = (times: number) =>
    Array.from({ length: times }, () => servers.indexOf(service.connect(CLIENT) as (typeof servers)[0]));
  return { service, servers, places };
}

describe('the simulated scheduler', () => {
  it('rr goes round from the newest real server on, also after the last one was removed', () => {
    const { service, servers, places } = serviceOf('rr', [1, 1, 1, 1]);
    assert.deepEqual(places(6), [3, 2, 1, 0, 3, 2]);
    service.remove(servers[2] as (typeof servers)[0]);
    assert.deepEqual(places(4), [1, 0, 3, 1]);
  });

  it('lc counts connections that have ended, 256 of which are as one that is open', () => {
    const { servers, places } = serviceOf('lc', [1, 1]);
    Object.assign(servers[1] ?? {}, { inactive: 257 });
    assert.deepEqual(places(3), [0, 0, 1]);
  });

  it('sed selects by weight, and the first of the list if no connection is open', () => {
    assert.deepEqual(serviceOf('sed', [1, 2]).places(4), [1, 1, 0, 1]);
    assert.deepEqual(serviceOf('sed', [1, 1]).places(1), [1]);
  });

  it('mh gives places by weight, and keeps most of them when a real server goes', () => {
    const { servers } = serviceOf('mh', [1, 1, 2]);
    const table = maglevTable(servers);
    const shares = servers.map((_, i) => table.filter((server) => server === i).length / PLACES);
    for (const [i, share] of [0.25, 0.25, 0.5].entries())
      assert.ok(Math.abs((shares[i] as number) - share) < 0.001, String(shares));
    const fewer = maglevTable(servers.slice(1));
    const kept = table.filter((server, place) => server > 0 && fewer[place] === server - 1).length;
    assert.ok(kept / PLACES > 0.6, String(kept));
  });

  it('has no real server for a connection if there is none, and removes no other', () => {
    const { service } = serviceOf('rr', []);
    assert.equal(service.connect(CLIENT), undefined);
    const [other] = serviceOf('rr', [1]).servers;
    assert.throws(() => service.remove(other as NonNullable<typeof other>), /no such real server/);
  });
});

it('events happen in the order of their times, and those of one time in the order in which they were added', () => {
  const queue = new EventQueue<string>();
  const seen: string[] = [];
  for (const [time, name] of [
    [3, 'c'],
    [1, 'a'],
    [2, 'b'],
    [1, 'A'],
    [9, 'late'],
  ] as const)
    queue.add(time, name);
  queue.runUntil(4, (name) => {
    seen.push(`${name} at ${queue.now}`);
    if (name === 'b') queue.add(2.5, 'added');
  });
  assert.deepEqual(seen, ['a at 1', 'A at 1', 'b at 2', 'added at 2.5', 'c at 3']);
  assert.equal(queue.now, 4);
});

/** The cells of the rows of figures in a document. */
function rowsIn(text: string): string[][] {
  const rows = text.split('\n').filter((line) => line.startsWith('| ') && /\d\.\d\d \(/.test(line));
  return rows.map((line) => line.split('|').map((cell) => cell.trim()));
}

/** Whether the cells of a row are in another one, in their order: a row of all schedulers has more of them. */
function isWithin(row: readonly string[], other: readonly string[]): boolean {
  let found = 0;
  for (const cell of other) if (cell === row[found]) found++;
  return found === row.length;
}

describe('the figures', () => {
  it('are those of docs/schedulers.md', () => {
    const page = rowsIn(readFileSync(join(ROOT, 'docs/schedulers.md'), 'utf8'));
    const rowsOf = (options: object) =>
      rowsIn(loadMarkdown(loadFigures(loadOptions({ ...DEFAULTS, ...options }))));
    const rows = [
      ...rowsOf({ traffic: 'rollout', nodes: '100' }),
      ...rowsOf({ traffic: 'long', nodes: '10', speeds: 'slow' }),
      ...rowsOf({ traffic: 'short', nodes: '100', speeds: 'equal', schedulers: 'sed' }),
    ];
    assert.equal(rows.length, 3);
    for (const row of rows)
      assert.ok(
        page.some((other) => isWithin(row, other)),
        `docs/schedulers.md has not ${row}`,
      );
  });

  it('depend on the seed', () => {
    const options = { ...DEFAULTS, traffic: 'rollout', nodes: '10', schedulers: 'rr' };
    const [one, same, other] = [1, 1, 2].map((seed) => loadFigures(loadOptions({ ...options, seed })));
    assert.deepEqual(one, same);
    assert.notDeepEqual(one, other);
  });

  it('refuse options with the rule', () => {
    const refused = (options: object) => () => loadOptions({ ...DEFAULTS, ...options });
    assert.throws(refused({ nodes: '1,0' }), /--nodes must be numbers from 1 to 1000, found "0"/);
    assert.throws(refused({ schedulers: 'rr,wrr' }), /--schedulers must be of rr, lc, .*; found "wrr"/);
    assert.throws(refused({ traffic: 'none' }), /--traffic must be of short, long, rollout; found "none"/);
  });
});
