// Runs tiers of tests with node --test, one after the other.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { CHECKOUT } from '../lib/checkout.mjs';
import { heading } from '../lib/steps.mjs';
import { addFailure, readCounts, resultFile } from './results.mjs';
import { filesOf } from './tiers.mjs';

/** @typedef {import('./tiers.mjs').Tier} Tier */

// Holds for a whole file too. The VM is six to eight times slower than the machine.
const LIMIT_SECONDS = { machine: 600, vm: 1800 };
const COUNTS_REPORTER = join(CHECKOUT, 'scripts/test/counts.mjs');

/**
 * @param {readonly Tier[]} tiers
 * @param {string} results a folder for the counts
 * @param {readonly string[]} filters
 */
export function runTiers(tiers, results, filters) {
  for (const tier of tiers) {
    const files = filesOf(tier, filters);
    if (files.length === 0) {
      addFailure(tier, results, `there is no test file in test/${tier.name}`);
      continue;
    }
    heading(`${tier.name} tests (${files.length} files)`);
    const status = runFiles(tier, files, resultFile(tier, results));
    const counts = readCounts(tier, results);
    if (status !== 0 && counts?.failed.length === 0) {
      addFailure(tier, results, `node --test ended with status ${status}`);
    }
  }
}

/**
 * @param {Tier} tier
 * @param {readonly string[]} files
 * @param {string} result the file for the counts
 * @returns {number | null} the status of node --test; null if it died of a signal
 */
function runFiles(tier, files, result) {
  const limit = tier.limit ?? (tier.vm ? LIMIT_SECONDS.vm : LIMIT_SECONDS.machine);
  const options = [
    '--enable-source-maps',
    '--test',
    `--test-timeout=${limit * 1000}`,
    // Kernel state is one for all: its tests take turns.
    ...(tier.vm ? ['--test-concurrency=1'] : []),
    ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
    ...[`--test-reporter=${COUNTS_REPORTER}`, `--test-reporter-destination=${result}`],
  ];
  // Set by a surrounding node --test, it would make this one report to that.
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  return spawnSync(process.execPath, [...options, ...files], {
    cwd: CHECKOUT,
    env: environment,
    stdio: ['ignore', 'inherit', 'inherit'],
  }).status;
}
