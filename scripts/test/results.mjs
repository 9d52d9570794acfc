// The counts of a batch, in a file of a folder that guests can write to.

import { readFileSync, writeFileSync } from 'node:fs';

/**
 * @typedef {import('./batches.mjs').Batch} Batch
 * @typedef {import('./counts.mjs').Counts} Counts
 */

/**
 * @param {Batch} batch
 * @returns {Counts | undefined} undefined if the batch did not end normally
 */
export function readCounts(batch) {
  try {
    return JSON.parse(readFileSync(batch.result, 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Records a failure that is not of a test.
 *
 * @param {Batch} batch
 * @param {string} failure
 */
export function addFailure(batch, failure) {
  const counts = readCounts(batch) ?? { passed: 0, failed: [], skipped: [], durations: {} };
  counts.failed.push(`${batch.tier.name}: ${failure}`);
  writeFileSync(batch.result, JSON.stringify(counts));
}
