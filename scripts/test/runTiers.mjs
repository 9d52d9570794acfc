// Runs tiers of tests with node --test, one after the other. In the VM it is a program of its own:
// node scripts/test/runTiers.mjs TIERS RESULTS [FILTER…], with TIERS separated by commas.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CHECKOUT } from '../lib/checkout.mjs';
import { heading } from '../lib/steps.mjs';
import { filesOf, TIERS } from './tiers.mjs';

/**
 * @typedef {import('./tiers.mjs').Tier} Tier
 * @typedef {import('./counts.mjs').Counts} Counts
 */

// Holds for a whole file too. The VM is six to eight times slower than the machine.
const LIMIT_SECONDS = { machine: 300, vm: 600 };

/**
 * @param {readonly Tier[]} tiers
 * @param {string} results a folder for the counts
 * @param {readonly string[]} filters
 */
export function runTiers(tiers, results, filters) {
  mkdirSync(results, { recursive: true });
  for (const tier of tiers) {
    const files = filesOf(tier, filters);
    const target = resultOf(tier, results);
    rmSync(target, { force: true });
    if (files.length === 0) continue;
    heading(`${tier.name} tests (${files.length} files)`);
    const limit = tier.vm ? LIMIT_SECONDS.vm : LIMIT_SECONDS.machine;
    const options = [
      '--enable-source-maps',
      '--test',
      `--test-timeout=${limit * 1000}`,
      ...(tier.vm ? ['--test-concurrency=1'] : []),
      ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
      ...[
        `--test-reporter=${join(CHECKOUT, 'scripts/test/counts.mjs')}`,
        `--test-reporter-destination=${target}`,
      ],
    ];
    // Set by a surrounding node --test, it would make this one report to that.
    const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
    const { status } = spawnSync(process.execPath, [...options, ...files], {
      cwd: CHECKOUT,
      env: environment,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    if (status !== 0) noteStatus(tier, results, status);
  }
}

/**
 * Keeps a failure of node --test that no test accounts for.
 *
 * @param {Tier} tier
 * @param {string} results
 * @param {number | null} status
 */
function noteStatus(tier, results, status) {
  const counts = readCounts(tier, results);
  if (counts === undefined || counts.failed.length > 0) return;
  counts.failed.push(`${tier.name}: node --test ended with status ${status}`);
  writeFileSync(resultOf(tier, results), JSON.stringify(counts));
}

/**
 * @param {Tier} tier
 * @param {string} results
 * @returns {Counts | undefined} undefined if the tier did not get to its end
 */
export function readCounts(tier, results) {
  try {
    return JSON.parse(readFileSync(resultOf(tier, results), 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * @param {Tier} tier
 * @param {string} results
 */
function resultOf(tier, results) {
  return join(results, `${tier.name}.json`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , names = '', results = '', ...filters] = process.argv;
  const wanted = names.split(',');
  runTiers(
    TIERS.filter((tier) => wanted.includes(tier.name)),
    results,
    filters,
  );
}
