// Programs of the checkout in TypeScript: compiled, and started with the arguments of this process.

import { spawnSync } from 'node:child_process';
import { CHECKOUT } from './checkout.mjs';
import { Failure, reportFailures } from './failure.mjs';
import { ensureNodeModules } from './nodeModules.mjs';
import { nodeScript } from './steps.mjs';

/**
 * Compiles the TypeScript, and runs a program of it. The addon, and thus a compiler for C++, is not needed.
 *
 * @param {string} name prefix of a failure
 * @param {string} program relative to the checkout
 * @returns {Promise<number>} the exit status
 */
export function runCompiled(name, program) {
  return reportFailures(name, () => {
    ensureNodeModules();
    // Messages of the build go to standard error, because standard output is for the result.
    const built = start('node_modules/typescript/bin/tsc', ['-p', 'tsconfig.json'], 2);
    if (built !== 0) throw new Failure('the build failed; its messages are above');
    return start(program, process.argv.slice(2), 'inherit');
  });
}

/**
 * Runs one of our programs in the checkout.
 *
 * @param {string} script
 * @param {readonly string[]} args
 * @param {2 | 'inherit'} output its standard output
 * @returns {number} its exit status
 */
function start(script, args, output) {
  const [program = '', ...words] = nodeScript(script, ...args);
  const done = spawnSync(program, words, { cwd: CHECKOUT, stdio: ['ignore', output, 'inherit'] });
  if (done.error) throw new Failure(`cannot start ${script}: ${done.error.message}`);
  return done.status ?? 1;
}
