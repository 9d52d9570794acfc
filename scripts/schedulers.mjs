// `npm run schedulers`: builds, and makes the load figures of docs/schedulers.md.

import { spawnSync } from 'node:child_process';
import { CHECKOUT } from './lib/checkout.mjs';
import { Failure, reportFailures } from './lib/failure.mjs';
import { ensureNodeModules } from './lib/nodeModules.mjs';
import { nodeScript } from './lib/steps.mjs';

process.exitCode = await reportFailures('schedulers', () => {
  // All of it is TypeScript: the addon, and thus a compiler for C++, is not needed.
  ensureNodeModules();
  // Messages of the build go to standard error, because standard output is for the result.
  const built = start('node_modules/typescript/bin/tsc', ['-p', 'tsconfig.json'], 2);
  if (built !== 0) throw new Failure('the build failed; its messages are above');
  return start('dist/bench/schedulers/main.js', process.argv.slice(2), 'inherit');
});

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
