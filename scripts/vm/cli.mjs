// The command `npm run vm`: gets what is missing, then runs the command where the kernel has what it takes.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT } from '../lib/checkout.mjs';
import { Failure, reportFailures } from '../lib/failure.mjs';
import { ensurePackages, VM_PACKAGES, WITNESS_PACKAGES } from '../lib/packages.mjs';
import { ensureKernel } from './kernel.mjs';
import { namespaceServes, runInNamespace } from './namespace.mjs';
import { HELP, parseOptions } from './options.mjs';
import { runMachine } from './qemu.mjs';

const CACHE = join(CHECKOUT, '.cache/vm');

// As env, timeout and docker have it: our own failure, told apart from the command's.
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
  ensurePackages(WITNESS_PACKAGES);
  if (!options.forceVm && options.kernel === undefined && namespaceServes()) {
    return runInNamespace(options.command, options.timeoutSeconds);
  }
  if (process.arch !== 'x64')
    throw new Failure(`the VM runs on x86-64 machines only, not on ${process.arch}`);
  for (const path of options.writable) {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory())
      throw new Failure(`--writable ${path} is no folder`);
  }
  ensurePackages(VM_PACKAGES);
  const kernel = ensureKernel(CACHE, options.kernel);
  return runMachine(kernel, { ...options, folder: process.cwd(), checkout: CHECKOUT });
}
