// A node:test reporter that counts: writes one JSON object of type Counts when the run is over.

import { relative, resolve } from 'node:path';

/**
 * @typedef {object} Counts
 * @property {number} passed
 * @property {string[]} failed what failed, for a person to find
 * @property {string[]} skipped the same, of those skipped or yet to be written
 */

/**
 * @param {AsyncIterable<{ type: string, data: any }>} events
 * @returns {AsyncGenerator<string>}
 */
export default async function* counts(events) {
  /** @type {Counts} */
  const counted = { passed: 0, failed: [], skipped: [] };
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
  const label = isFile ? file : `${file}: ${data.name}`;
  if (data.skip !== undefined && data.skip !== false) counted.skipped.push(`${label} (skipped)`);
  else if (data.todo !== undefined && data.todo !== false) counted.skipped.push(`${label} (to do)`);
  // What contains tests fails with them; only they count.
  else if (data.details?.error?.failureType === 'subtestsFailed') return;
  else if (!passed) counted.failed.push(label);
  else if (data.details?.type === 'suite') return;
  // A file that ended well is reported as a test of its own only if it held none.
  else if (isFile) counted.failed.push(`${file}: holds no test`);
  else counted.passed += 1;
}
