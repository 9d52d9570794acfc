// The command `npm test`: prepares, runs the tiers where each can run, and sums up.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHECKOUT } from '../lib/checkout.mjs';
import { Failure, reportFailures } from '../lib/failure.mjs';
import { heading } from '../lib/steps.mjs';
import { HELP, parseOptions } from './options.mjs';
import { prepare } from './prepare.mjs';
import { runTiers } from './runTiers.mjs';
import { summarize } from './summary.mjs';
import { filesOf } from './tiers.mjs';

/** @typedef {import('./tiers.mjs').Tier} Tier */

// Well above what the tests take, well below what a job of CI is given.
const VM_TIMEOUT_SECONDS = 3600;

/**
 * @param {readonly string[]} args
 * @returns {Promise<number>} the exit status
 */
export function main(args) {
  return reportFailures('test', () => {
    const options = parseOptions(args);
    if (!options.help) return test(options.tiers, options.filters);
    process.stdout.write(HELP);
    return 0;
  });
}

/**
 * @param {readonly Tier[]} wanted
 * @param {readonly string[]} filters
 * @returns {number} the exit status
 */
function test(wanted, filters) {
  prepare(wanted);
  // Without a filter every tier has to hold tests; with one, only those count that it leaves something of.
  const tiers = wanted.filter((tier) => filters.length === 0 || filesOf(tier, filters).length > 0);
  if (tiers.length === 0) throw new Failure(`no test file has ${filters.join(' or ')} in its path`);
  const onMachine = tiers.filter((tier) => !tier.vm);
  const inVm = tiers.filter((tier) => tier.vm);
  const results = mkdtempSync(join(tmpdir(), 'kube-netlink-proxy-tests-'));
  try {
    runTiers(onMachine, results, filters);
    if (inVm.length > 0) runInVm(inVm, results, filters);
    return summarize(tiers, results);
  } finally {
    rmSync(results, { recursive: true, force: true });
  }
}

/**
 * One boot for all of them.
 *
 * @param {readonly Tier[]} tiers
 * @param {string} results
 * @param {readonly string[]} filters
 */
function runInVm(tiers, results, filters) {
  const names = tiers.map((tier) => tier.name).join(',');
  heading(`starting the VM for ${names}`);
  const vm = ['scripts/vm.mjs', '--timeout', String(VM_TIMEOUT_SECONDS), '--writable', results, '--'];
  const inside = [process.execPath, 'scripts/test/inVm.mjs', results, names, ...filters];
  const done = spawnSync(process.execPath, [...vm, ...inside], {
    cwd: CHECKOUT,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  heading(`the VM ended with status ${done.status}`);
}
