// The command `npm test`: prepares, runs the tests, and prints a summary.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure, reportFailures } from '../lib/failure.mjs';
import { ensurePackages } from '../lib/packages.mjs';
import { TEST_MACHINES } from '../vm/testMachines.mjs';
import { planBatches } from './batches.mjs';
import { runLanes } from './lanes.mjs';
import { HELP, parseOptions } from './options.mjs';
import { prepare } from './prepare.mjs';
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
  const { filters, machine } = options;
  const all = options.tiers.map((tier) => /** @type {const} */ ([tier, filesOf(tier, filters)]));
  // Without a filter, every tier must have tests; with a filter, tiers without a matching file are omitted.
  const tiers = new Map(all.filter(([, files]) => filters.length === 0 || files.length > 0));
  if (tiers.size === 0) throw new Failure(`no test file has ${filters.join(' or ')} in its path`);
  prepare(tiers);
  const results = mkdtempSync(join(tmpdir(), 'kube-netlink-proxy-tests-'));
  try {
    const batches = await planBatches(tiers, machine, results);
    // Before the first test: those of test machines that only the trials of features have found.
    for (const { place } of batches) if (place !== 'machine') ensurePackages(TEST_MACHINES[place].packages);
    const alone = [...tiers.values()].flat().some(({ prepared }) => prepared.includes('idle'));
    const interrupted = await runLanes(batches, alone);
    const status = summarize(batches);
    return interrupted ?? status;
  } finally {
    rmSync(results, { recursive: true, force: true });
  }
}
