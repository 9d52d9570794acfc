// libipset is not thread-safe, not even with a session for each thread: its lock must work across worker threads,
// and outlive their sudden end.
// Needs: ipset
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { openIpset, type SetDefinition } from '../../src/kernel/ipset/index.js';
import { savedEntries, temporary } from '../support/tables/ipset.js';

function start(name: string, rounds: number, size: number): Worker {
  return new Worker(new URL('./ipset-worker.js', import.meta.url), { workerData: { name, rounds, size } });
}

/** The report of the worker at its end. */
async function reportOf(worker: Worker): Promise<unknown> {
  let last: unknown;
  worker.on('message', (message: unknown) => {
    last = message;
  });
  const [status] = await once(worker, 'exit');
  assert.equal(status, 0);
  return last;
}

test('two workers and the main thread write different sets at once', async (t) => {
  temporary(t, 'knp-1', 'knp-2', 'knp-main');
  const workers = [start('knp-1', 10, 500), start('knp-2', 10, 500)];
  const reports = Promise.all(workers.map(reportOf));
  const ipset = await openIpset();
  let running = true;
  reports.finally(() => {
    running = false;
  });
  const set: SetDefinition = { name: 'knp-main', type: 'hash:net', family: 6 };
  for (let round = 0; running; round++) {
    const entry = { address: `fd00:${(round & 0xff).toString(16)}::`, prefix: 32 };
    const results = await ipset.apply([
      { do: 'create', set },
      { do: 'add', set, entry },
      { do: 'delete', set, entry },
      { do: 'destroy', name: 'knp-main' },
    ]);
    assert.deepEqual(results, [undefined, undefined, undefined, undefined]);
  }
  assert.deepEqual(await reports, [
    { failures: 0, entries: 500 },
    { failures: 0, entries: 500 },
  ]);
  for (const name of ['knp-1', 'knp-2']) assert.equal(savedEntries(name).length, 500);
  ipset.close();
});

test('a worker that is terminated in the middle of a batch leaves ipset usable', async (t) => {
  temporary(t, 'knp-1', 'knp-main');
  const ipset = await openIpset();
  for (const delay of [0, 5, 15, 30]) {
    const worker = start('knp-1', 1000, 5000);
    await once(worker, 'message');
    await setTimeout(delay);
    assert.equal(await worker.terminate(), 1);
    const set: SetDefinition = { name: 'knp-main', type: 'hash:ip', family: 4 };
    await ipset.create(set);
    await ipset.add(set, { address: `10.0.0.${delay + 1}` });
  }
  assert.equal(savedEntries('knp-main').length, 4);
  ipset.close();
});
