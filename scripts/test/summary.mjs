// The end of `npm test`: the dearest files, failures and skipped tests by name, the number of tests by tier and place, and the
// totals.

import { titleOf } from './places.mjs';
import { readCounts } from './results.mjs';

const DEAREST = 10;

/**
 * @typedef {object} Row of a tier in a place, of several batches
 * @property {string} title
 * @property {number} passed
 * @property {number} seconds the sum of their times
 */

/**
 * @param {readonly import('./batches.mjs').Batch[]} batches the batches to report
 * @returns {number} the exit status: 0 only if every batch that ended has passed tests and nothing else
 */
export function summarize(batches) {
  /** @type {string[]} */
  const failed = [];
  /** @type {string[]} */
  const skipped = [];
  /** @type {Map<string, Row>} */
  const rows = new Map();
  /** @type {[string, number][]} */
  const durations = [];
  /** @type {string[]} */
  const notRun = [];
  for (const batch of batches) {
    const { tier, place, kernel, seconds = 0 } = batch;
    const counts = readCounts(batch);
    if (counts === undefined) {
      notRun.push(...batch.files);
      continue;
    }
    skipped.push(...counts.skipped);
    failed.push(...counts.failed);
    if (counts.passed === 0 && counts.failed.length === 0) failed.push(`${tier.name}: no test passed`);
    durations.push(...Object.entries(counts.durations));
    const title = `${tier.name} ${titleOf(place, kernel)}`;
    const row = rows.get(title) ?? { title, passed: 0, seconds: 0 };
    rows.set(title, { title, passed: row.passed + counts.passed, seconds: row.seconds + seconds });
  }
  const passed = [...rows.values()].reduce((sum, row) => sum + row.passed, 0);
  const lines = [
    ...dearest(durations),
    ...failed.map((name) => `FAILED  ${name}`),
    ...skipped.map((name) => `SKIPPED ${name}`),
    ...notRun.map((file) => `NOT RUN ${file}`),
    ...[...rows.values()].map(
      (row) =>
        `${String(row.passed).padStart(6)} passed ${row.seconds.toFixed(0).padStart(5)} s  ${row.title}`,
    ),
    ...(notRun.length > 0 ? [`${notRun.length} ${notRun.length === 1 ? 'file' : 'files'} did not end`] : []),
    `${passed} passed, ${failed.length} failed, ${skipped.length} skipped`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  return failed.length + skipped.length === 0 ? 0 : 1;
}

/**
 * @param {readonly [string, number][]} durations of files, in ms
 * @returns {string[]} a line each for those that took longest, with their share of the time of all
 */
function dearest(durations) {
  const all = durations.reduce((sum, [, ms]) => sum + ms, 0);
  const sorted = [...durations].sort(([, one], [, other]) => other - one).slice(0, DEAREST);
  const share = (/** @type {number} */ ms) => ((ms / all) * 100).toFixed(1).padStart(5);
  return sorted.map(([file, ms]) => `${(ms / 1000).toFixed(1).padStart(7)} s ${share(ms)} %  ${file}`);
}
