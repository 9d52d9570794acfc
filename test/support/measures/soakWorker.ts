// A worker thread that makes rounds of operations of one family, and opens and closes clients, until it is terminated.
import { parentPort, workerData } from 'node:worker_threads';
import { soak } from './soak.js';

parentPort?.postMessage('started');
for (;;) await soak(workerData as string, 2000, 10);
