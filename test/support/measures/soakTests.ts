// The tests of memory, descriptors and worker threads, for families that one test machine has.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { soak } from './soak.js';

const WORKER = new URL('./soakWorker.js', import.meta.url);
const SOAK = fileURLToPath(new URL('./soak.js', import.meta.url));

/** Registers the tests. */
export function soakTests(families: readonly string[], operations: number, opens: number): void {
  for (const family of families) {
    test(`${family}: ${operations} operations and ${opens} opens leave neither memory nor descriptors`, async (t) => {
      const { status, stdout, stderr } = await inProcessOfItsOwn([`${operations}`, `${opens}`, family]);
      t.diagnostic(stdout.trim());
      assert.equal(status, 0, stdout + stderr);
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

/**
 * Without the memory of other tests, and without memory that depends on the load of the machine: malloc makes another arena
 * for a thread that waits for one, and V8 enlarges the young generation if the garbage collector runs late.
 */
async function inProcessOfItsOwn(args: readonly string[]) {
  const env = { ...process.env, MALLOC_ARENA_MAX: '1' };
  const child = spawn(process.execPath, ['--max-semi-space-size=1', SOAK, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [[status], stdout, stderr] = await Promise.all([
    once(child, 'close'),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { status, stdout, stderr };
}
