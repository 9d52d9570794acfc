// The process of terminated.test.ts: ends worker threads at random times while the addon makes their calls.
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { loadAddon } from '../../../../src/kernel/shared/addon.js';
import { WHOLE } from '../../../support/extent.js';

/** A call copies them on JavaScript's thread, so most threads end in the middle of one. */
const BYTES = 64 << 20;

if (isMainThread) {
  for (let ended = 0; ended < (WHOLE ? 20 : 5); ended++) {
    const worker = new Worker(new URL(import.meta.url));
    await once(worker, 'message');
    await delay(2 + Math.random() * 12);
    await worker.terminate();
  }
} else {
  const client = new (loadAddon().NetlinkClient)(0, true);
  const messages = new Uint8Array(BYTES);
  parentPort?.postMessage('started');
  for (;;) {
    client.apply(messages).catch(() => {});
    await null;
  }
}
