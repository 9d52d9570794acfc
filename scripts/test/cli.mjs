// The command `npm test`: prepares, runs the tests, and prints a summary.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure, reportFailures } from '../lib/failure.mjs';
import { ensurePackages } from '../lib/packages.mjs';
import { TEST_MACHINES } from '../vm/testMachines.mjs';
import { planBatches } from './batches.mjs';
import { buildUmlKernel } from './buildUmlKernel.mjs';
import { runLanes } from './lanes.mjs';
import { matrixTable, planMatrix } from './matrix.mjs';
import { HELP, parseOptions } from './options.mjs';
import { needsUmlKernel, prepare } from './prepare.mjs';
import { summarize } from './summary.mjs';
import { filesOf } from './tiers.mjs';

/**
 * @param {readonly string[]} args
 * @returns {Promise<number>} the exit status
 */
export function main(args) {
  return reportFailures('test', () => {
    const options = parseOptions(args);
    if (!options.help) return test(options);
    process.stdout.write(HELP);
    return 0;
  });
}

/**
 * @param {import('./options.mjs').TestOptions} options
 * @returns {Promise<number>} the exit status
 */
async function test(options) {
  const { filters, matrix, minutes } = options;
  // Who names a tier that takes long wants all of it.
  const all = options.all || options.tiers.every((tier) => tier.only !== undefined);
  const extent = options.rest ? 'rest' : all ? 'whole' : 'sample';
  const found = options.tiers.map((tier) => /** @type {const} */ ([tier, filesOf(tier, filters, extent)]));
  // Without a filter, every tier must have tests; with a filter, tiers without a matching file are omitted.
  const tiers = new Map(found.filter(([, files]) => files.length > 0));
  if (filters.length === 0 && tiers.size < found.length && !options.rest)
    throw new Failure('a tier has no test file');
  if (tiers.size === 0) throw new Failure(`no test file has ${filters.join(' or ')} in its path`);
  // Read by test/support/extent.ts, also in guests.
  process.env['KNP_TEST_EXTENT'] = all ? 'whole' : 'sample';
  process.env['KNP_TEST_SEED'] = String(options.seed);
  const builds = options.all && needsUmlKernel(tiers);
  prepare(tiers, builds);
  const results = mkdtempSync(join(tmpdir(), 'kube-netlink-proxy-tests-'));
  try {
    const { batches, tried } = matrix
      ? await planMatrix(tiers, matrix, results)
      : { batches: await planBatches(tiers, { ...options, all }, builds, results), tried: undefined };
    // Before the first test: those of test machines that only the trials of features have found.
    for (const { place } of batches) if (place !== 'machine') ensurePackages(TEST_MACHINES[place].packages);
    const alone = [...tiers.values()].flat().some(({ prepared }) => prepared.includes('idle'));
    const kernel = builds && batches.some(({ place, kernel }) => place === 'uml' && kernel === undefined);
    const interrupted = await runLanes(batches, {
      alone,
      minutes,
      kernel: kernel ? buildUmlKernel : undefined,
    });
    const status = summarize(batches);
    if (tried) process.stdout.write(`\n${matrixTable(tried, batches)}`);
    const stopped = tried?.some(({ error }) => error !== undefined) ? 1 : 0;
    return interrupted ?? (status || stopped);
  } finally {
    rmSync(results, { recursive: true, force: true });
  }
}
