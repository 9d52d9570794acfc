// A worker thread of ipvs-threads.test.ts: fills and empties IPVS of a namespace until its rounds are over.
import { parentPort, workerData } from 'node:worker_threads';
import { openIpvs } from '../../src/kernel/ipvs/index.js';
import { openRtnetlink } from '../../src/kernel/rtnetlink/index.js';
import { additions } from '../support/tables/ipvs.js';

const { netns, rounds, size } = workerData as { netns: string; rounds: number; size: number };

const ipvs = await openIpvs({ netns });
const rtnetlink = await openRtnetlink({ netns });
const operations = additions(size, 1);
let failures = 0;
for (let round = 0; round < rounds; round++) {
  parentPort?.postMessage('round');
  // Not awaited one by one: when the thread is terminated, some run and some wait.
  const [results, listed] = await Promise.all([
    ipvs.apply(operations),
    ipvs.list(),
    rtnetlink.listAddresses(),
    ipvs.flush({ confirm: 'delete every virtual service' }),
  ]);
  failures += results.filter((result) => result !== undefined).length + (listed.length === size ? 0 : 1);
}
parentPort?.postMessage({ failures });
ipvs.close();
rtnetlink.close();
