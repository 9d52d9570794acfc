// The tests of memory, descriptors and worker threads, for families that one vehicle has.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { soak } from './soak.js';

const ATTEMPTS = 2;
const WORKER = new URL('./soakWorker.js', import.meta.url);

/** Registers the tests. */
export function soakTests(families: readonly string[], operations: number, opens: number): void {
  for (const family of families) {
    test(`${family}: ${operations} operations and ${opens} opens leave neither memory nor descriptors`, async (t) => {
      // A leak grows in each attempt. Memory that a thread keeps for itself grows once, and more on a busy machine.
      const lines: string[] = [];
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const [line, isWithin] = await soak(family, operations, opens);
        t.diagnostic(line);
        if (isWithin) return;
        lines.push(line);
      }
      assert.fail(lines.join('\n'));
    });

    test(`${family}: workers that are terminated in the middle of a call leave it usable`, async () => {
      for (const delay of [0, 5, 40]) {
        const worker = new Worker(WORKER, { workerData: family });
        const failed = once(worker, 'error').then(([error]) => assert.fail(error as Error));
        await Promise.race([once(worker, 'message'), failed]);
        await setTimeout(delay);
        assert.equal(await worker.terminate(), 1);
      }
      await soak(family, 10, 2); // rejects if an operation fails
    });
  }
}
