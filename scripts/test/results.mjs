// Where a tier leaves its counts: one file each in a folder that the VM may write to.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @typedef {import('./tiers.mjs').Tier} Tier
 * @typedef {import('./counts.mjs').Counts} Counts
 */

/**
 * @param {Tier} tier
 * @param {string} results the folder
 */
export function resultFile(tier, results) {
  return join(results, `${tier.name}.json`);
}

/**
 * @param {Tier} tier
 * @param {string} results
 * @returns {Counts | undefined} undefined if the tier did not get to its end
 */
export function readCounts(tier, results) {
  try {
    return JSON.parse(readFileSync(resultFile(tier, results), 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Keeps a failure that no test accounts for.
 *
 * @param {Tier} tier
 * @param {string} results
 * @param {string} what
 */
export function addFailure(tier, results, what) {
  const counts = readCounts(tier, results) ?? { passed: 0, failed: [], skipped: [] };
  counts.failed.push(`${tier.name}: ${what}`);
  writeFileSync(resultFile(tier, results), JSON.stringify(counts));
}
