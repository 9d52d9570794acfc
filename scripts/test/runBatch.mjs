// Runs a batch of tests with node --test in its place, with its output in its log.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { CHECKOUT } from '../lib/checkout.mjs';
import { compiled, groupFiles } from './groups.mjs';
import { addFailure, readCounts } from './results.mjs';

/** @typedef {import('./batches.mjs').Batch} Batch */

// In s; also the limit of a whole file, or of the files that share a process: on a busy machine it takes five times as long as alone.
// QEMU is six to eight times slower than the machine.
const LIMITS = { machine: 2400, namespace: 1800, uml: 1800, qemu: 1800 };
// In s. The longest batch takes 3300 s on a slow machine; the limit of a CI job is 5400 s.
const GUEST_LIMIT = 4200;
const COUNTS_REPORTER = join(CHECKOUT, 'scripts/test/counts.mjs');

/** A failed test in the output of node --test: a batch that is ended has no counts. */
const FAILED = /^\s*✖ /m;

/**
 * Writes the counts to the batch's result, with one more failure if it did not end normally.
 *
 * @param {Batch} batch
 * @param {AbortSignal} stop ends it early, without a result unless a test has failed
 */
export async function runBatch(batch, stop) {
  const [program = '', ...args] = commandOf(batch);
  // If an outer node --test has set it, this one would report to the outer one.
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  if (batch.tier.bundled) environment['KNP_COMMAND'] = join(CHECKOUT, 'dist/command/main.js');
  const log = openSync(batch.log, 'w');
  const child = spawn(program, args, { cwd: CHECKOUT, env: environment, stdio: ['ignore', log, log] });
  closeSync(log);
  const end = () => child.kill('SIGTERM');
  stop.addEventListener('abort', end);
  const [status, signal] = await once(child, 'exit');
  stop.removeEventListener('abort', end);
  if (stop.aborted) {
    if (FAILED.test(readFileSync(batch.log, 'utf8')))
      addFailure(batch, 'a test failed before its batch was ended; see ✖ above');
    return;
  }
  const counts = readCounts(batch);
  if (counts === undefined || (status !== 0 && counts.failed.length === 0)) {
    addFailure(batch, `did not run to its end (${signal ?? `status ${status}`})`);
  }
}

/**
 * @param {Batch} batch
 * @returns {string[]}
 */
function commandOf({ tier, place, kernel, files, result }) {
  const tests = [
    process.execPath,
    '--enable-source-maps',
    // In MiB. Where test files share a process, most of the garbage of one test is young: a quarter less time of the CPU.
    ...(place === 'machine' ? ['--max-semi-space-size=32'] : []),
    '--test',
    `--test-timeout=${(tier.limit ?? LIMITS[place]) * 1000}`,
    // Kernel tests share the kernel state and run one after the other. Other test files run in parallel.
    ...['--test-concurrency', place === 'machine' ? String(availableParallelism()) : '1'],
    ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
    ...[`--test-reporter=${COUNTS_REPORTER}`, `--test-reporter-destination=${result}`],
    ...(place === 'machine' ? groupFiles(files, result.replace(/\.json$/, '')) : files.map(compiled)),
  ];
  if (place === 'machine') return tests;
  const options = [
    ...['--machine', place, ...(kernel === undefined ? [] : ['--kernel', kernel])],
    ...['--timeout', String(GUEST_LIMIT), '--writable', dirname(result)],
  ];
  return [process.execPath, 'scripts/vm.mjs', ...options, '--', ...tests];
}
