// The command `npm run vm`: installs missing packages, and runs the command on a test machine.

import { statSync } from 'node:fs';
import { CHECKOUT } from '../lib/checkout.mjs';
import { Failure, reportFailures } from '../lib/failure.mjs';
import { ensurePackages, WITNESS_PACKAGES } from '../lib/packages.mjs';
import { HELP, parseOptions } from './options.mjs';
import { readyTestMachine, TEST_MACHINES } from './testMachines.mjs';

// Like env, timeout and docker: the status of our own failures differs from the command's.
const OWN_FAILURE = 125;

/**
 * @param {readonly string[]} args
 * @returns {Promise<number>} the exit status
 */
export function main(args) {
  return reportFailures('vm', () => runVm(args), OWN_FAILURE);
}

/**
 * @param {readonly string[]} args
 * @returns {Promise<number>}
 */
async function runVm(args) {
  const options = parseOptions(args);
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  if (options.command.length === 0) throw new Failure('no command given (see --help)');
  for (const path of options.writable) {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory())
      throw new Failure(`--writable ${path} is not a folder`);
  }
  ensurePackages(WITNESS_PACKAGES);
  const { name, why } = await readyTestMachine(options.machine);
  const machine = TEST_MACHINES[name];
  if (options.machine === undefined) process.stderr.write(`vm: in ${machine.title} (${why})\n`);
  return machine.run({ ...options, folder: process.cwd(), checkout: CHECKOUT });
}
