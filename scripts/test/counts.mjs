// A node:test reporter that counts tests: it writes one JSON object of type Counts at the end.

import { relative, resolve } from 'node:path';

/**
 * @typedef {object} Counts
 * @property {number} passed
 * @property {string[]} failed names of the failed tests
 * @property {string[]} skipped names of the skipped and todo tests
 * @property {Record<string, number>} durations file → the time of its tests, in ms
 */

/**
 * @param {AsyncIterable<{ type: string, data: any }>} events
 * @returns {AsyncGenerator<string>}
 */
export default async function* counts(events) {
  /** @type {Counts} */
  const counted = { passed: 0, failed: [], skipped: [], durations: {} };
  for await (const { type, data } of events) {
    if (type === 'test:pass' || type === 'test:fail') count(counted, type === 'test:pass', data);
  }
  yield JSON.stringify(counted);
}

/**
 * @param {Counts} counted
 * @param {boolean} passed
 * @param {any} data of node:test's events 'test:pass' and 'test:fail'
 */
function count(counted, passed, data) {
  const file = data.file ? relative('', data.file) : 'no file';
  const isFile = Boolean(data.file) && resolve(data.name) === data.file;
  // The time of a test contains that of its subtests.
  if (data.nesting === 0)
    counted.durations[file] = (counted.durations[file] ?? 0) + (data.details?.duration_ms ?? 0);
  const label = isFile ? file : `${file}: ${data.name}`;
  if (data.skip !== undefined && data.skip !== false) counted.skipped.push(`${label} (skipped)`);
  else if (data.todo !== undefined && data.todo !== false) counted.skipped.push(`${label} (to do)`);
  // A suite fails with its tests; only tests count.
  else if (data.details?.error?.failureType === 'subtestsFailed') return;
  else if (!passed) counted.failed.push(label);
  else if (data.details?.type === 'suite') return;
  // A passed file is reported as a test only if it has no tests.
  else if (isFile) counted.failed.push(`${file}: holds no test`);
  else counted.passed += 1;
}
