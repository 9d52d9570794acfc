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
 * @typedef {object} Course
 * @property {boolean} alone whether the batches run one after the other
 * @property {number} minutes time limit, from the start of this process: batches that have not ended by then have no result
 * @property {((stop: AbortSignal) => Promise<void>) | undefined} kernel builds the kernel of User Mode Linux, for which its batches wait
 */

/**
 * @param {readonly Batch[]} batches in the order in which they start
 * @param {Course} course
 * @returns {Promise<number | undefined>} the exit status if a signal ended them early
 */
export async function runLanes(batches, { alone, minutes, kernel }) {
  const waiting = [...batches];
  const stop = new AbortController();
  /** @type {number | undefined} */
  let interrupted;
  const end = () => {
    waiting.length = 0;
    stop.abort();
  };
  /** @param {NodeJS.Signals} signal */
  const interrupt = (signal) => {
    interrupted = 128 + constants.signals[signal];
    end();
  };
  const signals = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);
  for (const signal of signals) process.on(signal, interrupt);
  const left = minutes * 60_000 - performance.now();
  const timer = Number.isFinite(left) ? setTimeout(end, left) : undefined;
  /** @type {unknown} */
  let failure;
  let building = kernel?.(stop.signal)
    .catch((error) => {
      failure = error;
      end();
    })
    .finally(() => {
      building = undefined;
    });
  const lane = async () => {
    while (waiting.length > 0) {
      const next = waiting.findIndex(({ place }) => !building || (place !== 'uml' && !alone));
      const [batch] = next < 0 ? [] : waiting.splice(next, 1);
      if (batch === undefined) await building;
      else await run(batch, stop.signal);
    }
  };
  const count = alone ? 1 : Math.min(availableParallelism() + MORE_LANES, MOST_LANES);
  try {
    await Promise.all(Array.from({ length: count }, lane));
  } finally {
    end();
    clearTimeout(timer);
    for (const signal of signals) process.off(signal, interrupt);
  }
  if (failure) throw failure;
  return interrupted;
}

/**
 * @param {Batch} batch
 * @param {AbortSignal} stop
 */
async function run(batch, stop) {
  heading(`${describe(batch)}: started`);
  const start = performance.now();
  await runBatch(batch, stop);
  batch.seconds = (performance.now() - start) / 1000;
  const { passed = 0, failed = [] } = readCounts(batch) ?? {};
  process.stdout.write(readFileSync(batch.log));
  heading(`${describe(batch)}: ended, ${passed} passed, ${failed.length} failed; their output is above`);
}
