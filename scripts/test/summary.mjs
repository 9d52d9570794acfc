// The end of `npm test`: the slowest files, failures and skipped tests by name, the number of tests by tier and place, and the
// totals.

import { titleOf } from './places.mjs';
import { readCounts } from './results.mjs';

const SLOWEST = 15;

/**
 * @param {readonly import('./batches.mjs').Batch[]} batches the batches to report
 * @returns {number} the exit status: 0 only if every batch has passed tests and nothing else
 */
export function summarize(batches) {
  let passed = 0;
  /** @type {string[]} */
  const failed = [];
  /** @type {string[]} */
  const skipped = [];
  /** @type {string[]} */
  const places = [];
  /** @type {[string, number][]} */
  const durations = [];
  for (const batch of batches) {
    const counts = readCounts(batch) ?? {
      passed: 0,
      failed: [`${batch.tier.name}: did not run`],
      skipped: [],
      durations: {},
    };
    passed += counts.passed;
    skipped.push(...counts.skipped);
    failed.push(...counts.failed);
    if (counts.passed === 0 && counts.failed.length === 0) failed.push(`${batch.tier.name}: no test passed`);
    durations.push(...Object.entries(counts.durations));
    const seconds = `${(batch.seconds ?? 0).toFixed(0)} s`.padStart(6);
    places.push(
      `${batch.tier.name.padEnd(10)} ${String(counts.passed).padStart(5)} passed ${seconds} ${titleOf(batch.place, batch.kernel)}`,
    );
  }
  const lines = [
    ...slowest(durations),
    ...failed.map((name) => `FAILED  ${name}`),
    ...skipped.map((name) => `SKIPPED ${name}`),
    ...places,
    `${passed} passed, ${failed.length} failed, ${skipped.length} skipped`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  return failed.length + skipped.length === 0 ? 0 : 1;
}

/**
 * @param {readonly [string, number][]} durations of files, in ms
 * @returns {string[]} a line each for those that took longest
 */
function slowest(durations) {
  const sorted = [...durations].sort(([, one], [, other]) => other - one).slice(0, SLOWEST);
  return sorted.map(([file, ms]) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${file}`);
}
