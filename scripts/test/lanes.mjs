// Runs batches in parallel. The output of a batch is printed at its end.

import { readFileSync } from 'node:fs';
import { availableParallelism, constants } from 'node:os';
import { heading } from '../lib/steps.mjs';
import { describe } from './batches.mjs';
import { readCounts } from './results.mjs';
import { runBatch } from './runBatch.mjs';

/** @typedef {import('./batches.mjs').Batch} Batch */

// Two batches more than there are CPUs: with one more, the CPUs of a machine with two are idle for a third of the time of the tests of
// guests and of agents, which also wait.
const MORE_LANES = 2;
const MOST_LANES = 6;

/**
 * @param {readonly Batch[]} batches in the order in which they start
 * @param {boolean} alone whether they run one after the other
 * @returns {Promise<number | undefined>} the exit status if a signal ended them early
 */
export async function runLanes(batches, alone) {
  const waiting = [...batches];
  const stop = new AbortController();
  /** @type {number | undefined} */
  let interrupted;
  /** @param {NodeJS.Signals} signal */
  const interrupt = (signal) => {
    interrupted = 128 + constants.signals[signal];
    waiting.length = 0;
    stop.abort();
  };
  const signals = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);
  for (const signal of signals) process.on(signal, interrupt);
  const lane = async () => {
    for (let batch = waiting.shift(); batch; batch = waiting.shift()) {
      heading(`${describe(batch)}: started`);
      const start = performance.now();
      await runBatch(batch, stop.signal);
      batch.seconds = (performance.now() - start) / 1000;
      show(batch);
    }
  };
  const count = alone ? 1 : Math.min(availableParallelism() + MORE_LANES, MOST_LANES);
  await Promise.all(Array.from({ length: count }, lane));
  for (const signal of signals) process.off(signal, interrupt);
  return interrupted;
}

/** @param {Batch} batch */
function show(batch) {
  const counts = readCounts(batch);
  const { passed = 0, failed = [] } = counts ?? {};
  process.stdout.write(readFileSync(batch.log));
  heading(`${describe(batch)}: ended, ${passed} passed, ${failed.length} failed; their output is above`);
}
