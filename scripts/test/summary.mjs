// The end of `npm test`: what failed and what was left out by name, and the sums.

import { readCounts } from './results.mjs';

/**
 * @param {readonly import('./tiers.mjs').Tier[]} tiers those that should have run
 * @param {string} results the folder of their counts
 * @returns {number} the exit status: 0 only if every tier passed some tests and there was nothing else
 */
export function summarize(tiers, results) {
  let passed = 0;
  /** @type {string[]} */
  const failed = [];
  /** @type {string[]} */
  const skipped = [];
  for (const tier of tiers) {
    const counts = readCounts(tier, results);
    passed += counts?.passed ?? 0;
    skipped.push(...(counts?.skipped ?? []));
    if (counts === undefined) failed.push(`${tier.name}: did not run to its end`);
    else failed.push(...counts.failed);
    if (counts?.passed === 0 && counts.failed.length === 0) failed.push(`${tier.name}: no test passed`);
  }
  const lines = [
    ...failed.map((what) => `FAILED  ${what}`),
    ...skipped.map((what) => `SKIPPED ${what}`),
    `${passed} passed, ${failed.length} failed, ${skipped.length} skipped`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  return failed.length + skipped.length === 0 ? 0 : 1;
}
