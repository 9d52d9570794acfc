// The addon in worker threads: several at once, and some that end in the middle of a call.
// Needs: ipvs, dummy device, two processors
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { openIpvs } from '../../src/kernel/ipvs/index.js';
import { makeNamespace, type Namespace } from '../support/namespaces/netns.js';
import { additions } from '../support/tables/ipvs.js';

function start(namespace: Namespace, rounds: number, size: number): Worker {
  const workerData = { netns: namespace.path, rounds, size };
  return new Worker(new URL('./ipvs-worker.js', import.meta.url), { workerData });
}

test('two workers and the main thread, each in a namespace of its own', async (t) => {
  const namespaces = [makeNamespace(), makeNamespace(), makeNamespace()] as const;
  t.after(() => {
    for (const namespace of namespaces) namespace.remove();
  });
  const ends = namespaces.slice(1).map(async (namespace) => {
    const worker = start(namespace, 3, 100);
    let last: unknown;
    worker.on('message', (message) => {
      last = message;
    });
    const [status] = await once(worker, 'exit');
    return { status, last };
  });
  const ipvs = await openIpvs({ netns: namespaces[0].path });
  for (let round = 0; round < 3; round++) {
    assert.ok((await ipvs.apply(additions(100, 1))).every((result) => result === undefined));
    assert.equal((await ipvs.list()).length, 100);
    await ipvs.flush({ confirm: 'delete every virtual service' });
  }
  ipvs.close();
  const well = { status: 0, last: { failures: 0 } };
  assert.deepEqual(await Promise.all(ends), [well, well]);
});

test('a worker terminated in the middle of a call leaves everything else usable', async (t) => {
  const namespace = makeNamespace();
  t.after(() => namespace.remove());
  const ipvs = await openIpvs({ netns: namespace.path });
  for (const delay of [0, 5, 20, 100]) {
    const worker = start(namespace, 1000, 500);
    await once(worker, 'message');
    await setTimeout(delay);
    await worker.terminate();
    // terminate() waits for the call that was in the kernel; nothing of the worker writes after it.
    await ipvs.flush({ confirm: 'delete every virtual service' });
    assert.deepEqual(await ipvs.list(), []);
    await setTimeout(20);
    assert.deepEqual(await ipvs.list(), []);
  }
  ipvs.close();
});

test('a process that exits in the middle of a call has the exit status that it asked for', (t) => {
  const namespace = makeNamespace();
  t.after(() => namespace.remove());
  const ipvs = fileURLToPath(new URL('../../src/kernel/ipvs/index.js', import.meta.url));
  const support = fileURLToPath(new URL('../support/tables/ipvs.js', import.meta.url));
  const script = `
    const { openIpvs } = await import(${JSON.stringify(ipvs)});
    const { additions } = await import(${JSON.stringify(support)});
    const client = await openIpvs({ netns: ${JSON.stringify(namespace.path)} });
    client.apply(additions(2000, 1));
    client.list();
    setTimeout(() => process.exit(7), Number(process.argv[1]));`;
  for (const delay of ['0', '50']) {
    const run = spawnSync(process.execPath, ['--input-type=module', '-e', script, delay], {
      encoding: 'utf8',
    });
    assert.equal(run.stderr, '');
    assert.equal(run.status, 7);
  }
});
