// A worker thread of waitingCalls.test.ts: makes one call after another, until it is ended.
import { parentPort, workerData } from 'node:worker_threads';
import { openRtnetlink } from '../../src/kernel/rtnetlink/index.js';

const { netns } = workerData as { netns: string };
const rtnetlink = await openRtnetlink({ netns });
const address = { link: 'lo', address: '10.1.1.2', prefix: 32 } as const;
parentPort?.postMessage('started');
for (;;) {
  await rtnetlink.replaceAddress(address);
  await new Promise(setImmediate);
}
