// A worker thread of program.test.ts: runs a program that does not end, and reports that it runs.
import { parentPort, workerData } from 'node:worker_threads';
import { runProgram } from '../../src/kernel/shared/programs/program.js';

const { script } = workerData as { script: string };
const running = runProgram('sh', ['-c', script]);
parentPort?.postMessage('started');
await running;
