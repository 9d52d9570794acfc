// Where a batch leaves its counts: a file of its own in a folder that a guest may write to.

import { readFileSync, writeFileSync } from 'node:fs';

/**
 * @typedef {import('./batches.mjs').Batch} Batch
 * @typedef {import('./counts.mjs').Counts} Counts
 */

/**
 * @param {Batch} batch
 * @returns {Counts | undefined} undefined if the batch did not get to its end
 */
export function readCounts(batch) {
  try {
    return JSON.parse(readFileSync(batch.result, 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Keeps a failure that no test accounts for.
 *
 * @param {Batch} batch
 * @param {string} failure
 */
export function addFailure(batch, failure) {
  const counts = readCounts(batch) ?? { passed: 0, failed: [], skipped: [] };
  counts.failed.push(`${batch.tier.name}: ${failure}`);
  writeFileSync(batch.result, JSON.stringify(counts));
}
