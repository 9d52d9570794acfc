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
  /** @type {{ file?: string, text: string }[]} */
  let remarks = [];
  for await (const { type, data } of events) {
    if (type === 'test:stderr')
      remarks.push({ file: data.file, text: data.message.slice(-REASON_CHARACTERS) });
    // An error after the end of its test, which only changes the exit status of the process. It has no file.
    if (type === 'test:diagnostic' && data.message.startsWith('Error: '))
      remarks.push({ text: data.message });
    if (type === 'test:pass' || type === 'test:fail') {
      if (isFile(data)) {
        const own = remarks.filter(({ file = data.file }) => file === data.file);
        data.remarks = own.map(({ text }) => text).join('\n');
        remarks = remarks.filter((remark) => !own.includes(remark));
      }
      count(counted, type === 'test:pass', data);
    }
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
  else if (!passed) counted.failed.push(`${label}${reasonOf(data)}`);
  else if (data.details?.type === 'suite') return;
  // A passed file is reported as a test only if it has no tests.
  else if (isFile(data)) counted.failed.push(`${file}: holds no test`);
  else counted.passed += 1;
}

/**
 * Why a test failed, in a line, for the end of a long output: how the process of a file has ended and the last that it said, which the
 * output of node:test does not say; or the first line of its error.
 *
 * @param {any} data of a failed test, with the `remarks` of a file
 * @returns {string} ` (signal SIGSEGV)`, ` (Expected values to be strictly equal:)`
 */
function reasonOf({ details, remarks }) {
  const { signal, exitCode, cause, message } = details?.error ?? {};
  const status = typeof exitCode === 'number' ? `exit status ${exitCode}` : '';
  const end = signal ? `signal ${signal}` : status;
  const lines = String(end ? remarks : (cause?.message ?? message ?? ''))
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const said = end
    ? lines.slice(-REASON_LINES).join(' ').slice(-REASON_CHARACTERS)
    : lines.slice(0, REASON_LINES).join(' ').slice(0, REASON_CHARACTERS);
  const reason = [end, said].filter(Boolean).join('; ');
  return reason && ` (${reason})`;
}
