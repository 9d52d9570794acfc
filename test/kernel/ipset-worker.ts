// A worker thread of ipset-threads.test.ts: fills and empties one set until its rounds are over.
import { parentPort, workerData } from 'node:worker_threads';
import { type IpsetOperation, openIpset } from '../../src/kernel/ipset/index.js';

const { name, rounds, size } = workerData as { name: string; rounds: number; size: number };

const set = { name, type: 'hash:ip', family: 4, hashSize: 4096 } as const;
const entries = Array.from({ length: size }, (_, i) => {
  return { address: `10.2.${i >> 8}.${i & 255}` };
});
const all = (verb: 'add' | 'delete') => entries.map((entry): IpsetOperation => ({ do: verb, set, entry }));

const ipset = await openIpset();
await ipset.create(set);
let failures = 0;
for (let round = 0; round < rounds; round++) {
  parentPort?.postMessage('round');
  const results = await ipset.apply([
    ...all('add'),
    ...all('delete').slice(1),
    { do: 'flush', name },
    ...all('add'),
  ]);
  failures += results.filter((result) => result !== undefined).length;
}
parentPort?.postMessage({ failures, entries: (await ipset.get(name))?.entries.length });
ipset.close();
