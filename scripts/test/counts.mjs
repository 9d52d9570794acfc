// A node:test reporter that counts tests: it writes one JSON object of type Counts at the end.

import { relative, resolve } from 'node:path';

// Enough for a comparison of Node.js's assert: its words and the first values that differ.
const REASON_LINES = 8;
const REASON_CHARACTERS = 300;

/**
 * @typedef {object} Counts
 * @property {number} passed
 * @property {string[]} failed names of the failed tests
 * @property {string[]} skipped names of the skipped and todo tests
 * @property {Record<string, number>} durations test file → its time, in ms: of its process, or of its tests if it shares one
 */

/**
 * @param {AsyncIterable<{ type: string, data: any }>} events
 * @returns {AsyncGenerator<string>}
 */
export default async function* counts(events) {
  /** @type {Counts} */
  const counted = { passed: 0, failed: [], skipped: [], durations: {} };
  /** @type {Record<string, number>} */
  const processes = {};
  /** @type {Record<string, number>} */
  const tests = {};
  for await (const { type, data } of events) {
    if (type === 'test:pass' || type === 'test:fail') count(counted, type === 'test:pass', data);
    if (type === 'test:complete' && data.file) {
      const source = sourceOf(data.file);
      const ms = data.details?.duration_ms ?? 0;
      // A test belongs to the file that defines it, which several test files may share; its own file is a test that completes.
      if (isFile(data)) processes[source] = ms;
      else if (data.nesting === 0) tests[source] = (tests[source] ?? 0) + ms;
    }
  }
  const all = Object.entries({ ...tests, ...processes });
  counted.durations = Object.fromEntries(all.filter(([source]) => source.endsWith('.test.ts')));
  yield JSON.stringify(counted);
}

/** @param {any} data of an event of node:test */
const isFile = (data) => Boolean(data.file) && resolve(data.name) === data.file;

/**
 * @param {string} file a test file, or what is compiled from it: a test has the first, a process the second
 * @returns {string} `test/unit/heap.test.ts`
 */
const sourceOf = (file) => relative('', file).replace(/^dist\/(.*)\.js$/, '$1.ts');

/**
 * @param {Counts} counted
 * @param {boolean} passed
 * @param {any} data of node:test's events 'test:pass' and 'test:fail'
 */
function count(counted, passed, data) {
  const file = data.file ? relative('', data.file) : 'no file';
  const label = isFile(data) ? file : `${file}: ${data.name}`;
  if (data.skip !== undefined && data.skip !== false) counted.skipped.push(`${label} (skipped)`);
  else if (data.todo !== undefined && data.todo !== false) counted.skipped.push(`${label} (to do)`);
  // A suite fails with its tests; only tests count.
  else if (data.details?.error?.failureType === 'subtestsFailed') return;
  else if (!passed) counted.failed.push(`${label}${reasonOf(data.details?.error)}`);
  else if (data.details?.type === 'suite') return;
  // A passed file is reported as a test only if it has no tests.
  else if (isFile(data)) counted.failed.push(`${file}: holds no test`);
  else counted.passed += 1;
}

/**
 * Why a test failed, in a line, for the end of a long output: how the process of a file has ended, which the output of node:test does not
 * say, or the first line of its error.
 *
 * @param {any} error of a failed test
 * @returns {string} ` (signal SIGSEGV)`, ` (Expected values to be strictly equal:)`
 */
function reasonOf(error) {
  if (error?.signal) return ` (signal ${error.signal})`;
  if (typeof error?.exitCode === 'number') return ` (exit status ${error.exitCode})`;
  const lines = String(error?.cause?.message ?? error?.message ?? '').split('\n');
  const said = lines.filter((line) => line.trim() !== '').slice(0, REASON_LINES);
  return said.length === 0
    ? ''
    : ` (${said
        .map((line) => line.trim())
        .join(' ')
        .slice(0, REASON_CHARACTERS)})`;
}
